#include "delivery/pipeline/promote_world_test.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "delivery/pipeline/image.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

Time first_moment() { return parse_rfc3339("2026-03-02T10:00:00Z").value(); }

}  // namespace

PromoteWorld::PromoteWorld(const std::vector<std::string>& environments, int targets) {
  in.pipeline = "web";
  in.uid = "uid-1";
  in.generation = in.status.observed_generation = 1;
  in.now = Now(first_moment());
  in.spec.app = {.api_version = "", .kind = "HelmRelease", .name = "web"};
  in.spec.promotion = Promotion{};
  in.spec.promotion->strategy = Strategy{};
  in.spec.promotion->strategy->commit =
      CommitStrategy{.url = "https://git.test/config.git", .base_branch = "main", .secret = std::nullopt};
  in.zones["UTC"] = Zone();
  for (const std::string& name : environments) {
    Environment made;
    made.name = name;
    for (int i = 0; i < targets; ++i) made.targets.push_back({.ns = name + std::to_string(i), .cluster = std::nullopt});
    in.spec.environments.push_back(std::move(made));
    settle(name, "1.0.0");
  }
}

Environment& PromoteWorld::environment(const std::string& name) {
  return *std::ranges::find(in.spec.environments, name, &Environment::name);
}

void PromoteWorld::settle(const std::string& name, const std::string& version, const std::string& digest) {
  EnvironmentStatus& status = in.status.environments[name];
  status.targets.clear();
  for (const Target& one : environment(name).targets) {
    TargetStatus target;
    target.app = {.api_version = "", .kind = "HelmRelease", .name = "web", .cluster = std::nullopt};
    target.ns = one.ns;
    target.is_ready = true;
    target.revision = version;
    target.state = State::Settled;
    target.since = now();
    target.specified = target.attempted = target.running = {.text = version, .digest = digest, .time = std::nullopt};
    status.targets.push_back(std::move(target));
  }
  count(name);
}

TargetStatus& PromoteWorld::target(const std::string& environment, std::size_t index) {
  return in.status.environments[environment].targets[index];
}

void PromoteWorld::count(const std::string& name) {
  EnvironmentStatus& status = in.status.environments[name];
  status.states.clear();
  status.versions.clear();
  status.target_count = static_cast<std::int64_t>(status.targets.size());
  status.ready_count = 0;
  status.version.reset();
  bool is_one = !status.targets.empty();
  for (const TargetStatus& target : status.targets) {
    ++status.states[std::string(json::enum_name(target.state))];
    ++status.versions[target.running.text];
    status.ready_count += target.is_ready ? 1 : 0;
    is_one &= target.state == State::Settled && target.running == status.targets.front().running;
  }
  if (is_one) status.version = status.targets.front().running;
}

void PromoteWorld::follow() {
  for (const auto& [name, version] : committed) {
    if (in.status.environments[name].version != std::nullopt && runs(name) == version) continue;
    settle(name, version);
  }
  committed.clear();
}

std::string PromoteWorld::runs(const std::string& environment) const {
  const auto at = in.status.environments.find(environment);
  return at->second.version ? at->second.version->text : "mixed";
}

const std::string& PromoteWorld::release(const std::string& version) const {
  static const std::string kNone = "none";
  const auto at = std::ranges::find_if(in.releases, [&](const Known<ReleaseSpec>& one) { return one.spec.version == version; });
  return at == in.releases.end() ? kNone : at->name;
}

void PromoteWorld::say(const std::string& environment, const std::string& version, const std::string& decision,
                       const std::string& user, const std::string& gate) {
  Known<ApprovalSpec> said{.name = "said-" + std::to_string(next_revision_), .spec = {}, .created = now(), .revision = 0};
  said.revision = next_revision_++;
  said.spec.pipeline = in.pipeline;
  said.spec.environment = environment;
  said.spec.release = release(version);
  said.spec.gate = gate;
  said.spec.decision = decision;
  if (!user.empty()) said.spec.by = Author{.user = user, .groups = {}, .time = now()};
  in.approvals.push_back(std::move(said));
}

void PromoteWorld::ask_for(const std::string& environment, const std::string& version, PromotionAction action, bool skips) {
  KnownPromotion made;
  made.spec.pipeline = in.pipeline;
  made.spec.environment = environment;
  made.spec.release = release(version);
  made.spec.action = action;
  made.spec.skips_gates = skips;
  made.spec.by = Author{.user = "olga", .groups = {}, .time = now()};
  for (const KnownPromotion& one : in.promotions) {
    const bool is_same = one.spec.environment == environment && one.spec.release == made.spec.release;
    if (is_same) made.spec.attempt = std::max(made.spec.attempt, one.spec.attempt + 1);
  }
  made.name = promotion_name(in.pipeline, in.uid, environment, made.spec.release, made.spec.attempt);
  made.created = now();
  made.revision = next_revision_++;
  in.promotions.push_back(std::move(made));
}

