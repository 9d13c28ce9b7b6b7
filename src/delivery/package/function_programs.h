// What runs for an image that is not built in: the FunctionConfigs of the revision's namespace, then those of porch-fn-system,
// where Porch keeps them. A program is one of the server's machine; it is run in a sandbox (base/programs.h): without a
// network, with a read-only root, within bounds on CPU, memory, output and time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/programs.h"
#include "client/client.h"
#include "delivery/package/function_config.h"
#include "krm/render.h"

namespace slipway::delivery::package {

inline constexpr std::string_view kFunctionNamespace = "porch-fn-system";
/// The verb on functionconfigs that whoever maps an image to a program needs: it stands in cluster-admin only.
inline constexpr std::string_view kRunProgramVerb = "runprogram";

/// An image as a pipeline names it, in parts: "REGISTRY/NAME:TAG@DIGEST".
struct ImageParts {
  std::string registry{};  // with its folders; may be empty
  std::string name{};
  std::string tag{};  // empty: any
};
ImageParts parts_of(std::string_view image);

class FunctionTable {
 public:
  explicit FunctionTable(std::vector<FunctionConfigSpec> specs = {}) : specs_(std::move(specs)) {}

  /// The file that the administrator mapped the image to.
  std::optional<std::string> program_for(const std::string& image) const;
  /// The built-in function that it is mapped to.
  std::optional<std::string> built_in_for(const std::string& image) const;

 private:
  std::vector<FunctionConfigSpec> specs_;
};
/// FunctionConfigs that cannot be read are left out.
Task<FunctionTable> function_table(client::Client& client, std::string ns);

/// A function's answer. A program that could not be run answers as one that failed, and says why.
Task<krm::ProgramAnswer> run_function(Env& env, std::string ns, krm::ProgramCall call);

}  // namespace slipway::delivery::package
