// Deployment and StatefulSet: the version is the image set of the template, and the workload is its own agent.
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

}  // namespace

const KindRow kDeployment{.group = "apps", .kind = "Deployment", .read = read_workload};
const KindRow kStatefulSet{.group = "apps", .kind = "StatefulSet", .read = read_workload};

}  // namespace slipway::delivery::pipeline
