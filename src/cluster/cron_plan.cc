#include "cluster/cron_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cluster/job_plan.h"
#include "server/builtin/cron_schedule.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr std::string_view kScheduledAt = "batch.kubernetes.io/cronjob-scheduled-timestamp";
constexpr std::array<std::string_view, 8> kUtc{"", "UTC", "Etc/UTC", "Etc/UCT", "Etc/GMT", "Etc/Zulu", "GMT", "Zulu"};
/// So that a clock that is a little slow does not look a moment too early.
constexpr Duration kMargin = std::chrono::milliseconds{100};
constexpr int kManyMissed = 100;

class Planner {
 public:
  Planner(const kube::Object& cron, const std::vector<kube::Object>& jobs, Time now)
      : cron_(cron), spec_(cron["spec"]), jobs_(jobs), now_(now), status_(cron["status"]) {
    for (const Value& active : status_["active"].items()) active_.push_back(active);
  }

  CronPlan plan() {
    see_jobs();
    trim_history("successfulJobsHistoryLimit", 3, "Complete");
    trim_history("failedJobsHistoryLimit", 1, "Failed");
    if (!kube::is_deleting(cron_)) run();
    if (active_.empty()) {
      status_ = status_.without("active");
    } else {
      status_ = status_.with("active", json::array(std::span<const Value>(active_)));
    }
    plan_.status = status_;
    return std::move(plan_);
  }

 private:
  void see_jobs();
  void see_success(const kube::Object& job);
  void trim_history(const char* limit, std::int64_t otherwise, const char* ending);
  void run();
  void start(Time due);
  Value job_of(Time due) const;
  /// The last time that came due and was not served; counts those that did.
  std::optional<Time> last_missed(const server::CronSchedule& schedule, int& missed) const;

  const kube::Object* job_of_uid(std::string_view uid) const {
    const auto found = std::ranges::find(jobs_, uid, [](const kube::Object& job) { return kube::uid(job); });
    return found == jobs_.end() ? nullptr : &*found;
  }
  void drop_active(std::string_view uid) {
    std::erase_if(active_, [&](const Value& active) { return active["uid"].as_string() == uid; });
  }
  void tell(const char* type, const char* reason, std::string message, std::string instance = {}) {
    plan_.events.push_back({type, reason, std::move(message), std::move(instance)});
  }
  void remove(const kube::Object& job) {
    tell("Normal", "SuccessfulDelete", fmt::format("Deleted job {}", kube::name(job)), std::string(kube::name(job)));
    drop_active(kube::uid(job));
    plan_.remove.push_back(job);
  }

  const kube::Object& cron_;
  const Value& spec_;
  const std::vector<kube::Object>& jobs_;
  const Time now_;
  Value status_;
  std::vector<Value> active_;
  CronPlan plan_;
};

void Planner::see_jobs() {
  const std::vector<Value> before = active_;
  for (const Value& active : before) {
    const std::string name = active["name"].str();
    const kube::Object* job = job_of_uid(active["uid"].as_string());
    if (job == nullptr) {
      tell("Normal", "MissingJob", fmt::format("Active job went missing: {}", name), name);
    } else if (is_finished_job(*job)) {
      const char* ending = kube::is_true(*job, "Complete") ? "Complete" : "Failed";
      tell("Normal", "SawCompletedJob", fmt::format("Saw completed job: {}, condition: {}", name, ending), name);
    } else {
      continue;
    }
    drop_active(active["uid"].as_string());
  }
  for (const kube::Object& job : jobs_) see_success(job);
}

void Planner::see_success(const kube::Object& job) {
  const auto ended = kube::time_of(job["status"]["completionTime"]);
  if (!ended || !kube::is_true(job, "Complete")) return;
  const auto known = kube::time_of(status_["lastSuccessfulTime"]);
  if (!known || *ended > *known) status_ = status_.with("lastSuccessfulTime", to_rfc3339(*ended));
}

