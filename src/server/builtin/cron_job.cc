// CronJob (batch/v1).
#include <array>

#include "kube/cron_spec.h"
#include "server/builtin/defaults.h"
#include "server/builtin/pod_template.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace cron_job_rules {
namespace {

using json::Value;
using kube::Object;

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

void validate(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (old.is_null()) kube::add_cron_name_causes(kube::name(object), causes);
  if (spec.is_same(old["spec"])) return;
  kube::add_schedule_causes(spec, causes);
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
}  // namespace cron_job_rules

std::span<const Strategy> cron_job_strategies() {
  static constexpr std::array kRows{Strategy{.group = "batch",
                                             .kind = "CronJob",
                                             .fill_defaults = cron_job_rules::fill_defaults,
                                             .prepare_create = cron_job_rules::prepare_create,
                                             .validate = cron_job_rules::validate}};
  return kRows;
}

}  // namespace slipway::server
