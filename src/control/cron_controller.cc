#include "control/cron_controller.h"

#include <fmt/format.h>

#include "base/text.h"
#include "control/object_writes.h"

namespace slipway::control {
namespace {

constexpr const char* kByCron = "cron";
/// So that a clock that is a little slow does not look a moment too early.
constexpr Duration kMargin = std::chrono::milliseconds{100};

}  // namespace

void CronController::watch(Watches& watches) {
  crons_ = &watches.primary(kind_.resource);
  children_ = &watches.also(kind_.children, Watches::owner_of_kind(kind_.kind.group, kind_.kind.kind));
  children_->add_index(kByCron, [kind = kind_.kind](const kube::Object& child) {
    const Value& owner = kube::controller_of(child);
    return kube::refers_to(owner, kind.group, kind.kind) ? std::vector{owner["uid"].str()} : std::vector<std::string>{};
  });
}

Task<Outcome> CronController::reconcile(Reconcile& run) {
  const kube::Object cron = crons_->get(run.key);
  if (cron.is_null()) co_return Outcome::settled();
  const std::string time_zone = cron["spec"]["timeZone"].str();
  CronPlan plan =
      plan_cron(kind_, cron, children_->index(kByCron, std::string(kube::uid(cron))), zone_of(time_zone), env_.clock.now());
  for (const kube::Object& child : plan.remove) {
    const auto removed = co_await client::remove_exactly(
        run.client, kind_.children, kube::key_of(child),
        {.propagation = "Background", .uid = std::string(kube::uid(child)), .resource_version = "", .grace_seconds = {}});
    if (!removed) co_return Outcome::failed(removed.error());
  }
  Report report{.next = plan.next, .reason = plan.fault.empty() ? "" : "UnknownTimeZone", .message = plan.fault};
  const auto started = co_await start(run.client, cron, plan);
  if (!started) {
    report.reason = "FailedCreate";
    report.message = fmt::format("Error creating {}: {}", lower(kind_.child.kind), started.error().message);
    plan.events.push_back(
        {.type = "Warning", .reason = report.reason, .message = report.message, .instance = "", .is_series = true});
  }
  if (Value status = reported(cron, plan.status, report); status != cron["status"]) {
    const auto written = co_await write_status(run.client, kind_.resource, cron, std::move(status), kind_.manager);
    if (!written && written.error().reason != Reason::NotFound) co_return Outcome::failed(written.error());
  }
  const auto recorded = co_await record_events(run.client, cron, std::move(plan.events));
  if (!recorded && recorded.error().reason != Reason::Forbidden) co_return Outcome::failed(recorded.error());
  if (!started) co_return Outcome::failed(started.error());
  if (!plan.next) co_return Outcome::settled();
  co_return Outcome::retries_after(std::max<Duration>(*plan.next - env_.clock.now(), Duration{0}) + kMargin);
}

Result<Zone> CronController::zone_of(const std::string& time_zone) {
  if (is_utc(time_zone)) return Zone();
  if (const auto known = zones_.find(time_zone); known != zones_.end()) return known->second;
  SLIPWAY_TRY(zone, load_zone(env_.files, time_zone));
  return zones_.emplace(time_zone, std::move(zone)).first->second;
}

/// Creates what is due and adds it to status and events of the plan.
Task<Result<void>> CronController::start(client::Client& client, kube::Object cron, CronPlan& plan) {
  if (plan.create.is_null()) co_return Result<void>{};
  SLIPWAY_CO_TRY(made, co_await create_or_find(client, cron, plan.create));
  plan.status = plan.status.with("lastScheduleTime", to_rfc3339(*plan.due));
  if (made.is_null()) co_return Result<void>{};
  const bool is_listed = std::ranges::any_of(plan.status["active"].items(),
                                             [&](const Value& one) { return one["uid"] == made["metadata"]["uid"]; });
  if (!is_listed) plan.status = plan.status.with("active", plan.status["active"].appended(active_reference(kind_, made)));
  const std::string name(kube::name(made));
  plan.events.push_back(
      {.reason = "SuccessfulCreate", .message = fmt::format("Created {} {}", lower(kind_.child.kind), name), .instance = name});
  co_return Result<void>{};
}

/// The child, made now or by an earlier run that ended before the status was written. Null when another object has its name.
Task<Result<kube::Object>> CronController::create_or_find(client::Client& client, kube::Object cron, kube::Object child) {
  auto made = co_await create(client, std::move(cron), child);
  if (made || made.error().reason != Reason::AlreadyExists) co_return made;
  SLIPWAY_CO_TRY(found, co_await client::get(client, kind_.children, kube::key_of(child)));
  co_return kube::controller_of(found)["uid"] == kube::controller_of(child)["uid"] ? found : Value();
}

Task<Result<kube::Object>> CronController::create(client::Client& client, kube::Object, kube::Object child) {
  co_return co_await client::create(client, kind_.children, std::move(child), kind_.manager);
}

Value CronController::reported(const kube::Object&, Value status, const Report&) const { return status; }

Task<Result<void>> CronController::record_events(client::Client& client, kube::Object cron, std::vector<EventText> events) {
  Result<void> first;
  for (EventText& event : events) {
    auto recorded = co_await record_event(env_, client, cron, std::move(event), kind_.controller + "-controller");
    if (!recorded && first) first = std::move(recorded);
  }
  co_return first;
}

}  // namespace slipway::control
