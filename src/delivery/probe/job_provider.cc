// The provider "job": a measurement is a Job that runs; that it completes is the answer.
#include <fmt/format.h>

#include "base/digest.h"
#include "delivery/probe/measure.h"
#include "kube/object.h"
#include "kube/well_known.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

constexpr std::string_view kManager = "slipway-gate";
constexpr std::int64_t kKeptSeconds = 3600;  // an ended Job, unless its spec says

/// The Job of a measurement: settings are its {metadata: {labels, annotations}, spec}.
Value job_of(const Question& question, const std::string& name) {
  const Value& settings = *question.gate.metric->settings;
  Value spec = settings["spec"];
  if (!spec.has("ttlSecondsAfterFinished")) spec = spec.with("ttlSecondsAfterFinished", kKeptSeconds);
  if (!spec.has("backoffLimit")) spec = spec.with("backoffLimit", 0);
  if (!spec["template"]["spec"].has("restartPolicy")) spec = spec.with_path({"template", "spec", "restartPolicy"}, "Never");
  Value metadata = json::object({{"name", name}, {"namespace", question.ns}});
  for (const char* part : {"labels", "annotations"}) {
    if (settings["metadata"].has(part)) metadata = metadata.with(part, settings["metadata"][part]);
  }
  if (!question.owner.is_null()) metadata = metadata.with("ownerReferences", json::array({question.owner}));
  return json::object({{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", metadata}, {"spec", spec}});
}

}  // namespace

Task<Result<Measurement>> measure_by_job(Reach reach, Question question, std::int64_t number) {
  const auto& settings = question.gate.metric->settings;
  if (!settings || !(*settings)["spec"].is_object())
    co_return fail(Reason::Invalid, "provider job needs settings.spec, a Job's");
  const std::string hash = name_hash(fmt::format("{}/{}", question.key, number));
  const std::string name = fmt::format("{}-{}", question.gate.name.substr(0, 52), hash);
  auto job = co_await client::get(reach.client, kube::kJobs, {question.ns, name});
  if (!job && job.error().reason != Reason::NotFound) co_return fail(std::move(job).error());
  if (!job) {
    auto made = co_await client::create(reach.client, kube::kJobs, job_of(question, name), std::string(kManager));
    const bool is_there = made || made.error().reason == Reason::AlreadyExists;
    if (!is_there) co_return fail(std::move(made).error());
    co_return Measurement{.is_running = true};
  }
  if (kube::is_true(*job, "Complete")) co_return Measurement{.measured = {.value = true}};
  if (kube::is_true(*job, "Failed")) co_return Measurement{.measured = {.value = false}};
  co_return Measurement{.is_running = true};
}

}  // namespace slipway::delivery::probe
