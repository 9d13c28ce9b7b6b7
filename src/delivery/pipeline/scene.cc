#include "delivery/pipeline/scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/pipeline/current_promotion.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/version.h"
#include "json/quoted.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

constexpr json::DecodeOptions kLeniently{.allow_unknown = true};

bool has_kind(const kube::Object& object, const kube::GroupVersionKind& kind) {
  return kube::refers_to(object, kind.group, kind.kind);
}

template <class Spec, class To>
void take(const kube::Object& object, std::vector<To>& to) {
  auto spec = json::decode<Spec>(object["spec"], "spec", kLeniently);
  if (!spec) return;
  To one{};
  one.object = object;
  one.spec = std::move(*spec);
  to.push_back(std::move(one));
}

bool names(const std::vector<std::string>& list, std::string_view one) {
  return list.empty() || std::ranges::find(list, one) != list.end();
}

/// Items of a list on the wire have no kind of their own.
kube::Object with_kind(const kube::Object& item, const kube::GroupVersionKind& kind) {
  return item.with("apiVersion", kind.api_version()).with("kind", kind.kind);
}

}  // namespace

bool is_under_way(const PromotionStatus& status) {
  return status.phase == Phase::Waiting || status.phase == Phase::Running || status.phase == Phase::Settling;
}

Task<Result<Scene>> Scene::read(client::Client& client, std::string ns, std::string name, Time now) {
  auto pipeline = co_await client::get(client, kPipelines, {ns, name});
  if (!pipeline && pipeline.error().reason == Reason::NotFound) {
    SLIPWAY_CO_TRY(list, co_await client::list(client, kPipelines, client::ListQuery{ns, {}, {}}));
    std::vector<std::string> known;
    for (const Value& item : list["items"].items()) known.emplace_back(kube::name(item));
    const std::string there = known.empty() ? "it has no pipelines" : fmt::format("it has {}", joined(known, ", "));
    co_return fail(Reason::NotFound, fmt::format("pipeline {} is not in namespace {}: {}", json::quoted(name), ns, there));
  }
  if (!pipeline) co_return fail(std::move(pipeline).error());
  std::vector<kube::Object> around;
  const std::pair<kube::Resource, kube::GroupVersionKind> kinds[] = {{kReleases, kReleaseKind},
                                                                     {kPromotions, kPromotionKind},
                                                                     {kApprovals, kApprovalKind},
                                                                     {kHolds, kHoldKind},
                                                                     {kFreezes, kFreezeKind}};
  for (const auto& [resource, kind] : kinds) {
    SLIPWAY_CO_TRY(list, co_await client::list(client, resource, client::ListQuery{ns, {}, {}}));
    for (const Value& item : list["items"].items()) around.push_back(with_kind(item, kind));
  }
  co_return of(*pipeline, around, now);
}

Scene Scene::of(const kube::Object& pipeline, const std::vector<kube::Object>& around, Time now) {
  Scene scene;
  scene.object = pipeline;
  scene.now_ = now;
  if (auto spec = json::decode<PipelineSpec>(pipeline["spec"], "spec", kLeniently)) scene.spec = std::move(*spec);
  if (auto status = json::decode<PipelineStatus>(pipeline["status"], "status", kLeniently)) scene.status = std::move(*status);
  for (const kube::Object& object : around) {
    if (has_kind(object, kFreezeKind)) {
      take<FreezeSpec>(object, scene.freezes);
      continue;
    }
    if (object["spec"]["pipeline"].as_string() != scene.name()) continue;
    if (has_kind(object, kReleaseKind)) take<ReleaseSpec>(object, scene.releases);
    if (has_kind(object, kApprovalKind)) take<ApprovalSpec>(object, scene.approvals);
    if (has_kind(object, kHoldKind)) take<HoldSpec>(object, scene.holds);
    if (!has_kind(object, kPromotionKind)) continue;
    const std::size_t known = scene.promotions.size();
    take<PromotionSpec>(object, scene.promotions);
    auto status = json::decode<PromotionStatus>(object["status"], "status", kLeniently);
    if (scene.promotions.size() > known && status) scene.promotions.back().status = std::move(*status);
  }
  scene.sort();
  return scene;
}

