#include "delivery/pipeline/change.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/author_right.h"
#include "control/events.h"
#include "delivery/gate/condition.h"
#include "delivery/pipeline/change_git.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::string_view kComponent = "slipway-promotion";
constexpr std::size_t kMostFailureText = 512;
constexpr Duration kFirstPause = std::chrono::seconds{5};
constexpr Duration kLongestPause = std::chrono::minutes{5};

using Kind = PromotionEffect::Kind;

/// What a strategy does. Only a pull request can be looked at and withdrawn.
struct StrategyRow {
  std::string_view name;
  Task<ChangeResult> (*carry_out)(ChangeTools tools, Kind kind, ChangeOrder order);
};

/// As Weave's: reason Promote, with the environment and the version for whoever acts on it.
Task<ChangeResult> notify(ChangeTools tools, Kind, ChangeOrder order) {
  control::EventText text;
  text.reason = "Promote";
  text.instance = order.key;
  text.message = fmt::format("Promote pipeline {}/{} to {} with version {}", kube::ns(order.pipeline),
                             kube::name(order.pipeline), order.environment, order.release.version);
  text.annotations = {{"environment", order.environment}, {"version", order.release.version}};
  auto told = co_await control::record_event(tools.env, tools.own, order.pipeline, std::move(text), std::string(kComponent));
  if (!told) co_return std::unexpected(ChangeFailure{PromotionCause::PushFailed, std::move(told).error()});
  co_return ChangeState{.stage = ChangeState::Stage::Told};
}

Task<ChangeResult> nothing(ChangeTools, Kind, ChangeOrder) { co_return ChangeState{.stage = ChangeState::Stage::Told}; }

Task<ChangeResult> unknown(ChangeTools, Kind, ChangeOrder order) {
  Status error = fail(Reason::NotImplemented, fmt::format("nobody knows the strategy \"{}\"", order.status.strategy)).error();
  co_return std::unexpected(ChangeFailure{PromotionCause::StrategyNotImplemented, std::move(error)});
}

constexpr StrategyRow kStrategies[] = {
    {"commit", change_by_commit}, {"pull-request", change_by_pull_request}, {"notification", notify}, {"none", nothing}};

class RowChanges : public Changes {
 public:
  Task<ChangeResult> carry_out(ChangeTools tools, Kind kind, ChangeOrder order) override {
    const auto* row = std::ranges::find(kStrategies, order.status.strategy, &StrategyRow::name);
    if (row == std::end(kStrategies)) co_return co_await unknown(tools, kind, std::move(order));
    co_return co_await row->carry_out(tools, kind, std::move(order));
  }
};

Duration pause_after(std::int64_t tries) {
  Duration pause = kFirstPause;
  for (std::int64_t i = 1; i < tries && pause < kLongestPause; ++i) pause *= 2;
  return std::min(pause, kLongestPause);
}

void take_failure(PromotionStatus& status, const ChangeFailure& failure, Time now) {
  const bool lacks = failure.cause == PromotionCause::AuthorLacksRight;
  if (!lacks) status.tries += 1;
  status.next_try =
      std::chrono::ceil<std::chrono::seconds>(now + (lacks ? control::kAuthorRightPause : pause_after(status.tries)));
  status.reason = row_of(failure.cause).reason;
  status.text = gate::cut(failure.error.message, kMostFailureText);
}

}  // namespace

Changes& changes() {
  static RowChanges all;
  return all;
}

ChangeFailure change_failure(PromotionCause where, Status error) {
  if (where == PromotionCause::AuthorLacksRight) return {where, std::move(error)};
  if (error.reason == Reason::NotImplemented) return {PromotionCause::StrategyNotImplemented, std::move(error)};
  if (error.reason == Reason::Unauthorized || error.reason == Reason::Forbidden) {
    return {PromotionCause::AccessDenied, std::move(error)};
  }
  return {where, std::move(error)};
}

void take_change(PromotionStatus& status, PromotionEffect::Kind kind, const ChangeResult& result, Time now) {
  if (!result) {
    take_failure(status, result.error(), now);
    return;
  }
  const Time second = std::chrono::floor<std::chrono::seconds>(now);
  status.tries = 0;
  status.next_try.reset();
  if (!result->pull_request.empty()) status.pull_request = result->pull_request;
  if (!result->commit.empty()) status.commit = result->commit;
  status.is_marked_frozen = result->is_marked_frozen;
  switch (result->stage) {
    case ChangeState::Stage::Made:
      // Merged while it was being withdrawn: it is in all the same.
      if (!status.change_in) status.change_in = second;
      if (status.strategy == "pull-request") status.pull_request_state = "merged";
      break;
    case ChangeState::Stage::Proposed:
      status.pull_request_state = "open";
      break;
    case ChangeState::Stage::Closed:
      if (status.strategy == "pull-request") status.pull_request_state = "closed";
      break;
    case ChangeState::Stage::Told:
      if (kind == Kind::Bring && status.strategy == "notification") status.is_notified = true;
      break;
  }
}

}  // namespace slipway::delivery::pipeline
