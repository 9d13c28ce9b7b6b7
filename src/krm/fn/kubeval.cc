// kubeval and kubeconform: resources judged by the schemas of the built-in kinds and of the CRDs among the items. Texts are
// kubeval's.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "krm/fn/rows.h"
#include "kube/builtin.h"
#include "kube/schema.h"
#include "kube/schema_node.h"

namespace slipway::krm::fn {
namespace {

using kube::SchemaNode;

struct KubevalConfig {
  bool is_strict = false;
  bool ignores_missing = false;
  std::set<std::string> skipped;
};

bool is_true(const std::string& text) { return text == "true" || text == "True"; }

std::set<std::string> words(std::string_view text) {
  std::set<std::string> made;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (!word.empty()) made.emplace(word);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return made;
}

std::string_view type_name(const json::Value& value) {
  switch (value.type()) {
    case json::Type::Null:
      return "null";
    case json::Type::Bool:
      return "boolean";
    case json::Type::Int:
      return "integer";
    case json::Type::Double:
    case json::Type::Number:
      return "number";
    case json::Type::String:
      return "string";
    case json::Type::Array:
      return "array";
    case json::Type::Object:
      return "object";
  }
  return "unknown";
}

std::string_view wanted_name(SchemaNode::Type type) {
  switch (type) {
    case SchemaNode::Type::Any:
      return "";
    case SchemaNode::Type::Object:
      return "object";
    case SchemaNode::Type::Array:
      return "array";
    case SchemaNode::Type::String:
      return "string";
    case SchemaNode::Type::Integer:
      return "integer";
    case SchemaNode::Type::Number:
      return "number";
    case SchemaNode::Type::Boolean:
      return "boolean";
  }
  return "";
}

class Judge {
 public:
  Judge(const Resource& resource, bool is_strict, std::vector<FunctionResult>& results)
      : resource_(resource), is_strict_(is_strict), results_(results) {}

  void judge(const SchemaNode& node, const json::Value& value, const std::string& path, bool is_required) {
    if (value.is_null() && !is_required) return;
    if (!has_type(node, value)) {
      const std::string_view wanted = wanted_name(node.type);
      const std::string shown = is_required ? std::string(wanted) : fmt::format("[{},null]", wanted);
      report(fmt::format("Invalid type. Expected: {}, given: {}", shown, type_name(value)), path);
      return;
    }
    if (value.is_object()) judge_object(node, value, path);
    if (value.is_array() && node.items != nullptr) {
      for (std::size_t i = 0; i < value.size(); ++i) judge(*node.items, value.item(i), fmt::format("{}.{}", path, i), true);
    }
  }

 private:
  static bool has_type(const SchemaNode& node, const json::Value& value) {
    if (node.type == SchemaNode::Type::Any || node.is_int_or_string || node.is_quantity) return true;
    const std::string_view wanted = wanted_name(node.type);
    return wanted == type_name(value) || (wanted == "number" && value.is_int());
  }

  void judge_object(const SchemaNode& node, const json::Value& value, const std::string& path) {
    for (const std::string& name : node.required) {
      if (!value.has(name)) report(fmt::format("{} is required", name), name);
    }
    const bool is_closed = node.type == SchemaNode::Type::Object && !node.properties.empty() && !node.preserves_unknown_fields;
    std::vector<std::pair<std::string, const SchemaNode*>> known;
    for (auto [key, member] : value.members()) {
      const SchemaNode* found = node.member(key);
      const bool is_of_every_object = path.empty() && (key == "apiVersion" || key == "kind" || key == "metadata");
      if (found == nullptr && is_closed && is_strict_ && !is_of_every_object)
        report(fmt::format("Additional property {} is not allowed", key), std::string(key));
      if (found != nullptr) known.emplace_back(key, found);
    }
    for (const auto& [key, found] : known) {
      judge(*found, value[key], path.empty() ? key : path + "." + key,
            std::ranges::find(node.required, key) != node.required.end());
    }
  }

  void report(std::string message, std::string path) {
    FunctionResult made = FunctionResult::error(std::move(message));
    made.api_version = resource_.api_version();
    made.kind = resource_.kind();
    made.name = resource_.name();
    made.namespace_name = resource_.namespace_name();
    made.file_path = resource_.path;
    made.file_index = resource_.index;
    made.field_path = std::move(path);
    results_.push_back(std::move(made));
  }

  const Resource& resource_;
  bool is_strict_;
  std::vector<FunctionResult>& results_;
};

class Schemas {
 public:
  explicit Schemas(const std::vector<Resource>& items) {
    for (const Resource& resource : items) {
      if (resource.kind() == "CustomResourceDefinition") add(value_or_null(resource.root()));
    }
  }

  const kube::Schema* find(std::string_view api_version, std::string_view kind) const {
    const auto found = custom_.find({std::string(api_version), std::string(kind)});
    if (found != custom_.end()) return found->second.get();
    static const std::map<std::pair<std::string, std::string>, std::shared_ptr<const kube::Schema>> kBuiltin = [] {
      std::map<std::pair<std::string, std::string>, std::shared_ptr<const kube::Schema>> made;
      for (const kube::ResourceType& type : kube::builtin_types())
        made[{type.kind.api_version(), type.kind.kind}] = type.schema;
      return made;
    }();
    const auto built_in = kBuiltin.find({std::string(api_version), std::string(kind)});
    return built_in == kBuiltin.end() ? nullptr : built_in->second.get();
  }

 private:
  void add(const json::Value& crd) {
    const json::Value& spec = crd["spec"];
    for (const json::Value& version : spec["versions"].items()) {
      auto schema = kube::Schema::compile(version["schema"]["openAPIV3Schema"]);
      if (schema) custom_[{spec["group"].str() + "/" + version["name"].str(), spec["names"]["kind"].str()}] = *schema;
    }
  }

  std::map<std::pair<std::string, std::string>, std::shared_ptr<const kube::Schema>> custom_;
};

}  // namespace

Result<void> kubeval(ResourceList& list) {
  auto data = list.data();
  for (std::string_view key : {"schema_location", "additional_schema_locations"}) {
    if (!data[std::string(key)].empty()) {
      return fail(Reason::NotImplemented, fmt::format("kubeval: {} is not read: add the CRDs to the package instead", key));
    }
  }
  const KubevalConfig config{.is_strict = is_true(data["strict"]),
                             .ignores_missing = is_true(data["ignore_missing_schemas"]),
                             .skipped = words(data["skip_kinds"])};
  const Schemas schemas(list.items);
  std::vector<FunctionResult> results;
  for (const Resource& resource : list.items) {
    const bool is_own = resource.group() == "kpt.dev" || resource.group() == "fn.kpt.dev" || resource.is_local_config();
    if (is_own || config.skipped.contains(std::string(resource.kind())) || resource.kind() == "CustomResourceDefinition")
      continue;
    const kube::Schema* schema = schemas.find(resource.api_version(), resource.kind());
    if (schema == nullptr) {
      if (config.ignores_missing) continue;
      results.push_back(
          FunctionResult::error(fmt::format("no schema for {} {}: add its CRD, or set skip_kinds or ignore_missing_schemas",
                                            resource.api_version(), resource.kind()))
              .at(resource));
      continue;
    }
    SLIPWAY_TRY(value, to_value(resource.root()));
    Judge(resource, config.is_strict, results).judge(schema->root(), value, "", true);
  }
  std::ranges::move(results, std::back_inserter(list.results));
  return {};
}

}  // namespace slipway::krm::fn
