// upsert-resource: the configuration is a resource, or a List of them; each takes the place of its like, or is added.
#include <algorithm>

#include "krm/fn/rows.h"

namespace slipway::krm::fn {
namespace {

constexpr std::string_view kTargetPath = "config.kubernetes.io/target-path";

// The version does not count; a target path, when given, does.
bool is_same(const Resource& made, const Resource& there, std::string_view target) {
  return made.group() == there.group() && made.kind() == there.kind() && made.name() == there.name() &&
         made.namespace_name() == there.namespace_name() && (target.empty() || there.path == target);
}

// Marks that tell where the configuration stood say nothing about the resource that it is.
void drop_marks(Node& root) {
  Node* metadata = root.find("metadata");
  Node* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
  if (annotations == nullptr || !annotations->is_mapping()) return;
  for (std::string_view key :
       {"config.kubernetes.io/index", "internal.config.kubernetes.io/index", "config.kubernetes.io/path",
        "internal.config.kubernetes.io/path", "internal.config.kubernetes.io/seqindent", "config.kubernetes.io/function",
        "config.k8s.io/function", "config.k8s.io/id", "internal.config.kubernetes.io/id",
        "internal.config.kubernetes.io/package-path", "internal.config.kubernetes.io/annotations-migration-resource-id",
        "config.kubernetes.io/target-path"}) {
    annotations->erase(key);
  }
  if (annotations->children.empty()) metadata->erase("annotations");
}

void upsert(ResourceList& list, Resource made) {
  const std::string target(made.annotation(kTargetPath));
  drop_marks(made.root());
  bool is_there = false;
  for (Resource& resource : list.items) {
    if (!is_same(made, resource, target)) continue;
    resource.tree.root = made.tree.root;
    is_there = true;
  }
  if (is_there) return;
  for (const Resource& resource : list.items) {
    if (!target.empty() && resource.path == target) made.index = std::max(made.index, resource.index + 1);
  }
  made.path = target;
  list.items.push_back(std::move(made));
}

}  // namespace

Result<void> upsert_resource(ResourceList& list) {
  if (!list.has_config()) return fail(Reason::Invalid, "upsert-resource: the functionConfig must be the resource to set");
  const Resource config = *list.config;
  std::vector<Node> roots{config.root()};
  if (config.kind() == "List") {
    const Node* items = config.root().find("items");
    roots = items == nullptr ? std::vector<Node>{} : items->children;
  }
  for (Node& root : roots) {
    Resource made;
    made.tree.root = std::move(root);
    made.tree.is_wide = config.tree.is_wide;
    made.package = config.package;
    // As the configuration of a pipeline it is a resource of the package already: it stays where it is.
    upsert(list, std::move(made));
  }
  return {};
}

}  // namespace slipway::krm::fn
