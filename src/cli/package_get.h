// `slipway pkg get ADDRESS[/FOLDER][@REF] [FOLDER]`: a package out of any Git repository into a folder of this machine, without
// a server. The Kptfile then says where it came from, so that `kpt pkg update` and `slipway pkg upgrade` can go on from there.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace CLI {
class App;
}

namespace slipway::cli {

/// What is asked for.
struct PackageSource {
  std::string repo;
  std::string directory;  // "a/b"; empty: the whole repository
  std::string ref;        // empty: the remote's own branch
};
/// As kpt reads it: the repository ends with ".git", of https://github.com/OWNER/NAME/… after two segments. BadRequest for
/// others: where the repository ends cannot be told.
Result<PackageSource> read_source(std::string_view address);
/// Whether a word names a repository, and no revision.
bool is_address(std::string_view word);

/// Adds the command; `code` becomes its exit code.
void add_get(CLI::App& app, int& code);

}  // namespace slipway::cli
