#include "delivery/pipeline/choose.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

using ReleaseRef = const Read<ReleaseSpec>*;

std::unexpected<Status> refused(const Scene& scene, const std::string& why) {
  return fail(Reason::BadRequest, fmt::format("pipeline/{}: {}", scene.name(), why));
}

std::string release_list(const Scene& scene) {
  constexpr std::size_t kMost = 10;
  if (scene.releases.empty()) return "it has no releases yet";
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, scene.releases.size()); ++i) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", scene.releases[i].name(), scene.releases[i].spec.version);
  }
  if (scene.releases.size() > kMost) text += fmt::format(" and {} older ones", scene.releases.size() - kMost);
  return "its releases are " + text;
}

std::string versions_of(const EnvironmentStatus& status) {
  std::vector<std::string> versions;
  versions.reserve(status.versions.size());
  for (const auto& [version, count] : status.versions) {
    versions.push_back(fmt::format("{} on {}", version.empty() ? "nothing known" : version, count));
  }
  return versions.empty() ? "nothing is known of it" : joined(versions, ", ");
}

/// The release that was named; null when none was.
Result<ReleaseRef> named_release(const Scene& scene, const Wish& wish) {
  if (!wish.release.empty() && !wish.version.empty()) {
    return fail(Reason::BadRequest, "give one of --release and --version");
  }
  if (!wish.release.empty()) {
    if (ReleaseRef found = scene.find_release(wish.release)) return found;
    return refused(scene, fmt::format("it has no release {}: {}", wish.release, release_list(scene)));
  }
  if (wish.version.empty()) return nullptr;
  for (const Read<ReleaseSpec>& one : scene.releases) {
    if (one.spec.version == wish.version) return &one;
  }
  if (ReleaseRef found = scene.release_of({.text = wish.version})) return found;
  return refused(scene, fmt::format("it has no release of version {}: {}", wish.version, release_list(scene)));
}

/// What all environments before have settled at.
Result<ReleaseRef> candidate(const Scene& scene, const std::string& environment) {
  const std::vector<std::string> before = scene.before(environment);
  if (before.empty()) {
    return refused(scene, fmt::format("nothing comes before {}: say what with --release or --version; {}", environment,
                                      release_list(scene)));
  }
  ReleaseRef found = nullptr;
  for (const std::string& name : before) {
    const EnvironmentStatus status = scene.status_of(name);
    if (!status.version) {
      return refused(scene, fmt::format("{} has not settled at one version ({}): wait, or say what with --release or --version",
                                        name, versions_of(status)));
    }
    ReleaseRef one = scene.release_of(*status.version);
    if (one == nullptr) {
      return refused(scene, fmt::format("{} runs {}, of which there is no release yet: see that the controller runs", name,
                                        status.version->text));
    }
    if (found != nullptr && found->name() != one->name()) {
      return refused(scene, fmt::format("the environments before {} run different versions ({} and {}): say which with "
                                        "--release or --version",
                                        environment, found->spec.version, one->spec.version));
    }
    found = one;
  }
  return found;
}

std::vector<const ReadPromotion*> promotions_of(const Scene& scene, const std::string& environment,
                                                const std::string& release) {
  std::vector<const ReadPromotion*> found = scene.promotions_into(environment);
  std::erase_if(found, [&](const ReadPromotion* one) { return one->spec.release != release; });
  return found;
}

bool is_rejected(const ReadPromotion& one) { return one.status.phase == Phase::Rejected && !one.status.is_lifted; }

std::string phase_of(const ReadPromotion& one) {
  std::string text(json::enum_name(one.status.phase));
  if (!one.status.reason.empty()) text += fmt::format(", {}", one.status.reason);
  if (!one.status.text.empty()) text += fmt::format(": {}", one.status.text);
  return text;
}

