// `slipway cue eval|export|vet`: the language from the command line, over the files of this machine. See cue/load/command.h.
#pragma once

#include <string>
#include <vector>

namespace slipway::cli {

/// `arguments` begin with eval, export or vet. Prints; the result is the exit code.
int cue_command(const std::vector<std::string>& arguments);

}  // namespace slipway::cli
