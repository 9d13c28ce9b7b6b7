// `slipway pipeline create --commit` and `--pull-request`: the YAML of a pipeline gets into a repository, by a commit to a
// branch or by a pull request from one. May be run again: a file that is there as it is to be is left, an open pull request is
// found.
#pragma once

#include <string>

#include "delivery/pipeline/commands.h"

namespace slipway::delivery::pipeline {

/// Options that belong to neither of the two flags that were given, or to both at once, are told by name.
Result<void> check_git_options(const CommandCall& call);

/// REQUIRES: one of the two flags. NotImplemented where the program has no git.
Task<Result<CommandAnswer>> create_in_git(CommandCall call, std::string name, std::string content);

}  // namespace slipway::delivery::pipeline
