#include "cluster/job_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/count.h"
#include "client/backoff.h"
#include "cluster/index_set.h"
#include "cluster/job_policy.h"
#include "cluster/names.h"
#include "cluster/pod_facts.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr client::Backoff kPodBackoff{std::chrono::seconds{10}, std::chrono::minutes{10}};
/// As the API server bounds spec.backoffLimitPerIndex.
constexpr std::int64_t kMaxIndexFailures = std::numeric_limits<std::int32_t>::max();
/// Pods created in one go.
constexpr std::int64_t kMaxBatch = 500;

/// spec with the API's defaults.
struct JobSpec {
  explicit JobSpec(const Value& spec)
      : parallelism(spec.has("parallelism") ? spec["parallelism"].as_int() : 1),
        backoff_limit(spec.has("backoffLimit") ? spec["backoffLimit"].as_int() : 6),
        is_indexed(spec["completionMode"].as_string() == "Indexed"),
        is_suspended(spec["suspend"].as_bool()),
        waits_for_failed(spec["podReplacementPolicy"].as_string() == "Failed" ||
                         (spec.has("podFailurePolicy") && !spec.has("podReplacementPolicy"))),
        restarts_containers(spec["template"]["spec"]["restartPolicy"].as_string() == "OnFailure") {
    if (spec.has("completions")) {
      completions = spec["completions"].as_int();
    } else if (!spec.has("parallelism")) {
      completions = 1;
    }
    if (spec.has("activeDeadlineSeconds")) deadline = seconds_saturating(spec["activeDeadlineSeconds"].as_int());
    if (spec.has("backoffLimitPerIndex")) limit_per_index = spec["backoffLimitPerIndex"].as_int();
    if (spec.has("maxFailedIndexes")) max_failed_indexes = spec["maxFailedIndexes"].as_int();
    if (spec.has("ttlSecondsAfterFinished")) ttl = seconds_saturating(spec["ttlSecondsAfterFinished"].as_int());
  }

  std::int64_t parallelism;
  std::int64_t backoff_limit;
  bool is_indexed;
  bool is_suspended;
  bool waits_for_failed;  // a pod is replaced only once it has ended
  bool restarts_containers;
  std::optional<std::int64_t> completions;  // nullopt: work queue
  std::optional<std::int64_t> limit_per_index;
  std::optional<std::int64_t> max_failed_indexes;
  std::optional<Duration> deadline;
  std::optional<Duration> ttl;
};

/// What the pods of one index tell of its failures.
struct IndexFailures {
  std::int64_t count = 0;
  Time last = Time::min();
};

/// How a Job ends, once that is decided.
struct Ending {
  bool is_success = false;
  std::string reason;
  std::string message;
};

class JobPlanner {
 public:
  JobPlanner(const kube::Object& job, const std::vector<kube::Object>& pods, const NameIsTaken& is_taken, const Now& now)
      : job_(job), pods_(pods), is_taken_(is_taken), clock_(now), now_(now), spec_(job["spec"]), status_(job["status"]) {}

  JobPlan plan();

 private:
  void plan_finished();
  void read_counts();
  void sort_pods();
  void count(const kube::Object& pod);
  void count_failed(const kube::Object& pod);
  void suspend_or_resume();
  void decide_ending();
  void count_index(const kube::Object& pod, const PodVerdict& verdict);
  std::optional<Ending> failed_indexes_ending() const;
  std::optional<Ending> success_policy_ending() const;
  bool must_back_off(std::int64_t index);
  bool is_complete() const;
  std::optional<Time> deadline() const;
  void end();
  void manage();
  void manage_indexed(std::int64_t wanted);
  void shrink(std::int64_t surplus);
  bool must_back_off();
  std::int64_t wanted_active() const;
  void drop(const kube::Object& pod);
  void set_condition(std::string type, std::string status, std::string reason, std::string message);
  void write_status();
  void look_again_at(Time when);

