#include "kube/table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "json/path.h"
#include "json/text.h"

namespace slipway::kube {
namespace {

constexpr std::size_t kGap = 3;

std::string age(const json::Value& stamp, Time now) {
  const auto time = time_of(stamp);
  return time ? human_duration(now - *time) : "<invalid>";
}

/// The value of a JSONPath as its column's type shows it; null when it has another type.
json::Value typed_cell(const json::Value& value, std::string_view type, Time now) {
  if (type == "string") return value.is_string() ? value : json::Value(json::print(value));
  if (type == "integer" && value.is_number()) return json::Value(static_cast<std::int64_t>(std::trunc(value.as_double())));
  if (type == "number" && value.is_number()) return value;
  if (type == "boolean" && value.is_bool()) return value;
  if (type == "date" && value.is_string()) return age(value, now);
  return {};
}

/// A column made ready for many objects.
struct CellMaker {
  Column column;
  BuiltinCell builtin;
  std::optional<json::Path> path;

  json::Value cell(const Object& object, Time now) const {
    if (!path) return builtin.of(object, now);
    const auto value = path->first(object);
    if (!value || value->is_null()) return {};
    return typed_cell(*value, column.type, now);
  }
};

std::vector<CellMaker> makers(const ResourceType& type) {
  std::vector<CellMaker> out;
  for (Column& column : shown_columns(type)) {
    BuiltinCell builtin(column.json_path);
    CellMaker maker{.column = std::move(column), .builtin = std::move(builtin), .path = std::nullopt};
    if (!maker.column.json_path.starts_with('@')) {
      if (auto path = json::Path::compile_expression(maker.column.json_path)) maker.path = std::move(*path);
    }
    out.push_back(std::move(maker));
  }
  return out;
}

json::Value definition(const Column& column) {
  return json::object({{"name", column.name},
                       {"type", column.type},
                       {"format", column.format},
                       {"description", column.description},
                       {"priority", column.priority}});
}

json::Value row(const std::vector<CellMaker>& columns, const Object& object, Time now, RowObject row_object) {
  json::ArrayBuilder cells;
  for (const CellMaker& column : columns) cells.add(column.cell(object, now));
  json::ObjectBuilder out;
  out.add("cells", cells.build());
  if (row_object == RowObject::Object) out.add("object", object);
  if (row_object == RowObject::Metadata) {
    out.add(
        "object",
        json::object({{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", object["metadata"]}}));
  }
  return out.build();
}

std::string cell_text(const json::Value& cell) {
  if (cell.is_null()) return "";
  std::string text = cell.is_string() ? cell.str() : json::print(cell);
  // A row is a line.
  if (const std::size_t end = text.find_first_of("\n\r"); end != std::string::npos) text = text.substr(0, end) + "...";
  return text;
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string aligned(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += line[i];
      if (i + 1 < line.size()) text.append(widths[i] - width(line[i]) + kGap, ' ');
    }
    out += text + "\n";
  }
  return out;
}

}  // namespace

std::vector<Column> shown_columns(const ResourceType& type) {
  if (!type.is_custom) return type.columns;
  std::vector<Column> out;
  out.push_back({.name = "Name",
                 .type = "string",
                 .format = "name",
                 .description = "metadata.name",
                 .priority = 0,
                 .json_path = "@name"});
  out.insert(out.end(), type.columns.begin(), type.columns.end());
  if (type.columns.empty()) {
    out.push_back({.name = "Age",
                   .type = "date",
                   .format = "",
                   .description = "time since metadata.creationTimestamp",
                   .priority = 0,
                   .json_path = ".metadata.creationTimestamp"});
  }
  return out;
}

json::Value make_table(const ResourceType& type, std::span<const Object> objects, Time now, RowObject row_object) {
  const std::vector<CellMaker> columns = makers(type);
  json::ArrayBuilder definitions;
  for (const CellMaker& one : columns) definitions.add(definition(one.column));
  json::ArrayBuilder rows;
  for (const Object& object : objects) rows.add(row(columns, object, now, row_object));
  return json::object({{"kind", "Table"},
                       {"apiVersion", "meta.k8s.io/v1"},
                       {"metadata", json::Value::empty_object()},
                       {"columnDefinitions", definitions.build()},
                       {"rows", rows.build()}});
}

std::string print_table(const json::Value& table, TableStyle style) {
  const json::Value& rows = table["rows"];
  if (rows.empty()) return "";
  std::vector<std::size_t> shown;
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> headers;
  if (style.has_namespace) headers.push_back("NAMESPACE");
  const json::Value& definitions = table["columnDefinitions"];
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (!style.is_wide && definitions.item(i)["priority"].as_int() > 0) continue;
    shown.push_back(i);
    headers.push_back(upper(definitions.item(i)["name"].as_string()));
  }
  if (style.has_headers) lines.push_back(std::move(headers));
  for (const json::Value& one : rows.items()) {
    std::vector<std::string> line;
    if (style.has_namespace) line.push_back(one["object"]["metadata"]["namespace"].str());
    for (const std::size_t i : shown) line.push_back(cell_text(one["cells"].item(i)));
    lines.push_back(std::move(line));
  }
  return aligned(lines);
}

}  // namespace slipway::kube
