// A second pipeline into a target that another one protects: where it asks for fewer approvals, its promotions wait until it
// asks for as many, or its author may approve for the other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "control/author_right.h"
#include "delivery/pipeline/author.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promotion_controller.h"
#include "delivery/pipeline/protected.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kMaxProtecting = 20;  // pipelines looked at for a target

}  // namespace

Task<Result<void>> PromotionController::load_protection(control::Reconcile& run, kube::Object pipeline, PromotionInput& input) {
  for (const Environment& environment : input.spec.environments) {
    for (const Target& target : environment.targets) {
      SLIPWAY_CO_TRY(text, co_await find_protection(run, pipeline, input, environment, target));
      if (text.empty()) continue;
      input.protected_elsewhere[environment.name] = std::move(text);
      break;
    }
  }
  co_return Result<void>{};
}

Task<Result<std::string>> PromotionController::find_protection(control::Reconcile& run, kube::Object pipeline,
                                                               const PromotionInput& input, const Environment& environment,
                                                               const Target& target) {
  std::vector<kube::Object> others = pipelines_->index(kProtectingByTarget, target_key(input.spec.app, target, input.ns));
  std::erase_if(others, [&](const kube::Object& one) { return kube::key_of(one) == run.key; });
  others.resize(std::min(others.size(), kMaxProtecting));
  for (const kube::Object& other : others) {
    const std::vector<std::string> missing = missing_approvals(other, input.spec, environment, target, input.ns);
    if (missing.empty()) continue;
    SLIPWAY_CO_TRY(is_free, co_await is_exempt(run, pipeline, other, target));
    if (is_free) continue;
    co_return fmt::format(
        "pipeline {} protects the target in namespace {} by {}: add the same to environment {}, or have this pipeline written "
        "by "
        "a user who may create approvals in namespace {}",
        kube::key_of(other).to_string(), target.ns, fmt::join(missing, ", "), environment.name, kube::ns(other));
  }
  co_return std::string{};
}

/// Whether `other` does not bind the pipeline at the target: the pipeline's author may approve for `other`, or the author of
/// `other` may not change what is delivered there, and so has no say in it.
Task<Result<bool>> PromotionController::is_exempt(control::Reconcile& run, kube::Object pipeline, kube::Object other,
                                                  Target target) {
  const std::string ns(kube::ns(other));
  SLIPWAY_CO_TRY(may,
                 co_await control::has_right(run.client, author_of(pipeline, acts_as_), {"create", kApprovals, "", {ns, ""}}));
  if (may) co_return true;
  const auto spec = json::decode<PipelineSpec>(other["spec"], "spec", {.allow_unknown = true});
  SLIPWAY_CO_TRY(has_say, co_await access_.may(run.client, author_of(other, acts_as_), ReaderAccess::Right::Change,
                                               kube::key_of(other), spec->app, target));
  co_return !has_say;
}

}  // namespace slipway::delivery::pipeline
