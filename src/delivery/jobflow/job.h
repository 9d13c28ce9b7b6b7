// The Jobs of a Workflow: how one is made for a step and an attempt, and what the controller reads from one.
#pragma once

#include <cstdint>
#include <string>

#include "delivery/jobflow/program.h"

namespace slipway::delivery::jobflow {

/// The Job of a step's attempt (from 1): name, labels, annotations and owner are functions of the arguments.
kube::Object make_job(const kube::Object& workflow, const Program& program, graph::StepIndex step, std::int64_t attempt);
/// Digest of the template, of a Job or another object, that a step is started with.
std::string template_hash(const Program& program, graph::StepIndex step);

struct JobView {
  std::string name;
  std::string uid;
  std::string step;  // by its annotation
  std::int64_t attempt = 0;
  bool is_finished = false;
  bool is_failed = false;
  std::string reason;   // of a failed one: BackoffLimitExceeded, DeadlineExceeded, …
  std::string message;  // of a failed one
  bool is_deleting = false;
  bool has_finalizer = false;  // ours: waits to be recorded
};
JobView job_view(const kube::Object& job);

}  // namespace slipway::delivery::jobflow
