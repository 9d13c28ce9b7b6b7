// Deployment, StatefulSet, DaemonSet, and sets of other makers that keep pods by a template: the version is the image set of
// the template, and the workload is its own agent.
#include <fmt/format.h>

#include "delivery/pipeline/health.h"
#include "delivery/pipeline/kind_row.h"

namespace slipway::delivery::pipeline {
namespace {

Values read_workload(const Look& look, Memory& memory) {
  Values values;
  values.images = images_of({look.object}, look.others);
  values.specified = {.text = image_set(values.images), .digest = image_set_digest(values.images)};
  values.attempted = is_observed(look.object) ? values.specified : memory.last.attempted;
  const HealthVerdict health = health_of(look.object);
  switch (health.health) {
    case Health::Healthy:
      values.running = values.specified;
      values.ready_at = values.specified.text;
      values.state = State::Settled;
      return values;
    case Health::Progressing:
      values.state = State::Progressing;
      break;
    case Health::Unhealthy:
      values.state = State::Failed;
      break;
  }
  values.running = memory.last.running;
  values.text = health.text;
  return values;
}

/// Beyond its conditions: all pods that are asked for are new and available, where the status counts them.
Values read_any_workload(const Look& look, Memory& memory) {
  Values values = read_workload(look, memory);
  const json::Value& status = look.object["status"];
  const std::int64_t wanted = look.object["spec"]["replicas"].as_int(1);
  for (const char* count : {"updatedReplicas", "availableReplicas"}) {
    if (values.state != State::Settled || !status.has(count) || status[count].as_int() >= wanted) continue;
    values.state = State::Progressing;
    values.text = fmt::format("{} is {} of {}", count, status[count].as_int(), wanted);
    values.running = memory.last.running;
    values.ready_at.clear();
  }
  return values;
}

Needs no_needs(const kube::Object&) { return {}; }

}  // namespace

const KindRow kDeployment{.group = "apps", .kind = "Deployment", .needs = no_needs, .read = read_workload};
const KindRow kStatefulSet{.group = "apps", .kind = "StatefulSet", .needs = no_needs, .read = read_workload};
const KindRow kDaemonSet{.group = "apps", .kind = "DaemonSet", .needs = no_needs, .read = read_workload};
const KindRow kAnyWorkload{.group = "", .kind = "", .needs = no_needs, .read = read_any_workload};

}  // namespace slipway::delivery::pipeline