  std::int64_t succeeded() const { return spec_.is_indexed ? completed_.size() : counted_succeeded_ + as_int(new_succeeded_); }
  std::int64_t failed() const { return counted_failed_ + as_int(new_failed_); }
  static std::int64_t as_int(const std::vector<std::string>& list) { return static_cast<std::int64_t>(list.size()); }

  const kube::Object& job_;
  const std::vector<kube::Object>& pods_;
  const NameIsTaken& is_taken_;
  const Now& clock_;
  const Time now_;
  const JobSpec spec_;
  Value status_;
  JobPlan plan_;

  std::int64_t counted_succeeded_ = 0;
  std::int64_t counted_failed_ = 0;
  std::vector<std::string> new_succeeded_;  // uids for uncountedTerminatedPods
  std::vector<std::string> new_failed_;
  std::set<std::string, std::less<>> uncounted_;
  std::size_t newly_uncounted_ = 0;
  IndexSet completed_;
  IndexSet failed_indexes_;
  std::map<std::int64_t, IndexFailures> index_failures_;
  std::vector<kube::Object> active_;
  std::int64_t ready_ = 0;
  std::int64_t terminating_ = 0;
  std::vector<Time> failures_;  // when pods failed that count
  std::optional<Time> last_success_;
  std::int64_t container_restarts_ = 0;
  std::string policy_failure_;
  std::optional<Ending> ending_;
  std::optional<Time> start_time_;
};

JobPlan JobPlanner::plan() {
  if (is_finished_job(job_)) {
    plan_finished();
    return std::move(plan_);
  }
  if (kube::is_deleting(job_)) {
    for (const kube::Object& pod : pods_) {
      if (kube::has_finalizer(pod, kJobTracking)) plan_.release.push_back(pod);
    }
    return std::move(plan_);
  }
  read_counts();
  sort_pods();
  suspend_or_resume();
  decide_ending();
  if (ending_) {
    end();
  } else if (!spec_.is_suspended) {
    manage();
    if (const auto when = deadline()) look_again_at(*when);
  }
  write_status();
  return std::move(plan_);
}

/// What a crash has left behind, and the time to live.
void JobPlanner::plan_finished() {
  for (const kube::Object& pod : pods_) {
    if (kube::has_finalizer(pod, kJobTracking)) plan_.release.push_back(pod);
    if (!is_terminal_pod(pod) && !kube::is_deleting(pod)) plan_.remove.push_back(pod);
  }
  if (!spec_.ttl || kube::is_deleting(job_)) return;
  const Value& ended = kube::is_true(job_, "Complete") ? kube::condition(job_, "Complete") : kube::condition(job_, "Failed");
  const Time expiry = clock_.present(kube::time_of(ended["lastTransitionTime"]).value_or(now_)) + *spec_.ttl;
  plan_.is_expired = expiry <= now_;
  if (!plan_.is_expired) look_again_at(expiry);
}

/// Uids whose pod has lost its finalizer (or is gone) move from uncounted to counted.
void JobPlanner::read_counts() {
  counted_succeeded_ = status_["succeeded"].as_int();
  counted_failed_ = status_["failed"].as_int();
  if (spec_.limit_per_index) {
    failed_indexes_ = IndexSet::parse(status_["failedIndexes"].as_string(), spec_.completions.value_or(0));
  }
  if (spec_.is_indexed) completed_ = IndexSet::parse(status_["completedIndexes"].as_string(), spec_.completions.value_or(0));
  std::set<std::string, std::less<>> held;
  for (const kube::Object& pod : pods_) {
    if (kube::has_finalizer(pod, kJobTracking)) held.insert(std::string(kube::uid(pod)));
  }
  const Value& lists = status_["uncountedTerminatedPods"];
  const auto read = [&](const char* name, std::vector<std::string>& kept, std::int64_t& counted) {
    for (const Value& uid : lists[name].items()) {
      if (held.contains(uid.as_string())) {
        kept.push_back(uid.str());
        uncounted_.insert(uid.str());
      } else {
        ++counted;
      }
    }
  };
  read("succeeded", new_succeeded_, counted_succeeded_);
  read("failed", new_failed_, counted_failed_);
}

