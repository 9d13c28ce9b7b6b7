// A small world for decide(): environments whose targets are set by hand, agents and strategies that do what they are told, and
// a controller that carries decisions out at once. Shared by the tests of promotions.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "delivery/pipeline/change.h"
#include "delivery/pipeline/promote.h"
#include "delivery/pipeline/promote_gates.h"

namespace slipway::delivery::pipeline {

class PromoteWorld {
 public:
  /// Environments in a line with so many targets each, all settled at 1.0.0.
  explicit PromoteWorld(const std::vector<std::string>& environments, int targets = 2);

  PromotionInput in{};

  /// All targets run it, ready.
  void settle(const std::string& environment, const std::string& version, const std::string& digest = "");
  /// The agents do what was committed last.
  void follow();
  TargetStatus& target(const std::string& environment, std::size_t index);
  /// Works the counts out anew after targets were changed by hand.
  void count(const std::string& environment);

  Environment& environment(const std::string& name);
  void say(const std::string& environment, const std::string& version, const std::string& decision,
           const std::string& user = "ann", const std::string& gate = "");
  void ask_for(const std::string& environment, const std::string& version, PromotionAction action = PromotionAction::Promote,
               bool skips = false);
  void hold(const std::string& environment = "");
  void freeze(FreezeSpec spec);
  const std::string& release(const std::string& version) const;

  /// One look, carried out. False: nothing was decided.
  bool step();
  /// Until nothing is decided any more; agents follow when `follows`.
  void run();
  void advance(Duration time);

  /// "Waiting ApprovalMissing" of the newest promotion of the version; "" when there is none.
  std::string state(const std::string& environment, const std::string& version) const;
  const KnownPromotion* find(const std::string& environment, const std::string& version) const;
  std::string runs(const std::string& environment) const;
  Time now() const { return in.now.time(); }

  /// How strategies answer; absent: commit is made at once.
  std::function<ChangeResult(PromotionEffect::Kind kind, const KnownPromotion& promotion)> strategy{};
  /// How gates answer; absent: they wait.
  std::function<gate::Verdict(const KnownPromotion& promotion, const std::string& gate)> gate_answers{};
  bool follows = true;
  std::map<std::string, std::string> committed{};  // by environment
  std::vector<std::string> changes{};              // "prod 1.1.0", each time a change was made
  std::vector<std::string> warnings{};
  std::string last_next{};

 private:
  void carry_out(const PromotionEffect& effect);
  kube::Revision next_revision_ = 1;
};

}  // namespace slipway::delivery::pipeline
