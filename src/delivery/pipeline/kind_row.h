// How a kind is read: the row that each of its files exports, and what the rows share. Rows fill everything but the states that
// hold for all kinds (access, absence, suspension) and the times of what is seen for the first time.
#pragma once

#include <span>

#include "delivery/pipeline/known_kinds.h"
#include "delivery/pipeline/values.h"

namespace slipway::delivery::pipeline {

/// Annotation of an Application: the version that its author gave it.
inline constexpr std::string_view kPublishVersion = "app.oam.dev/publishVersion";

/// What a row looks at beside the object itself, so that caches follow that and no more.
struct Needs {
  struct Named {
    std::string kind;
    std::string ns;
    std::string name;

    bool operator==(const Named&) const = default;
  };
  std::vector<Named> sources{};
  /// Keys of what it made (maker_keys), and the kinds that this may be of.
  std::vector<std::string> makers{};
  std::span<const KindName> made{};

  bool operator==(const Needs& other) const { return sources == other.sources && makers == other.makers; }
};

struct KindRow {
  std::string_view group;
  std::string_view kind;
  Needs (*needs)(const kube::Object& object);
  /// `memory` is what was kept of the last look; a row learns renderings in it.
  Values (*read)(const Look& look, Memory& memory);
};

extern const KindRow kHelmRelease;
extern const KindRow kKustomization;
extern const KindRow kDeployment;
extern const KindRow kStatefulSet;
extern const KindRow kDaemonSet;
/// Of any group: objects with a template of pods (Rollouts, sets of other makers), and applications of the Open Application
/// Model. Found by their shape.
extern const KindRow kAnyWorkload;
extern const KindRow kAnyApplication;

/// Null for an object that nothing is known of.
const KindRow* find_row(const kube::Object& object);

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

/// The template of pods without the traces of `kubectl rollout restart`.
json::Value without_restarts(const json::Value& pods);

const Rendering* find_rendering(const Memory& memory, std::string_view release);
/// Replaces the release's rendering, or adds it.
void learn(Memory& memory, Rendering rendering);

}  // namespace slipway::delivery::pipeline
