#include "delivery/pipeline/current_promotion.h"

#include <algorithm>

namespace slipway::delivery::pipeline {
namespace {

bool runs(const PipelineStatus& status, const std::string& environment, const std::string& version) {
  const auto found = status.environments.find(environment);
  return found != status.environments.end() && found->second.version && found->second.version->text == version;
}

}  // namespace

std::vector<std::string> environments_before(const PipelineSpec& spec, std::string_view environment) {
  for (std::size_t i = 0; i < spec.environments.size(); ++i) {
    const Environment& one = spec.environments[i];
    if (one.name != environment) continue;
    if (one.depends_on) return *one.depends_on;
    return i == 0 ? std::vector<std::string>{} : std::vector<std::string>{spec.environments[i - 1].name};
  }
  return {};
}

bool has_current_promotion(const PipelineSpec& spec, const PipelineStatus& status, const std::string& environment) {
  const auto found = status.environments.find(environment);
  if (found == status.environments.end() || !found->second.promotion) return false;
  const PromotionSummary& promotion = *found->second.promotion;
  if (promotion.phase == "Succeeded" || promotion.phase == "Superseded") return false;
  if (promotion.phase != "Rejected") return true;
  const std::vector<std::string> before = environments_before(spec, environment);
  const auto is_candidate = [&](const std::string& one) { return runs(status, one, promotion.version); };
  return !runs(status, environment, promotion.version) && (before.empty() || std::ranges::any_of(before, is_candidate));
}

}  // namespace slipway::delivery::pipeline
