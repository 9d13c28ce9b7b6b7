// The way back from a workload to its pipeline: which application objects of the clusters that are watched claim by annotation
// to belong to which Pipeline, and which of these claims lead nowhere. An annotation that names no Pipeline, no environment of
// it, or a Pipeline that has no such target is a fault; a target without annotations is none.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "delivery/pipeline/known_kinds.h"
#include "delivery/pipeline/spec.h"
#include "delivery/pipeline/status.h"

namespace slipway::delivery::pipeline {

/// An object that is annotated.
struct Claim {
  std::string cluster{};
  std::string api_version{};
  std::string kind{};
  kube::ObjectKey key{};
  std::string uid{};
  std::string pipeline{};     // as written
  std::string environment{};  // empty: not annotated

  auto operator<=>(const Claim&) const = default;
  /// What is needed to record an event about it.
  kube::Object reference() const;
};

class AnnotationIndex {
 public:
  /// The Pipelines whose claims have changed. Either state may be null.
  std::set<kube::ObjectKey> changed(const std::string& cluster, const kube::Object& before, const kube::Object& after);
  /// What a cluster that is not watched any more had claimed is forgotten.
  std::set<kube::ObjectKey> forget(const std::string& cluster);
  const std::set<Claim>& of(const kube::ObjectKey& pipeline) const;
  /// Claims of a cluster to Pipelines that do not exist.
  std::vector<std::pair<kube::ObjectKey, Claim>> dangling_in(const std::string& cluster,
                                                             const std::function<bool(const kube::ObjectKey&)>& exists) const;

 private:
  std::map<kube::ObjectKey, std::set<Claim>> by_pipeline_{};
};

/// The Pipeline that an object names: "NAMESPACE/NAME", or "NAME" in its own namespace. Empty name: none.
kube::ObjectKey claimed_pipeline(const kube::Object& object);

/// What `status.problems` says of an object that is annotated with a Pipeline which does not exist.
Problem dangling_problem(std::string object, const kube::ObjectKey& pipeline);
/// The same of one that is a target of another Pipeline than it is annotated with, which exists.
Problem other_pipeline_problem(std::string object, const kube::ObjectKey& pipeline);

struct AnnotationFault {
  Claim claim{};
  std::string reason{};  // DanglingPipeline, DanglingEnvironment, NotATarget
  std::string text{};
};
/// A place where the pipeline's application is, or is to be.
struct TargetPlace {
  std::string cluster{};
  std::string ns{};
  std::string environment{};
};
/// `spec` null: there is no such Pipeline.
std::vector<AnnotationFault> faults_of(const std::set<Claim>& claims, const kube::ObjectKey& pipeline, const PipelineSpec* spec,
                                       const std::vector<TargetPlace>& places);

}  // namespace slipway::delivery::pipeline
