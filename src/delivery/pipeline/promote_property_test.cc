// Promotions over random small worlds: environments in a line or a graph, with gates, whose agents fail and whose people hold,
// freeze, refuse and revert, and a controller that dies between any two of its writes. Whatever happens: no change is made
// twice, backwards, past a gate or an environment, against a rejection, or while an object forbids it; and once nothing stands
// in the way, the newest release gets everywhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "delivery/pipeline/promote_world_test.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

using gate::Verdict;
using std::chrono::minutes;

class RandomWorld {
 public:
  explicit RandomWorld(std::uint64_t seed) : random_(seed), world_(names(2 + seed % 3), 1 + static_cast<int>(seed % 2)) {
    const std::size_t count = world_.in.spec.environments.size();
    for (std::size_t i = 0; i < count; ++i) {
      Environment& one = world_.in.spec.environments[i];
      if (i >= 2 && is(3)) one.depends_on = std::vector<std::string>{names(count)[i - 2], names(count)[i - 1]};
      if (is(4)) one.gates.push_back(gate("in", "before"));
      if (is(4)) one.gates.push_back(gate("out", "after"));
      if (is(6)) one.soak = minutes{3};
      if (i > 0 && is(5)) {
        one.promotion = world_.in.spec.promotion;
        one.promotion->is_manual = true;
      }
    }
  }

  /// Empty while all that must hold holds.
  std::string play(int moves) {
    for (int i = 0; i < moves && fault_.empty(); ++i) {
      disturb();
      look(is(5));
      note();
    }
    return fault_;
  }

  /// Nothing stands in the way any more, and a newest release comes.
  std::string finish() {
    world_.in.holds.clear();
    world_.in.freezes.clear();
    world_.in.spec.is_suspended = false;
    are_gates_good_ = true;
    const std::string last = fmt::format("{}.0.0", ++major_);
    for (int round = 0; round < 20 && !is_everywhere(last) && fault_.empty(); ++round) {
      world_.advance(minutes{2});
      for (const Environment& one : world_.in.spec.environments) {
        const bool is_first = upstream_of(world_.in.spec, index(one.name)).empty();
        if (is_first && world_.runs(one.name) != last) world_.settle(one.name, last);
        bring_up(one.name);
        if (world_.release(last) != "none") lift_and_approve(one.name, last);
      }
      for (int i = 0; i < 4; ++i) {
        look(false);
        for (const Environment& one : world_.in.spec.environments) bring_up(one.name);
      }
      note();
    }
    for (const Environment& one : world_.in.spec.environments) {
      if (world_.runs(one.name) == last || !fault_.empty()) continue;
      const KnownPromotion* stuck = world_.find(one.name, last);
      for (const KnownPromotion& promotion : world_.in.promotions) {
        if (promotion.spec.environment != one.name) continue;
        const auto release = std::ranges::find(world_.in.releases, promotion.spec.release, &Known<ReleaseSpec>::name);
        fmt::print("{} {} {} by {}: {} {} lifted {}: {}\n", promotion.name, release->spec.version,
                   json::enum_name(promotion.spec.action), promotion.spec.by ? promotion.spec.by->user : "",
                   json::enum_name(promotion.status.phase), promotion.status.reason, promotion.status.is_lifted,
                   promotion.status.text);
      }
      fault_ = fmt::format("{} runs {} and not {}: {} {}", one.name, world_.runs(one.name), last, world_.state(one.name, last),
                           stuck == nullptr ? "" : stuck->status.text);
    }
    return fault_;
  }

 private:
  bool is_everywhere(const std::string& version) const {
    return std::ranges::all_of(world_.in.spec.environments,
                               [&](const Environment& one) { return world_.runs(one.name) == version; });
  }

  static std::vector<std::string> names(std::size_t count) {
    std::vector<std::string> all = {"a", "b", "c", "d"};
    all.resize(count);
    return all;
  }
  static gate::GateSpec gate(const std::string& name, const std::string& at) {
    gate::GateSpec made;
    made.name = name;
    made.at = at;
    made.webhook = gate::WebhookGate{};
    return made;
  }

  std::uint64_t below(std::uint64_t most) { return random_() % most; }
  bool is(std::uint64_t one_in) { return below(one_in) == 0; }
  std::size_t index(const std::string& name) const { return static_cast<std::size_t>(name.front() - 'a'); }
  Environment& any() { return world_.in.spec.environments[below(world_.in.spec.environments.size())]; }
  std::string any_version() {
    if (world_.in.releases.empty()) return "1.0.0";
    return world_.in.releases[below(world_.in.releases.size())].spec.version;
  }
  void fail_with(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
  }

