// Renders a package on the server: its pipeline runs on the lane for computing, with the functions that are built in. Programs
// that a Kptfile names by `exec` are refused, images that are not built in answer NotImplemented.
#pragma once

#include <map>
#include <string>

#include "base/env.h"
#include "delivery/package/readiness.h"
#include "delivery/package/status.h"

namespace slipway::delivery::package {

struct Rendered {
  std::map<std::string, std::string> files{};  // as they were, where it failed
  Render outcome = Render::Nothing;
  RenderStatus status{};
};
/// `name` is for messages.
Task<Rendered> render_content(Env& env, std::map<std::string, std::string> files, std::string name);

}  // namespace slipway::delivery::package
