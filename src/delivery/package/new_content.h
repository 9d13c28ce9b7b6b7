// The content that a new revision begins with, by its task: an empty package (init), another package (clone), a published
// revision of the same one (edit), or that merged with a newer upstream (upgrade).
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "client/served.h"
#include "delivery/package/content.h"
#include "delivery/package/records.h"
#include "delivery/package/repository_access.h"
#include "delivery/package/status.h"

namespace slipway::delivery::package {

/// Where a new revision will be, and who asks for it. A null user is the process itself.
struct ContentAskedFor {
  std::string ns{};
  Author user{};
};

struct NewContent {
  Content content{};
  std::optional<StoredRecord> source{};    // that conditions and gates come from
  std::optional<StoredRecord> upstream{};  // of an upgrade: what it goes to
  std::optional<StoredRecord> old_upstream{};
  std::optional<Locator> upstream_lock{};
  Conditions conditions{};  // about what was done
  std::vector<std::string> warnings{};
};

/// `repository` is where the revision will be. NotFound for what the task names; NotImplemented for registries.
/// What it names in `asked.ns`, revisions and Secrets, is read as `asked.user`: Forbidden where that user may not get it.
Task<Result<NewContent>> new_content(client::ServedContext context, OpenRepository repository, ContentAskedFor asked,
                                     RevisionSpec spec);

// The cases.
/// DIVERGES: Porch makes a subpackage without the package around it.
Result<Content> init_content(const RevisionSpec& spec, const InitTask& task);
/// A folder of any Git repository, with the commit that it was; `ref` is a branch, a tag or a commit.
struct Fetched {
  Content content{};
  GitLock lock{};
};
Task<Result<Fetched>> fetch_foreign(client::ServedContext context, ContentAskedFor asked, GitSource source);
/// The Kptfile of a copy: its name and where it came from.
Result<Content> as_copy(Content content, const std::string& path, const GitLock& from, MergeStrategy strategy);
/// package-context.yaml of a package that goes to a cluster, and of its subpackages: whatever the upstream's say, the name and
/// where the package is.
void put_context(krm::Files& files, const std::string& path);
/// The contexts of a deployment are its own: in an upgrade the other sides get them too, so that none of them changes.
void share_context(const krm::Files& local, std::initializer_list<krm::Files*> others);

}  // namespace slipway::delivery::package
