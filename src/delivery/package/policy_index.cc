#include "delivery/package/policy_index.h"

#include "base/text.h"
#include "base/zone.h"
#include "delivery/package/kind.h"
#include "delivery/package/repository_access.h"
#include "kube/selector.h"

namespace slipway::delivery::package {

using json::Value;

void PolicyIndex::attach(control::Watches& watches, Mapper mapper) {
  const auto map = [mapper](const Value& before, const Value& after) {
    return mapper(kube::ns(after.is_null() ? before : after));
  };
  policies_ = &watches.changes(kApprovalPolicies, [map](const Value& before, const Value& after) {
    const bool is_same = !before.is_null() && !after.is_null() && before["spec"] == after["spec"];
    return is_same ? std::vector<kube::ObjectKey>{} : map(before, after);
  });
  repositories_ = &watches.changes(kRepositories, [map](const Value& before, const Value& after) {
    const bool is_same = !before.is_null() && !after.is_null() && before["spec"] == after["spec"] &&
                         before["metadata"]["annotations"] == after["metadata"]["annotations"];
    return is_same ? std::vector<kube::ObjectKey>{} : map(before, after);
  });
}

std::string PolicyIndex::fault(const kube::Object& policy) {
  const auto spec = json::decode<ApprovalPolicySpec>(policy["spec"], "spec", {.allow_unknown = true});
  if (!spec) return spec.error().message;
  std::vector<std::string> faults;
  for (const Cause& cause : check(*spec)) faults.push_back(cause.field + ": " + cause.message);
  for (const NamedWindow& window : spec->windows) {
    if (!zone(window.time_zone)) faults.push_back("time zone " + window.time_zone + " is not known on this machine");
  }
  return joined(faults, "; ");
}

std::vector<NamedPolicy> PolicyIndex::selecting(const StoredRecord& revision) const {
  std::vector<NamedPolicy> found;
  for (const auto& [key, policy] : policies_->objects(revision.key().ns)) {
    if (kube::is_deleting(policy)) continue;
    auto spec = json::decode<ApprovalPolicySpec>(policy["spec"], "spec", {.allow_unknown = true});
    if (!spec || !check(*spec).empty()) continue;
    if (!selects(*spec, revision.record.repository, revision.object["metadata"]["labels"])) continue;
    found.push_back({.name = key.name, .generation = kube::generation(policy), .spec = *std::move(spec)});
  }
  return found;
}

/// A policy that cannot be followed agrees to nothing that it may mean.
std::string PolicyIndex::objection(const StoredRecord& revision) {
  for (const auto& [key, policy] : policies_->objects(revision.key().ns)) {
    if (kube::is_deleting(policy)) continue;
    const std::string why = fault(policy);
    if (why.empty()) continue;
    auto spec = json::decode<ApprovalPolicySpec>(policy["spec"], "spec", {.allow_unknown = true});
    if (spec && spec->selector && !kube::LabelSelector::from_object(*spec->selector)) spec->selector.reset();
    const bool is_meant = !spec || selects(*spec, revision.record.repository, revision.object["metadata"]["labels"]);
    if (is_meant) return key.name + " cannot be followed: " + why;
  }
  return "";
}

GateMode PolicyIndex::mode_of(const StoredRecord& revision) const {
  const kube::Object repository = repositories_->get({revision.key().ns, revision.record.repository});
  const auto read = repository.is_null() ? Result<OpenRepository>(fail(Reason::NotFound, "")) : read_repository(repository);
  return read ? gate_mode_of(*read, revision.object) : GateMode::Enforce;
}

const std::optional<Zone>& PolicyIndex::zone(const std::string& name) {
  const auto known = zones_.find(name);
  if (known != zones_.end()) return known->second;
  auto loaded = load_zone(env_.files, name);
  return zones_.emplace(name, loaded ? std::optional(*std::move(loaded)) : std::nullopt).first->second;
}

ApproveDecision PolicyIndex::decide(const StoredRecord& revision, const Now& now) {
  const RevisionRecord& record = revision.record;
  if (std::string why = objection(revision); !why.empty()) {
    return {.kind = ApproveDecision::Kind::Waits, .text = std::move(why)};
  }
  const std::vector<NamedPolicy> policies = selecting(revision);
  std::map<std::string, Zone> zones;
  for (const NamedPolicy& policy : policies) {
    for (const NamedWindow& window : policy.spec.windows) {
      if (const auto& known = zone(window.time_zone)) zones.emplace(window.time_zone, *known);
    }
  }
  bool has_published = false;
  for (const RecordIndex::Known& one : records_->of_package(revision.key().ns, record.key().package)) {
    has_published |= is_published(one->record.lifecycle) && one->record.revision > 0 && one->uid() != revision.uid();
  }
  const ApproveView view{.lifecycle = record.lifecycle,
                         .is_deleting = kube::is_deleting(revision.object),
                         .has_published = has_published,
                         .authors = {record.authors.begin(), record.authors.end()},
                         .digest = record.digest,
                         .missing = unmet(gates_at(record.gates, record.lifecycle), record.conditions, now),
                         .mode = mode_of(revision),
                         .votes = record.votes,
                         .conditions = record.conditions};
  return decide_approve(policies, view, zones, now.time());
}

}  // namespace slipway::delivery::package
