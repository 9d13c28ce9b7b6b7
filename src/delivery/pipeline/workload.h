// Application objects as people look at them from their own side: `describe` and `why` of a HelmRelease name the Pipeline that
// it is annotated with. Pure.
#pragma once

#include <string>
#include <vector>

#include "control/explain.h"
#include "delivery/pipeline/kind_row.h"

namespace slipway::delivery::pipeline {

/// The kinds that describe_workload() is for.
std::vector<const KindRow*> described_workloads();

/// A head with the Pipeline, where the object is annotated with one, then the object as YAML and its events.
std::string describe_workload(const kube::Object& object, const control::View& view, const std::vector<kube::Object>& events);

/// Of a HelmRelease or Kustomization: why its agent says that it is not ready, and the environment of its Pipeline.
std::vector<control::Wait> explain_flux(const json::Value& object, const control::View& view);

}  // namespace slipway::delivery::pipeline
