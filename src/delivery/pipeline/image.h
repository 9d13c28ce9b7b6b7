// The images of workloads: what their pod templates name, with the digests that their ready pods really run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"

namespace slipway::delivery::pipeline {

struct Image {
  std::string name{};    // registry and repository
  std::string tag{};     // empty: none written
  std::string digest{};  // "sha256:…"; empty: not known

  /// "registry.example:5000/web:1.0.0@sha256:…" and all shorter forms.
  static Image parse(std::string_view text);
  /// As a manifest writes it.
  std::string to_string() const;
  auto operator<=>(const Image&) const = default;
};

/// The template of pods in an object, or null: Deployments and the like, Jobs, CronJobs.
const json::Value& pod_template(const kube::Object& object);
/// Whether it keeps pods of one version and replaces them when its template changes: not Jobs and CronJobs.
bool is_rolled(const kube::Object& object);

/// Those of the templates of `workloads`, each once, sorted. Where pods of a workload are among `others` and ready, the digests
/// are theirs; a tag that runs with two digests is there twice.
std::vector<Image> images_of(const std::vector<kube::Object>& workloads, const std::vector<kube::Object>& others);

/// Their names in one line: "web:1.0.0, proxy:2".
std::string image_set(const std::vector<Image>& images);
/// The digest of a set: of one image its own, of several a digest over them; empty when one is not known.
std::string image_set_digest(const std::vector<Image>& images);

}  // namespace slipway::delivery::pipeline
