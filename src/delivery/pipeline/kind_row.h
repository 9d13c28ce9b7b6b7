// How a kind is read: the row that each of its files exports, and what the rows share. Rows fill everything but the states that
// hold for all kinds (access, absence, suspension) and the times of what is seen for the first time.
#pragma once

#include "delivery/pipeline/values.h"

namespace slipway::delivery::pipeline {

struct KindRow {
  std::string_view group;
  std::string_view kind;
  /// `memory` is what was kept of the last look; a row learns renderings in it.
  Values (*read)(const Look& look, Memory& memory);
};

extern const KindRow kHelmRelease;
extern const KindRow kKustomization;
extern const KindRow kDeployment;
extern const KindRow kStatefulSet;

/// What the source of a Flux object says of itself.
struct Source {
  kube::Object object{};   // null: not there
  std::string wanted{};    // "semver:1.x", "branch:main", "1.0.0", "*"
  std::string revision{};  // of its artifact
  std::string digest{};
  bool is_failed = false;  // it cannot get what it is to get; its artifact, if any, is an older one
  std::string text{};      // why
};
Source source_of(const Look& look, std::string_view kind, std::string_view ns, std::string_view name);

/// Ready=Unknown or Reconciling=True, but for a failure that rests (Stalled).
bool is_at_work(const kube::Object& object);

/// Why the workloads are not ready: the worst of their health; healthy when all are.
struct Readiness {
  bool is_ready = false;
  bool is_broken = false;
  std::string text{};
};
Readiness readiness_of(const std::vector<kube::Object>& made);

/// A digest over what these objects are to be: pod templates of workloads, specs of others. Sizes do not count (autoscalers),
/// nor do restarts (`kubectl rollout restart`).
std::string content_of(const std::vector<kube::Object>& made);

const Rendering* find_rendering(const Memory& memory, std::string_view release);
/// Replaces the release's rendering, or adds it.
void learn(Memory& memory, Rendering rendering);

}  // namespace slipway::delivery::pipeline
