#include "cluster/cron_job.h"

#include "cluster/cron_plan.h"
#include "cluster/names.h"
#include "cluster/writes.h"
#include "control/events.h"

namespace slipway::cluster {

namespace {

using control::Outcome;
using json::Value;

constexpr const char* kManager = "slipway-cronjob";

std::vector<kube::ObjectKey> cron_of(const kube::Object& job) {
  const Value& owner = kube::controller_of(job);
  if (!kube::refers_to(owner, "batch", "CronJob")) return {};
  return {{std::string(kube::ns(job)), owner["name"].str()}};
}

/// The Job, made now or by an earlier run that did not get as far as the status. Null when another object has its name.
Task<Result<kube::Object>> create_job(client::Client& client, kube::Object job) {
  auto made = co_await client::create(client, kJobs, job, kManager);
  if (made || made.error().reason != Reason::AlreadyExists) co_return made;
  SLIPWAY_CO_TRY(found, co_await client::get(client, kJobs, kube::key_of(job)));
  co_return kube::controller_of(found)["uid"] == kube::controller_of(job)["uid"] ? found : Value();
}

}  // namespace

void CronJobController::watch(control::Watches& watches) {
  crons_ = &watches.primary(kCronJobs);
  jobs_ = &watches.also(kJobs, cron_of);
  jobs_->add_index("cron-job", [](const kube::Object& job) {
    std::vector<std::string> uids;
    if (!cron_of(job).empty()) uids.push_back(kube::controller_of(job)["uid"].str());
    return uids;
  });
}

Task<Outcome> CronJobController::reconcile(control::Reconcile& run) {
  const kube::Object cron = crons_->get(run.key);
  if (cron.is_null()) co_return Outcome::settled();
  CronPlan plan = plan_cron_job(cron, jobs_->index("cron-job", std::string(kube::uid(cron))), env_.clock.now());
  Writes writes(env_);
  for (const kube::Object& job : plan.remove) writes.add(remove_exactly(run.client, kJobs, job));
  if (const auto done = co_await writes.join(); !done) co_return Outcome::failed(done.error());
  if (!plan.create.is_null()) {
    const auto made = co_await create_job(run.client, plan.create);
    if (!made) co_return Outcome::failed(made.error());
    if (!made->is_null()) plan.status = plan.status.with("active", plan.status["active"].appended(active_reference(*made)));
  }
  if (plan.status != cron["status"]) {
    const auto written = co_await control::write_status(run.client, kCronJobs, cron, plan.status, kManager);
    if (!written && written.error().reason != Reason::NotFound) co_return Outcome::failed(written.error());
  }
  Writes events(env_);
  for (const CronEvent& event : plan.events) {
    events.add(control::record_event(env_, run.client, cron, {event.type, event.reason, event.message, event.instance},
                                     "cronjob-controller"));
  }
  if (const auto told = co_await events.join(); !told && told.error().reason != Reason::Forbidden) {
    co_return Outcome::failed(told.error());
  }
  co_return plan.look_again ? Outcome::retries_after(*plan.look_again) : Outcome::settled();
}

}  // namespace slipway::cluster
