// The history of a StatefulSet or DaemonSet: one ControllerRevision (apps/v1) per pod template it has had, numbered in the
// order of use. A template that comes back takes its old revision, under the next number. Names follow from the template, so
// that a controller that died after creating one meets it again; two templates of one hash are told apart by
// status.collisionCount. After upstream's pkg/controller/history.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "kube/object.h"

namespace slipway::cluster {

/// spec.revisionHistoryLimit where it is not given.
inline constexpr std::int64_t kDefaultHistoryLimit = 10;

/// The label under which the revisions of a kind carry their hash.
struct RevisionLabel {
  std::string_view key;
};

/// The revision of the owner's present template, as it is to be; `is_new`: to be created, `is_renumbered`: to be written.
struct RevisionPlan {
  kube::Object update;
  bool is_new = false;
  bool is_renumbered = false;
};
/// `revisions`: all that the owner has.
RevisionPlan plan_revision(RevisionLabel label, const kube::Object& owner, const std::vector<kube::Object>& revisions);

/// Writes what is planned and gives the revision. Fails with AlreadyExists after counting a collision of names, so that the
/// next attempt takes another.
Task<Result<kube::Object>> settle_revision(client::Client& client, kube::Resource owners, kube::Object owner, RevisionPlan plan,
                                           std::string manager);

/// The pod template that a revision holds; null when it holds none.
const json::Value& revision_template(const kube::Object& revision);
/// The oldest revisions beyond `limit`, of those whose name is not in `live`. `counted_live`: how many of the live ones count
/// against the limit.
std::vector<kube::Object> surplus_revisions(std::vector<kube::Object> revisions, const std::set<std::string>& live,
                                            std::int64_t limit, std::int64_t counted_live = 0);

}  // namespace slipway::cluster
