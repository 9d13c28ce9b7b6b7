#include "delivery/pipeline/promotion_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/events.h"
#include "control/object_writes.h"
#include "delivery/pipeline/author.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promote_gates.h"
#include "delivery/pipeline/protected.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Outcome;
using json::Value;

constexpr const char* kPromotionsByPipeline = "promotion-pipeline";
/// A pull request is not looked at more often, unless a webhook spoke of its pipeline.
constexpr Duration kLookPause = std::chrono::seconds{10};

std::string index_key(std::string_view ns, std::string_view pipeline) { return fmt::format("{}/{}", ns, pipeline); }

Value object_of(const kube::GroupVersionKind& kind, const std::string& name, const kube::Object& pipeline, Value spec,
                std::string_view environment) {
  // A name may be longer than a label's value.
  Value labels = Value::empty_object();
  if (kube::name(pipeline).size() <= kMostLabelBytes) labels = labels.with(kPipelineLabel, kube::name(pipeline));
  if (!environment.empty() && environment.size() <= kMostLabelBytes) labels = labels.with(kEnvironmentLabel, environment);
  return json::object({{"apiVersion", kind.api_version()},
                       {"kind", kind.kind},
                       {"metadata", json::object({{"name", name},
                                                  {"namespace", kube::ns(pipeline)},
                                                  {"labels", std::move(labels)},
                                                  {"ownerReferences", json::array({kube::owner_reference(pipeline)})}})},
                       {"spec", std::move(spec)}});
}

/// "PromotionRejected"; nothing for a promotion that has not changed its phase.
std::string event_reason(const PromotionStatus& before, const PromotionStatus& after) {
  if (before.phase == after.phase || after.phase == Phase::Waiting || after.phase == Phase::Settling) return "";
  return fmt::format("Promotion{}", json::enum_name(after.phase));
}

}  // namespace

PromotionController::PromotionController(const ControllerContext& context, Changes& made_by,
                                         std::shared_ptr<ViewedPipelines> viewed)
    : env_(context.env),
      http_(context.http),
      acts_as_(context.acts_as),
      changes_(made_by),
      viewed_(std::move(viewed)),
      wall_(context.env.clock),
      access_(context.env) {}

control::Informer& PromotionController::follow(control::Watches& watches, const kube::Resource& resource) {
  control::Informer& cache = watches.also(resource, [](const Value& object) {
    return std::vector<Key>{{std::string(kube::ns(object)), object["spec"]["pipeline"].str()}};
  });
  cache.add_index(kPromotionsByPipeline, [](const Value& object) {
    return std::vector<std::string>{index_key(kube::ns(object), object["spec"]["pipeline"].as_string())};
  });
  return cache;
}

void PromotionController::watch(control::Watches& watches) {
  watches_ = &watches;
  if (viewed_) viewed_->tell(watches.enqueue());
  pipelines_ = &watches.primary(kPipelines);
  pipelines_->add_index(kProtectingByTarget, protected_targets);
  releases_ = &follow(watches, kReleases);
  promotions_ = &follow(watches, kPromotions);
  approvals_ = &follow(watches, kApprovals);
  // Also pipelines that a Hold or a Freeze does not name may deliver what it binds.
  holds_ = &watches.also(kHolds, [this](const Value& hold) { return pipelines_in(kube::ns(hold)); });
  freezes_ = &watches.changes(kFreezes, [this](const Value& before, const Value& after) {
    const kube::Object& freeze = after.is_null() ? before : after;
    const bool is_recorded_only = !before.is_null() && !after.is_null() &&
                                  kube::is_deleting(before) == kube::is_deleting(after) &&
                                  without_recorded_targets(before["spec"]) == without_recorded_targets(after["spec"]);
    return is_recorded_only ? std::vector<Key>{} : pipelines_in(kube::ns(freeze));
  });
}

std::vector<kube::ObjectKey> PromotionController::pipelines_in(std::string_view ns) const {
  std::vector<Key> keys;
  for (const Key& key : ns == kFreezesForAll ? pipelines_->keys() : pipelines_->keys(ns)) keys.push_back(key);
  return keys;
}

std::vector<kube::Object> PromotionController::of(control::Informer& cache, const Key& pipeline) const {
  return cache.index(kPromotionsByPipeline, index_key(pipeline.ns, pipeline.name));
}

