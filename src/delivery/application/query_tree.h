// An object with what it brought about: a Deployment's ReplicaSets and their Pods, a CronJob's Jobs, a Service's Endpoints.
// Which kinds belong below which is a table; of them an object belongs below the one that owns it. Names, health and the short
// facts of a node follow kubevela/kubevela pkg/workflow/providers/query (tree.go).
#pragma once

#include <string>
#include <vector>

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Empty texts match everything.
struct KindFilter {
  std::string api_version;
  std::string kind;

  bool matches(const Value& object) const;
};

struct TreeNode {
  Value object;  // live, without managed fields
  std::vector<TreeNode> leaves;

  /// A resourceTree node: names, healthStatus, additionalInfo, leafNodes. `cluster` as applications call it.
  Value to_json(const std::string& cluster, Time now) const;
};

/// The tree below `root`, at most five levels; of it only what matches or leads to what does. Kinds that the cluster does not
/// serve are left out.
Task<Result<TreeNode>> tree_below(AppRun& run, std::string cluster, Value root, KindFilter filter);

/// {statusCode, reason, message}: statusCode Healthy, UnHealthy, Progressing or Unknown.
Value health_status(const Value& object);

}  // namespace slipway::delivery::application
