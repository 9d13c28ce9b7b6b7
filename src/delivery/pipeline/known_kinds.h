// The kinds that the view looks at, as data: what serves as an application, as its source, as what it made, as a trigger. A
// version stands for where a cluster's definitions may not be read; otherwise the cluster says which it serves. reduced() cuts
// an object down to what values, health and annotations need, so that caches of whole clusters stay small.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"

namespace slipway::delivery::pipeline {

/// Group and kind: what a kind is, whatever versions a cluster serves it in.
struct KindName {
  std::string group{};
  std::string kind{};

  auto operator<=>(const KindName&) const = default;
};

struct KnownKind {
  std::string_view group;
  std::string_view kind;
  std::string_view version;  // the newest known
  std::string_view plural;

  KindName name() const { return {std::string(group), std::string(kind)}; }
  kube::Resource resource() const { return {std::string(group), std::string(version), std::string(plural)}; }
};

/// Null for one that is not known; an empty group finds the first of that kind.
const KnownKind* find_known_kind(std::string_view group, std::string_view kind);
/// Whether every API server serves it: no definition need be looked for.
bool is_built_in(std::string_view group);

/// Pods are kept by a template: Deployment, StatefulSet, DaemonSet.
std::span<const KindName> rolled_kinds();
/// Whatever a Kustomization may have made and the view can judge: workloads and Flux objects.
std::span<const KindName> made_kinds();
/// HelmRelease.
const KindName& release_kind();
/// Alert, Provider, ImagePolicy.
std::span<const KindName> trigger_kinds();

/// Under which keys what an agent made is found, from its labels and annotations: "helm NS/NAME", "release NS/NAME",
/// "kustomize NS/NAME", "app NS/NAME".
std::vector<std::string> maker_keys(const kube::Object& object);

/// The object without what is not read here. The template of pods becomes its containers' images with a digest of the whole
/// as an annotation, so that content_of() still tells every change. A pod that is not ready is its name only.
kube::Object reduced(const kube::Object& object);

}  // namespace slipway::delivery::pipeline
