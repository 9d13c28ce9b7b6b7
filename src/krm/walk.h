// Going over the fields of a tree with their paths as kyaml writes them: "spec.containers[0].image".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "krm/yaml_node.h"

namespace slipway::krm {

struct Visitor {
  /// A member whose value is a list, before its items.
  std::function<Result<void>(Node& key, Node& value, const std::string& path)> list;
  std::function<Result<void>(Node& scalar, const std::string& path)> scalar;
};

/// Members in order, lists before what is in them.
Result<void> walk(Node& node, const Visitor& visitor, const std::string& path = "");

/// A kustomize field path: dots separate, "\." and [a.b] hold dots, "[name=x]" picks items, "*" all of them.
std::vector<std::string> split_field_path(std::string_view path);

/// Every node there. A part that is a list without an index goes through all items when `goes_through_lists`.
enum class Lists : bool { Named, GoneThrough };
std::vector<Node*> select_nodes(Node& root, const std::vector<std::string>& path, Lists lists);

/// Whether a kind of a built-in group lives in namespaces; a kind that is not known does when it has metadata.namespace.
enum class Scope : std::uint8_t { Namespaced, Cluster, Unknown };
Scope scope_of(std::string_view api_version, std::string_view kind);

}  // namespace slipway::krm
