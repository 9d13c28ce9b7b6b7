// What a Job needs next: a pure function of the Job, its pods and the time (batch/v1 Job as kube-controller-manager runs it).
//
// Counting survives crashes because of the finalizer that every pod of a Job carries: a finished pod's uid is written to
// status.uncountedTerminatedPods, then its finalizer goes, then the uid moves into the counters. Steps of several pods share
// their writes, and the last pods of a Job are counted in the same write that ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "cluster/job_pod.h"
#include "kube/object.h"

namespace slipway::cluster {

struct JobEvent {
  std::string type;
  std::string reason;
  std::string message;
};

/// To be done in the order of the members: the status is recorded before the effects that rely on it.
struct JobPlan {
  /// The new status; null when nothing changed.
  json::Value status;
  /// False when only figures for onlookers changed (active, ready, startTime, moves from uncounted to counted): such a write
  /// may wait for company.
  bool is_status_urgent = false;
  std::vector<JobEvent> events;
  std::vector<kube::Object> release;  // pods whose finalizer goes
  std::vector<kube::Object> remove;   // pods to delete (after release, where they are in both)
  std::vector<JobPodSlot> create;
  bool is_expired = false;  // ttlSecondsAfterFinished has passed: delete the Job
  std::optional<Duration> look_again;
};

/// Whether a pod of the namespace has the name: one of the Job's, or one that the Job has let go of.
using NameIsTaken = std::function<bool(const std::string&)>;

/// `pods`: all pods whose controller is this Job, in the order of their names.
JobPlan plan_job(const kube::Object& job, const std::vector<kube::Object>& pods, const NameIsTaken& is_taken, const Now& now);

/// Complete or Failed.
bool is_finished_job(const kube::Object& job);

}  // namespace slipway::cluster
