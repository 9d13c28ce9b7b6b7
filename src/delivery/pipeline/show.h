// How pipelines and promotions are shown: tables in plain aligned text, from the objects alone, so that it is the same whoever
// looks and wherever the controllers run. Rows of the functions of a KindRow are at the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/family.h"
#include "delivery/family/text.h"
#include "delivery/pipeline/scene.h"

namespace slipway::delivery::pipeline {

/// As `kubectl get`: NAME, APPLICATION, VERSIONS, READY, PENDING, AGE; with NAMESPACE where objects may be of several.
enum class Namespaces : bool { one, several };
std::string list_table(const std::vector<kube::Object>& pipelines, Namespaces namespaces, Time now);

/// A line and a table of the environments, and what holds it up.
std::string overview(const Scene& scene);
/// What the script of Weave's RFC prints, in one table: a row for each target. Wide: with the values, images and objects
/// around it.
enum class Width : bool { narrow, wide };
std::string target_table(const Scene& scene, Width width);
/// "no problems" when there are none.
std::string problem_table(const PipelineStatus& status);

/// "6.1.6", or "6.1.5 (1), 6.1.6 (2)" where targets differ; "-" where nothing is known.
std::string versions_text(const EnvironmentStatus& status);
/// "eu" or "fleet/eu"; "-" for the pipeline's own.
std::string cluster_text(const std::optional<ClusterRef>& cluster, std::string_view home_ns);

/// A promotion ends when it succeeds, or is rejected or superseded.
std::optional<Verdict> promotion_verdict(const kube::Object& promotion);
std::vector<News> promotion_news(const kube::Object& before, const kube::Object& after);
std::string promotion_summary(const kube::Object& promotion, const control::View& view);
/// It waits for an approval.
std::optional<delivery::Hold> promotion_hold(const kube::Object& promotion);

std::string pipeline_summary(const kube::Object& pipeline, const control::View& view);
std::string describe_pipeline(const kube::Object& pipeline, const control::View& view, const std::vector<kube::Object>& events);
std::string describe_promotion(const kube::Object& promotion, const control::View& view,
                               const std::vector<kube::Object>& events);

/// The cell of a table: the text in one line, "-" without one.
inline std::string or_dash(const std::string& text) { return text.empty() ? "-" : one_line(text); }

}  // namespace slipway::delivery::pipeline
