#include "control/cron_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/cron_schedule.h"
#include "base/text.h"

namespace slipway::control {

namespace {

using json::Value;

constexpr std::array<std::string_view, 8> kUtc{"", "UTC", "Etc/UTC", "Etc/UCT", "Etc/GMT", "Etc/Zulu", "GMT", "Zulu"};
constexpr int kMaxMissed = 100;
constexpr std::int64_t kSuccessfulLimit = 3;
constexpr std::int64_t kFailedLimit = 1;

bool has_ended(const kube::Object& child) { return kube::is_true(child, "Complete") || kube::is_true(child, "Failed"); }

class Planner {
 public:
  Planner(const CronKind& kind, const kube::Object& cron, const std::vector<kube::Object>& children, Time now)
      : kind_(kind),
        word_(lower(kind.child.kind)),
        cron_(cron),
        spec_(cron["spec"]),
        children_(children),
        now_(now),
        status_(cron["status"]) {
    for (const Value& active : status_["active"].items()) active_.push_back(active);
  }

  CronPlan plan(const Result<Zone>& zone) {
    observe_children();
    trim_history(kind_.successful_limit, kSuccessfulLimit, "Complete");
    trim_history(kind_.failed_limit, kFailedLimit, "Failed");
    if (!kube::is_deleting(cron_)) run(zone);
    if (active_.empty()) {
      status_ = status_.without("active");
    } else {
      status_ = status_.with("active", json::array(std::span<const Value>(active_)));
    }
    plan_.status = status_;
    return std::move(plan_);
  }

 private:
  void observe_children();
  void observe_success(const kube::Object& child);
  void trim_history(const std::string& limit, std::int64_t otherwise, const char* ending);
  void run(const Result<Zone>& zone);
  void start(Time due);
  /// The last time that came due and was not served; counts those that did.
  CronSchedule::Missed missed(const CronSchedule& schedule, const Zone& zone) const;

  const kube::Object* child_of_uid(std::string_view uid) const {
    const auto found = std::ranges::find(children_, uid, [](const kube::Object& child) { return kube::uid(child); });
    return found == children_.end() ? nullptr : &*found;
  }
  bool is_active(std::string_view uid) const {
    return std::ranges::any_of(active_, [&](const Value& active) { return active["uid"].as_string() == uid; });
  }
  void drop_active(std::string_view uid) {
    std::erase_if(active_, [&](const Value& active) { return active["uid"].as_string() == uid; });
  }
  void add_event(const char* type, std::string reason, std::string message, std::string instance = {}) {
    plan_.events.push_back(
        {.type = type, .reason = std::move(reason), .message = std::move(message), .instance = std::move(instance)});
  }
  void remove(const kube::Object& child) {
    add_event("Normal", "SuccessfulDelete", fmt::format("Deleted {} {}", word_, kube::name(child)),
              std::string(kube::name(child)));
    drop_active(kube::uid(child));
    plan_.remove.push_back(child);
  }

