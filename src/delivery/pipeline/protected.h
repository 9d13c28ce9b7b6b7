// The members of a Pipeline that protect its environments, for admission (delivery/family/protection.h): who weakens them needs
// the right to create Approvals in the namespace. An environment is protected that has an approval gate or is `manual`. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/family/protection.h"
#include "delivery/pipeline/spec.h"

namespace slipway::delivery::pipeline {

std::span<const Protection> protections();

/// Names of the approval gates, and "manual", by which the pipeline `protecting` protects a target, and which `environment` of
/// another pipeline `spec` with that target lacks or weakens.
std::vector<std::string> missing_approvals(const kube::Object& protecting, const PipelineSpec& spec,
                                           const Environment& environment, const Target& target, std::string_view ns);
/// For an index of Pipelines: texts that name each target of a protected environment together with the application.
std::vector<std::string> protected_targets(const kube::Object& pipeline);
std::string target_key(const AppRef& app, const Target& target, std::string_view pipeline_ns);

}  // namespace slipway::delivery::pipeline
