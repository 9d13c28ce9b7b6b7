#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "krm/function.h"

#include "base/count.h"

namespace slipway::krm {
namespace {

constexpr std::string_view kPath = "internal.config.kubernetes.io/path";
constexpr std::string_view kIndex = "internal.config.kubernetes.io/index";
constexpr std::string_view kSeqIndent = "internal.config.kubernetes.io/seqindent";
constexpr std::string_view kLegacyPath = "config.kubernetes.io/path";
constexpr std::string_view kLegacyIndex = "config.kubernetes.io/index";
constexpr std::string_view kId = "internal.config.kubernetes.io/id";
constexpr std::string_view kLegacyId = "config.k8s.io/id";
constexpr std::array kOthers{std::string_view("internal.config.kubernetes.io/package-path"),
                             std::string_view("internal.config.kubernetes.io/annotations-migration-resource-id")};

bool is_mark(std::string_view key) {
  constexpr std::array kKnown{kPath, kIndex, kSeqIndent, kLegacyPath, kLegacyIndex, kId, kLegacyId};
  return std::ranges::find(kKnown, key) != kKnown.end() || std::ranges::find(kOthers, key) != kOthers.end();
}

std::optional<std::string> mark(const Resource& resource, std::string_view key) {
  const auto found = std::ranges::find(resource.marks, key, [](const auto& entry) -> std::string_view { return entry.first; });
  return found == resource.marks.end() ? std::nullopt : std::optional(found->second);
}

std::size_t number(const std::optional<std::string>& text) {
  constexpr std::int64_t kMaxNumber = 999'999'999;
  const auto read = text ? parse_count(*text) : std::nullopt;
  return read && *read <= kMaxNumber ? static_cast<std::size_t>(*read) : 0;
}

Result<std::string> agreed(const Resource& resource, std::string_view key, std::string_view legacy, std::string_view was) {
  const auto now = mark(resource, key);
  const auto old = mark(resource, legacy);
  if (now && old && *now != *old && *now != was && *old != was && !was.empty()) {
    return fail(Reason::BadRequest,
                fmt::format("conflicting annotations {:?} and {:?} of {} {}", key, legacy, resource.kind(), resource.name()));
  }
  if (now && (!old || *now != was || was.empty())) return *now;
  return old.value_or(now.value_or(""));
}

Result<Resource> read_item(Node root) {
  Resource made;
  made.tree.root = std::move(root);
  Node& node = made.root();
  if (!node.is_mapping()) return fail(Reason::BadRequest, "items of a ResourceList must be objects");
  if (Node* annotations = node.at({"metadata", "annotations"}); annotations != nullptr && annotations->is_mapping()) {
    for (std::size_t i = 0; i < annotations->pairs();) {
      if (!is_mark(annotations->key(i).text)) {
        ++i;
        continue;
      }
      made.marks.emplace_back(annotations->key(i).text, annotations->value(i).text);
      annotations->erase(std::string(annotations->key(i).text));
    }
    if (annotations->children.empty() && !made.marks.empty()) node.find("metadata")->erase("annotations");
  }
  SLIPWAY_TRY(path, agreed(made, kPath, kLegacyPath, ""));
  SLIPWAY_TRY(index, agreed(made, kIndex, kLegacyIndex, ""));
  made.path = path;
  made.index = number(index);
  made.id = number(mark(made, kId));
  made.tree.is_wide = mark(made, kSeqIndent).value_or("") == "wide";
  return made;
}

Node mark_node(std::string_view text) {
  Node made = Node::string(text);
  made.style = Node::Style::SingleQuoted;
  return made;
}

void set_marks(Node& root, const Resource& resource) {
  if (resource.path.empty() && resource.marks.empty() && resource.id == 0) return;
  Node& annotations = root.mapping_at("metadata").mapping_at("annotations");
  const std::string index = std::to_string(resource.index);
  if (!resource.path.empty()) {
    annotations.set(kLegacyIndex, mark_node(index));
    annotations.set(kLegacyPath, mark_node(resource.path));
    annotations.set(kIndex, mark_node(index));
    annotations.set(kPath, mark_node(resource.path));
    annotations.set(kSeqIndent, mark_node(resource.tree.is_wide ? "wide" : "compact"));
  }
  for (std::string_view key : kOthers) {
    if (const auto text = mark(resource, key)) annotations.set(key, mark_node(*text));
  }
  if (resource.id != 0) {
    annotations.set(kId, mark_node(std::to_string(resource.id)));
    annotations.set(kLegacyId, mark_node(std::to_string(resource.id)));
  }
}

}  // namespace

json::Value result_value(const FunctionResult& result) {
  json::ObjectBuilder made;
  made.add("message", result.message);
  if (!result.severity.empty()) made.add("severity", result.severity);
  json::ObjectBuilder ref;
  if (!result.api_version.empty()) ref.add("apiVersion", result.api_version);
  if (!result.kind.empty()) ref.add("kind", result.kind);
  if (!result.name.empty()) ref.add("name", result.name);
  if (!result.namespace_name.empty()) ref.add("namespace", result.namespace_name);
  if (!ref.empty()) made.add("resourceRef", ref.build());
  json::ObjectBuilder field;
  if (!result.field_path.empty()) field.add("path", result.field_path);
  if (!result.current_value.is_null()) field.add("currentValue", result.current_value);
  if (!result.proposed_value.is_null()) field.add("proposedValue", result.proposed_value);
  if (!field.empty()) made.add("field", field.build());
  json::ObjectBuilder file;
  if (!result.file_path.empty()) file.add("path", result.file_path);
  if (!result.file_path.empty() && result.file_index != 0) file.add("index", result.file_index);
  if (!file.empty()) made.add("file", file.build());
  if (!result.tags.empty()) {
    json::ObjectBuilder tags;
    for (const auto& [key, value] : result.tags) tags.add(key, value);
    made.add("tags", tags.build());
  }
  return made.build();
}

Result<FunctionResult> read_result(const json::Value& value) {
  if (!value.is_object()) return fail(Reason::BadRequest, "a result must be an object");
  FunctionResult made;
  made.message = value["message"].str();
  made.severity = value["severity"].str();
  const json::Value& ref = value["resourceRef"];
  made.api_version = ref["apiVersion"].str();
  made.kind = ref["kind"].str();
  made.name = ref.has("name") ? ref["name"].str() : ref["metadata"]["name"].str();
  made.namespace_name = ref.has("namespace") ? ref["namespace"].str() : ref["metadata"]["namespace"].str();
  made.field_path = value["field"]["path"].str();
  made.current_value = value["field"]["currentValue"];
  made.proposed_value =
      value["field"].has("proposedValue") ? value["field"]["proposedValue"] : value["field"]["suggestedValue"];
  made.file_path = value["file"]["path"].str();
  made.file_index = static_cast<std::size_t>(std::max<std::int64_t>(0, value["file"]["index"].as_int()));
  for (auto [key, text] : value["tags"].members()) made.tags[std::string(key)] = text.str();
  return made;
}

std::string write_resource_list(const ResourceList& list) {
  Node root = Node::mapping();
  root.set("apiVersion", Node::string("config.kubernetes.io/v1"));
  root.set("kind", Node::string("ResourceList"));
  Node items = Node::sequence();
  for (const Resource& resource : list.items) {
    Node item = resource.root();
    if (!resource.tree.head.empty()) {
      item.head = item.head.empty() ? resource.tree.head : resource.tree.head + "\n\n" + item.head;
    }
    set_marks(item, resource);
    items.children.push_back(std::move(item));
  }
  root.set("items", std::move(items));
  if (list.config) root.set("functionConfig", list.config->root());
  if (!list.results.empty()) {
    json::ArrayBuilder results;
    for (const FunctionResult& result : list.results) results.add(result_value(result));
    root.set("results", Node::from(results.build()));
  }
  return write_node(root, false);
}

Result<ResourceList> read_resource_list(std::string_view text) {
  SLIPWAY_TRY(tree, read_one_yaml(text));
  const std::string_view version = tree.root.get({"apiVersion"});
  if (tree.root.get({"kind"}) != "ResourceList" || !version.starts_with("config.kubernetes.io/v1")) {
    return fail(Reason::BadRequest, fmt::format("wanted a ResourceList of config.kubernetes.io/v1, got {:?} of {:?}",
                                                tree.root.get({"kind"}), version));
  }
  ResourceList made;
  if (Node* items = tree.root.find("items"); items != nullptr && !items->is_null()) {
    if (!items->is_sequence()) return fail(Reason::BadRequest, "items of a ResourceList must be a list");
    for (Node& item : items->children) {
      SLIPWAY_TRY(resource, read_item(std::move(item)));
      made.items.push_back(std::move(resource));
    }
  }
  if (Node* config = tree.root.find("functionConfig"); config != nullptr && config->is_mapping()) {
    SLIPWAY_TRY(resource, read_item(std::move(*config)));
    made.config = std::move(resource);
  }
  if (const Node* results = tree.root.find("results"); results != nullptr) {
    json::Value value = value_or_null(*results);
    if (value.is_object()) value = json::Value(value["items"]);
    for (const json::Value& one : value.items()) {
      SLIPWAY_TRY(result, read_result(one));
      made.results.push_back(std::move(result));
    }
  }
  return made;
}

}  // namespace slipway::krm
