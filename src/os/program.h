// Finding the program of a command as a shell does, with the PATH the command will see, not that of this process.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::os {

/// The executable file of argv[0] `name`: itself when it has a slash, else the first in PATH of `env` (a usual one when unset).
/// The failure is worded as container runtimes word it: `exec: "frob": executable file not found in $PATH`.
std::expected<std::string, std::string> find_program(const std::string& name, const std::vector<std::string>& env);
/// That failure: `exec: "NAME": WHAT`.
std::string exec_failure(const std::string& name, std::string_view what);
/// For exec: null-terminated, valid as long as `texts` is not changed.
std::vector<char*> exec_pointers(std::vector<std::string>& texts);

}  // namespace slipway::os
