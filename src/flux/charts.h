// Charts of the simulated source-controller: there is no registry, so an annotation of a HelmRepository or an OCIRepository
// says which versions of a chart it has, charts.slipway.dev/NAME: "1.0.0 1.1.0". Without one it has each version that is asked
// for exactly, and ranges cannot be resolved.
#pragma once

#include <string>
#include <string_view>

#include "base/env.h"
#include "kube/object.h"

namespace slipway::flux {

/// The newest version of a chart in `source` that `wanted`, a version or a range ("" is any), asks for. NotFound when there is
/// none, or nobody says which there are.
Result<std::string> find_version(const kube::Object& source, std::string_view chart, std::string_view wanted);

/// What a HelmRelease's spec.chart asks the source-controller for.
kube::Object chart_object(const kube::Object& release);
/// Last part of an OCIRepository's URL: the name of its chart.
std::string chart_of_url(std::string_view url);

/// Status of a HelmChart whose source is `source` (null: not there), and of an OCIRepository, with an artifact or why there is
/// none.
json::Value chart_status(const kube::Object& chart, const kube::Object& source, Time now);
json::Value oci_status(const kube::Object& repository, Time now);

/// Whether its artifact is that of its present spec.
bool is_ready(const kube::Object& source);

}  // namespace slipway::flux