Task<Outcome> PromotionController::reconcile(control::Reconcile& run) {
  const kube::Object pipeline = pipelines_->get(run.key);
  if (pipeline.is_null() || kube::is_deleting(pipeline)) {
    memory_.erase(run.key);
    if (pipeline.is_null()) co_return Outcome::settled();
    co_return co_await end(run, pipeline);
  }
  if (viewed_ && !viewed_->contains(pipeline)) co_return Outcome::settled();
  auto input = look(pipeline);
  if (!input) co_return Outcome::settled();
  Memory& memory = memory_[run.key];
  memory.written.clear();
  std::erase_if(memory.looked, [&](const auto& one) {
    const auto at = std::ranges::find(input->promotions, one.first, &KnownPromotion::name);
    return at == input->promotions.end() || !is_live(at->status);
  });
  auto recorded = co_await record_frozen(run, *input);
  if (auto looked = co_await load_protection(run, pipeline, *input); !looked) {
    co_return Outcome::failed(std::move(looked).error());
  }
  PromotionDecision decision = decide(*input);
  const std::vector<PromotionEffect> effects = decision.effects;
  const std::optional<Time> next = decision.next;
  auto written = co_await write(run, pipeline, *input, decision.statuses);
  if (!written) co_return Outcome::failed(std::move(written).error());
  for (NextStatus& one : decision.statuses) {
    std::ranges::find(input->promotions, one.name, &KnownPromotion::name)->status = one.status;
  }
  auto created = co_await create(run, pipeline, std::move(decision));
  if (!created) co_return Outcome::failed(std::move(created).error());
  for (const PromotionEffect& effect : effects) {
    auto done = co_await carry_out(run, pipeline, *input, effect);
    if (!done) co_return Outcome::failed(std::move(done).error());
  }
  memory_[run.key].written.clear();
  auto freed = co_await let_go(run, pipeline, *input);
  if (freed) freed = co_await prune(run, pipeline, retired_releases(*input));
  if (!freed) co_return Outcome::failed(std::move(freed).error());
  if (!recorded) co_return Outcome::failed(std::move(recorded).error());
  if (!next) co_return Outcome::settled();
  co_return Outcome::retries_after(std::max<Duration>(*next - wall_.now().time(), std::chrono::milliseconds{1}));
}

/// A look that found an old cache fails here, and is made again.
Task<Result<void>> PromotionController::write(control::Reconcile& run, kube::Object pipeline, const PromotionInput& input,
                                              std::vector<NextStatus> statuses) {
  for (const NextStatus& one : statuses) {
    const auto before = std::ranges::find(input.promotions, one.name, &KnownPromotion::name);
    SLIPWAY_CO_TRY_VOID(co_await store(run, one.name, one.status));
    const std::string reason = event_reason(before->status, one.status);
    if (reason.empty()) continue;
    const bool is_bad = one.status.phase == Phase::Rejected;
    const std::string text = fmt::format("Promotion {} into {}: {}", one.name, before->spec.environment, one.status.text);
    co_await tell(run, pipeline, is_bad ? "Warning" : "Normal", reason, one.name, text);
  }
  co_return Result<void>{};
}

kube::Object PromotionController::promotion_object(const Key& pipeline, const std::string& name) const {
  if (const auto known = memory_.find(pipeline); known != memory_.end()) {
    const auto newer = known->second.written.find(name);
    if (newer != known->second.written.end()) return newer->second;
  }
  return promotions_->get({pipeline.ns, name});
}

Task<Result<void>> PromotionController::store(control::Reconcile& run, std::string name, PromotionStatus status) {
  const kube::Object object = promotion_object(run.key, name);
  if (object.is_null()) co_return Result<void>{};
  auto stored = co_await control::write_status(run.client, kPromotions, object, json::encode(status), kPromotionManager);
  if (!stored && stored.error().reason == Reason::NotFound) co_return Result<void>{};
  if (!stored) co_return fail(std::move(stored).error());
  memory_[run.key].written[name] = std::move(*stored);
  co_return Result<void>{};
}

Task<Result<void>> PromotionController::create(control::Reconcile& run, kube::Object pipeline, PromotionDecision decision) {
  for (const NewRelease& one : decision.releases) {
    auto made = co_await client::create(
        run.client, kReleases, object_of(kReleaseKind, one.name, pipeline, json::encode(one.spec), ""), kPromotionManager);
    if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  }
  for (const NewPromotion& one : decision.promotions) {
    const Value object = object_of(kPromotionKind, one.name, pipeline, json::encode(one.spec), one.spec.environment);
    auto made = co_await client::create(run.client, kPromotions, object, kPromotionManager);
    if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  }
  for (const FreezeWarning& one : decision.warnings) {
    co_await tell(run, pipeline, "Warning", "ChangedWhileFrozen", one.promotion, one.text);
  }
  co_return Result<void>{};
}