  void disturb() {
    world_.advance(std::chrono::seconds{1 + below(90)});
    const std::string name = any().name;
    switch (below(15)) {
      case 0:
      case 1:
        for (const Environment& one : world_.in.spec.environments) {
          const bool is_first = upstream_of(world_.in.spec, index(one.name)).empty();
          if (is_first && is(2)) world_.settle(one.name, fmt::format("{}.{}.0", major_, ++minor_));
        }
        break;
      case 2:
        world_.hold(is(2) ? name : "");
        break;
      case 3:
        world_.in.holds.clear();
        break;
      case 4:
        world_.freeze({.until = world_.now() + minutes{below(10)}});
        break;
      case 5:
        world_.in.spec.is_suspended = is(3);
        break;
      case 6:
        world_.say(name, any_version(), is(4) ? "reject" : "approve", is(2) ? "ann" : "bob");
        break;
      case 7:
        world_.say(name, any_version(), "lift");
        break;
      case 8:
        if (is(2)) world_.ask_for(name, any_version(), is(2) ? PromotionAction::Rollback : PromotionAction::Promote);
        break;
      case 9:
        spoil(name);
        break;
      case 10:
        if (is(4)) world_.settle(name, any_version());  // by hand
        break;
      default:
        bring_up(name);
    }
  }

  /// An agent fails, goes back, or is out of sight.
  void spoil(const std::string& name) {
    TargetStatus& target = world_.target(name, 0);
    constexpr State kStates[] = {State::RolledBack, State::Failed, State::Unreachable, State::Progressing, State::Absent};
    target.state = kStates[below(std::size(kStates))];
    target.is_ready = false;
    target.since = world_.now();
    if (const auto wanted = git_.find(name); wanted != git_.end()) target.attempted.text = wanted->second;
    world_.count(name);
  }

  /// The agent brings up what is in git, or what runs.
  void bring_up(const std::string& name) {
    const auto wanted = git_.find(name);
    std::string version = wanted != git_.end() ? wanted->second : world_.runs(name);
    if (version == "mixed") version = world_.target(name, 0).running.text;
    if (world_.runs(name) != version || world_.target(name, 0).state != State::Settled) world_.settle(name, version);
    git_.erase(name);
  }

  void lift_and_approve(const std::string& name, const std::string& version) {
    const KnownPromotion* last = world_.find(name, version);
    if (last != nullptr && last->status.phase == Phase::Rejected && !last->status.is_lifted) world_.say(name, version, "lift");
    world_.say(name, version, "approve");
    for (const KnownPromotion& one : world_.in.promotions) {
      const bool is_back = one.spec.environment == name && one.spec.action == PromotionAction::Rollback;
      if (is_back && !one.status.is_lifted) world_.say(name, version, "lift");
      const bool is_old =
          one.spec.environment == name && one.spec.by && is_live(one.status) && one.spec.release != world_.release(version);
      if (is_old) {
        Known<ApprovalSpec> no{
            .name = fmt::format("no-{}", world_.in.approvals.size()), .spec = {}, .created = world_.now(), .revision = 0};
        no.spec.environment = name;
        no.spec.release = one.spec.release;
        no.spec.decision = "reject";
        world_.in.approvals.push_back(no);
      }
    }
  }

  /// What was once true of an environment and a release.
  void note() {
    for (const Environment& one : world_.in.spec.environments) {
      const EnvironmentStatus& status = world_.in.status.environments[one.name];
      if (status.version && status.ready_count == status.target_count) settled_.insert({one.name, status.version->text});
      int live = 0;
      for (const KnownPromotion& promotion : world_.in.promotions) {
        const bool is_ours = promotion.spec.environment == one.name && !promotion.spec.by;
        live += is_ours && is_live(promotion.status) ? 1 : 0;
      }
      if (live > 1) fail_with(fmt::format("{} live promotions into {}", live, one.name));
    }
  }

  /// A pass of the controller; one that dies writes only some of it down.
  void look(bool dies) {
    note();
    const PromotionDecision decision = decide(world_.in);
    std::uint64_t left = dies ? below(4) : 1000;
    for (const NextStatus& one : decision.statuses) {
      if (left-- == 0) return;
      std::ranges::find(world_.in.promotions, one.name, &KnownPromotion::name)->status = one.status;
    }
    for (const NewRelease& one : decision.releases) {
      if (left-- == 0) return;
      world_.in.releases.push_back({.name = one.name, .spec = one.spec, .created = world_.now(), .revision = ++revision_});
    }
    for (const NewPromotion& one : decision.promotions) {
      if (left-- == 0) return;
      KnownPromotion made;
      made.name = one.name;
      made.spec = one.spec;
      made.created = world_.now();
      made.revision = ++revision_;
      const bool is_twice =
          std::ranges::find(world_.in.promotions, one.name, &KnownPromotion::name) != world_.in.promotions.end();
      if (is_twice) fail_with("created twice: " + one.name);
      world_.in.promotions.push_back(std::move(made));
    }
    for (const PromotionEffect& one : decision.effects) {
      if (left-- == 0) return;
      carry_out(one, left > 0);
    }
  }

