// `slipway fn NAME` and `slipway pkg init|render|ready|tree|diff|upgrade|condition|gate`: packages in folders of this machine,
// without a server. See krm/command.h.
#pragma once

#include <string>
#include <vector>

namespace slipway::cli {

/// `arguments` begin behind "fn". Reads a ResourceList from standard input; the result is the exit code.
int fn_command(const std::vector<std::string>& arguments);
/// `arguments` begin behind "pkg".
int pkg_command(const std::vector<std::string>& arguments);

}  // namespace slipway::cli