  const CronKind& kind_;
  const std::string word_;  // of a child, in messages: "job"
  const kube::Object& cron_;
  const Value& spec_;
  const std::vector<kube::Object>& children_;
  const Time now_;
  Value status_;
  std::vector<Value> active_;
  CronPlan plan_;
};

void Planner::observe_children() {
  const std::vector<Value> before = active_;
  for (const Value& active : before) {
    const std::string name = active["name"].str();
    const kube::Object* child = child_of_uid(active["uid"].as_string());
    if (child == nullptr) {
      add_event("Normal", "Missing" + kind_.child.kind, fmt::format("Active {} went missing: {}", word_, name), name);
    } else if (has_ended(*child)) {
      const char* ending = kube::is_true(*child, "Complete") ? "Complete" : "Failed";
      add_event("Normal", "SawCompleted" + kind_.child.kind,
                fmt::format("Saw completed {}: {}, condition: {}", word_, name, ending), name);
    } else {
      continue;
    }
    drop_active(active["uid"].as_string());
  }
  for (const kube::Object& child : children_) {
    observe_success(child);
    const bool is_scheduled = !kube::annotation(child, kind_.scheduled_annotation).empty();
    if (!is_scheduled || has_ended(child) || kube::is_deleting(child) || is_active(kube::uid(child))) continue;
    active_.push_back(active_reference(kind_, child));
  }
}

void Planner::observe_success(const kube::Object& child) {
  const auto ended = kube::time_of(child["status"]["completionTime"]);
  if (!ended || !kube::is_true(child, "Complete")) return;
  const auto known = kube::time_of(status_["lastSuccessfulTime"]);
  if (!known || *ended > *known) status_ = status_.with("lastSuccessfulTime", to_rfc3339(*ended));
}

/// The oldest go first.
void Planner::trim_history(const std::string& limit, std::int64_t otherwise, const char* ending) {
  std::vector<kube::Object> ended;
  for (const kube::Object& child : children_) {
    if (kube::is_true(child, ending) && !kube::is_deleting(child)) ended.push_back(child);
  }
  const auto kept = static_cast<std::size_t>(spec_[limit].as_int(otherwise));
  if (ended.size() <= kept) return;
  std::ranges::sort(ended, {}, [](const kube::Object& child) {
    return std::pair{kube::time_of(child["status"]["startTime"]).value_or(Time::max()), kube::name(child)};
  });
  for (std::size_t i = 0; i + kept < ended.size(); ++i) remove(ended[i]);
}

CronSchedule::Missed Planner::missed(const CronSchedule& schedule, const Zone& zone) const {
  Time from = kube::time_of(status_["lastScheduleTime"]).value_or(kube::creation_time(cron_).value_or(now_));
  if (spec_.has("startingDeadlineSeconds")) {
    from = std::max(from, now_ - seconds_saturating(spec_["startingDeadlineSeconds"].as_int()));
  }
  return schedule.missed(from, now_, kMaxMissed, zone);
}

void Planner::run(const Result<Zone>& zone) {
  if (!zone) {
    plan_.fault = fmt::format("invalid timeZone: \"{}\": {}", spec_["timeZone"].as_string(), zone.error().message);
    return add_event("Warning", "UnknownTimeZone", plan_.fault);
  }
  if (spec_["suspend"].as_bool() || schedule_fault(spec_["schedule"].as_string())) return;
  const CronSchedule schedule(spec_["schedule"].as_string());
  plan_.next = schedule.next(now_, *zone);
  const auto [due, count] = missed(schedule, *zone);
  if (!due) return;
  if (count > kMaxMissed) {
    add_event("Warning", "TooManyMissedTimes",
              "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew");
  }
  if (!active_.empty() && spec_["concurrencyPolicy"].as_string() == "Forbid") {
    return add_event("Normal", kind_.child.kind + "AlreadyActive",
                     fmt::format("Not starting {} because prior execution is running and concurrency policy is Forbid", word_));
  }
  start(*due);
}

void Planner::start(Time due) {
  plan_.create = cron_child(kind_, cron_, due);
  plan_.due = due;
  if (spec_["concurrencyPolicy"].as_string() != "Replace") return;
  const std::vector<Value> before = active_;
  for (const Value& active : before) {
    const kube::Object* child = child_of_uid(active["uid"].as_string());
    // One of this name was created for this very time, before a crash.
    if (child != nullptr && kube::name(*child) != kube::name(plan_.create)) remove(*child);
  }
}

}  // namespace

CronPlan plan_cron(const CronKind& kind, const kube::Object& cron, const std::vector<kube::Object>& children,
                   const Result<Zone>& zone, Time now) {
  return Planner(kind, cron, children, now).plan(zone);
}

bool is_utc(std::string_view time_zone) { return std::ranges::find(kUtc, time_zone) != kUtc.end(); }

kube::Object cron_child(const CronKind& kind, const kube::Object& cron, Time due) {
  const Value& pattern = cron["spec"][kind.template_field];
  const auto minutes = std::chrono::floor<std::chrono::minutes>(due).time_since_epoch().count();
  json::ObjectBuilder metadata;
  metadata.set("name", fmt::format("{}-{}", kube::name(cron), minutes));
  metadata.set("namespace", kube::ns(cron));
  if (const Value& labels = pattern["metadata"]["labels"]; !labels.empty()) metadata.set("labels", labels);
  const Value& annotations = pattern["metadata"]["annotations"];
  metadata.set("annotations",
               (annotations.is_null() ? Value::empty_object() : annotations).with(kind.scheduled_annotation, to_rfc3339(due)));
  metadata.set("ownerReferences", json::array({kube::owner_reference(cron)}));
  return json::object({{"apiVersion", kind.child.api_version()},
                       {"kind", kind.child.kind},
                       {"metadata", metadata.build()},
                       {"spec", pattern["spec"]}});
}

Value active_reference(const CronKind& kind, const kube::Object& child) {
  const Value& metadata = child["metadata"];
  return json::object({{"apiVersion", kind.child.api_version()},
                       {"kind", kind.child.kind},
                       {"namespace", metadata["namespace"]},
                       {"name", metadata["name"]},
                       {"uid", metadata["uid"]},
                       {"resourceVersion", metadata["resourceVersion"]}});
}

}  // namespace slipway::control
