// What a CronJob needs next: a pure function of the CronJob, its Jobs and the time (batch/v1 CronJob as kube-controller-manager
// runs it). A Job's name follows from the moment that it was due, so that a controller that died after creating one asks for
// the same name again.
//
// DIVERGES: of time zones UTC alone (UTC, Etc/UTC, GMT and their like) is known; a CronJob of another one does not run, and an
// event tells so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/object.h"

namespace slipway::cluster {

struct CronEvent {
  std::string type;
  std::string reason;
  std::string message;
  std::string instance;  // what tells it from others of its reason
};

/// To be done in the order of the members.
struct CronPlan {
  std::vector<kube::Object> remove;  // Jobs beyond the limits of the history, and those that are replaced
  kube::Object create;               // null: none
  json::Value status;                // with the new Job, but for what only its creation tells (uid)
  std::vector<CronEvent> events;
  std::optional<Duration> look_again;
};

/// `jobs`: all Jobs whose controller is this CronJob.
CronPlan plan_cron_job(const kube::Object& cron, const std::vector<kube::Object>& jobs, Time now);

/// What status.active says of a Job.
json::Value active_reference(const kube::Object& job);

}  // namespace slipway::cluster
