// What an object has made, down to pods: the objects that its family tells of (KindRow::made), in whatever cluster, and what
// these own by owner references.
#pragma once

#include <string>
#include <vector>

#include "cli/place.h"

namespace slipway::cli {

struct TreeNode {
  std::string cluster;    // empty: that of the root
  json::Value reference;  // {apiVersion, kind, namespace, name}
  kube::Object object;    // null: not there
  std::string problem;    // why nothing is known of it; empty otherwise
  std::vector<TreeNode> children;
};

/// Errors of a cluster stand in its nodes. Kinds that a Deployment, a StatefulSet, a Job or the like make are looked for; what
/// an object without a row owns is its children.
Task<std::vector<TreeNode>> tree_of(Session& session, Place place, kube::Object object, std::string part = "");

/// With lines that show what belongs to what; "" for no nodes.
std::string print_tree(const std::vector<TreeNode>& nodes);

/// The pods in the tree, with their cluster, in its order; each once.
std::vector<TreeNode> pods_in(const std::vector<TreeNode>& nodes);

}  // namespace slipway::cli
