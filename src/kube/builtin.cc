#include "kube/builtin.h"

#include <map>
#include <string>

#include "base/check.h"
#include "json/text.h"
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

struct Row {
  Resource resource;
  std::string kind;
  std::string schema;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool is_namespaced = true;
  bool has_status = true;
  bool counts_generation = false;
  bool allows_blind_update = true;
  std::vector<Column> columns;
  std::vector<std::string> selectable_fields;
};

constexpr int kWide = 1;

Column name_column(int priority = 0) {
  return {.name = "Name",
          .type = "string",
          .format = "name",
          .description = "metadata.name",
          .priority = priority,
          .json_path = "@name"};
}
Column column(std::string name, std::string json_path, int priority = 0, std::string type = "string") {
  return {.name = std::move(name),
          .type = std::move(type),
          .format = "",
          .description = "",
          .priority = priority,
          .json_path = std::move(json_path)};
}
Column age_column() { return column("Age", "@age"); }

Row pods() {
  return {
      .resource = {"", "v1", "pods"},
      .kind = "Pod",
      .schema = "core.v1.Pod",
      .short_names = {"po"},
      .categories = {"all"},
      .counts_generation = true,
      .columns = {name_column(), column("Ready", "@pod.ready"), column("Status", "@pod.status"),
                  column("Restarts", "@pod.restarts"), age_column(), column("IP", "@or-none.status.podIP", kWide),
                  column("Node", "@or-none.spec.nodeName", kWide),
                  column("Nominated Node", "@or-none.status.nominatedNodeName", kWide),
                  column("Readiness Gates", "@pod.readiness-gates", kWide)},
      .selectable_fields = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
                            "spec.hostNetwork", "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"}};
}

Row claims() {
  return {.resource = {"", "v1", "persistentvolumeclaims"},
          .kind = "PersistentVolumeClaim",
          .schema = "core.v1.PersistentVolumeClaim",
          .short_names = {"pvc"},
          .categories = {},
          .columns = {name_column(), column("Status", "@claim.status"), column("Volume", ".spec.volumeName"),
                      column("Capacity", "@claim.capacity"), column("Access Modes", "@claim.access-modes"),
                      column("StorageClass", ".spec.storageClassName"),
                      column("VolumeAttributesClass", "@unset.spec.volumeAttributesClassName"), age_column(),
                      column("VolumeMode", "@unset.spec.volumeMode", kWide)},
          .selectable_fields = {}};
}

Row events() {
  return {
      .resource = {"", "v1", "events"},
      .kind = "Event",
      .schema = "core.v1.Event",
      .short_names = {"ev"},
      .categories = {},
      .has_status = false,
      .columns = {column("Last Seen", "@event.last-seen"), column("Type", ".type"), column("Reason", ".reason"),
                  column("Object", "@event.object"), column("Subobject", ".involvedObject.fieldPath", kWide),
                  column("Source", "@event.source", kWide), column("Message", "@event.message"),
                  column("First Seen", "@event.first-seen", kWide), column("Count", "@event.count", kWide), name_column(kWide)},
      .selectable_fields = {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
                            "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
                            "reportingComponent", "source", "type"}};
}

Row jobs() {
  return {.resource = {"batch", "v1", "jobs"},
          .kind = "Job",
          .schema = "batch.v1.Job",
          .short_names = {},
          .categories = {"all"},
          .counts_generation = true,
          .columns = {name_column(), column("Status", "@job.status"), column("Completions", "@job.completions"),
                      column("Duration", "@job.duration"), age_column(), column("Containers", "@template.containers", kWide),
                      column("Images", "@template.images", kWide), column("Selector", "@selector", kWide)},
          .selectable_fields = {"status.successful"}};
}

std::vector<Row> rows() {
  std::vector<Row> all;
  all.push_back({.resource = {"", "v1", "namespaces"},
                 .kind = "Namespace",
                 .schema = "core.v1.Namespace",
                 .short_names = {"ns"},
                 .categories = {},
                 .is_namespaced = false,
                 .columns = {name_column(), column("Status", ".status.phase"), age_column()},
                 .selectable_fields = {"status.phase"}});
  all.push_back(pods());
  all.push_back({.resource = {"", "v1", "configmaps"},
                 .kind = "ConfigMap",
                 .schema = "core.v1.ConfigMap",
                 .short_names = {"cm"},
                 .categories = {},
                 .has_status = false,
                 .columns = {name_column(), column("Data", "@config.size"), age_column()},
                 .selectable_fields = {}});
  all.push_back({.resource = {"", "v1", "secrets"},
                 .kind = "Secret",
                 .schema = "core.v1.Secret",
                 .short_names = {},
                 .categories = {},
                 .has_status = false,
                 .columns = {name_column(), column("Type", ".type"), column("Data", "@config.size"), age_column()},
                 .selectable_fields = {"type"}});
  all.push_back(claims());
  all.push_back(events());
  all.push_back(jobs());
  all.push_back({.resource = {"coordination.k8s.io", "v1", "leases"},
                 .kind = "Lease",
                 .schema = "coordination.v1.Lease",
                 .short_names = {},
                 .categories = {},
                 .has_status = false,
                 .allows_blind_update = false,
                 .columns = {name_column(), column("Holder", ".spec.holderIdentity"), age_column()},
                 .selectable_fields = {}});
  all.push_back({.resource = {"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
                 .kind = "CustomResourceDefinition",
                 .schema = "apiextensions.v1.CustomResourceDefinition",
                 .short_names = {"crd", "crds"},
                 .categories = {"api-extensions"},
                 .is_namespaced = false,
                 .counts_generation = true,
                 .allows_blind_update = false,
                 .columns = {name_column(), column("Created At", ".metadata.creationTimestamp")},
                 .selectable_fields = {}});
  return all;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

}  // namespace

std::vector<ResourceType> builtin_types() {
  static const std::vector<ResourceType> all = [] {
    std::vector<ResourceType> types;
    for (Row& row : rows()) {
      ResourceType type;
      type.kind = {row.resource.group, row.resource.version, row.kind};
      type.resource = std::move(row.resource);
      type.list_kind = row.kind + "List";
      type.singular = lower(row.kind);
      type.short_names = std::move(row.short_names);
      type.categories = std::move(row.categories);
      type.is_namespaced = row.is_namespaced;
      type.has_status = row.has_status;
      type.counts_generation = row.counts_generation;
      type.allows_blind_update = row.allows_blind_update;
      type.schema = schemas().schema(row.schema);
      type.columns = std::move(row.columns);
      type.selectable_fields = std::move(row.selectable_fields);
      types.push_back(std::move(type));
    }
    return types;
  }();
  return all;
}

const SchemaNode* builtin_node(std::string_view name) { return schemas().find(name); }

const SchemaNode& object_meta_node() {
  static const SchemaNode& node = *schemas().find("meta.v1.ObjectMeta");
  return node;
}

}  // namespace slipway::kube
