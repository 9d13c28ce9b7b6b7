#include "delivery/package/record.h"

#include <algorithm>
#include <set>

#include "delivery/package/kind.h"
#include "delivery/package/outside_changes.h"
#include "delivery/package/render_result.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

Value shell(const kube::GroupVersionKind& kind, Value metadata, Value spec, Value status) {
  return json::object({{"apiVersion", Value(kind.api_version())},
                       {"kind", Value(kind.kind)},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)},
                       {"status", std::move(status)}});
}

Value with_label(const Value& metadata, bool is_latest) {
  if (is_latest) return metadata.with_path({"labels", kLatestLabel}, "true");
  if (!metadata["labels"].has(kLatestLabel)) return metadata;
  const Value rest = metadata["labels"].without(kLatestLabel);
  return rest.empty() ? metadata.without("labels") : metadata.with("labels", rest);
}

Condition computed(std::string_view type, Truth status, std::string_view reason, std::string message) {
  return {.type = std::string(type), .status = status, .reason = std::string(reason), .message = std::move(message)};
}

/// ReadyToPropose and ReadyToApprove, as drift and an earlier rejection let them be.
Conditions readiness_of(const RevisionRecord& record, const std::string& undoes, const Now& now) {
  const std::vector<Unmet> missing = unmet(gates_at(record.gates, record.lifecycle), record.conditions, now);
  Conditions made = aggregates(record.lifecycle, missing, record.render, record.render_error);
  for (Condition& one : made) {
    // Proposing and approving wait until a person has dealt with the drift.
    const std::string_view next = record.lifecycle == Lifecycle::Draft ? kReadyToPropose : kReadyToApprove;
    if (!record.drift.empty() && one.type == next) one = computed(next, Truth::False, kDrift, record.drift);
    if (one.type == kReadyToPropose && one.status == Truth::True && is_rejected(record)) {
      one.reason = kRejected;
      one.message = "as it is it was proposed and sent back";
    }
    if (!undoes.empty() && record.lifecycle == Lifecycle::Proposed && one.type == kReadyToApprove) {
      one = computed(kReadyToApprove, Truth::False, kDrift, undoes);
    }
  }
  return made;
}

/// All that the server computes, without times.
Conditions computed_of(const RevisionRecord& record, const Now& now) {
  const std::string undoes = outside_text(record);
  Conditions made = readiness_of(record, undoes, now);
  if (auto rendered = rendered_condition(record.render, record.render_status, record.render_error)) {
    made.push_back(*std::move(rendered));
  }
  if (record.drift.empty() && !undoes.empty()) made.push_back(computed(kDrift, Truth::True, "ChangedOnBranch", undoes));
  if (!record.drift.empty()) made.push_back(computed(kDrift, Truth::True, "ChangedInGit", record.drift));
  if (!record.not_pushed.empty()) made.push_back(computed(kNotPushed, Truth::True, "RepositoryFails", record.not_pushed));
  return made;
}

RevisionStatus status_of(const RevisionRecord& record, bool is_latest, const Now& now) {
  RevisionStatus status{.upstream_lock = record.upstream_lock,
                        .self_lock = record.self_lock,
                        .is_deployment = record.is_deployment,
                        .conditions = record.conditions,
                        .digest = record.digest,
                        .ready = ready_text(gates_at(record.gates, record.lifecycle), record.conditions),
                        .is_latest = is_latest,
                        .votes = record.votes,
                        .render = record.render_status};
  for (Condition& one : computed_of(record, now)) {
    const auto since = std::ranges::find(record.computed, one.type, &ComputedSince::type);
    if (since != record.computed.end() && since->status == one.status) one.since = since->since;
    one.observed = generation_of(record);
    status.conditions.push_back(std::move(one));
  }
  if (record.approval && is_published(record.lifecycle)) {
    status.published_by = record.approval->approver;
    status.published_at = record.approval->at;
  }
  return status;
}

