#include "delivery/pipeline/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/family/text.h"
#include "delivery/pipeline/annotations.h"
#include "delivery/pipeline/image.h"
#include "delivery/pipeline/kind.h"
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

std::string place_of(const std::string& cluster, const std::string& ns, const std::string& name) {
  return fmt::format("{} {} {}", cluster, ns, name);
}

/// Places of all targets, of those too that the status does not list or the reader may not see.
std::set<std::string> targets_of(const std::vector<Scene>& scenes) {
  std::set<std::string> places;
  for (const Scene& scene : scenes) {
    for (const Environment& environment : scene.spec.environments) {
      for (const Target& target : environment.targets) {
        std::string cluster;
        if (const auto& ref = target.cluster) cluster = fmt::format("{}/{}", ref->ns.empty() ? scene.ns() : ref->ns, ref->name);
        places.insert(place_of(cluster, target.ns, scene.spec.app.name));
      }
    }
  }
  return places;
}

/// Equal for what a pipeline says of a target and what is said of the same object among those of its cluster.
std::string problem_identity(const std::string& cluster, const std::string& object, const Problem& problem) {
  return fmt::format("{}\n{}\n{}\n{}", cluster, object, problem.kind, problem.text);
}

/// The problems that pipelines have with objects: "HelmRelease prod/web in cluster eu", of the pipeline's namespace unless it
/// says otherwise.
std::set<std::string> told_of_targets(const std::vector<Scene>& scenes) {
  constexpr std::string_view kInCluster = " in cluster ";
  std::set<std::string> told;
  for (const Scene& scene : scenes) {
    for (const Problem& one : scene.status.problems) {
      const auto at = one.object.find(kInCluster);
      std::string cluster = at == std::string::npos ? "" : one.object.substr(at + kInCluster.size());
      if (!cluster.empty() && !cluster.contains('/')) cluster = fmt::format("{}/{}", scene.ns(), cluster);
      told.insert(problem_identity(cluster, one.object.substr(0, at), one));
    }
  }
  return told;
}

template <class Row>
void add_place(std::vector<std::string>& cells, const Row& row) {
  cells.insert(cells.end(), {or_dash(row.pipeline), or_dash(row.environment), or_dash(row.cluster),
                             row.count == 1 ? or_dash(row.ns) : fmt::format("{} targets", row.count)});
}

}  // namespace

ReleaseStatus release_status(const kube::Object& release) {
  const Values values = read({.object = release, .has_workloads = false}, {}, Time{}).values;
  const kube::ObjectKey pipeline = claimed_pipeline(release);
  return {.ns = std::string(kube::ns(release)),
          .name = std::string(kube::name(release)),
          .chart = values.chart,
          .version = values.running.text,
          .digest = values.running.digest,
          .is_ready = kube::is_true(release, "Ready"),
          .pipeline = pipeline.name.empty() ? "" : pipeline.to_string(),
          .environment = std::string(kube::annotation(release, kEnvironmentAnnotation))};
}

std::vector<DeployedChart> charts_in(const std::vector<Scene>& scenes, const std::vector<ClusterReleases>& clusters) {
  auto charts = collect<DeployedChart>(scenes, [](std::vector<DeployedChart>& rows, const Place& place) {
    auto row = place.row<DeployedChart>();
    row.release = place.scene.spec.app.name;
    if (place.target != nullptr) {
      if (place.target->running.text.empty()) return;
      row.chart = place.target->chart;
      row.version = place.target->running.text;
      row.digest = place.target->running.digest;
    } else {
      row.chart = place.status.chart;
      row.version = place.status.version->text;
      row.digest = place.status.version->digest;
    }
    if (!row.chart.empty()) rows.push_back(std::move(row));
  });
  const std::set<std::string> targets = targets_of(scenes);
  for (const ClusterReleases& cluster : clusters) {
    for (const ReleaseStatus& one : cluster.releases) {
      if (one.version.empty() || targets.contains(place_of(cluster.cluster, one.ns, one.name))) continue;
      DeployedChart row;
      row.chart = one.chart;
      row.version = one.version;
      row.digest = one.digest;
      row.release = one.name;
      row.cluster = cluster.cluster;
      row.ns = one.ns;
      charts.push_back(std::move(row));
    }
  }
  std::ranges::sort(charts);
  return charts;
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
  Rows rows = {{"CHART", "VERSION", "DIGEST", "RELEASE", "PIPELINE", "ENVIRONMENT", "CLUSTER", "NAMESPACE"}};
  for (const DeployedChart& one : charts) {
    rows.push_back({or_dash(one.chart), or_dash(one.version), or_dash(one.digest), or_dash(one.release)});
    add_place(rows.back(), one);
  }
  return aligned(rows);
}

std::vector<PlacedProblem> problems_in(const std::vector<Scene>& scenes, std::vector<PlacedProblem> of_clusters) {
  std::vector<PlacedProblem> problems;
  for (const Scene& scene : scenes) {
    for (const Problem& one : scene.status.problems) {
      problems.push_back({.pipeline = fmt::format("{}/{}", scene.ns(), scene.name()), .problem = one});
    }
  }
  const std::set<std::string> told = told_of_targets(scenes);
  for (PlacedProblem& one : of_clusters) {
    if (!told.contains(problem_identity(one.cluster, one.problem.object, one.problem))) problems.push_back(std::move(one));
  }
  return problems;
}

std::string problem_table(const std::vector<PlacedProblem>& problems) {
  Rows rows = {{"PROBLEM", "OBJECT", "PIPELINE", "CLUSTER", "MESSAGE"}};
  for (const auto& [pipeline, cluster, problem] : problems) {
    rows.push_back(
        {or_dash(problem.kind), or_dash(problem.object), or_dash(pipeline), or_dash(cluster), or_dash(problem.text)});
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
