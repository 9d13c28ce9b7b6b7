// Objects as rows of text: the Table of meta.k8s.io/v1 that kubectl asks for, and the plain text it prints from one. Columns of
// CRDs are JSONPaths; columns of built-in kinds may be functions, named "@…" in Column::json_path.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "kube/object.h"
#include "kube/resource.h"

namespace slipway::kube {

/// What a row carries beside its cells (includeObject of the request).
enum class RowObject : std::uint8_t { None, Metadata, Object };

/// The columns as shown: a custom resource has Name first, and Age when its CRD names no column.
std::vector<Column> shown_columns(const ResourceType& type);
/// Table {columnDefinitions, rows}; list metadata is left to the caller. `now` is for ages. Cells are null where nothing is
/// known.
json::Value make_table(const ResourceType& type, std::span<const Object> objects, Time now,
                       RowObject row_object = RowObject::Metadata);

struct TableStyle {
  bool is_wide = false;        // columns of priority above 0 too
  bool has_namespace = false;  // a first column of namespaces; needs rows with metadata
  bool has_headers = true;
};
/// As `kubectl get` prints a Table: upper-case headers, columns padded with three blanks, a line per row. "" without rows.
std::string print_table(const json::Value& table, TableStyle style = {});

/// One built-in column function ("@pod.status", "@count.status.replicas"), found once for many objects.
class BuiltinCell {
 public:
  explicit BuiltinCell(std::string_view function);
  /// Null for a function unknown.
  json::Value of(const Object& object, Time now) const;

 private:
  json::Value (*cell_)(const Object& object, Time now) = nullptr;
  json::Value (*path_cell_)(const json::Value& value) = nullptr;
  std::string path_;
};
/// The cell of one object.
json::Value builtin_cell(std::string_view function, const Object& object, Time now);

}  // namespace slipway::kube