void JobPlanner::sort_pods() {
  for (const kube::Object& pod : pods_) {
    const bool is_tracked = kube::has_finalizer(pod, kJobTracking);
    if (is_terminal_pod(pod)) {
      count(pod);
    } else if (kube::is_deleting(pod)) {
      ++terminating_;
    } else if (!is_tracked) {
      plan_.remove.push_back(pod);  // being dropped; see drop()
      ++terminating_;
    } else {
      active_.push_back(pod);
      container_restarts_ += restarts(pod);
      if (kube::is_true(pod, "Ready")) ++ready_;
    }
    // Without a recorded start the first pod tells, so that a start need not be written before anything has happened.
    const auto created = kube::creation_time(pod);
    if (created && (!start_time_ || *created < *start_time_)) start_time_ = created;
  }
}

void JobPlanner::count(const kube::Object& pod) {
  const bool is_tracked = kube::has_finalizer(pod, kJobTracking);
  if (is_tracked) plan_.release.push_back(pod);
  if (!has_succeeded(pod)) return count_failed(pod);
  last_success_ = std::max(last_success_.value_or(Time::min()), clock_.present(finish_time(pod)));
  if (!is_tracked || uncounted_.contains(kube::uid(pod))) return;
  if (spec_.is_indexed) {
    const auto index = completion_index(pod);
    if (!index || *index >= spec_.completions.value_or(0) || completed_.contains(*index)) return;
    completed_.insert(*index);
  } else {
    new_succeeded_.emplace_back(kube::uid(pod));
  }
  ++newly_uncounted_;
}

void JobPlanner::count_failed(const kube::Object& pod) {
  const bool is_tracked = kube::has_finalizer(pod, kJobTracking);
  const PodVerdict verdict = judge_failed_pod(job_, pod);
  const bool was_dropped = !is_tracked && kube::is_deleting(pod);
  if (spec_.limit_per_index && !was_dropped) count_index(pod, verdict);
  if (verdict.action == PodFailure::Replace) return;
  failures_.push_back(clock_.present(finish_time(pod)));
  if (verdict.action == PodFailure::Ignore) return;
  if (!is_tracked || uncounted_.contains(kube::uid(pod))) return;
  if (verdict.action == PodFailure::FailJob && policy_failure_.empty()) policy_failure_ = verdict.message;
  new_failed_.emplace_back(kube::uid(pod));
  ++newly_uncounted_;
}

/// A pod carries how often its index had failed before it was made, so that failures of pods that are gone count too.
void JobPlanner::count_index(const kube::Object& pod, const PodVerdict& verdict) {
  const auto index = completion_index(pod);
  if (!index || verdict.action == PodFailure::Replace) return;
  IndexFailures& known = index_failures_[*index];
  // Users may write the annotation: what is no count is 0, as in the reference.
  const std::int64_t before = std::min(parse_count(kube::annotation(pod, kIndexFailures)).value_or(0), kMaxIndexFailures);
  const std::int64_t counted = before + (verdict.action == PodFailure::Ignore ? 0 : 1);
  known.count = std::max(known.count, counted);
  known.last = std::max(known.last, clock_.present(finish_time(pod)));
  const bool is_over = counted > *spec_.limit_per_index || verdict.action == PodFailure::FailIndex;
  if (is_over && !completed_.contains(*index)) failed_indexes_.insert(*index);
}

