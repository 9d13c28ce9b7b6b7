#include "delivery/pipeline/inventory.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/family/text.h"
#include "delivery/pipeline/image.h"
#include "delivery/pipeline/show.h"

namespace slipway::delivery::pipeline {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// A row's place: a target, or those of an environment that are not listed (`target` is null).
struct Place {
  const Scene& scene;
  const std::string& environment;
  const EnvironmentStatus& status;
  const TargetStatus* target = nullptr;
  std::int64_t count = 1;

  template <class Row>
  Row row() const {
    Row made;
    made.pipeline = fmt::format("{}/{}", scene.ns(), scene.name());
    made.environment = environment;
    made.count = count;
    if (target == nullptr) return made;
    made.ns = target->ns;
    if (target->app.cluster) made.cluster = cluster_text(target->app.cluster, "");
    return made;
  }
};

template <class Row, class Add>
std::vector<Row> collect(const std::vector<Scene>& scenes, Add add) {
  std::vector<Row> rows;
  for (const Scene& scene : scenes) {
    for (const auto& [environment, status] : scene.status.environments) {
      for (const TargetStatus& target : status.targets) add(rows, Place{scene, environment, status, &target, 1});
      const auto left = status.target_count - static_cast<std::int64_t>(status.targets.size());
      if (left > 0 && status.version) add(rows, Place{scene, environment, status, nullptr, left});
    }
  }
  std::ranges::sort(rows);
  return rows;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : one_line(text); }

template <class Row>
void add_place(std::vector<std::string>& cells, const Row& row) {
  cells.insert(cells.end(), {row.pipeline, row.environment, or_dash(row.cluster),
                             row.count == 1 ? or_dash(row.ns) : fmt::format("{} targets", row.count)});
}

}  // namespace

std::vector<DeployedChart> charts_in(const std::vector<Scene>& scenes) {
  return collect<DeployedChart>(scenes, [](std::vector<DeployedChart>& rows, const Place& place) {
    auto row = place.row<DeployedChart>();
    row.chart = place.scene.spec.app.name;
    if (place.target != nullptr) {
      if (place.target->running.text.empty()) return;
      if (!place.target->chart.empty()) row.chart = place.target->chart;
      row.version = place.target->running.text;
      row.digest = place.target->running.digest;
    } else {
      row.version = place.status.version->text;
      row.digest = place.status.version->digest;
    }
    rows.push_back(std::move(row));
  });
}

std::vector<DeployedImage> images_in(const std::vector<Scene>& scenes) {
  return collect<DeployedImage>(scenes, [](std::vector<DeployedImage>& rows, const Place& place) {
    std::vector<std::string> images;
    if (place.target != nullptr) {
      images = place.target->images;
    } else if (const auto* release = place.scene.release_of(*place.status.version)) {
      images = release->spec.images;
    }
    for (const std::string& text : images) {
      const Image image = Image::parse(text);
      auto row = place.row<DeployedImage>();
      row.image = image.name;
      row.tag = image.tag;
      row.digest = image.digest;
      rows.push_back(std::move(row));
    }
  });
}

std::string chart_table(const std::vector<DeployedChart>& charts) {
  Rows rows = {{"CHART", "VERSION", "DIGEST", "PIPELINE", "ENVIRONMENT", "CLUSTER", "NAMESPACE"}};
  for (const DeployedChart& one : charts) {
    rows.push_back({or_dash(one.chart), or_dash(one.version), or_dash(one.digest)});
    add_place(rows.back(), one);
  }
  return aligned(rows);
}

std::string image_table(const std::vector<DeployedImage>& images) {
  Rows rows = {{"IMAGE", "TAG", "DIGEST", "PIPELINE", "ENVIRONMENT", "CLUSTER", "NAMESPACE"}};
  for (const DeployedImage& one : images) {
    rows.push_back({or_dash(one.image), or_dash(one.tag), or_dash(one.digest)});
    add_place(rows.back(), one);
  }
  return aligned(rows);
}

}  // namespace slipway::delivery::pipeline
