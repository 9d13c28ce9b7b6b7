#include "cluster/job.h"

#include "cluster/adoption.h"
#include "cluster/job_plan.h"
#include "cluster/names.h"
#include "cluster/writes.h"
#include "control/events.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

constexpr const char* kJobManager = "slipway-job";
/// How long a status write for onlookers waits for company.
constexpr Duration kStatusDelay = std::chrono::milliseconds{100};

bool is_managed_elsewhere(const kube::Object& job) {
  const auto by = job["spec"]["managedBy"].as_string();
  return !by.empty() && by != "kubernetes.io/job-controller";
}

/// One pod that is released, deleted or both, in this order.
Task<Result<void>> let_go(client::Client& client, kube::Object pod, bool is_released, bool is_removed) {
  if (is_released) SLIPWAY_CO_TRY_VOID(co_await remove_finalizer(client, kPods, pod, kJobTracking, kJobManager));
  if (is_removed) SLIPWAY_CO_TRY_VOID(co_await remove_exactly(client, kPods, pod));
  co_return Result<void>{};
}

Task<Result<void>> create_pod(client::Client& client, kube::Object job, JobPodSlot slot) {
  SLIPWAY_CO_TRY(made, co_await client::create(client, kPods, make_job_pod(job, slot), kJobManager));
  static_cast<void>(made);
  co_return Result<void>{};
}

void add_pod_writes(Writes& writes, client::Client& client, const kube::Object& job, const JobPlan& plan) {
  const auto contains = [](const std::vector<kube::Object>& list, const kube::Object& pod) {
    return std::any_of(list.begin(), list.end(), [&](const kube::Object& other) { return other.is_same(pod); });
  };
  for (const kube::Object& pod : plan.release) writes.add(let_go(client, pod, true, contains(plan.remove, pod)));
  for (const kube::Object& pod : plan.remove) {
    if (!contains(plan.release, pod)) writes.add(let_go(client, pod, false, true));
  }
  for (const JobPodSlot slot : plan.create) writes.add(create_pod(client, job, slot));
}

/// The Job whose reconcile looks after the pod: its controller, or, for a pod that was let go of while it was still tracked,
/// the Job it was made for, lest the finalizer stays for ever.
std::vector<kube::ObjectKey> jobs_of(const kube::Object& pod) {
  const json::Value& owner = kube::controller_of(pod);
  std::vector<kube::ObjectKey> keys;
  std::string name;
  if (kube::refers_to(owner, "batch", "Job")) {
    name = owner["name"].str();
  } else if (owner.is_null() && kube::has_finalizer(pod, kJobTracking)) {
    name = pod["metadata"]["labels"]["batch.kubernetes.io/job-name"].str();
  }
  if (!name.empty()) keys.push_back({std::string(kube::ns(pod)), std::move(name)});
  return keys;
}

}  // namespace

void JobController::watch(control::Watches& watches) {
  jobs_ = &watches.primary(kJobs);
  pods_ = &watches.also(kPods, [this](const kube::Object& pod) {
    auto keys = jobs_of(pod);
    if (kube::controller_of(pod).is_null()) std::ranges::move(claimants(*jobs_, "batch", "Job", pod), std::back_inserter(keys));
    return keys;
  });
  pods_->add_index("job-claim", claim_keys);
  pods_->add_index("job", [](const kube::Object& pod) {
    std::vector<std::string> keys;
    for (const kube::ObjectKey& key : jobs_of(pod)) keys.push_back(key.to_string());
    return keys;
  });
}

Task<Outcome> JobController::reconcile(control::Reconcile& run) {
  const kube::Object job = jobs_->get(run.key);
  if (!job.is_null() && is_managed_elsewhere(job)) co_return Outcome::settled();
  std::vector<kube::Object> orphans = pods_->index("job", run.key.to_string());
  std::erase_if(orphans, [&](const kube::Object& pod) {
    return !job.is_null() && kube::controller_of(pod)["uid"] == job["metadata"]["uid"];
  });
  const auto released = co_await release_orphans(run.client, std::move(orphans));
  if (!released) co_return Outcome::failed(released.error());
  if (job.is_null()) {
    waiting_since_.erase(run.key);
    co_return Outcome::settled();
  }
  Claim claim = sort_claim(job, claim_candidates(*pods_, "job-claim", job));
  if (claim.needs_writes() && !is_finished_job(job)) {
    const auto settled = co_await settle_claim(run.client, kJobs, job, kPods, std::move(claim), kJobManager, kJobTracking);
    co_return settled ? Outcome::retries_after(Duration{0}) : Outcome::failed(settled.error());
  }
  std::ranges::move(claim.release, std::back_inserter(claim.own));  // of a Job that has ended: counted and let go of
  std::ranges::sort(claim.own, {}, [](const kube::Object& pod) { return kube::name(pod); });
  const NameIsTaken is_taken = [&](const std::string& name) { return pods_->contains({run.key.ns, name}); };
  co_return co_await carry_out(run, job, std::make_shared<const JobPlan>(plan_job(job, claim.own, is_taken, wall_.now())));
}

Task<Outcome> JobController::carry_out(control::Reconcile& run, kube::Object job, std::shared_ptr<const JobPlan> plan) {
  if (plan->is_expired) {
    const auto removed = co_await remove_exactly(run.client, kJobs, job);
    co_return removed ? Outcome::settled() : Outcome::failed(removed.error());
  }
  std::optional<Duration> look_again = plan->look_again;
  if (plan->status.is_null()) {
    waiting_since_.erase(run.key);
  } else if (is_status_due(run.key, *plan)) {
    if (const auto written = co_await control::write_status(run.client, kJobs, job, plan->status, kJobManager); !written) {
      co_return Outcome::failed(written.error());
    }
    waiting_since_.erase(run.key);
  } else {
    look_again = std::min(look_again.value_or(kStatusDelay), kStatusDelay);
  }
  Writes writes(env_);
  add_pod_writes(writes, run.client, job, *plan);
  for (const JobEvent& event : plan->events) {
    writes.add(control::record_event(env_, run.client, job, {event.type, event.reason, event.message, {}}, "job-controller"));
  }
  if (const auto done = co_await writes.join(); !done) co_return Outcome::failed(done.error());
  co_return look_again ? Outcome::retries_after(*look_again) : Outcome::settled();
}

bool JobController::is_status_due(const kube::ObjectKey& key, const JobPlan& plan) {
  const Steady now = env_.clock.steady();
  const Steady since = waiting_since_.try_emplace(key, now).first->second;
  return plan.is_status_urgent || now - since >= kStatusDelay;
}

Task<Result<void>> JobController::release_orphans(client::Client& client, std::vector<kube::Object> pods) {
  Writes writes(env_);
  for (const kube::Object& pod : pods) {
    if (kube::has_finalizer(pod, kJobTracking)) writes.add(remove_finalizer(client, kPods, pod, kJobTracking, kJobManager));
  }
  co_return co_await writes.join();
}

}  // namespace slipway::cluster
