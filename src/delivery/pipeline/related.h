// The Flux objects around an application: the chart and source that it comes from, and the Kustomization or HelmRelease that
// owns it, by the labels that Flux puts on what it makes. Read from the object alone.
#pragma once

#include <string>
#include <vector>

#include "kube/object.h"

namespace slipway::delivery::pipeline {

/// "HelmChart podinfo/podinfo-podinfo", "HelmRepository podinfo/podinfo", "Kustomization flux-system/apps", in that order.
std::vector<std::string> related_to(const kube::Object& application);

}  // namespace slipway::delivery::pipeline
