#include "delivery/application/manifest_work.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::delivery::application {
namespace {

const kube::GroupVersionKind kWork{"work.open-cluster-management.io", "v1", "ManifestWork"};
const kube::GroupVersionKind kManagedCluster{"cluster.open-cluster-management.io", "v1", "ManagedCluster"};

/// Nothing: it is not served.
Task<Result<std::optional<MappedKind>>> served(AppRun& run, kube::GroupVersionKind kind) {
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  auto found = co_await run.tools().live.kinds().find(*hub, kHub, kind);
  if (found) co_return std::optional(std::move(*found));
  if (found.error().reason == Reason::NotFound) co_return std::nullopt;
  co_return fail(std::move(found).error());
}

/// Why the condition does not hold for what is asked for now; empty: it does.
std::string missing(const Value& work, const char* type) {
  const Value& condition = kube::condition(work, type);
  const bool is_of_now =
      !condition.has("observedGeneration") || condition["observedGeneration"].as_int() >= kube::generation(work);
  if (condition["status"].as_string() == "True" && is_of_now) return "";
  const std::string why = is_of_now ? condition["message"].str() : "";
  return fmt::format("cluster {}: ManifestWork {} is not {}{}{}", kube::ns(work), kube::name(work), type,
                     why.empty() ? "" : ": ", why);
}

}  // namespace

Task<Result<std::optional<std::vector<ClusterEntry>>>> managed_clusters(AppRun& run) {
  SLIPWAY_CO_TRY(work, co_await served(run, kWork));
  if (!work) co_return std::nullopt;
  SLIPWAY_CO_TRY(kind, co_await served(run, kManagedCluster));
  std::vector<ClusterEntry> entries;
  if (!kind) co_return entries;
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  SLIPWAY_CO_TRY(all, co_await client::list(*hub, kind->resource, {.ns = "", .label_selector = "", .field_selector = ""}));
  for (const Value& one : all["items"].items()) {
    if (!one["spec"]["hubAcceptsClient"].as_bool() || kube::is_deleting(one)) continue;
    ClusterEntry entry{std::string(kube::name(one)), {}};
    for (const auto& [key, value] : one["metadata"]["labels"].members()) entry.labels[std::string(key)] = value.str();
    entries.push_back(std::move(entry));
  }
  co_return entries;
}

Result<void> WorkPlan::add(const std::string& cluster, const RenderedComponent& rendered) {
  if (!rendered.pending_traits.empty()) {
    return fail(Reason::Invalid, fmt::format("component {}: trait {} of its list is made from the live workload (stage "
                                             "PostDispatch), which a ManifestWork does not show",
                                             rendered.name, rendered.pending_traits.front()));
  }
  json::ArrayBuilder& into = objects_[cluster];
  if (!rendered.workload.is_null() && !rendered.is_workload_managed) into.add(rendered.workload);
  for (const RenderedObject& one : rendered.others) {
    if (!one.is_control_plane_only) {
      into.add(one.object);
    } else if (std::ranges::none_of(on_hub_, [&](const Manifest& known) { return known.object == one.object; })) {
      on_hub_.push_back({.object = one.object, .cluster = kHub, .component = rendered.name, .trait = one.trait});
    }
  }
  return {};
}

std::vector<Manifest> WorkPlan::manifests() const {
  std::vector<Manifest> made = on_hub_;
  const std::string ns(kube::ns(application_)), name(kube::name(application_));
  const Value labels = json::object({{kLabelName, name}, {kLabelNamespace, ns}});
  for (const auto& [cluster, objects] : objects_) {
    const Value object = json::object(
        {{"apiVersion", kWork.api_version()},
         {"kind", kWork.kind},
         {"metadata", json::object({{"name", fmt::format("{}.{}", ns, name)}, {"namespace", cluster}, {"labels", labels}})},
         {"spec", json::object({{"workload", json::object({{"manifests", json::ArrayBuilder(objects).build()}})}})}});
    made.push_back({.object = object, .cluster = kHub, .component = {}, .trait = {}});
  }
  return made;
}

Task<Result<std::vector<WorkState>>> apply_works(AppRun& run, const WorkPlan& plan) {
  SLIPWAY_CO_TRY(applied, co_await run.apply(plan.manifests()));
  std::vector<WorkState> states;
  for (const Value& object : applied) {
    if (kube::kind(object) != kWork.kind) continue;
    WorkState state{
        .reference = {kWork.api_version(), kWork.kind, std::string(kube::name(object)), std::string(kube::ns(object)), ""},
        .wait = missing(object, "Applied")};
    if (state.wait.empty()) state.wait = missing(object, "Available");
    states.push_back(std::move(state));
  }
  co_return states;
}

}  // namespace slipway::delivery::application
