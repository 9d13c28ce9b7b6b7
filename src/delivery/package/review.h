// Review of many proposals at once: each is compared with what its package has now, and those with equal diffs are one group to
// be judged once. Diffs are equal when they are the same text but for the names of repository and package, which may stand in
// the content. A group is called by a digest of its diff, so that what was looked at is what is approved.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/package/commands.h"

namespace slipway::delivery::package {

/// Files with Kptfiles without their status: what differs in each copy and is no content.
std::map<std::string, std::string> without_verdicts(std::map<std::string, std::string> files);

struct Review {
  ShownRevision revision{};
  std::string before{};  // the revision that it is compared with; empty: there is none, all of it is new
  std::string diff{};
};
/// Against the newest published revision of the package.
Task<Result<Review>> review_of(client::Client& client, std::string ns, ShownRevision revision);

struct ReviewGroup {
  std::string id{};    // of the diff: 8 hexadecimal digits
  std::string diff{};  // of the first one
  std::vector<Review> members{};
};
/// The largest group first; members by name.
std::vector<ReviewGroup> grouped(std::vector<Review> reviews);
/// A diff with the names of repository and package, as whole words, replaced by ‹repository› and ‹package›, and that of its
/// PackageVariant in the names of its functions by ‹variant›.
std::string plain_diff(const Review& review);
/// "3f2a9c01: 38 revisions, 2 files" with the names and the diff below.
std::string groups_text(const std::vector<ReviewGroup>& groups);

}  // namespace slipway::delivery::package
