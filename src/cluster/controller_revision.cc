#include "cluster/controller_revision.h"

#include <algorithm>

#include "cluster/deployment_facts.h"
#include "cluster/names.h"
#include "control/object_writes.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// Names of revisions are label values of the pods of a StatefulSet.
constexpr std::size_t kMaxLabelValue = 63;

bool is_older_revision(const kube::Object& left, const kube::Object& right) {
  const std::int64_t left_number = left["revision"].as_int();
  const std::int64_t right_number = right["revision"].as_int();
  return left_number != right_number ? left_number < right_number : kube::name(left) < kube::name(right);
}

kube::Object make_revision(RevisionLabel label, const kube::Object& owner, std::int64_t number) {
  const Value& pod = owner["spec"]["template"];
  const std::string hash = template_hash(owner);
  const std::string base(kube::name(owner).substr(0, kMaxLabelValue - 1 - hash.size()));
  json::ObjectBuilder metadata;
  metadata.set("name", base + "-" + hash)
      .set("namespace", kube::ns(owner))
      .set("labels", pod["metadata"]["labels"].with(label.key, hash))
      .set("ownerReferences", json::array({kube::owner_reference(owner)}));
  if (const Value inherited = inherited_annotations(owner); !inherited.empty()) metadata.set("annotations", inherited);
  const Value patch = pod.with("$patch", "replace");
  return json::object({{"apiVersion", "apps/v1"},
                       {"kind", "ControllerRevision"},
                       {"metadata", metadata.build()},
                       {"data", json::object({{"spec", json::object({{"template", patch}})}})},
                       {"revision", number}});
}

}  // namespace

const Value& revision_template(const kube::Object& revision) { return revision["data"]["spec"]["template"]; }

RevisionPlan plan_revision(RevisionLabel label, const kube::Object& owner, const std::vector<kube::Object>& revisions) {
  const kube::Object* same = nullptr;
  std::int64_t highest = 0;
  for (const kube::Object& revision : revisions) {
    highest = std::max(highest, revision["revision"].as_int());
    const Value content = revision_template(revision).without("$patch");
    if (!are_equal_templates(content, owner["spec"]["template"])) continue;
    if (same == nullptr || is_older_revision(*same, revision)) same = &revision;
  }
  if (same == nullptr) return {make_revision(label, owner, highest + 1), true, false};
  if ((*same)["revision"].as_int() == highest) return {*same, false, false};
  return {same->with("revision", highest + 1), false, true};
}

Task<Result<kube::Object>> settle_revision(client::Client& client, kube::Resource owners, kube::Object owner, RevisionPlan plan,
                                           std::string manager) {
  if (plan.is_renumbered) co_return co_await client::update(client, kControllerRevisions, plan.update, manager);
  if (!plan.is_new) co_return plan.update;
  auto made = co_await client::create(client, kControllerRevisions, plan.update, manager);
  if (made || made.error().reason != Reason::AlreadyExists) co_return made;
  SLIPWAY_CO_TRY(live, co_await client::get(client, kControllerRevisions, kube::key_of(plan.update)));
  if (kube::is_owned_by(live, kube::uid(owner)) && live["data"] == plan.update["data"]) co_return live;
  const std::int64_t collisions = owner["status"]["collisionCount"].as_int() + 1;
  const Value status = owner["status"].with("collisionCount", collisions);
  SLIPWAY_CO_TRY_VOID(co_await control::write_status(client, owners, owner, status, manager));
  co_return made;
}

std::vector<kube::Object> surplus_revisions(std::vector<kube::Object> revisions, const std::set<std::string>& live,
                                            std::int64_t limit, std::int64_t counted_live) {
  std::erase_if(revisions, [&](const kube::Object& one) { return live.contains(std::string(kube::name(one))); });
  const std::int64_t surplus = static_cast<std::int64_t>(revisions.size()) + counted_live - limit;
  std::sort(revisions.begin(), revisions.end(), is_older_revision);
  revisions.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(surplus, 0, static_cast<std::int64_t>(revisions.size()))));
  return revisions;
}

}  // namespace slipway::cluster
