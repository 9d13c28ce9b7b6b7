// Renders a package on the server: its pipeline runs on the lane for computing, with the functions that are built in and the
// programs that FunctionConfigs map (function_programs.h). Programs that a Kptfile names by `exec` are refused, other images
// answer NotImplemented.
#pragma once

#include <map>
#include <string>

#include "client/served.h"
#include "delivery/package/readiness.h"
#include "delivery/package/status.h"

namespace slipway::delivery::package {

struct Rendered {
  std::map<std::string, std::string> files{};  // as they were, where it failed
  Render outcome = Render::Nothing;
  RenderStatus status{};
};
/// `ns` is the revision's; `name` is for messages.
Task<Rendered> render_content(client::ServedContext context, std::string ns, std::map<std::string, std::string> files,
                              std::string name);

}  // namespace slipway::delivery::package