std::vector<std::string> standstills(const Scene& scene, const std::string& environment) {
  std::vector<std::string> notes;
  if (scene.spec.is_suspended) notes.emplace_back("the pipeline is suspended: it waits until spec.suspend is false");
  for (const Read<HoldSpec>* one : scene.holds_on(environment)) {
    notes.push_back(fmt::format("{} is held: it waits for the end of hold/{}", environment, one->name()));
  }
  for (const Read<FreezeSpec>* one : scene.freezes_on(environment)) {
    notes.push_back(fmt::format("{} is frozen{}: it waits for the end of freeze/{}", environment,
                                one->spec.window ? " at times" : "", one->name()));
  }
  return notes;
}

PromotionPlan plan_of(const Scene& scene, const std::string& environment, const Read<ReleaseSpec>& release,
                      PromotionAction action) {
  PromotionPlan plan;
  plan.version = release.spec.version;
  plan.spec = {.pipeline = scene.name(),
               .environment = environment,
               .release = release.name(),
               .attempt = 1,
               .action = action,
               .comment = {},
               .by = {}};
  for (const ReadPromotion* one : promotions_of(scene, environment, release.name())) {
    plan.spec.attempt = std::max(plan.spec.attempt, one->spec.attempt + 1);
  }
  plan.name = promotion_name(scene.name(), kube::uid(scene.object), environment, release.name(), plan.spec.attempt);
  plan.notes = standstills(scene, environment);
  return plan;
}

Result<void> check_order(const Scene& scene, const std::string& environment, const Read<ReleaseSpec>& release) {
  const EnvironmentStatus there = scene.status_of(environment);
  if (!there.version) return {};
  switch (order(there.version->text, release.spec.version, there.version->digest, release.spec.digest)) {
    case Order::Same:
      return refused(scene, fmt::format("{} runs {} already", environment, there.version->text));
    case Order::Older:
      return refused(scene, fmt::format("{0} runs {1}, which is newer than {2}: to go back, slipway pipeline rollback {3} "
                                        "--environment {0} --release {4}",
                                        environment, there.version->text, release.spec.version, scene.name(), release.name()));
    case Order::Newer:
    case Order::Drifted:
    case Order::Unknown:
      return {};
  }
  return {};
}

/// The release that the environment has, or was about to have.
std::string present_release(const Scene& scene, const std::string& environment) {
  if (ReleaseRef there = scene.release_in(environment)) return there->name();
  for (const ReadPromotion* one : scene.promotions_into(environment)) {
    const bool has_begun = one->status.started || one->status.phase == Phase::Settling || one->status.phase == Phase::Succeeded;
    if (has_begun) return one->spec.release;
  }
  return {};
}

/// Of those that got in there, the one that was there last before the present one.
ReleaseRef release_before(const Scene& scene, const std::string& environment) {
  const std::string present = present_release(scene, environment);
  const ReadPromotion* last = nullptr;
  for (const ReadPromotion* one : scene.promotions_into(environment)) {
    const bool counts = one->status.phase == Phase::Succeeded && one->spec.release != present &&
                        scene.find_release(one->spec.release) != nullptr;
    if (counts && (last == nullptr || last->status.ended < one->status.ended)) last = one;
  }
  return last == nullptr ? nullptr : scene.find_release(last->spec.release);
}

}  // namespace

Result<const Environment*> environment_of(const Scene& scene, const std::string& name, const char* option) {
  if (name.empty()) {
    return refused(scene, fmt::format("say which environment with --{}: it has {}", option, scene.environment_names()));
  }
  if (const Environment* found = scene.find_environment(name)) return found;
  return refused(scene, fmt::format("it has no environment {}: it has {}", name, scene.environment_names()));
}

