#include "base/zone.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promotion_controller.h"
#include "delivery/pipeline/retention.h"

namespace slipway::delivery::pipeline {
namespace {

/// Nothing for an object that cannot be read: where no admission stands in the way it counts for nothing.
template <class Made, class Spec>
std::optional<Made> known(const kube::Object& object) {
  auto spec = json::decode<Spec>(object["spec"], "spec", {.allow_unknown = true});
  if (!spec || kube::is_deleting(object)) return std::nullopt;
  Made made;
  made.name = kube::name(object);
  made.spec = std::move(*spec);
  made.created = kube::creation_time(object).value_or(Time{});
  made.revision = kube::revision(object);
  return made;
}

template <class Spec>
std::vector<Known<Spec>> all_known(const std::vector<kube::Object>& objects) {
  std::vector<Known<Spec>> all;
  for (const kube::Object& object : objects) {
    if (auto one = known<Known<Spec>, Spec>(object)) all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace

std::optional<PromotionInput> PromotionController::look(const kube::Object& pipeline) {
  const Key key = kube::key_of(pipeline);
  auto spec = json::decode<PipelineSpec>(pipeline["spec"], "spec", {.allow_unknown = true});
  const json::Value stored = pipeline["status"].is_null() ? json::Value::empty_object() : pipeline["status"];
  auto status = json::decode<PipelineStatus>(stored, "status", {.allow_unknown = true});
  if (!spec || !status) return std::nullopt;
  PromotionInput input;
  input.ns = key.ns;
  input.pipeline = key.name;
  input.uid = kube::uid(pipeline);
  input.generation = kube::generation(pipeline);
  input.prunings = prunings_of(pipeline);
  input.spec = std::move(*spec);
  input.status = std::move(*status);
  input.releases = all_known<ReleaseSpec>(of(*releases_, key));
  input.approvals = all_known<ApprovalSpec>(of(*approvals_, key));
  for (const auto& [at, object] : holds_->objects(key.ns)) {
    if (auto one = known<Known<HoldSpec>, HoldSpec>(object)) input.holds.push_back(std::move(*one));
  }
  for (const std::string& ns : std::set<std::string>{key.ns, std::string(kFreezesForAll)}) {
    for (const auto& [at, object] : freezes_->objects(ns)) {
      auto one = known<Known<FreezeSpec>, FreezeSpec>(object);
      if (!one) continue;
      if (ns != key.ns) one->name = at.to_string();
      input.freezes.push_back(std::move(*one));
    }
  }
  for (const kube::Object& object : of(*promotions_, key)) {
    auto one = known<KnownPromotion, PromotionSpec>(object);
    const json::Value said = object["status"].is_null() ? json::Value::empty_object() : object["status"];
    auto recorded = json::decode<PromotionStatus>(said, "status", {.allow_unknown = true});
    if (!one || !recorded) continue;
    one->status = std::move(*recorded);
    input.promotions.push_back(std::move(*one));
  }
  input.acts_as = acts_as_;
  input.now = wall_.now();
  load_zones(input);
  load_labels(input, key.ns);
  return input;
}

void PromotionController::load_zones(PromotionInput& input) {
  std::set<std::string> names;
  for (const Known<FreezeSpec>& freeze : input.freezes) {
    if (freeze.spec.window) names.insert(freeze.spec.window->time_zone);
  }
  for (const Environment& environment : input.spec.environments) {
    for (const gate::GateSpec& one : environment.gates) {
      if (one.window) names.insert(one.window->time_zone);
    }
  }
  for (const std::string& name : names) {
    auto at = zones_.find(name);
    if (at == zones_.end()) {
      auto zone = load_zone(env_.files, name);
      if (!zone) env_.log.warn("a time zone is not known", {{"zone", name}, {"error", zone.error().message}});
      at = zones_.emplace(name, zone ? std::optional(std::move(*zone)) : std::nullopt).first;
    }
    if (at->second) input.zones.emplace(name, *at->second);
  }
}

void PromotionController::load_labels(PromotionInput& input, const std::string& ns) {
  const bool is_asked =
      std::ranges::any_of(input.freezes, [](const Known<FreezeSpec>& freeze) { return !freeze.spec.cluster_labels.empty(); });
  if (!is_asked) return;
  for (const Environment& environment : input.spec.environments) {
    for (const Target& target : environment.targets) {
      std::string cluster = watches_->home();
      if (target.cluster)
        cluster = cluster_name(cluster, target.cluster->ns.empty() ? ns : target.cluster->ns, target.cluster->name);
      input.cluster_labels[environment.name].push_back(watches_->clusters().labels(cluster));
    }
  }
}

}  // namespace slipway::delivery::pipeline
