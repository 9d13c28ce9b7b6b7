// What people type to name an object: `workflow/release`, `workflow release`, `workflows.batch.slipway.dev/release/test-2`.
#pragma once

#include <string>
#include <vector>

#include "server/registry.h"

namespace slipway::cli {

struct Target {
  server::TypePtr type;
  std::string name;  // empty: all of the kind
  std::string part;  // e.g. a step; may hold further slashes
};

struct TargetWords {
  std::string kind;
  std::string name;
  std::string part;
};
/// BadRequest when the form is wrong.
Result<TargetWords> split_target(const std::vector<std::string>& words);

/// `words` are the positional arguments of a command (one or two). BadRequest when the form is wrong, NotFound for a
/// kind that is not served (the message lists near ones).
Result<Target> find_target(const server::Registry& registry, const std::vector<std::string>& words);

}  // namespace slipway::cli
