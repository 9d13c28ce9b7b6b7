// What people have pushed to a package on the repository's branch since a revision of it was last published there. Publishing
// replaces the package's folder, so it would undo these changes: it waits until the draft has them too, or somebody says that
// the draft is to win.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "delivery/package/record.h"
#include "delivery/package/repository_access.h"

namespace slipway::delivery::package {

/// Annotation of a revision with drift: "theirs" takes what the repository has, "ours" commits the log's content on top of it.
inline constexpr std::string_view kDriftAnnotation = "packages.slipway.dev/drift";

/// file_digest() of each file on the branch by path; "" for one that was removed there.
using OutsideChanges = std::map<std::string, std::string>;

/// The package at the branch's commit `tip` against what the newest publication has left there: that is one of the commits
/// `published` ("" counts for none), or the last commit of the branch that says of itself that it published the package. A
/// package that is not on the branch has no such changes; one that nobody has published there is one as a whole.
Task<Result<OutsideChanges>> outside_changes(Git& git, OpenRepository repository, std::string path, GitId tip,
                                             std::vector<GitId> published);
/// Those of them that these files, by their digests, do not have.
std::vector<std::string> undone_by(const OutsideChanges& outside, const std::map<std::string, std::string>& file_digests);
/// Whether somebody has said, by the annotation packages.slipway.dev/drift=ours, that the revision wins over them.
bool publishes_over(const json::Value& object);
/// Which files, and what can be done.
std::string outside_text(const RevisionRecord& record, const std::vector<std::string>& files);
/// The same of a record; "" where publishing it undoes nothing.
std::string outside_text(const RevisionRecord& record);

}  // namespace slipway::delivery::package
