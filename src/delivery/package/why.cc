#include "delivery/package/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/zone.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/package/explain.h"
#include "delivery/package/kind.h"
#include "delivery/package/rollout_world.h"
#include "delivery/package/show.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// What was fetched for one explanation.
class FetchedFacts : public control::View {
 public:
  explicit FetchedFacts(Time now) : now_(now) {}
  void add(Value object) { objects_.push_back(std::move(object)); }

  Value find(const Value& reference) const override {
    const auto kind = kube::GroupVersionKind::of(reference);
    for (const Value& one : objects_) {
      const auto its = kube::GroupVersionKind::of(one);
      if (!kind || !its || its->group != kind->group || its->kind != kind->kind) continue;
      if (kube::name(one) == reference["name"].as_string()) return one;
    }
    return {};
  }
  std::vector<Value> owned_by(const Value&, const kube::GroupVersionKind&) const override { return {}; }
  Time now() const override { return now_; }

 private:
  std::vector<Value> objects_;
  Time now_;
};

/// An object that is not there, or that the user may not see, is not told of.
Task<> fetch_into(FetchedFacts& view, client::Client& client, kube::Resource resource, kube::GroupVersionKind kind,
                  std::string ns, std::string name) {
  const auto found = co_await client::get(client, resource, kube::ObjectKey{ns, name});
  if (found) view.add(found->with("apiVersion", kind.api_version()).with("kind", kind.kind));
}

/// The objects that its gates and conditions speak of.
Task<> fetch_around(FetchedFacts& view, client::Client& client, ShownRevision revision) {
  const std::string ns(kube::ns(revision.object));
  KindMapper mapper;
  for (const ReadinessGate& gate : revision.spec.gates) {
    const Value reference = object_of_condition(gate.type);
    const auto kind = kube::GroupVersionKind::of(reference);
    if (kind) {
      const auto mapped = co_await mapper.find(client, "", *kind);
      const std::string name = reference["name"].str();
      if (mapped) {
        co_await fetch_into(view, client, mapped->resource, mapped->kind, mapped->is_namespaced ? ns : "", name);
      }
    }
    for (const std::string& source : gate.sources) {
      const std::string name = source.substr(std::min(source.find(':') + 1, source.size()));
      if (source.starts_with("variant:")) co_await fetch_into(view, client, kVariants, kVariantKind, ns, name);
      if (source.starts_with("rollout:")) co_await fetch_into(view, client, kRollouts, kRolloutKind, ns, name);
      if (source.starts_with("policy:")) co_await fetch_into(view, client, kApprovalPolicies, kApprovalPolicyKind, ns, name);
    }
  }
}

/// What its policies wait for; nothing where the user may not list policies or revisions.
Task<std::vector<control::Wait>> waits_of_policies(CommandCall call, ShownRevision revision) {
  const bool is_proposal = revision.lifecycle() == Lifecycle::Proposed || revision.lifecycle() == Lifecycle::DeletionProposed;
  client::ListQuery query;
  query.ns = kube::ns(revision.object);
  const auto list = is_proposal ? co_await client::list(*call.client, kApprovalPolicies, query) : Result<Value>(Value());
  if (!list) co_return std::vector<control::Wait>{};
  const auto items = (*list)["items"].items();
  PolicySight sight{.now = call.env.clock.now()};
  for (const Value& policy : items) {
    for (const Value& window : policy["spec"]["windows"].items()) {
      const std::string name = window["timeZone"].str();
      if (auto zone = load_zone(call.env.files, name)) sight.zones.emplace(name, *std::move(zone));
    }
  }
  const std::string fields =
      fmt::format("spec.repository={},spec.packageName={}", revision.spec.repository, revision.spec.package_name);
  const auto all = co_await fetch_revisions(*call.client, query.ns, fields, "");
  sight.has_published = all && std::ranges::any_of(*all, [&](const ShownRevision& one) {
                          return is_published(one.lifecycle()) && one.spec.revision > 0 && one.name() != revision.name();
                        });
  co_return policy_waits(revision, {items.begin(), items.end()}, sight);
}

std::string said_of_rollout(const Value& rollout, const ShownRevision& revision) {
  const std::string phase = rollout["status"]["phase"].str();
  std::string on_its_own =
      fmt::format("packagerollout/{} approves what follows its upstream, policies do not", kube::name(rollout));
  const bool has_ended = phase == "Completed" || phase == "Superseded" || phase == "BackedOut" || phase == "Stopped";
  if (!has_ended) return on_its_own;
  return fmt::format("{}; it is {} and approves nothing more: a person may (slipway pkg approve {})", on_its_own, phase,
                     revision.name());
}

/// The rollouts that decide about a proposal; none where the user may not list them.
Task<std::vector<control::Explanation>> waits_of_rollouts(CommandCall call, ShownRevision revision, FetchedFacts& view) {
  std::vector<control::Explanation> told;
  if (revision.lifecycle() != Lifecycle::Proposed) co_return told;
  client::ListQuery query;
  query.ns = kube::ns(revision.object);
  const auto list = co_await client::list(*call.client, kRollouts, query);
  if (!list) co_return told;
  const StoredRecord stored{.record = {.upstream_lock = revision.status.upstream_lock}, .object = revision.object};
  for (const Value& item : (*list)["items"].items()) {
    const Value rollout = item.with("apiVersion", kRolloutKind.api_version()).with("kind", kRolloutKind.kind);
    const auto spec = json::decode<PackageRolloutSpec>(rollout["spec"], "spec", {.allow_unknown = true});
    if (!spec) continue;
    const auto upstream = co_await client::get(*call.client, kRepositories, kube::ObjectKey{query.ns, spec->upstream.repo});
    if (!upstream || !is_about(*spec, *upstream, stored)) continue;
    const std::string phase = rollout["status"]["phase"].str();
    told.push_back({.wait = {.on = "a PackageRollout",
                             .reason = phase.empty() ? "Pending" : phase,
                             .message = said_of_rollout(rollout, revision),
                             .since = {},
                             .next = {},
                             .part = {}},
                    .because = control::explain(explain_rows(), rollout, "", view),
                    .cut = {}});
  }
  co_return told;
}

}  // namespace

Task<Result<std::string>> why_revision(CommandCall call, kube::Object object, std::string part) {
  SLIPWAY_CO_TRY(revision, read_shown(object));
  FetchedFacts view(call.env.clock.now());
  view.add(revision.object);
  co_await fetch_around(view, *call.client, revision);
  auto told = control::explain(explain_rows(), revision.object, part, view);
  if (part.empty()) {
    std::ranges::move(co_await waits_of_rollouts(call, revision, view), std::back_inserter(told));
    for (control::Wait& one : co_await waits_of_policies(call, revision)) {
      told.push_back({.wait = std::move(one), .because = {}, .cut = {}});
    }
  }
  std::string text = revision_summary(revision.object, view);
  text = text.substr(0, text.find('\n') + 1);
  co_return text + (told.empty() ? std::string("it waits for nothing\n") : control::print(told, view.now()));
}

}  // namespace slipway::delivery::package
