// Which charts and which images run where, over any number of pipelines, from their status alone: no cluster is asked. Of a
// pipeline with so many targets that its status lists only those apart, the others are one row with their number, at the
// version of their environment and with the images of its release.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "delivery/pipeline/scene.h"

namespace slipway::delivery::pipeline {

/// A chart, or whatever else an application deploys, in one place.
struct DeployedChart {
  std::string chart{};
  std::string version{};
  std::string digest{};
  std::string pipeline{};  // "namespace/name"
  std::string environment{};
  std::string cluster{};  // empty: the pipeline's own
  std::string ns{};
  std::int64_t count = 1;  // targets

  static void describe(auto& d) {
    d.doc("A chart in one place.");
    d.field("chart", &DeployedChart::chart, "Its name, else the application's.").required();
    d.field("version", &DeployedChart::version, "That runs.");
    d.field("digest", &DeployedChart::digest, "Of its content.");
    d.field("pipeline", &DeployedChart::pipeline, "Namespace and name.").required();
    d.field("environment", &DeployedChart::environment, "Which environment.").required();
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

/// Sorted by what it is, then by where.
std::vector<DeployedChart> charts_in(const std::vector<Scene>& scenes);
std::vector<DeployedImage> images_in(const std::vector<Scene>& scenes);

std::string chart_table(const std::vector<DeployedChart>& charts);
std::string image_table(const std::vector<DeployedImage>& images);

}  // namespace slipway::delivery::pipeline
