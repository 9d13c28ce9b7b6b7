// An application of the Open Application Model: its version is the publish version that its author gave it, else the revision
// that its controller made of its spec; the workloads are those that bear its labels.
#include <fmt/format.h>

#include "delivery/pipeline/health.h"
#include "delivery/pipeline/kind_row.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

bool is_going(std::string_view phase) {
  return phase.empty() || phase == "starting" || phase == "rendering" || phase == "runningWorkflow" || phase == "deleting";
}

Values read_application(const Look& look, Memory& memory) {
  const Object& object = look.object;
  const Value& status = object["status"];
  const std::string_view phase = status["status"].as_string();
  const std::string published(kube::annotation(object, kPublishVersion));
  const std::string revision = status["latestRevision"]["name"].str();
  Values values;
  std::vector<Object> workloads;
  for (const Object& one : look.others) {
    if (is_rolled(one)) workloads.push_back(one);
  }
  values.images = images_of(workloads, look.others);
  values.specified.text = published.empty() ? revision : published;
  const bool is_seen = published.empty() || status["workflow"]["appRevision"].as_string() == published;
  values.attempted = is_seen ? values.specified : memory.last.attempted;
  if (phase == "running" && is_observed(object) && is_seen) {
    const Readiness readiness = workloads.empty() ? Readiness{.is_ready = true} : readiness_of(workloads);
    values.running = values.specified;
    if (readiness.is_ready) values.ready_at = values.running.text;
    values.state = readiness.is_ready ? State::Settled : readiness.is_broken ? State::Failed : State::Progressing;
    values.text = readiness.text;
    return values;
  }
  values.running = memory.last.running;
  values.state = is_going(phase) || phase == "running" ? State::Progressing : State::Failed;
  if (phase == "workflowSuspending") values.state = State::Progressing;
  values.text = phase.empty() ? "its controller has not seen it" : fmt::format("it is {}", phase);
  return values;
}

Needs needs_of_application(const Object& object) {
  return {.makers = {fmt::format("app {}/{}", kube::ns(object), kube::name(object))}, .made = rolled_kinds()};
}

}  // namespace

const KindRow kAnyApplication{.group = "", .kind = "", .needs = needs_of_application, .read = read_application};

}  // namespace slipway::delivery::pipeline