  void carry_out(const PromotionEffect& effect, bool is_recorded) {
    KnownPromotion& promotion = *std::ranges::find(world_.in.promotions, effect.promotion, &KnownPromotion::name);
    const std::string& name = promotion.spec.environment;
    const auto release = std::ranges::find(world_.in.releases, promotion.spec.release, &Known<ReleaseSpec>::name);
    if (effect.kind == PromotionEffect::Kind::Ask) {
      probe::Answer answer;
      const std::uint64_t roll = are_gates_good_ ? 0 : below(6);
      answer.verdict.kind = roll < 3 ? Verdict::Kind::Pass : roll < 5 ? Verdict::Kind::Wait : Verdict::Kind::Fail;
      if (!is_recorded) return;
      if (answer.verdict.kind == Verdict::Kind::Pass) passed_.insert({promotion.name, effect.gate});
      if (answer.verdict.kind == Verdict::Kind::Fail) failed_.insert(promotion.name);
      const auto& gates = world_.environment(name).gates;
      take_answer(promotion.status, *std::ranges::find(gates, effect.gate, &gate::GateSpec::name), answer, world_.now());
      return;
    }
    ChangeResult result = ChangeState{};
    if (!are_gates_good_ && is(6)) {
      result = std::unexpected(ChangeFailure{PromotionCause::PushFailed, fail(Reason::Timeout, "").error()});
    } else if (made_.insert(promotion.name).second) {
      check_change(promotion, release->spec.version);
      git_[name] = release->spec.version;
    }
    if (is_recorded) take_change(promotion.status, effect.kind, result, world_.now());
  }

  /// Looked at when a change is really made.
  void check_change(const KnownPromotion& promotion, const std::string& version) {
    const std::string& name = promotion.spec.environment;
    const bool goes_back = promotion.spec.action == PromotionAction::Rollback;
    const auto tell = [&](std::string_view what) { fail_with(fmt::format("{} into {}: {}", version, name, what)); };
    if (world_.in.spec.is_suspended) tell("while suspended");
    for (const auto& hold : world_.in.holds) {
      const auto& of = hold.spec.environments;
      if (of.empty() || std::ranges::find(of, name) != of.end()) tell("while held");
    }
    for (const auto& freeze : world_.in.freezes) {
      if (world_.now() < *freeze.spec.until) tell("while frozen");
    }
    for (const TargetStatus& target : world_.in.status.environments[name].targets) {
      if (!goes_back && order(version, target.running.text) == Order::Newer) tell("backwards");
    }
    for (const KnownPromotion& one : world_.in.promotions) {
      const bool is_same =
          one.spec.environment == name && one.spec.release == promotion.spec.release && one.name != promotion.name;
      if (is_same && one.status.phase == Phase::Rejected && !one.status.is_lifted) tell("though it was rejected");
    }
    if (failed_.contains(promotion.name)) tell("past a gate that failed");
    if (goes_back) return;
    for (const gate::GateSpec& one : world_.environment(name).gates) {
      if (one.at == "before" && !passed_.contains({promotion.name, one.name})) tell("past a gate that has not passed");
    }
    for (const std::string& before : upstream_of(world_.in.spec, index(name))) check_upstream(before, promotion, version);
  }

  void check_upstream(const std::string& before, const KnownPromotion& promotion, const std::string& version) {
    const std::string into = promotion.spec.environment;
    if (!settled_.contains({before, version})) fail_with(fmt::format("{} into {} before it was in {}", version, into, before));
    bool has_left = world_.environment(before).gates.empty() || world_.environment(before).gates.back().at != "after";
    for (const KnownPromotion& one : world_.in.promotions) {
      const bool is_there = one.spec.environment == before && one.spec.release == promotion.spec.release;
      has_left |= is_there && passed_.contains({one.name, "out"}) && !failed_.contains(one.name);
    }
    if (!has_left) fail_with(fmt::format("{} into {} past a gate of {}", version, into, before));
  }

  std::mt19937_64 random_;
  PromoteWorld world_;
  std::string fault_;
  std::map<std::string, std::string> git_;
  std::set<std::string> made_;
  std::set<std::pair<std::string, std::string>> passed_;
  std::set<std::string> failed_;
  std::set<std::pair<std::string, std::string>> settled_;
  kube::Revision revision_ = 1000;
  int major_ = 1;
  int minor_ = 0;
  bool are_gates_good_ = false;
};

TEST(PromoteProperties, hold_whatever_happens) {
  const char* asked = std::getenv("SLIPWAY_PROMOTE_SEEDS");
  const std::uint64_t count = asked == nullptr ? 40 : std::strtoull(asked, nullptr, 10);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    if (const char* only = std::getenv("SLIPWAY_PROMOTE_SEED"); only != nullptr && seed != std::strtoull(only, nullptr, 10)) {
      continue;
    }
    RandomWorld world(seed);
    ASSERT_EQ(world.play(120), "") << "seed " << seed;
    ASSERT_EQ(world.finish(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace slipway::delivery::pipeline
