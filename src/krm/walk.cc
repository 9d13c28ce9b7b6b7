#include "krm/walk.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "kube/builtin.h"

namespace slipway::krm {
namespace {

struct ItemTest {
  std::string key;
  std::string value;
};

std::optional<ItemTest> item_test(std::string_view part) {
  if (!part.starts_with('[') || !part.ends_with(']')) return std::nullopt;
  part = part.substr(1, part.size() - 2);
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  return ItemTest{.key = std::string(part.substr(0, equals)), .value = std::string(part.substr(equals + 1))};
}

void collect(Node& node, std::span<const std::string> path, Lists lists, std::vector<Node*>& out) {
  if (path.empty()) {
    out.push_back(&node);
    return;
  }
  const std::string& part = path.front();
  if (node.is_sequence()) {
    if (const auto test = item_test(part)) {
      for (Node& item : node.children) {
        const bool is_it =
            test->key.empty() ? item.is_scalar() && item.text == test->value : item.get({test->key}) == test->value;
        if (is_it) collect(item, path.subspan(1), lists, out);
      }
      return;
    }
    if (part == "*") {
      for (Node& item : node.children) collect(item, path.subspan(1), lists, out);
      return;
    }
    if (Node* indexed = node.at(path.first(1))) {
      collect(*indexed, path.subspan(1), lists, out);
    } else if (lists == Lists::GoneThrough) {
      for (Node& item : node.children) collect(item, path, lists, out);
    }
    return;
  }
  if (part == "*" && node.is_mapping()) {
    for (std::size_t i = 0; i < node.pairs(); ++i) collect(node.value(i), path.subspan(1), lists, out);
    return;
  }
  if (Node* member = node.find(part)) collect(*member, path.subspan(1), lists, out);
}

}  // namespace

Result<void> walk(Node& node, const Visitor& visitor, const std::string& path) {
  if (node.is_mapping()) {
    if (visitor.list) {
      for (std::size_t i = 0; i < node.pairs(); ++i) {
        if (!node.value(i).is_sequence()) continue;
        SLIPWAY_TRY_VOID(
            visitor.list(node.key(i), node.value(i), path.empty() ? node.key(i).text : path + "." + node.key(i).text));
      }
    }
    for (std::size_t i = 0; i < node.pairs(); ++i) {
      SLIPWAY_TRY_VOID(walk(node.value(i), visitor, path.empty() ? node.key(i).text : path + "." + node.key(i).text));
    }
  } else if (node.is_sequence()) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      SLIPWAY_TRY_VOID(walk(node.children[i], visitor, fmt::format("{}[{}]", path, i)));
    }
  } else if (node.is_scalar() && visitor.scalar) {
    return visitor.scalar(node, path);
  }
  return {};
}

std::vector<std::string> split_field_path(std::string_view path) {
  std::vector<std::string> parts;
  std::string part;
  const auto flush = [&] {
    if (!part.empty()) parts.push_back(std::exchange(part, ""));
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (c == '\\' && i + 1 < path.size() && path[i + 1] == '.') {
      part += '.';
      ++i;
    } else if (c == '[' && path.find(']', i) != std::string_view::npos) {
      flush();
      const std::size_t stop = path.find(']', i);
      const std::string_view inside = path.substr(i, stop - i + 1);
      parts.emplace_back(inside.contains('=') ? inside : inside.substr(1, inside.size() - 2));
      i = stop;
    } else if (c == '.') {
      flush();
    } else {
      part += c;
    }
  }
  flush();
  return parts;
}

std::vector<Node*> select_nodes(Node& root, const std::vector<std::string>& path, Lists lists) {
  std::vector<Node*> out;
  collect(root, path, lists, out);
  return out;
}

Scope scope_of(std::string_view api_version, std::string_view kind) {
  static const std::map<std::pair<std::string, std::string>, bool> kKnown = [] {
    std::map<std::pair<std::string, std::string>, bool> made;
    for (const kube::ResourceType& type : kube::builtin_types())
      made[{type.kind.api_version(), type.kind.kind}] = type.is_namespaced;
    // Kinds that no API server here serves, but packages hold.
    made[{"apiextensions.k8s.io/v1", "CustomResourceDefinition"}] = false;
    made[{"apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"}] = false;
    made[{"apiregistration.k8s.io/v1", "APIService"}] = false;
    made[{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"}] = false;
    made[{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"}] = false;
    made[{"policy/v1beta1", "PodSecurityPolicy"}] = false;
    made[{"node.k8s.io/v1", "RuntimeClass"}] = false;
    made[{"networking.k8s.io/v1", "IngressClass"}] = false;
    made[{"scheduling.k8s.io/v1", "PriorityClass"}] = false;
    made[{"storage.k8s.io/v1", "StorageClass"}] = false;
    made[{"networking.k8s.io/v1", "Ingress"}] = true;
    made[{"networking.k8s.io/v1", "NetworkPolicy"}] = true;
    made[{"v1", "ResourceQuota"}] = true;
    made[{"v1", "LimitRange"}] = true;
    made[{"v1", "PodTemplate"}] = true;
    return made;
  }();
  const auto found = kKnown.find({std::string(api_version), std::string(kind)});
  if (found == kKnown.end()) return Scope::Unknown;
  return found->second ? Scope::Namespaced : Scope::Cluster;
}

}  // namespace slipway::krm
