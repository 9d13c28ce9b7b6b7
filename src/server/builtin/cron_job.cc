// CronJob (batch/v1).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "server/builtin/cron_schedule.h"
#include "server/builtin/defaults.h"
#include "server/builtin/pod_template.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

constexpr std::size_t kMostName = 52;  // so that the names of its Jobs fit

/// The areas of the time zone database. Which places they have is not known here.
constexpr std::array<std::string_view, 11> kAreas{"Africa",    "America", "Antarctica", "Arctic",  "Asia", "Atlantic",
                                                  "Australia", "Europe",  "Indian",     "Pacific", "Etc"};

bool is_time_zone(std::string_view name) {
  const auto slash = name.find('/');
  return slash == std::string_view::npos || std::ranges::find(kAreas, name.substr(0, slash)) != kAreas.end();
}

Object fill_defaults(const Object& object) {
  return Defaults(object)
      .present("spec",
               [](const Value& spec) {
                 return Defaults(spec)
                     .present("jobTemplate",
                              [](const Value& job) { return Defaults(job).present("spec", with_template_defaults).value(); })
                     .value();
               })
      .value();
}

Object prepare_create(const Object& object, const Surroundings&) { return object.with("status", Value::empty_object()); }

void schedule_causes(const Value& spec, std::vector<Cause>& causes) {
  const Value& schedule = spec["schedule"];
  if (schedule.as_string().empty()) {
    causes.push_back(field::required("spec.schedule"));
  } else if (schedule.as_string().find("TZ") != std::string_view::npos) {
    causes.push_back(
        field::invalid("spec.schedule", quoted(schedule), "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  } else if (const auto fault = schedule_fault(schedule.as_string())) {
    causes.push_back(field::invalid("spec.schedule", quoted(schedule), *fault));
  }
  const Value& zone = spec["timeZone"];
  if (zone.is_null()) return;
  if (zone.as_string().empty()) {
    causes.push_back(field::invalid("spec.timeZone", quoted(zone), "timeZone must be nil or non-empty string"));
  } else if (zone.as_string() == "Local") {
    causes.push_back(field::invalid("spec.timeZone", quoted(zone),
                                    "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"));
  } else if (!is_time_zone(zone.as_string())) {
    causes.push_back(field::invalid("spec.timeZone", quoted(zone), fmt::format("unknown time zone {}", zone.as_string())));
  }
}

void validate(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (old.is_null() && kube::name(object).size() > kMostName) {
    causes.push_back(field::invalid("metadata.name", quoted(object["metadata"]["name"]),
                                    fmt::format("must be no more than {} characters", kMostName)));
  }
  if (spec.is_same(old["spec"])) return;
  schedule_causes(spec, causes);
  for (const char* key : {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}) {
    not_negative(spec, "spec", key, causes);
  }
  const Value& job = spec["jobTemplate"]["spec"];
  const std::string path = "spec.jobTemplate.spec";
  for (const char* key : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"}) {
    not_negative(job, path, key, causes);
  }
  if (job.has("selector")) {
    causes.push_back(field::invalid(path + ".selector", quoted(job["selector"]), "`selector` will be auto-generated"));
  }
  if (job["manualSelector"].as_bool()) {
    causes.push_back(field::not_supported(path + ".manualSelector", "true", {"nil", "false"}));
  }
  pod_template_causes(job["template"], path + ".template", Value(), causes);
  if (job["template"]["spec"]["restartPolicy"].as_string() == "Always") {
    causes.push_back(field::required(path + ".template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\""));
  }
}

}  // namespace

std::span<const Strategy> cron_job_strategies() {
  static constexpr std::array kRows{Strategy{.group = "batch",
                                             .kind = "CronJob",
                                             .fill_defaults = fill_defaults,
                                             .prepare_create = prepare_create,
                                             .validate = validate}};
  return kRows;
}

}  // namespace slipway::server
