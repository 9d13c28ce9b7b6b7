// How pipelines end, and releases that are needed no more.
#include <fmt/format.h>

#include <algorithm>

#include "control/object_writes.h"
#include "delivery/pipeline/author.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promotion_controller.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Outcome;
using json::Value;

constexpr const char* kPullRequestFinalizer = "pipelines.slipway.dev/pull-requests";
/// For how long a forge that does not answer holds up the end of a pipeline.
constexpr Duration kClosePatience = std::chrono::minutes{10};
constexpr Duration kCloseAgain = std::chrono::seconds{15};

/// Trying again does not help: the Secret went with the namespace, say.
bool is_hopeless(const ChangeFailure& failure) {
  return failure.cause == PromotionCause::AccessDenied || failure.cause == PromotionCause::AuthorLacksRight ||
         failure.cause == PromotionCause::StrategyNotImplemented || failure.error.reason == Reason::NotImplemented;
}

}  // namespace

Task<Outcome> PromotionController::end(control::Reconcile& run, kube::Object pipeline) {
  if (!kube::has_finalizer(pipeline, kPullRequestFinalizer)) co_return Outcome::settled();
  auto closed = co_await close_pull_requests(run, pipeline);
  if (!closed) co_return Outcome::failed(std::move(closed).error());
  if (!*closed) co_return Outcome::retries_after(kCloseAgain);
  auto freed = co_await control::remove_finalizer(run.client, kPipelines, pipeline, kPullRequestFinalizer, kPromotionManager);
  if (!freed) co_return Outcome::failed(std::move(freed).error());
  co_return Outcome::settled();
}

/// By environment, not by promotion: those may be gone already. True when none is left open, or no more is tried.
Task<Result<bool>> PromotionController::close_pull_requests(control::Reconcile& run, kube::Object pipeline) {
  SLIPWAY_CO_TRY(spec, json::decode<PipelineSpec>(pipeline["spec"], "spec", {.allow_unknown = true}));
  const std::optional<Time> since = kube::time_of(pipeline["metadata"]["deletionTimestamp"]);
  const bool is_late = since && wall_.now().time() - *since >= kClosePatience;
  bool are_closed = true;
  for (const Environment& environment : spec.environments) {
    if (strategy_of(spec, environment) != "pull-request") continue;
    PromotionStatus status;
    status.strategy = "pull-request";
    ChangeOrder order{.pipeline = pipeline,
                      .environment = environment.name,
                      .status = std::move(status),
                      .settings = promotion_of(spec, environment)};
    const ChangeResult result =
        co_await changes_.carry_out({env_, run.client, run.as(author_of(pipeline, acts_as_)), run.outgoing(http_)},
                                    PromotionEffect::Kind::Withdraw, std::move(order));
    if (result) continue;
    const bool gives_up = is_late || is_hopeless(result.error());
    are_closed = are_closed && gives_up;
    if (!gives_up) continue;
    co_await tell(run, pipeline, "Warning", "PullRequestLeftOpen", environment.name,
                  fmt::format("a pull request into {} may be open still, and was not closed: {}", environment.name,
                              result.error().error.message));
  }
  co_return are_closed;
}

Task<Result<void>> PromotionController::keep_until_closed(control::Reconcile& run, Key key) {
  if (kube::has_finalizer(pipelines_->get(key), kPullRequestFinalizer)) co_return Result<void>{};
  SLIPWAY_CO_TRY(newest, co_await client::get(run.client, kPipelines, key));
  if (kube::is_deleting(newest)) co_return fail(kube::conflict(kPipelines, key.name, "it is being deleted"));
  SLIPWAY_CO_TRY_VOID(
      co_await control::add_finalizer(run.client, kPipelines, newest, kPullRequestFinalizer, kPromotionManager));
  co_return Result<void>{};
}

/// A pipeline without open pull requests may go while no controllers run.
Task<Result<void>> PromotionController::let_go(control::Reconcile& run, kube::Object pipeline, const PromotionInput& input) {
  if (!kube::has_finalizer(pipeline, kPullRequestFinalizer)) co_return Result<void>{};
  const bool is_any_open = std::ranges::any_of(input.promotions, [](const KnownPromotion& one) {
    return is_live(one.status) && one.status.strategy == "pull-request" && !one.status.change_in;
  });
  if (is_any_open) co_return Result<void>{};
  auto freed = co_await control::remove_finalizer(run.client, kPipelines, pipeline, kPullRequestFinalizer, kPromotionManager);
  // The view writes its status at the same time; the next look comes at it.
  if (!freed && freed.error().reason != Reason::Conflict) co_return fail(std::move(freed).error());
  co_return Result<void>{};
}

/// The count goes up first: what comes again after a crash half-way has another name than what went.
Task<Result<void>> PromotionController::prune(control::Reconcile& run, kube::Object pipeline,
                                              std::vector<RetiredRelease> retired) {
  if (retired.empty()) co_return Result<void>{};
  const std::string count = std::to_string(prunings_of(pipeline) + 1);
  const Value annotations = json::object({{std::string(kPruningsAnnotation), count}});
  SLIPWAY_CO_TRY_VOID(co_await client::merge_patch(run.client, kPipelines, run.key,
                                                   json::object({{"metadata", json::object({{"annotations", annotations}})}}),
                                                   kPromotionManager));
  for (const RetiredRelease& release : retired) {
    std::vector<std::pair<kube::Resource, std::string>> all;
    for (const std::string& name : release.approvals) all.emplace_back(kApprovals, name);
    for (const std::string& name : release.promotions) all.emplace_back(kPromotions, name);
    all.emplace_back(kReleases, release.name);
    for (const auto& [resource, name] : all) {
      const auto removed = co_await client::remove(run.client, resource, {run.key.ns, name});
      if (!removed && removed.error().reason != Reason::NotFound) co_return fail(removed.error());
    }
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::pipeline