/// Whether the two want the same; times, conditions and what is to be pushed aside.
bool wants_same(const RevisionRecord& one, const RevisionRecord& other) {
  return one.digest == other.digest && one.lifecycle == other.lifecycle && one.revision == other.revision &&
         one.gates == other.gates && one.package_metadata == other.package_metadata && one.tasks == other.tasks;
}

}  // namespace

RevisionRecord stamped(RevisionRecord record, const RevisionRecord* was, Time now) {
  const std::int64_t before = was == nullptr ? 0 : generation_of(*was);
  record.generation = was != nullptr && wants_same(*was, record) ? before : before + 1;
  const Time stamp = std::chrono::floor<std::chrono::seconds>(now);
  std::vector<ComputedSince> computed;
  for (const Condition& one : computed_of(record, now)) {
    ComputedSince made{.type = one.type, .status = one.status, .since = stamp};
    if (was != nullptr) {
      const auto old = std::ranges::find(was->computed, one.type, &ComputedSince::type);
      if (old != was->computed.end() && old->status == one.status) made.since = old->since;
    }
    computed.push_back(std::move(made));
  }
  record.computed = std::move(computed);
  return record;
}

std::string verdict_subject(const RevisionRecord& record) {
  std::string text = record.digest;
  for (const ReadinessGate& one : record.gates) text += " " + one.type;
  return text;
}

bool is_rejected(const RevisionRecord& record) {
  return record.lifecycle == Lifecycle::Draft && !record.rejected.empty() && record.rejected == verdict_subject(record);
}

RevisionSpec spec_of(const RevisionRecord& record) {
  return {.package_name = record.path,
          .repository = record.repository,
          .workspace = record.workspace,
          .revision = record.revision,
          .lifecycle = std::string(json::enum_name(record.lifecycle)),
          .tasks = record.tasks,
          .gates = record.gates,
          .package_metadata = record.package_metadata};
}

kube::Object unjudged_revision_object(const RevisionRecord& record, const Value& metadata, bool is_latest) {
  return json::object({{"apiVersion", Value(kRevisionKind.api_version())},
                       {"kind", Value(kRevisionKind.kind)},
                       {"metadata", with_label(metadata, is_latest).with("name", record.key().object_name())},
                       {"spec", json::encode(spec_of(record))}});
}

kube::Object revision_object(const RevisionRecord& record, const Value& metadata, bool is_latest, const Now& now) {
  return unjudged_revision_object(record, metadata, is_latest).with("status", json::encode(status_of(record, is_latest, now)));
}

kube::Object resources_object(const RevisionRecord& record, const Value& metadata, const Files& files,
                              const std::optional<RenderStatus>& render) {
  const ResourcesSpec spec{.package_name = record.path,
                           .workspace = record.workspace,
                           .revision = record.revision,
                           .repository = record.repository,
                           .resources = files};
  const ResourcesStatus status{.render = render, .files = static_cast<std::int64_t>(files.size())};
  const Value named = metadata.with("name", record.key().object_name());
  return shell(kResourcesKind, named, json::encode(spec), json::encode(status));
}

std::int64_t latest_revision(std::span<const RevisionRecord> records, const PackageKey& package) {
  std::int64_t latest = 0;
  for (const RevisionRecord& one : records) {
    const bool counts = one.key().package == package && is_published(one.lifecycle);
    if (counts) latest = std::max(latest, one.revision);
  }
  return latest;
}

std::vector<kube::Object> package_objects(std::span<const RevisionRecord> records, std::string_view ns) {
  std::map<PackageKey, std::int64_t> packages;
  for (const RevisionRecord& one : records) {
    std::int64_t& latest = packages[one.key().package];
    if (is_published(one.lifecycle)) latest = std::max(latest, one.revision);
  }
  std::vector<kube::Object> objects;
  for (const auto& [key, latest] : packages) {
    const Value metadata = json::object({{"name", Value(key.object_name())}, {"namespace", Value(ns)}});
    objects.push_back(shell(kPackageKind, metadata,
                            json::encode(PorchPackageSpec{.package_name = key.path, .repository = key.repository}),
                            json::encode(PorchPackageStatus{.latest_revision = latest})));
  }
  return objects;
}

}  // namespace slipway::delivery::package