void Scene::hide(json::Value seen) {
  status = json::decode<PipelineStatus>(seen, "status", kLeniently).value_or(PipelineStatus{});
  object = object.with("status", std::move(seen));
}

void Scene::sort() {
  const auto newest_first = [](auto& list) {
    const auto age = [](const auto& one) { return std::tuple(one.created(), kube::revision(one.object), one.name()); };
    std::ranges::sort(list, [&](const auto& a, const auto& b) { return age(b) < age(a); });
  };
  newest_first(releases);
  newest_first(promotions);
  newest_first(approvals);
  newest_first(holds);
  newest_first(freezes);
}

json::Value Scene::find(const json::Value& reference) const {
  const auto is_it = [&](const kube::Object& one) {
    return kube::name(one) == reference["name"].as_string() && kube::kind(one) == reference["kind"].as_string();
  };
  const std::string_view ns_wanted = reference["namespace"].as_string();
  if (ns_wanted != ns()) return {};
  if (is_it(object)) return object;
  json::Value found;
  const auto look_in = [&](const auto& list) {
    for (const auto& one : list) {
      if (found.is_null() && is_it(one.object)) found = one.object;
    }
  };
  look_in(releases);
  look_in(promotions);
  look_in(approvals);
  look_in(holds);
  look_in(freezes);
  return found;
}

std::vector<json::Value> Scene::owned_by(const json::Value& /*owner*/, const kube::GroupVersionKind& /*kind*/) const {
  return {};
}

const Environment* Scene::find_environment(std::string_view wanted) const {
  const auto at = std::ranges::find(spec.environments, wanted, &Environment::name);
  return at == spec.environments.end() ? nullptr : &*at;
}

std::string Scene::environment_names() const {
  std::vector<std::string> all;
  for (const Environment& one : spec.environments) all.push_back(one.name);
  return joined(all, ", ");
}

std::vector<std::string> Scene::before(std::string_view environment) const { return environments_before(spec, environment); }

EnvironmentStatus Scene::status_of(const std::string& environment) const {
  const auto at = status.environments.find(environment);
  return at == status.environments.end() ? EnvironmentStatus{} : at->second;
}

const Read<ReleaseSpec>* Scene::find_release(std::string_view wanted) const {
  const auto at = std::ranges::find(releases, wanted, [](const Read<ReleaseSpec>& one) { return one.name(); });
  return at == releases.end() ? nullptr : &*at;
}

const Read<ReleaseSpec>* Scene::release_of(const VersionStatus& version) const {
  for (const Read<ReleaseSpec>& one : releases) {
    if (order(one.spec.version, version.text, one.spec.digest, version.digest) == Order::Same) return &one;
  }
  return nullptr;
}

const Read<ReleaseSpec>* Scene::release_in(const std::string& environment) const {
  const EnvironmentStatus there = status_of(environment);
  return there.version ? release_of(*there.version) : nullptr;
}

std::string Scene::version_of(std::string_view release) const {
  const Read<ReleaseSpec>* found = find_release(release);
  return found == nullptr ? std::string(release) : found->spec.version;
}

std::vector<const ReadPromotion*> Scene::promotions_into(std::string_view environment) const {
  std::vector<const ReadPromotion*> found;
  for (const ReadPromotion& one : promotions) {
    if (one.spec.environment == environment) found.push_back(&one);
  }
  return found;
}

std::vector<const Read<HoldSpec>*> Scene::holds_on(std::string_view environment) const {
  std::vector<const Read<HoldSpec>*> found;
  for (const Read<HoldSpec>& one : holds) {
    const bool is_over = one.spec.until && *one.spec.until <= now_;
    if (!is_over && names(one.spec.environments, environment)) found.push_back(&one);
  }
  return found;
}

std::vector<const Read<FreezeSpec>*> Scene::freezes_on(std::string_view environment) const {
  std::vector<const Read<FreezeSpec>*> found;
  for (const Read<FreezeSpec>& one : freezes) {
    const bool is_now = (!one.spec.from || *one.spec.from <= now_) && (!one.spec.until || now_ < *one.spec.until);
    if (is_now && names(one.spec.pipelines, name()) && names(one.spec.environments, environment)) found.push_back(&one);
  }
  return found;
}

}  // namespace slipway::delivery::pipeline
