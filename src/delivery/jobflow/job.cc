#include "delivery/jobflow/job.h"

#include <fmt/format.h>

#include <charconv>

#include "base/digest.h"
#include "delivery/jobflow/names.h"
#include "json/text.h"

namespace slipway::delivery::jobflow {
namespace {

/// Records the author's name only: it identifies who created the Job, and nothing acts as a Job's author.
Value annotations_of(const kube::Object& workflow, const Program& program, const Value& job_template, const std::string& step,
                     std::int64_t attempt) {
  json::ObjectBuilder builder;
  for (const auto& [name, value] : program.spec().metadata.annotations) builder.set(name, value);
  for (auto [name, value] : job_template["metadata"]["annotations"].members()) builder.set(name, value);
  builder.set(kStepAnnotation, step);
  builder.set(kAttemptAnnotation, std::to_string(attempt));
  if (const auto author = kube::annotation(workflow, kUserName); !author.empty()) builder.set(kUserName, author);
  return builder.build();
}

/// The pods carry the workflow's label too, so that its logs can be found by one selector.
Value pod_metadata(const Value& metadata, const Value& workflow_label, std::int64_t attempt) {
  Value out = metadata.with_path({"labels", kWorkflowLabel}, workflow_label);
  if (attempt > 1 && !metadata["annotations"].has(kPodAttemptAnnotation)) {
    out = out.with_path({"annotations", kPodAttemptAnnotation}, std::to_string(attempt - 1));
  }
  return out;
}

}  // namespace

kube::Object make_job(const kube::Object& workflow, const Program& program, graph::StepIndex step, std::int64_t attempt) {
  const std::string& step_name = program.name(step);
  const Value job_template = program.job_template(step);
  Value labels = job_labels(program.spec(), kube::name(workflow), job_template);
  const Value workflow_label = labels[kWorkflowLabel];
  labels = labels.with(kStepLabel, label_value(step_name));

  json::ObjectBuilder metadata;
  metadata.add("name", job_name(kube::name(workflow), kube::uid(workflow), step_name, attempt));
  metadata.add("namespace", kube::ns(workflow));
  metadata.add("labels", std::move(labels));
  metadata.add("annotations", annotations_of(workflow, program, job_template, step_name, attempt));
  if (job_template["spec"].has("ttlSecondsAfterFinished")) metadata.add("finalizers", json::array({Value(kJobFinalizer)}));
  metadata.add("ownerReferences", json::array({kube::owner_reference(workflow)}));

  const Value& spec = job_template["spec"];
  const Value pods = pod_metadata(spec["template"]["metadata"], workflow_label, attempt);
  return json::object({{"apiVersion", kJobKind.api_version()},
                       {"kind", kJobKind.kind},
                       {"metadata", metadata.build()},
                       {"spec", spec.with_path({"template", "metadata"}, pods)}});
}

std::string template_hash(const Program& program, graph::StepIndex step) {
  const auto& object = program.step(step).object_template;
  return name_hash(json::print(object ? *object : program.job_template(step)));
}

JobView job_view(const kube::Object& job) {
  JobView view;
  view.name = kube::name(job);
  view.uid = kube::uid(job);
  view.step = kube::annotation(job, kStepAnnotation);
  const auto attempt = kube::annotation(job, kAttemptAnnotation);
  std::from_chars(attempt.data(), attempt.data() + attempt.size(), view.attempt);
  view.is_deleting = kube::is_deleting(job);
  view.has_finalizer = kube::has_finalizer(job, kJobFinalizer);
  if (kube::is_true(job, "Failed")) {
    const Value& condition = kube::condition(job, "Failed");
    view.is_finished = view.is_failed = true;
    view.reason = condition["reason"].str();
    view.message = condition["message"].str();
  } else {
    view.is_finished = kube::is_true(job, "Complete");
  }
  return view;
}

}  // namespace slipway::delivery::jobflow
