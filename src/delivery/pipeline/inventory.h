// Which charts and which images run where: of any number of pipelines from their status, and of connected clusters all releases
// that the status of their GitopsCluster lists, of a pipeline or not. No cluster is asked. Of a pipeline with so many targets
// that its status lists only those apart, the others are one row with their number, at the version of their environment and
// with the images of its release.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "delivery/pipeline/scene.h"
#include "delivery/pipeline/status.h"

namespace slipway::delivery::pipeline {

/// A release of a chart in one place.
struct DeployedChart {
  std::string chart{};
  std::string version{};
  std::string digest{};
  std::string release{};
  std::string pipeline{};  // "namespace/name"; empty: of none
  std::string environment{};
  std::string cluster{};  // empty: the pipeline's own
  std::string ns{};
  std::int64_t count = 1;  // targets

  static void describe(auto& d) {
    d.doc("A chart in one place.");
    d.field("chart", &DeployedChart::chart, "Its name.").required();
    d.field("version", &DeployedChart::version, "That runs.");
    d.field("digest", &DeployedChart::digest, "Of its content.");
    d.field("release", &DeployedChart::release, "Name of the release's object.").required();
    d.field("pipeline", &DeployedChart::pipeline, "Namespace and name; absent: the release is a target of none.");
    d.field("environment", &DeployedChart::environment, "Which environment.");
    d.field("cluster", &DeployedChart::cluster, "Absent: the pipeline's own.");
    d.field("namespace", &DeployedChart::ns, "Absent: of several targets.");
    d.field("targets", &DeployedChart::count, "How many.").always();
  }
  auto operator<=>(const DeployedChart&) const = default;
};

struct DeployedImage {
  std::string image{};
  std::string tag{};
  std::string digest{};
  std::string pipeline{};
  std::string environment{};
  std::string cluster{};
  std::string ns{};
  std::int64_t count = 1;

  static void describe(auto& d) {
    d.doc("An image in one place.");
    d.field("image", &DeployedImage::image, "Registry and repository.").required();
    d.field("tag", &DeployedImage::tag, "Absent: none is written.");
    d.field("digest", &DeployedImage::digest, "Absent: not known.");
    d.field("pipeline", &DeployedImage::pipeline, "Namespace and name.").required();
    d.field("environment", &DeployedImage::environment, "Which environment.").required();
    d.field("cluster", &DeployedImage::cluster, "Absent: the pipeline's own.");
    d.field("namespace", &DeployedImage::ns, "Absent: of several targets.");
    d.field("targets", &DeployedImage::count, "How many.").always();
  }
  auto operator<=>(const DeployedImage&) const = default;
};

/// Releases of a cluster: those of the reader's own as they were listed, those of others as their GitopsCluster lists them.
struct ClusterReleases {
  std::string cluster{};  // "namespace/name" of the GitopsCluster; empty: the reader's own
  std::vector<ReleaseStatus> releases{};
};
/// Of the object of a release: what its agent says.
ReleaseStatus release_status(const kube::Object& release);

/// Sorted by what it is, then by where. Applications that release no chart are left out, and of `clusters` the releases that
/// are targets of `scenes`.
std::vector<DeployedChart> charts_in(const std::vector<Scene>& scenes, const std::vector<ClusterReleases>& clusters = {});
std::vector<DeployedImage> images_in(const std::vector<Scene>& scenes);

/// A Problem, and where it is.
struct PlacedProblem {
  std::string pipeline{};  // "namespace/name"; empty: of a cluster
  std::string cluster{};   // "namespace/name" of its GitopsCluster
  Problem problem{};

  static void describe(auto& d) {
    d.doc("Something that is wrong around a pipeline or in a cluster.");
    d.field("pipeline", &PlacedProblem::pipeline, "Namespace and name; absent: a problem of a cluster.");
    d.field("cluster", &PlacedProblem::cluster,
            "Namespace and name of its GitopsCluster; absent: the cluster of the pipelines.");
    d.field("problem", &PlacedProblem::problem, "What is wrong.");
  }
};
/// The problems of pipelines, then those of clusters, but for what a pipeline says of its target already.
std::vector<PlacedProblem> problems_in(const std::vector<Scene>& scenes, std::vector<PlacedProblem> of_clusters);
std::string problem_table(const std::vector<PlacedProblem>& problems);

std::string chart_table(const std::vector<DeployedChart>& charts);
std::string image_table(const std::vector<DeployedImage>& images);

}  // namespace slipway::delivery::pipeline
