// What an object with a CronJob's fields needs next: a pure function of the object, the children it has started and the time
// (batch/v1 CronJob as kube-controller-manager runs it). A child's name follows from the minute that it was due in, so that a
// controller that died after creating one asks for the same name again. Which children they are is data (CronKind): Jobs, and
// whatever else ends with a condition Complete or Failed.
//
// DIVERGES: a child that this schedule has started and that runs counts as active although the status does not list it: after
// a crash between the two writes Forbid still holds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/zone.h"
#include "control/events.h"
#include "kube/object.h"

namespace slipway::control {

struct CronKind {
  std::string controller;  // its name: "cronjob"
  std::string manager;     // its field manager
  kube::Resource resource;
  kube::GroupVersionKind kind;
  kube::Resource children;
  kube::GroupVersionKind child;
  // Fields of the spec.
  std::string template_field;    // "jobTemplate": {metadata: {labels, annotations}, spec}
  std::string successful_limit;  // "successfulJobsHistoryLimit", 3 where it is absent
  std::string failed_limit;      // 1 where it is absent
  /// Annotation of a child: the time that it was due.
  std::string scheduled_annotation;
};

/// To be done in the order of the members.
struct CronPlan {
  std::vector<kube::Object> remove;  // children beyond the limits of the history, and those that are replaced
  kube::Object create;               // null: none
  std::optional<Time> due;           // when `create` was; becomes status.lastScheduleTime
  json::Value status;                // as it is without `create`
  std::vector<EventText> events;
  std::optional<Time> next;  // when the schedule comes due again; nullopt: suspended, or never
  std::string fault;         // why the schedule cannot run at all (an unknown zone); empty: it can
};

/// `children`: all whose controller is this object. `zone`: of spec.timeZone, or why it is not known.
CronPlan plan_cron(const CronKind& kind, const kube::Object& cron, const std::vector<kube::Object>& children,
                   const Result<Zone>& zone, Time now);

/// "", "UTC", "Etc/UTC", "GMT" and their like: zones without a file.
bool is_utc(std::string_view time_zone);
/// The child that is due at a time, named for its minute.
kube::Object cron_child(const CronKind& kind, const kube::Object& cron, Time due);
/// The entry of status.active for a child.
json::Value active_reference(const CronKind& kind, const kube::Object& child);

}  // namespace slipway::control
