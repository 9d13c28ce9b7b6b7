// clusters.#Place (step open-cluster-management): the components on clusters that labels choose, their replicas spread by
// shares (cluster_shares.h). Through the clusters that are joined each gets its objects as with `deploy`; where the hub serves
// ManifestWork (manifest_work.h) each managed cluster gets one of these.
#include <fmt/format.h>

#include <algorithm>

#include "base/compute_pool.h"
#include "base/lookup.h"
#include "base/text.h"
#include "delivery/application/cluster_shares.h"
#include "delivery/application/component_patch.h"
#include "delivery/application/manifest_work.h"
#include "delivery/application/provider_rows.h"
#include "delivery/application/providers.h"

namespace slipway::delivery::application {
namespace {

using workflow::Answer;
using workflow::ProviderCall;
using Chosen = std::vector<std::vector<std::string>>;

/// The order that a step gives.
struct Order {
  std::vector<ShareEntry> entries;
  Chosen clusters;
  std::vector<ComponentSpec> components;
  std::string ns;
};

/// Entries for which there is no cluster.
std::vector<std::string> unmatched(const Order& order) {
  std::vector<std::string> waits;
  for (std::size_t i = 0; i < order.entries.size(); ++i) {
    if (!order.clusters[i].empty()) continue;
    waits.push_back(fmt::format("no cluster matches clusterSelector {}", order.entries[i].name()));
  }
  return waits;
}

Task<Result<std::vector<ComponentSpec>>> components_of(AppRun& run, Value params) {
  std::vector<PolicySpec> used;
  for (const std::string& name : texts_in(params["policies"])) {
    const PolicySpec* policy = run.parsed().find_policy(name);
    if (policy == nullptr) co_return fail(Reason::NotFound, fmt::format("policy {} not found", name));
    if (policy->type == "topology") {
      co_return fail(Reason::Invalid, fmt::format("policy {}: placement says where the components go, not a topology", name));
    }
    used.push_back(*policy);
  }
  Result<DeployPlan> made;
  co_await compute_for(run.tools().env, std::string(kube::ns(run.application())),
                       [&] { made = plan_deploy(run.parsed(), {}, used, {}); });
  SLIPWAY_CO_TRY(plan, std::move(made));
  if (params.has("components")) {
    const auto wanted = texts_in(params["components"]);
    std::erase_if(plan.components,
                  [&](const ComponentSpec& one) { return std::ranges::find(wanted, one.name) == wanted.end(); });
  }
  co_return std::move(plan.components);
}

/// How many replicas there are to share.
struct Replicas {
  std::int64_t count = 0;
  bool is_assumed = false;  // the object declares none, so that its cluster would run one
};

/// Kinds that run one replica where they say nothing.
constexpr const char* kOneByDefault[] = {"Deployment", "StatefulSet", "ReplicaSet"};

/// Nothing: the object has no replicas, and each cluster gets it whole.
std::optional<Replicas> replicas_of(const Value& object, const Order& order) {
  const Value& declared = object["spec"]["replicas"];
  if (declared.is_number()) return Replicas{declared.as_int()};
  const bool has_shares = std::ranges::any_of(order.entries, [](const ShareEntry& entry) { return entry.percent.has_value(); });
  const bool is_scaled = object["apiVersion"].as_string() == "apps/v1" &&
                         std::ranges::find(kOneByDefault, kube::kind(object)) != std::end(kOneByDefault);
  if (!has_shares || !is_scaled || !declared.is_null()) return std::nullopt;
  return Replicas{.count = 1, .is_assumed = true};
}

/// What each cluster runs of one component: replicas by the object's place in it (kReplicas).
using Shares = std::map<std::string, std::map<std::string, std::int64_t>>;

Shares shares_of(const RenderedComponent& rendered, const Order& order) {
  Shares by_cluster;
  const auto add = [&](const Value& object, const std::string& place) {
    const auto declared = replicas_of(object, order);
    if (!declared) return;
    for (const auto& [cluster, replicas] : share_replicas(order.entries, order.clusters, declared->count)) {
      by_cluster[cluster][place] = replicas;
    }
  };
  add(rendered.workload, "workload");
  for (const RenderedObject& one : rendered.others) add(one.object, one.place());
  return by_cluster;
}

Value patch_of(const ProviderCall& call, const std::string& component, const std::map<std::string, std::int64_t>& replicas) {
  Value patch = patch_with_exports(call, component, {});
  if (replicas.empty()) return patch;
  json::ObjectBuilder wanted;
  for (const auto& [place, count] : replicas) wanted.set(place, count);
  return (patch.is_object() ? patch : Value::empty_object()).with(kReplicas, wanted.build());
}

/// "web: east-1 3, east-2 2 of 10 (70 %)".
std::string told(const RenderedComponent& rendered, const Order& order, const Shares& shares) {
  std::vector<std::string> parts;
  const auto declared = replicas_of(rendered.workload, order);
  std::int64_t runs = 0;
  for (const auto& names : order.clusters) {
    for (const std::string& cluster : names) {
      const auto of = shares.find(cluster);
      const bool is_shared = declared && of != shares.end();
      const std::int64_t count = is_shared ? value_at(of->second, "workload") : 0;
      runs += count;
      parts.push_back(is_shared ? fmt::format("{} {}", cluster, count) : cluster);
    }
  }
  std::string text = fmt::format("{}: {}", rendered.name, parts.empty() ? "nowhere" : joined(parts, ", "));
  if (declared && runs != declared->count) text += fmt::format(" ({} of {} replicas)", runs, declared->count);
  if (declared && declared->is_assumed) text += " (it declares no replicas: counted as 1)";
  return text;
}

/// What came of it: each cluster's deliveries, in words.
struct Report {
  std::vector<std::string> told, waits, errors;
};

Task<> deliver_everywhere(AppRun& run, ProviderCall call, const Order& order, const RenderedComponent& rendered,
                          const ComponentSpec& component, const Shares& shares, Report& report) {
  for (const auto& names : Chosen(order.clusters)) {
    for (const std::string& cluster : names) {
      const auto of = shares.find(cluster);
      const Value patch =
          patch_of(call, rendered.name, of == shares.end() ? std::map<std::string, std::int64_t>{} : of->second);
      auto delivered = co_await run.deliver(component, {cluster, order.ns}, patch);
      const std::string where = fmt::format("component {} in cluster {}", rendered.name, cluster);
      if (!delivered) {
        auto& into = Answer::is_passing(delivered.error()) ? report.waits : report.errors;
        into.push_back(fmt::format("{}: {}", where, delivered.error().message));
      } else if (!delivered->is_healthy) {
        report.waits.push_back("wait healthy: " + where);
      }
    }
  }
}

Answer answer_of(const Order& order, Report report) {
  if (!report.errors.empty()) return Answer::error(joined(report.errors, "; "));
  std::vector<std::string> waits = unmatched(order);
  std::ranges::move(report.waits, std::back_inserter(waits));
  if (!waits.empty()) return Answer::wait(joined(waits, "; "));
  return Answer::done(json::object({{"message", joined(report.told, "; ")}}));
}

Task<Result<Report>> place_components(AppRun& run, ProviderCall call, Order order, WorkPlan& works, bool is_managed) {
  Report report;
  for (const ComponentSpec& component : std::vector<ComponentSpec>(order.components)) {
    SLIPWAY_CO_TRY(base, co_await run.render(component, {"", order.ns}, patch_with_exports(call, component.name, {}), {}));
    const Shares shares = shares_of(*base, order);
    report.told.push_back(told(*base, order, shares));
    if (!is_managed) {
      co_await deliver_everywhere(run, call, order, *base, component, shares, report);
      continue;
    }
    for (const auto& names : Chosen(order.clusters)) {
      for (const std::string& cluster : names) {
        const auto of = shares.find(cluster);
        const Value patch =
            patch_of(call, component.name, of == shares.end() ? std::map<std::string, std::int64_t>{} : of->second);
        SLIPWAY_CO_TRY(made, co_await run.render(component, {cluster, order.ns}, patch, {}));
        SLIPWAY_CO_TRY_VOID(works.add(cluster, *made));
      }
    }
  }
  co_return report;
}

Task<Answer> place(AppRun& run, ProviderCall call) {
  auto entries = read_shares(call.params["placement"]);
  if (!entries) co_return Answer{.kind = Answer::Kind::Fail, .message = entries.error().message};
  auto components = co_await components_of(run, call.params);
  if (!components) co_return Answer::error(components.error());
  auto managed = co_await managed_clusters(run);
  if (!managed) co_return Answer::error(managed.error());
  Order order{.entries = std::move(*entries),
              .clusters = {},
              .components = std::move(*components),
              .ns = call.params["namespace"].str()};
  order.clusters = clusters_of(order.entries, *managed ? **managed : run.clusters());
  WorkPlan works(run.application());
  auto report = co_await place_components(run, call, order, works, managed->has_value());
  if (!report) co_return Answer::error(report.error());
  if (!*managed) co_return answer_of(order, std::move(*report));
  auto applied = co_await apply_works(run, works);
  if (!applied) co_return Answer::error(applied.error());
  for (const WorkState& state : *applied) {
    if (!state.wait.empty()) report->waits.push_back(state.wait);
  }
  Answer answer = answer_of(order, std::move(*report));
  for (const WorkState& state : *applied) answer.watched.push_back(state.reference);
  co_return answer;
}

}  // namespace

std::vector<ProviderRow> cluster_rows() {
  return {{"clusters", "place", {"placement", "components", "policies", "namespace"}, place}};
}

}  // namespace slipway::delivery::application
