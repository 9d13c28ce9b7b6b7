#include "delivery/pipeline/workload.h"

#include <fmt/format.h>

#include "delivery/family/text.h"
#include "delivery/pipeline/annotations.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/scene.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Wait;
using json::Value;

Value reference_to(const kube::ObjectKey& pipeline) {
  return json::object({{"apiVersion", kPipelineKind.api_version()},
                       {"kind", kPipelineKind.kind},
                       {"namespace", pipeline.ns},
                       {"name", pipeline.name}});
}

/// What is wrong with the annotations, seen from the object's own cluster; empty: nothing.
std::string fault_of(const kube::Object& object, const kube::ObjectKey& key, const Value& pipeline) {
  if (pipeline.is_null())
    return "it is not in this cluster: if it is in no other that manages this one, correct the annotation";
  const Scene scene = Scene::of(pipeline, {}, Time{});
  const std::string environment(kube::annotation(object, kEnvironmentAnnotation));
  if (!environment.empty() && scene.find_environment(environment) == nullptr) {
    return fmt::format("it has no environment {}: it has {}", environment, scene.environment_names());
  }
  std::vector<TargetPlace> places;
  for (const Environment& one : scene.spec.environments) {
    for (const Target& target : one.targets) {
      if (!target.cluster) places.push_back({.cluster = "", .ns = target.ns, .environment = one.name});
    }
  }
  const Claim claim{.kind = std::string(kube::kind(object)), .key = kube::key_of(object), .environment = environment};
  const auto faults = faults_of({claim}, key, &scene.spec, places);
  return faults.empty() ? "" : "it has no such target in this cluster";
}

}  // namespace

std::vector<const KindRow*> described_workloads() {
  return {&kHelmRelease, &kKustomization, &kDeployment, &kStatefulSet, &kDaemonSet};
}

std::string describe_workload(const kube::Object& object, const control::View& view, const std::vector<kube::Object>& events) {
  std::string text;
  if (const kube::ObjectKey key = claimed_pipeline(object); !key.name.empty()) {
    std::vector<std::vector<std::string>> head = {{"Pipeline:", one_line(key.to_string())}};
    const Value pipeline = view.find(reference_to(key));
    if (const auto environment = kube::annotation(object, kEnvironmentAnnotation); !environment.empty()) {
      head.push_back({"Environment:", one_line(std::string(environment))});
    }
    if (!pipeline.is_null()) head.push_back({"Versions:", one_line(pipeline["status"]["line"].str())});
    if (const std::string fault = fault_of(object, key, pipeline); !fault.empty())
      head.push_back({"Problem:", one_line(fault)});
    text = aligned(head) + "\n";
  }
  text += json::print_yaml(object.without_path({"metadata", "managedFields"}));
  if (!events.empty()) text += "\n" + events_table(events, view.now());
  return text;
}

std::vector<Wait> explain_flux(const Value& object, const control::View& view) {
  std::vector<Wait> waits;
  const Value& ready = kube::condition(object, "Ready");
  if (ready["status"].as_string() != "True") {
    waits.push_back({.on = fmt::format("{} {}", kube::kind(object), kube::name(object)),
                     .reason = ready.is_null() ? "Pending" : ready["reason"].str(),
                     .message = ready.is_null() ? "its agent has not seen it" : ready["message"].str(),
                     .since = ready.is_null() ? kube::creation_time(object) : kube::time_of(ready["lastTransitionTime"]),
                     .next = {},
                     .part = {}});
  }
  const kube::ObjectKey key = claimed_pipeline(object);
  if (key.name.empty()) return waits;
  const Value pipeline = view.find(reference_to(key));
  const std::string fault = fault_of(object, key, pipeline);
  const std::string environment(kube::annotation(object, kEnvironmentAnnotation));
  waits.push_back(
      {.on = fmt::format("Pipeline {}{}", key.to_string(), environment.empty() ? "" : ", environment " + environment),
       .reason = fault.empty() ? "PartOfPipeline" : "DanglingAnnotation",
       .message = fault.empty() ? pipeline["status"]["line"].str() : fault,
       .since = {},
       .next = fault.empty() ? reference_to(key) : Value(),
       .part = fault.empty() ? environment : ""});
  return waits;
}

}  // namespace slipway::delivery::pipeline
