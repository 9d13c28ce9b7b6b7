// `slipway fn NAME` and `slipway pkg init|get|render|ready|tree|diff|upgrade|condition|gate`: packages in folders of this
// machine, without a server. See krm/command.h.
#pragma once

#include <string>
#include <vector>

namespace slipway::cli {

/// `arguments` begin behind "fn". Reads a ResourceList from standard input; the result is the exit code.
int fn_command(const std::vector<std::string>& arguments);
/// Whether what is behind "pkg" is about a folder; get is when it names a repository. Verbs that there are for revisions too
/// (init, upgrade, diff, ready, condition, gate) mean a folder when they have no --repository or --workspace, or when the first
/// word is the path of one:
/// ".", with a slash, or a folder that is there.
bool is_for_folders(const std::vector<std::string>& arguments);
/// `arguments` begin behind "pkg".
int pkg_command(const std::vector<std::string>& arguments);

}  // namespace slipway::cli