void PromoteWorld::hold(const std::string& environment) {
  Known<HoldSpec> made{.name = "pause", .spec = {}, .created = now(), .revision = next_revision_++};
  made.spec.pipeline = in.pipeline;
  if (!environment.empty()) made.spec.environments = {environment};
  in.holds.push_back(std::move(made));
}

void PromoteWorld::freeze(FreezeSpec spec) {
  in.freezes.push_back({.name = "holidays", .spec = std::move(spec), .created = now(), .revision = next_revision_++});
}

bool PromoteWorld::step() {
  const PromotionDecision decision = decide(in);
  for (const NextStatus& one : decision.statuses) {
    std::ranges::find(in.promotions, one.name, &KnownPromotion::name)->status = one.status;
  }
  for (const NewRelease& one : decision.releases) {
    in.releases.push_back({.name = one.name, .spec = one.spec, .created = now(), .revision = next_revision_++});
  }
  for (const NewPromotion& one : decision.promotions) {
    KnownPromotion made;
    made.name = one.name;
    made.spec = one.spec;
    made.created = now();
    made.revision = next_revision_++;
    EXPECT_EQ(std::ranges::find(in.promotions, one.name, &KnownPromotion::name), in.promotions.end()) << one.name;
    in.promotions.push_back(std::move(made));
  }
  for (const FreezeWarning& one : decision.warnings) warnings.push_back(one.text);
  bool is_answered = false;
  for (const PromotionEffect& one : decision.effects) {
    const auto at = std::ranges::find(in.promotions, one.promotion, &KnownPromotion::name);
    const json::Value before = json::encode(at->status);
    carry_out(one);
    is_answered |= json::encode(at->status) != before;
  }
  last_next = decision.next ? to_rfc3339(*decision.next) : "";
  return is_answered || !decision.statuses.empty() || !decision.releases.empty() || !decision.promotions.empty();
}

void PromoteWorld::carry_out(const PromotionEffect& effect) {
  KnownPromotion& promotion = *std::ranges::find(in.promotions, effect.promotion, &KnownPromotion::name);
  if (effect.kind == PromotionEffect::Kind::Ask) {
    const auto gates = environment(promotion.spec.environment).gates;
    const auto gate = std::ranges::find(gates, effect.gate, &gate::GateSpec::name);
    probe::Answer answer;
    answer.verdict = gate_answers ? gate_answers(promotion, effect.gate) : gate::Verdict{};
    take_answer(promotion.status, *gate, answer, now());
    return;
  }
  ChangeResult result = ChangeState{};
  if (strategy) result = strategy(effect.kind, promotion);
  const bool was_in = promotion.status.change_in.has_value();
  take_change(promotion.status, effect.kind, result, now());
  if (was_in || !promotion.status.change_in) return;
  const auto release = std::ranges::find(in.releases, promotion.spec.release, &Known<ReleaseSpec>::name);
  committed[promotion.spec.environment] = release->spec.version;
  changes.push_back(promotion.spec.environment + " " + release->spec.version);
}

void PromoteWorld::run() {
  for (int i = 0; i < 200; ++i) {
    const bool is_decided = step();
    const bool is_followed = follows && !committed.empty();
    if (is_followed) follow();
    if (!is_decided && !is_followed) return;
  }
  ADD_FAILURE() << "decisions without end";
}

void PromoteWorld::advance(Duration time) { in.now = Now(in.now.time() + time); }

const KnownPromotion* PromoteWorld::find(const std::string& environment, const std::string& version) const {
  const KnownPromotion* found = nullptr;
  for (const KnownPromotion& one : in.promotions) {
    const bool is_same = one.spec.environment == environment && one.spec.release == release(version);
    if (is_same && (found == nullptr || found->spec.attempt < one.spec.attempt)) found = &one;
  }
  return found;
}

std::string PromoteWorld::state(const std::string& environment, const std::string& version) const {
  const KnownPromotion* found = find(environment, version);
  if (found == nullptr) return "";
  return std::string(json::enum_name(found->status.phase)) + " " + found->status.reason;
}

}  // namespace slipway::delivery::pipeline
