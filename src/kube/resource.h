// Names of kinds and resources: group, version, kind, plural, and what the API server knows about each (ResourceType).
#pragma once

#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::kube {

class Schema;
struct SchemaNode;

struct GroupVersionKind {
  std::string group;  // "" for the core group
  std::string version;
  std::string kind;

  auto operator<=>(const GroupVersionKind&) const = default;
  /// "v1" or "batch/v1".
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  /// Reads apiVersion and kind of an object; BadRequest when one is missing.
  static Result<GroupVersionKind> of(const json::Value& object);
};

/// A resource in one version, as in a URL: batch/v1 jobs.
struct Resource {
  std::string group;
  std::string version;
  std::string plural;

  auto operator<=>(const Resource&) const = default;
  /// "jobs.batch", "pods": how messages name it.
  std::string group_resource() const { return group.empty() ? plural : plural + "." + group; }
};

/// One printer column of a Table (CRD additionalPrinterColumns, or the built-in ones).
struct Column {
  std::string name;
  std::string type;  // integer, number, string, boolean, date
  std::string format;
  std::string description;
  int priority = 0;
  std::string json_path;  // ".status.phase"; built-in kinds may use a named function instead
};

/// Where a scale subresource finds its numbers, as JSONPaths of the object (CRD subresources.scale, or the built-in ones).
struct ScalePaths {
  std::string spec_replicas;    // ".spec.replicas"
  std::string status_replicas;  // ".status.replicas"
  std::string label_selector;   // ".status.selector", a selector as text; empty: none

  bool operator==(const ScalePaths&) const = default;
};

/// What the server serves under one group and version. Immutable once registered.
struct ResourceType {
  Resource resource;
  GroupVersionKind kind;
  std::string list_kind;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool is_namespaced = true;
  bool has_status = false;               // a status subresource: main writes keep status, status writes keep the rest
  bool counts_generation = true;         // metadata.generation moves when anything but metadata and status changes
  bool allows_blind_update = true;       // PUT without resourceVersion (built-ins yes, custom resources no)
  bool is_custom = false;                // from a CRD
  std::shared_ptr<const Schema> schema;  // nullptr: nothing pruned, validated or defaulted; lists are atomic for apply
  std::vector<Column> columns;
  std::optional<ScalePaths> scale{};           // a scale subresource
  std::vector<std::string> selectable_fields;  // beyond metadata.name and metadata.namespace, e.g. "status.phase"
};

}  // namespace slipway::kube
