#include "delivery/pipeline/retention.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "delivery/pipeline/promote_world.h"

namespace slipway::delivery::pipeline {
namespace {

/// Of targets that are not listed the version alone is known.
bool runs_somewhere(const PromotionInput& input, const Release& release) {
  const auto is_same = [&](const VersionStatus& version) {
    return !version.text.empty() &&
           order_of(release.spec.version, version.text, release.spec.digest, version.digest) == Order::Same;
  };
  return std::ranges::any_of(input.status.environments, [&](const auto& one) {
    const EnvironmentStatus& status = one.second;
    const bool is_counted = std::ranges::any_of(
        status.versions, [&](const auto& version) { return is_same({.text = version.first, .digest = "", .time = {}}); });
    return is_counted || (status.version && is_same(*status.version)) ||
           std::ranges::any_of(status.targets, [&](const TargetStatus& target) {
             return is_same(target.running) || is_same(target.attempted) || is_same(target.specified);
           });
  });
}

bool has_ended(const KnownPromotion& promotion, Time before) {
  const PromotionStatus& status = promotion.status;
  const bool is_remembered = status.phase == Phase::Rejected && !status.is_lifted;
  return !is_live(status) && !is_remembered && status.ended && *status.ended < before;
}

}  // namespace

std::vector<RetiredRelease> retired_releases(const PromotionInput& input) {
  if (input.status.observed_generation != input.generation || input.releases.size() <= kKeptReleases) return {};
  PromotionWorld world(input);
  std::set<std::string> kept;
  for (const Environment& environment : input.spec.environments) {
    if (const KnownPromotion* rollback = world.rollback_in_force(environment.name)) kept.insert(rollback->spec.release);
  }
  std::vector<const Release*> releases;
  for (const Release& one : input.releases) releases.push_back(&one);
  std::ranges::sort(releases, {}, [](const Release* one) { return std::tuple(one->created, one->revision); });
  releases.resize(releases.size() - kKeptReleases);
  const Time before = world.now() - kKept;
  std::vector<RetiredRelease> retired;
  for (const Release* release : releases) {
    if (release->created >= before || kept.contains(release->name) || runs_somewhere(input, *release)) continue;
    RetiredRelease one{.name = release->name};
    bool is_over = true;
    for (const KnownPromotion& promotion : input.promotions) {
      if (promotion.spec.release != release->name) continue;
      is_over = is_over && has_ended(promotion, before);
      one.promotions.push_back(promotion.name);
    }
    for (const Known<ApprovalSpec>& approval : input.approvals) {
      if (approval.spec.release == release->name) one.approvals.push_back(approval.name);
    }
    if (is_over) retired.push_back(std::move(one));
    if (retired.size() == kMostRetired) break;
  }
  return retired;
}

std::int64_t prunings_of(const kube::Object& pipeline) {
  const std::string_view text = kube::annotation(pipeline, kPruningsAnnotation);
  std::int64_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc{} && stop == text.data() + text.size() && count > 0 ? count : 0;
}

}  // namespace slipway::delivery::pipeline