/// The first time at once; then a pull request is asked about now and then.
bool PromotionController::is_due(const kube::Object& pipeline, const KnownPromotion& promotion,
                                 const PromotionEffect& effect) const {
  const bool is_look = promotion.status.strategy == "pull-request" && !promotion.status.pull_request.empty() &&
                       effect.kind != PromotionEffect::Kind::Withdraw;
  const auto known = memory_.find(kube::key_of(pipeline));
  if (known == memory_.end()) return true;
  const auto& looked = known->second.looked;
  const auto last = looked.find(promotion.name);
  const bool is_news = last == looked.end() || last->second.second != kube::annotation(pipeline, kHookAnnotation) ||
                       last->second.first + kLookPause <= env_.clock.steady() ||
                       effect.is_frozen != promotion.status.is_marked_frozen;
  return !is_look || is_news;
}

Task<Result<void>> PromotionController::carry_out(control::Reconcile& run, kube::Object pipeline, PromotionInput input,
                                                  PromotionEffect effect) {
  const auto at = std::ranges::find(input.promotions, effect.promotion, &KnownPromotion::name);
  const auto where = std::ranges::find(input.spec.environments, at->spec.environment, &Environment::name);
  if (where == input.spec.environments.end()) co_return Result<void>{};
  PromotionStatus status = at->status;
  if (effect.kind == PromotionEffect::Kind::Ask) {
    const auto gate = std::ranges::find(where->gates, effect.gate, &gate::GateSpec::name);
    probe::Question question = question_for(input, run.key.ns, *where, *at, *gate);
    question.owner = kube::owner_reference(promotion_object(run.key, at->name));
    const probe::Answer answer =
        co_await probe::ask({env_, run.as(author_of(pipeline, acts_as_)), run.outgoing(http_)}, std::move(question));
    // Several gates may have answered since the status was read.
    if (const kube::Object newest = promotion_object(run.key, at->name); !newest["status"].is_null()) {
      SLIPWAY_CO_TRY(recorded, json::decode<PromotionStatus>(newest["status"], "status", {.allow_unknown = true}));
      status = std::move(recorded);
    }
    take_answer(status, *gate, answer, wall_.now().time());
    co_return co_await store(run, at->name, std::move(status));
  }
  if (!is_due(pipeline, *at, effect)) co_return Result<void>{};
  // The cache may be old: a change is made only for the promotion as it is now.
  SLIPWAY_CO_TRY(newest, co_await client::get(run.client, kPromotions, {run.key.ns, at->name}));
  if (kube::revision(newest) != kube::revision(promotion_object(run.key, at->name))) {
    co_return fail(kube::conflict(kPromotions, at->name, "it has changed since it was looked at"));
  }
  const bool may_open = effect.kind == PromotionEffect::Kind::Bring && at->status.strategy == "pull-request";
  if (may_open) SLIPWAY_CO_TRY_VOID(co_await keep_until_closed(run, run.key));
  memory_[run.key].looked[at->name] = {env_.clock.steady(), std::string(kube::annotation(pipeline, kHookAnnotation))};
  const auto release = std::ranges::find(input.releases, at->spec.release, &Known<ReleaseSpec>::name);
  if (release == input.releases.end()) co_return Result<void>{};
  ChangeOrder order{.key = at->name,
                    .pipeline = pipeline,
                    .environment = where->name,
                    .release = release->spec,
                    .promotion = at->spec,
                    .status = at->status,
                    .settings = promotion_of(input.spec, *where),
                    .is_frozen = effect.is_frozen};
  const ChangeResult result = co_await changes_.carry_out(
      {env_, run.client, run.as(author_of(pipeline, acts_as_)), run.outgoing(http_)}, effect.kind, std::move(order));
  take_change(status, effect.kind, result, wall_.now().time());
  SLIPWAY_CO_TRY_VOID(co_await store(run, at->name, status));
  const bool came_in = effect.is_frozen && result && result->stage == ChangeState::Stage::Made;
  if (came_in) {
    co_await tell(run, pipeline, "Warning", "ChangedWhileFrozen", at->name,
                  fmt::format("{} was merged into {} during a freeze", status.pull_request, where->name));
  }
  co_return Result<void>{};
}

/// Events are not waited for: what cannot be recorded is logged.
Task<> PromotionController::tell(control::Reconcile& run, kube::Object pipeline, std::string type, std::string reason,
                                 std::string about, std::string text) {
  control::EventText event;
  event.type = std::move(type);
  event.reason = std::move(reason);
  event.message = std::move(text);
  event.instance = std::move(about);
  auto told = co_await control::record_event(env_, run.client, pipeline, std::move(event), kPromotionManager);
  if (!told) env_.log.warn("an event was not recorded", {{"pipeline", run.key.to_string()}, {"error", told.error().message}});
}

}  // namespace slipway::delivery::pipeline