Result<PromotionPlan> plan_promotion(const Scene& scene, const Wish& wish, Gates gates) {
  SLIPWAY_TRY(environment, environment_of(scene, wish.environment, "to"));
  SLIPWAY_TRY(named, named_release(scene, wish));
  ReleaseRef release = named;
  if (release == nullptr) {
    SLIPWAY_TRY(found, candidate(scene, environment->name));
    release = found;
  }
  SLIPWAY_TRY_VOID(check_order(scene, environment->name, *release));
  PromotionPlan plan = plan_of(scene, environment->name, *release, PromotionAction::Promote);
  plan.spec.skips_gates = gates == Gates::skipped;
  for (const ReadPromotion* one : promotions_of(scene, environment->name, release->name())) {
    if (is_rejected(*one)) {
      return refused(scene,
                     fmt::format("{} was rejected in {} ({}): to try it again, slipway pipeline lift {} --environment {} "
                                 "--release {}",
                                 release->spec.version, environment->name, phase_of(*one), scene.name(), environment->name,
                                 release->name()));
    }
    if (!is_under_way(one->status)) continue;
    if (gates == Gates::asked || one->spec.skips_gates) {
      return refused(scene, fmt::format("{} is on its way into {} already (promotion/{}: {})", release->spec.version,
                                        environment->name, one->name(), phase_of(*one)));
    }
    plan.name = one->name();
    plan.spec = one->spec;
    plan.spec.skips_gates = true;
    plan.is_there = true;
  }
  return plan;
}

Result<PromotionPlan> plan_rollback(const Scene& scene, const Wish& wish) {
  SLIPWAY_TRY(environment, environment_of(scene, wish.environment, "environment"));
  SLIPWAY_TRY(named, named_release(scene, wish));
  ReleaseRef release = named == nullptr ? release_before(scene, environment->name) : named;
  if (release == nullptr) {
    return refused(scene,
                   fmt::format("no earlier release is known to have run in {}: say which with --release or --version; {}",
                               environment->name, release_list(scene)));
  }
  const EnvironmentStatus there = scene.status_of(environment->name);
  if (there.version && scene.release_of(*there.version) == release) {
    return refused(scene, fmt::format("{} runs {} already", environment->name, there.version->text));
  }
  return plan_of(scene, environment->name, *release, PromotionAction::Rollback);
}

Result<ApprovalSpec> plan_approval(const Scene& scene, const Wish& wish, const std::string& gate) {
  SLIPWAY_TRY(environment, environment_of(scene, wish.environment, "environment"));
  SLIPWAY_TRY(named, named_release(scene, wish));
  ApprovalSpec spec{.pipeline = scene.name(), .environment = environment->name, .gate = gate};
  if (!gate.empty()) {
    std::vector<std::string> known;
    for (const gate::GateSpec& one : environment->gates) {
      if (one.approval) known.push_back(one.name);
    }
    if (std::ranges::find(known, gate) == known.end()) {
      return refused(scene, fmt::format("{} has no approval gate {}: {}", environment->name, gate,
                                        known.empty() ? "it has none, leave --gate out" : "it has " + joined(known, ", ")));
    }
  }
  if (named != nullptr) {
    spec.release = named->name();
    return spec;
  }
  for (const ReadPromotion* one : scene.promotions_into(environment->name)) {
    if (!is_under_way(one->status)) continue;
    spec.release = one->spec.release;
    return spec;
  }
  return refused(scene, fmt::format("no promotion into {} is under way: to approve one that may come, say which with --release "
                                    "or --version; {}",
                                    environment->name, release_list(scene)));
}

Result<ApprovalSpec> plan_lift(const Scene& scene, const Wish& wish) {
  SLIPWAY_TRY(environment, environment_of(scene, wish.environment, "environment"));
  SLIPWAY_TRY(named, named_release(scene, wish));
  for (const ReadPromotion* one : scene.promotions_into(environment->name)) {
    if (!is_rejected(*one) || (named != nullptr && one->spec.release != named->name())) continue;
    return ApprovalSpec{.pipeline = scene.name(),
                        .environment = environment->name,
                        .release = one->spec.release,
                        .gate = {},
                        .decision = "lift"};
  }
  return refused(scene, fmt::format("nothing was rejected in {}{}: there is nothing to lift", environment->name,
                                    named == nullptr ? "" : " of " + named->spec.version));
}

std::string object_name(const std::string& prefix, const std::string& suffix) {
  constexpr std::size_t kMost = 63;
  std::string name = prefix.substr(0, kMost - suffix.size() - 1);
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return fmt::format("{}-{}", name, suffix);
}

}  // namespace slipway::delivery::pipeline
