// Which lists are merged by item, and by what.
#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "json/text.h"
#include "krm/merge_fields.h"
#include "kube/builtin.h"
#include "kube/schema.h"
#include "kube/schema_node.h"

namespace slipway::krm {
namespace {

using Path = std::span<const std::string>;
using Keys = std::optional<std::vector<std::string>>;

Keys keys_in(const kube::SchemaNode* node, Path path) {
  for (const std::string& part : path) {
    if (node == nullptr) return std::nullopt;
    node = part == "[]" ? node->items : node->member(part);
  }
  if (node == nullptr) return std::nullopt;
  if (!node->list_map_keys.empty()) return node->list_map_keys;
  if (node->patch_merges && !node->patch_merge_key.empty()) return std::vector{node->patch_merge_key};
  if (node->patch_merges || node->list_type == kube::SchemaNode::ListType::Set) return std::vector<std::string>{""};
  return std::vector<std::string>{};
}

Keys keys_in(const json::Value& schema, Path path) {
  json::Value here = schema;
  for (const std::string& part : path) {
    const json::Value next = part == "[]"                   ? here["items"]
                             : here["properties"].has(part) ? here["properties"][part]
                                                            : here["additionalProperties"];
    here = next;
    if (!here.is_object()) return std::nullopt;
  }
  if (here["x-kubernetes-list-map-keys"].is_array()) {
    std::vector<std::string> made;
    for (const json::Value& key : here["x-kubernetes-list-map-keys"].items()) made.push_back(key.str());
    return made;
  }
  const bool merges = here["x-kubernetes-patch-strategy"].as_string().contains("merge");
  if (merges && here["x-kubernetes-patch-merge-key"].is_string())
    return std::vector{here["x-kubernetes-patch-merge-key"].str()};
  if (here["x-kubernetes-list-type"].as_string() == "set") return std::vector<std::string>{""};
  return std::vector<std::string>{};
}

struct KeyRow {
  std::string_view path;
  std::string_view key;
};
constexpr std::array kKustomization{KeyRow{"secretGenerator", "name"}, KeyRow{"configMapGenerator", "name"},
                                    KeyRow{"images", "name"},          KeyRow{"replicas", "name"},
                                    KeyRow{"generators", ""},          KeyRow{"helmCharts", "name"}};
// DIVERGES: upstream replaces gates and conditions as a whole, which loses what the deployer added.
constexpr std::array kKptfileKeys{KeyRow{"info.readinessGates", "conditionType"}, KeyRow{"status.conditions", "type"}};

ListKeys from_rows(std::span<const KeyRow> rows) {
  return [rows](Path path) -> Keys {
    std::string joined;
    for (const std::string& part : path) joined += (joined.empty() ? "" : ".") + part;
    const auto found = std::ranges::find(rows, joined, &KeyRow::path);
    if (found == rows.end()) return std::nullopt;
    return std::vector<std::string>{std::string(found->key)};
  };
}

}  // namespace

ListKeys list_keys_of(std::string_view api_version, std::string_view kind, std::span<const json::Value> crds) {
  if (kind == "Kptfile" && api_version.starts_with("kpt.dev/")) return from_rows(kKptfileKeys);
  if (api_version.starts_with("kustomize.config.k8s.io/")) return from_rows(kKustomization);
  const std::vector<kube::ResourceType>& types = kube::builtin_types();
  const auto built_in = std::ranges::find_if(types, [&](const kube::ResourceType& type) {
    return type.kind.kind == kind && type.kind.api_version() == api_version && type.schema != nullptr;
  });
  if (built_in != types.end()) {
    return [schema = built_in->schema](Path path) { return keys_in(&schema->root(), path); };
  }
  for (const json::Value& crd : crds) {
    const json::Value& spec = crd["spec"];
    if (spec["names"]["kind"].as_string() != kind) continue;
    for (const json::Value& version : spec["versions"].items()) {
      if (spec["group"].str() + "/" + version["name"].str() != api_version) continue;
      return [schema = version["schema"]["openAPIV3Schema"]](Path path) { return keys_in(schema, path); };
    }
  }
  return nullptr;
}

ListKeys list_keys_in(std::string_view comment) {
  constexpr std::string_view kApi = "#/definitions/io.k8s.api.";
  while (comment.starts_with('#') || comment.starts_with(' ')) comment.remove_prefix(1);
  if (!comment.starts_with('{')) return nullptr;
  auto schema = json::parse(comment);
  if (!schema) return nullptr;
  const std::string_view ref = (*schema)["$ref"].as_string();
  if (ref.starts_with(kApi)) {
    const kube::SchemaNode* node = kube::builtin_node(ref.substr(kApi.size()));
    if (node == nullptr) return nullptr;
    return [node](Path path) { return keys_in(node, path); };
  }
  if (!schema->has("x-kubernetes-patch-merge-key")) return nullptr;
  return [made = *schema](Path path) { return keys_in(made, path); };
}

}  // namespace slipway::krm
