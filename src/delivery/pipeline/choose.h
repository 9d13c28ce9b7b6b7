// What the commands that change something mean: which release is to be promoted or comes back, which promotion an approval is
// about, in which attempt. Pure: a scene in, an object to create out, or a refusal that says what there is and what to do.
#pragma once

#include <string>
#include <vector>

#include "delivery/pipeline/scene.h"

namespace slipway::delivery::pipeline {

/// What was asked for; empty is the obvious one.
struct Wish {
  std::string environment{};
  std::string release{};  // by name
  std::string version{};
};

struct PromotionPlan {
  std::string name{};
  PromotionSpec spec{};
  std::string version{};
  /// It is under way, and only skipGates is new.
  bool is_there = false;
  /// What it will wait for.
  std::vector<std::string> notes{};
};

enum class Gates : bool { asked, skipped };

/// Of the release that all environments before have settled at, unless another is named. Refused: what runs there already,
/// what is older (that is a rollback), what was rejected and not lifted, what is under way.
Result<PromotionPlan> plan_promotion(const Scene& scene, const Wish& wish, Gates gates);
/// To the release that ran there before, unless another is named.
Result<PromotionPlan> plan_rollback(const Scene& scene, const Wish& wish);

/// What `approve` and `reject` are about: the newest promotion into the environment that waits, or the release that is named,
/// which may come yet. `gate` must be an approval gate of the environment, if it is given.
Result<ApprovalSpec> plan_approval(const Scene& scene, const Wish& wish, const std::string& gate);
/// What `lift` is about: the newest rejection in the environment that stands.
Result<ApprovalSpec> plan_lift(const Scene& scene, const Wish& wish);

/// BadRequest with the environments that there are.
Result<const Environment*> environment_of(const Scene& scene, const std::string& name, const char* option);

/// "podinfo-prod-x7k2p", at most 63 characters.
std::string object_name(const std::string& prefix, const std::string& suffix);

}  // namespace slipway::delivery::pipeline
