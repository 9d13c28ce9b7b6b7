// What is wrong with a Pipeline or GitopsCluster beyond its schema: names that are there twice, targets twice, dependencies
// that go nowhere or round, strategies that exclude each other. Pure, for admission and for `create`.
#pragma once

#include <vector>

#include "base/status.h"
#include "delivery/pipeline/spec.h"

namespace slipway::delivery::pipeline {

/// `ns` is the namespace of the pipeline: that of clusters whose reference names none.
std::vector<Cause> check(const PipelineSpec& spec, std::string_view ns);
std::vector<Cause> check(const GitopsClusterSpec& spec);

}  // namespace slipway::delivery::pipeline
