#include "kube/builtin.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "json/text.h"
#include "kube/builtin_rows.h"
#include "kube/schema.h"
#include "kube/schema_build.h"
#include "kube/schema_node.h"

namespace slipway::kube {
namespace {

constexpr std::string_view kSchemaText =
#include "kube/builtin_schema.inc"
    ;

/// All types of the data file in one arena; references between them become pointers.
class BuiltinSchemas {
 public:
  BuiltinSchemas() : arena_(std::make_shared<SchemaArena>()) {
    auto parsed = json::parse(kSchemaText);
    SLIPWAY_CHECK(parsed.has_value(), "builtin_schema.inc is no JSON");
    const json::Value& types = *parsed;
    SchemaBuilder builder(*arena_, [&](std::string_view name) { return node_of(name, types, builder); });
    for (const auto [name, type] : types.members()) node_of(name, types, builder);
    mark_defaults(*arena_);
    fill_default_values(*arena_);
  }

  const SchemaNode* find(std::string_view name) const {
    const auto at = nodes_.find(name);
    return at == nodes_.end() ? nullptr : at->second;
  }
  std::shared_ptr<const Schema> schema(std::string_view name) const {
    const SchemaNode* node = find(name);
    SLIPWAY_CHECK(node != nullptr, "a built-in kind without a schema");
    return std::make_shared<const Schema>(root_of(arena_, node));
  }

 private:
  const SchemaNode* node_of(std::string_view name, const json::Value& types, SchemaBuilder& builder) {
    if (const auto at = nodes_.find(name); at != nodes_.end()) return at->second;
    SchemaNode* node = arena_->add();
    nodes_.emplace(std::string(name), node);  // before it is filled: types may refer to themselves
    builder.fill(*node, types[name]);
    return node;
  }

  std::shared_ptr<SchemaArena> arena_;
  std::map<std::string, SchemaNode*, std::less<>> nodes_;
};

/// Immutable once made; never destroyed, as schemas point into it.
const BuiltinSchemas& schemas() {
  static const BuiltinSchemas& all = *new BuiltinSchemas();
  return all;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    out.emplace_back(text.substr(0, blank));
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  }
  return out;
}

/// One entry of BuiltinRow::columns.
Column column_of(std::string_view text) {
  Column column;
  column.type = "string";
  for (; !text.empty(); text.remove_prefix(1)) {
    if (text.front() == '|') {
      column.priority = 1;
    } else if (text.front() == '#') {
      column.type = "integer";
    } else if (text.front() == '?') {
      column.type = "boolean";
    } else {
      break;
    }
  }
  const std::size_t equals = text.find('=');
  column.name = text.substr(0, equals);
  column.json_path = text.substr(equals + 1);
  if (column.name == "Name") {
    column.format = "name";
    column.description = "metadata.name";
  }
  return column;
}

std::vector<Column> columns_of(std::string_view text) {
  constexpr std::string_view kBetween = "; ";
  std::vector<Column> out;
  while (!text.empty()) {
    const std::size_t end = text.find(kBetween);
    out.push_back(column_of(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + kBetween.size());
  }
  return out;
}

std::optional<ScalePaths> scale_paths(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::vector<std::string> paths = words(text);
  return ScalePaths{std::move(paths[0]), std::move(paths[1]), std::move(paths[2])};
}

ResourceType type_of(const BuiltinRow& row) {
  ResourceType type;
  type.kind = {std::string(row.group), std::string(row.version), std::string(row.kind)};
  type.resource = {std::string(row.group), std::string(row.version), std::string(row.plural)};
  type.list_kind = type.kind.kind + "List";
  type.singular = lower(type.kind.kind);
  type.short_names = words(row.short_names);
  type.categories = words(row.categories);
  type.is_namespaced = (row.traits & kClusterScoped) == 0;
  type.has_status = (row.traits & kHasStatus) != 0;
  type.counts_generation = (row.traits & kCountsGeneration) != 0;
  type.allows_blind_update = (row.traits & kNoBlindUpdate) == 0;
  type.schema = schemas().schema(row.schema);
  type.columns = columns_of(row.columns);
  type.selectable_fields = words(row.selectable_fields);
  type.scale = scale_paths(row.scale);
  return type;
}

}  // namespace

const std::vector<ResourceType>& builtin_types() {
  static const std::vector<ResourceType> all = [] {
    std::vector<ResourceType> types;
    for (const BuiltinRow& row : builtin_rows()) types.push_back(type_of(row));
    return types;
  }();
  return all;
}

const SchemaNode* builtin_node(std::string_view name) { return schemas().find(name); }

json::Value builtin_tables() {
  auto parsed = json::parse(kSchemaText);
  SLIPWAY_CHECK(parsed.has_value(), "builtin_schema.inc is no JSON");
  return *std::move(parsed);
}

const SchemaNode& object_meta_node() {
  static const SchemaNode& node = *schemas().find("meta.v1.ObjectMeta");
  return node;
}

}  // namespace slipway::kube