std::optional<Ending> JobPlanner::failed_indexes_ending() const {
  if (!spec_.limit_per_index || failed_indexes_.size() == 0) return std::nullopt;
  if (spec_.max_failed_indexes && failed_indexes_.size() > *spec_.max_failed_indexes) {
    return Ending{false, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"};
  }
  if (failed_indexes_.size() + completed_.size() < spec_.completions.value_or(0)) return std::nullopt;
  return Ending{false, "FailedIndexes", "Job has failed indexes"};
}

/// spec.successPolicy: the first rule whose indexes, or so many of them, have succeeded.
std::optional<Ending> JobPlanner::success_policy_ending() const {
  std::size_t rule_index = 0;
  for (const Value& rule : job_["spec"]["successPolicy"]["rules"].items()) {
    const bool names_indexes = rule.has("succeededIndexes");
    const IndexSet named = IndexSet::parse(rule["succeededIndexes"].as_string(), spec_.completions.value_or(0));
    std::int64_t succeeded_of = completed_.size();
    if (names_indexes) {
      succeeded_of = 0;
      for (std::int64_t i = 0; i < spec_.completions.value_or(0); ++i)
        succeeded_of += named.contains(i) && completed_.contains(i);
    }
    const std::int64_t wanted = rule.has("succeededCount") ? rule["succeededCount"].as_int() : named.size();
    if (succeeded_of >= wanted) return Ending{true, "SuccessPolicy", fmt::format("Matched rules at index {}", rule_index)};
    ++rule_index;
  }
  return std::nullopt;
}

void JobPlanner::suspend_or_resume() {
  if (spec_.is_suspended) {
    if (!kube::is_true(job_, "Suspended")) plan_.events.push_back({"Normal", "Suspended", "Job suspended"});
    set_condition("Suspended", "True", "JobSuspended", "Job suspended");
    if (status_.has("startTime")) plan_.is_status_urgent = true;
    status_ = status_.without("startTime");
    start_time_.reset();
    for (const kube::Object& pod : active_) drop(pod);
    terminating_ += static_cast<std::int64_t>(active_.size());
    active_.clear();
    ready_ = 0;
    return;
  }
  if (kube::is_true(job_, "Suspended")) {
    plan_.events.push_back({"Normal", "Resumed", "Job resumed"});
    set_condition("Suspended", "False", "JobResumed", "Job resumed");
    start_time_ = now_;
  } else if (const auto recorded = kube::time_of(status_["startTime"])) {
    start_time_ = recorded;
  } else if (!start_time_) {
    start_time_ = now_;
  }
  if (!status_.has("startTime")) status_ = status_.with("startTime", to_rfc3339(*start_time_));
}

std::optional<Time> JobPlanner::deadline() const {
  const auto start = kube::time_of(status_["startTime"]);
  if (!spec_.deadline || !start) return std::nullopt;
  return clock_.present(*start) + *spec_.deadline;
}

bool JobPlanner::is_complete() const {
  if (spec_.completions) return succeeded() >= *spec_.completions;
  return succeeded() > 0 && active_.empty();
}

void JobPlanner::decide_ending() {
  const auto past_deadline = deadline();
  if (const Value& target = kube::condition(job_, "FailureTarget"); kube::is_true(job_, "FailureTarget")) {
    ending_ = Ending{false, target["reason"].str(), target["message"].str()};
  } else if (const Value& met = kube::condition(job_, "SuccessCriteriaMet"); kube::is_true(job_, "SuccessCriteriaMet")) {
    ending_ = Ending{true, met["reason"].str(), met["message"].str()};
  } else if (!policy_failure_.empty()) {
    ending_ = Ending{false, "PodFailurePolicy", policy_failure_};
  } else if (failed() > spec_.backoff_limit || (spec_.restarts_containers && container_restarts_ > 0 &&
                                                container_restarts_ >= std::max<std::int64_t>(spec_.backoff_limit, 1))) {
    ending_ = Ending{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  } else if (const auto failed_indexes = failed_indexes_ending()) {
    ending_ = failed_indexes;
  } else if (const auto success = success_policy_ending()) {
    ending_ = success;
  } else if (is_complete() && (!past_deadline || !last_success_ || *last_success_ <= *past_deadline)) {
    // DIVERGES: what was done before the deadline counts, even when it is seen only after it (a controller was down).
    ending_ = Ending{true, "CompletionsReached", "Reached expected number of succeeded pods"};
  } else if (past_deadline && *past_deadline <= now_) {
    ending_ = Ending{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
  }
}

void JobPlanner::end() {
  set_condition(ending_->is_success ? "SuccessCriteriaMet" : "FailureTarget", "True", ending_->reason, ending_->message);
  for (const kube::Object& pod : active_) {
    // Pods that a success makes superfluous are not failures.
    if (ending_->is_success) {
      drop(pod);
    } else {
      plan_.remove.push_back(pod);
    }
  }
  terminating_ += static_cast<std::int64_t>(active_.size());
  active_.clear();
  ready_ = 0;
  if (terminating_ > 0) return;
  set_condition(ending_->is_success ? "Complete" : "Failed", "True", ending_->reason, ending_->message);
  counted_succeeded_ += as_int(new_succeeded_);
  counted_failed_ += as_int(new_failed_);
  new_succeeded_.clear();
  new_failed_.clear();
  if (ending_->is_success) {
    status_ = status_.with("completionTime", to_rfc3339(now_));
  } else {
    plan_.events.push_back({"Warning", ending_->reason, ending_->message});
  }
}

std::int64_t JobPlanner::wanted_active() const {
  // A work queue is emptied once one worker has succeeded: the others end by themselves.
  if (!spec_.completions && succeeded() > 0) return std::min(spec_.parallelism, static_cast<std::int64_t>(active_.size()));
  if (!spec_.completions) return spec_.parallelism;
  const std::int64_t open = *spec_.completions - succeeded() - failed_indexes_.size();
  return std::max<std::int64_t>(std::min(spec_.parallelism, open), 0);
}

void JobPlanner::manage() {
  const std::int64_t wanted = wanted_active();
  if (spec_.is_indexed) return manage_indexed(wanted);
  const auto active = static_cast<std::int64_t>(active_.size());
  if (active > wanted) return shrink(active - wanted);
  std::int64_t missing = wanted - active - (spec_.waits_for_failed ? terminating_ : 0);
  if (missing <= 0 || must_back_off()) return;
  missing = std::min(missing, kMaxBatch);
  // The lowest free number at or above what is counted: an old cache then asks for a name that exists.
  for (std::int64_t ordinal = counted_succeeded_ + counted_failed_; missing > 0; ++ordinal) {
    const JobPodSlot slot{ordinal, std::nullopt};
    if (is_taken_(job_pod_name(job_, slot))) continue;
    plan_.create.push_back(slot);
    --missing;
  }
}

void JobPlanner::manage_indexed(std::int64_t wanted) {
  std::set<std::int64_t> taken;
  std::vector<kube::Object> kept;
  for (const kube::Object& pod : active_) {
    const auto index = completion_index(pod);
    const bool is_needed =
        index && *index < spec_.completions.value_or(0) && !completed_.contains(*index) && !failed_indexes_.contains(*index);
    if (is_needed && taken.insert(*index).second) {
      kept.push_back(pod);
    } else {
      drop(pod);
      ++terminating_;
    }
  }
  active_ = std::move(kept);
  const auto active = static_cast<std::int64_t>(active_.size());
  if (active > wanted) return shrink(active - wanted);
  std::int64_t missing = wanted - active - (spec_.waits_for_failed ? terminating_ : 0);
  if (missing <= 0 || (!spec_.limit_per_index && must_back_off())) return;
  missing = std::min(missing, kMaxBatch);
  for (std::int64_t index = completed_.next_absent(0); missing > 0 && index < *spec_.completions;
       index = completed_.next_absent(index + 1)) {
    if (taken.contains(index) || failed_indexes_.contains(index) || must_back_off(index)) continue;
    JobPodSlot slot{0, index, index_failures_[index].count};
    while (is_taken_(job_pod_name(job_, slot))) ++slot.ordinal;
    plan_.create.push_back(slot);
    --missing;
  }
}

/// Those that have come least far go first: not ready before ready, then the younger.
void JobPlanner::shrink(std::int64_t surplus) {
  std::vector<kube::Object> order = active_;
  std::sort(order.begin(), order.end(), [](const kube::Object& left, const kube::Object& right) {
    const bool left_ready = kube::is_true(left, "Ready");
    const bool right_ready = kube::is_true(right, "Ready");
    if (left_ready != right_ready) return right_ready;
    if (kube::creation_time(left) != kube::creation_time(right)) return kube::creation_time(left) > kube::creation_time(right);
    return kube::name(left) < kube::name(right);
  });
  for (std::int64_t i = 0; i < surplus; ++i) drop(order[static_cast<std::size_t>(i)]);
  terminating_ += surplus;
  const auto first_kept = order.begin() + surplus;
  active_.assign(first_kept, order.end());
}

/// 10 s · 2^n after the n-th failure since the last success. Failures are read from the pods that are still there.
bool JobPlanner::must_back_off() {
  int count = 0;
  Time last = Time::min();
  for (const Time failure : failures_) {
    if (last_success_ && failure <= *last_success_) continue;
    ++count;
    last = std::max(last, failure);
  }
  if (count == 0) return false;
  const Time when = last + kPodBackoff.after(count - 1);
  if (when <= now_) return false;
  look_again_at(when);
  return true;
}

/// The same for one index, by its own failures.
bool JobPlanner::must_back_off(std::int64_t index) {
  const auto known = index_failures_.find(index);
  if (known == index_failures_.end() || known->second.count == 0) return false;
  const Time when = known->second.last + kPodBackoff.after(static_cast<int>(known->second.count) - 1);
  if (when <= now_) return false;
  look_again_at(when);
  return true;
}

/// The Job itself has no more use for the pod, which must not count as failed: its finalizer goes before it does. A pod found
/// alive without its finalizer is one whose deletion a crash has prevented.
void JobPlanner::drop(const kube::Object& pod) {
  plan_.release.push_back(pod);
  plan_.remove.push_back(pod);
}

void JobPlanner::set_condition(std::string type, std::string status, std::string reason, std::string message) {
  const Value before = status_["conditions"];
  const Value after =
      kube::set_condition(before, {std::move(type), std::move(status), std::move(reason), std::move(message)}, now_, true);
  if (after == before) return;
  status_ = status_.with("conditions", after);
  plan_.is_status_urgent = true;
}

void JobPlanner::write_status() {
  const auto set_count = [&](const char* name, std::int64_t count) {
    status_ = count == 0 ? status_.without(name) : status_.with(name, count);
  };
  set_count("active", static_cast<std::int64_t>(active_.size() + plan_.create.size()));
  set_count("succeeded", spec_.is_indexed ? completed_.size() : counted_succeeded_);
  set_count("failed", counted_failed_);
  status_ = status_.with("ready", ready_).with("terminating", terminating_);
  if (spec_.is_indexed && completed_.size() > 0) status_ = status_.with("completedIndexes", completed_.to_string());
  if (spec_.limit_per_index) status_ = status_.with("failedIndexes", failed_indexes_.to_string());
  Value uncounted = Value::empty_object();
  if (!new_succeeded_.empty()) uncounted = uncounted.with("succeeded", json::array(new_succeeded_));
  if (!new_failed_.empty()) uncounted = uncounted.with("failed", json::array(new_failed_));
  status_ = status_.with("uncountedTerminatedPods", uncounted);
  if (newly_uncounted_ > 0) plan_.is_status_urgent = true;
  if (status_ != job_["status"]) plan_.status = status_;
}

void JobPlanner::look_again_at(Time when) {
  const Duration wait = std::max(when - now_, Duration{0});
  if (!plan_.look_again || wait < *plan_.look_again) plan_.look_again = wait;
}

}  // namespace

JobPlan plan_job(const kube::Object& job, const std::vector<kube::Object>& pods, const NameIsTaken& is_taken, const Now& now) {
  return JobPlanner(job, pods, is_taken, now).plan();
}

bool is_finished_job(const kube::Object& job) { return kube::is_true(job, "Complete") || kube::is_true(job, "Failed"); }

}  // namespace slipway::cluster
