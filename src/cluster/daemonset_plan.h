// What a DaemonSet needs next: a pure function of it, the nodes, its pods and the time (apps/v1 DaemonSet as
// kube-controller-manager runs it): one pod per node that its template may run on.
//
// An update goes node by node. With maxUnavailable old pods go first, those that do not work anyway before all others; with
// maxSurge a new pod is made beside the old one, which goes once the new one is available.
//
// Safety: old pods that are not available count against maxUnavailable too (DIVERGES: upstream replaces as many working ones
// on top of them).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "kube/object.h"

namespace slipway::cluster {

struct DaemonSetView {
  kube::Object set;
  std::vector<kube::Object> nodes;
  std::vector<kube::Object> pods;  // that it owns
  std::string hash;                // value of the label controller-revision-hash of the present template
};

struct DaemonSetPlan {
  /// As it stands before the effects; null when nothing changed.
  json::Value status;
  std::vector<std::string> create;  // nodes that get a pod
  std::vector<kube::Object> remove;
  std::optional<Duration> look_again;
};

/// Of a set that is not being deleted.
DaemonSetPlan plan_daemon_set(const DaemonSetView& view, const Now& now);

/// A pod of the present template for that node, ready to create; the server completes its name.
kube::Object make_daemon_pod(const kube::Object& set, std::string_view hash, std::string_view node);

}  // namespace slipway::cluster