/// The oldest go first.
void Planner::trim_history(const char* limit, std::int64_t otherwise, const char* ending) {
  std::vector<kube::Object> ended;
  for (const kube::Object& job : jobs_) {
    if (kube::is_true(job, ending) && !kube::is_deleting(job)) ended.push_back(job);
  }
  const auto kept = static_cast<std::size_t>(spec_[limit].as_int(otherwise));
  if (ended.size() <= kept) return;
  std::ranges::sort(ended, {}, [](const kube::Object& job) {
    return std::pair{kube::time_of(job["status"]["startTime"]).value_or(Time::max()), kube::name(job)};
  });
  for (std::size_t i = 0; i + kept < ended.size(); ++i) remove(ended[i]);
}

std::optional<Time> Planner::last_missed(const server::CronSchedule& schedule, int& missed) const {
  Time from = kube::time_of(status_["lastScheduleTime"]).value_or(kube::creation_time(cron_).value_or(now_));
  if (spec_.has("startingDeadlineSeconds")) {
    from = std::max(from, now_ - seconds_saturating(spec_["startingDeadlineSeconds"].as_int()));
  }
  std::optional<Time> last;
  for (auto due = schedule.next(from); due && *due <= now_; due = schedule.next(*due)) {
    last = due;
    ++missed;
  }
  return last;
}

void Planner::run() {
  const std::string zone = spec_["timeZone"].str();
  if (std::ranges::find(kUtc, zone) == kUtc.end()) {
    return tell("Warning", "UnknownTimeZone", fmt::format("invalid timeZone: \"{}\": only UTC is known here", zone));
  }
  if (spec_["suspend"].as_bool() || server::schedule_fault(spec_["schedule"].as_string())) return;
  const server::CronSchedule schedule(spec_["schedule"].as_string());
  if (const auto next = schedule.next(now_)) plan_.look_again = *next - now_ + kMargin;
  int missed = 0;
  const auto due = last_missed(schedule, missed);
  if (!due) return;
  if (missed > kManyMissed) {
    tell("Warning", "TooManyMissedTimes",
         "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew");
  }
  if (!active_.empty() && spec_["concurrencyPolicy"].as_string() == "Forbid") {
    return tell("Normal", "JobAlreadyActive",
                "Not starting job because prior execution is running and concurrency policy is Forbid");
  }
  start(*due);
}

void Planner::start(Time due) {
  if (spec_["concurrencyPolicy"].as_string() == "Replace") {
    const std::vector<Value> before = active_;
    for (const Value& active : before) {
      if (const kube::Object* job = job_of_uid(active["uid"].as_string())) remove(*job);
    }
  }
  plan_.create = job_of(due);
  const std::string name(kube::name(plan_.create));
  tell("Normal", "SuccessfulCreate", fmt::format("Created job {}", name), name);
  status_ = status_.with("lastScheduleTime", to_rfc3339(due));
}

Value Planner::job_of(Time due) const {
  const Value& pattern = spec_["jobTemplate"];
  const auto minutes = std::chrono::floor<std::chrono::minutes>(due).time_since_epoch().count();
  json::ObjectBuilder metadata;
  metadata.set("name", fmt::format("{}-{}", kube::name(cron_), minutes));
  metadata.set("namespace", kube::ns(cron_));
  if (const Value& labels = pattern["metadata"]["labels"]; !labels.empty()) metadata.set("labels", labels);
  const Value& annotations = pattern["metadata"]["annotations"];
  metadata.set("annotations",
               (annotations.is_null() ? Value::empty_object() : annotations).with(kScheduledAt, to_rfc3339(due)));
  metadata.set("ownerReferences", json::array({kube::owner_reference(cron_)}));
  return json::object({{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", metadata.build()}, {"spec", pattern["spec"]}});
}

}  // namespace

CronPlan plan_cron_job(const kube::Object& cron, const std::vector<kube::Object>& jobs, Time now) {
  return Planner(cron, jobs, now).plan();
}

Value active_reference(const kube::Object& job) {
  const Value& metadata = job["metadata"];
  return json::object({{"apiVersion", "batch/v1"},
                       {"kind", "Job"},
                       {"namespace", metadata["namespace"]},
                       {"name", metadata["name"]},
                       {"uid", metadata["uid"]},
                       {"resourceVersion", metadata["resourceVersion"]}});
}

}  // namespace slipway::cluster
