// The content of a revision: its files as they lie in Git. Only text can be shown in a PackageRevisionResources; files that are
// no UTF-8, and links, are kept as they are by everything that writes content. The Kptfile is shown with the gates and
// conditions of the log (with_verdicts), and its bytes are otherwise those of the repository.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/git.h"
#include "delivery/package/conditions.h"
#include "delivery/package/gates.h"
#include "delivery/package/repository_access.h"
#include "krm/package.h"

namespace slipway::delivery::package {

inline const std::string kKptfile(krm::kKptfile);  // as a key of files

/// Whether bytes are UTF-8, which is what a PackageRevisionResources can carry.
bool is_text(std::string_view bytes);

struct Content {
  std::map<std::string, std::string> files{};  // by path in the package
  std::map<std::string, GitMode> modes{};      // of those that are no regular files

  /// Those that can be shown: text, and no links.
  std::map<std::string, std::string> texts() const;
  /// Those that cannot.
  std::vector<std::string> hidden() const;
  /// These texts in place of the old ones, hidden files as they are.
  Content with_texts(const std::map<std::string, std::string>& texts) const;
};

/// The package in a commit. NotFound when the mirror does not have the commit, or the commit not the folder.
Task<Result<Content>> read_content(Git& git, GitRemote remote, std::string folder, GitId commit);
/// As read_content; where the mirror does not have the commit, `ref` is fetched first.
Task<Result<Content>> fetch_content(Git& git, GitRemote remote, std::string folder, GitId commit, std::string ref);

/// What a commit changes in the folder so that it holds `to` and nothing else.
std::vector<GitChange> content_changes(const std::string& folder, const Content& from, const Content& to);
/// As content_changes, over whatever lies there.
std::vector<GitChange> replacing_changes(const std::string& folder, const Content& to);

/// A Kptfile with info.readinessGates and status.conditions as the log has them; bytes beside these stay. A Kptfile
/// that cannot be read is given back as it is: what its lists say is not known.
std::string with_verdicts(std::string kptfile, const Gates& gates, const Conditions& conditions);
/// What a Kptfile says about gates and conditions; nullopt where it says nothing.
struct Verdicts {
  std::optional<std::vector<std::string>> gates{};
  std::optional<Conditions> conditions{};
};
/// BadRequest for a Kptfile that cannot be read, or a condition with a status that is none.
Result<Verdicts> verdicts_of(const std::map<std::string, std::string>& files);
/// Tells conditions apart as a Kptfile shows them.
std::string conditions_digest(const Conditions& conditions);

}  // namespace slipway::delivery::package
