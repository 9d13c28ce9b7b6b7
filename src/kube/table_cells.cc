#include "kube/table_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "json/text.h"
#include "kube/selector.h"
#include "kube/table.h"

namespace slipway::kube {
namespace {

json::Value object_name(const Object& o, Time) { return o["metadata"]["name"]; }
json::Value object_age(const Object& o, Time now) { return since(o["metadata"]["creationTimestamp"], now); }

std::span<const CellRow> plain_cells() {
  static constexpr std::array kRows{CellRow{"@name", object_name}, CellRow{"@age", object_age}};
  return kRows;
}

/// ".status.replicas" of an object.
const json::Value& at_path(const Object& object, std::string_view path) {
  const json::Value* at = &object;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t dot = path.find('.');
    at = &(*at)[path.substr(0, dot)];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot);
  }
  return *at;
}

/// A plain path with what stands for an absent value, as "@or-none.status.podIP".
struct PathRow {
  std::string_view prefix;
  json::Value (*cell)(const json::Value& value);
};

json::Value text_or(const json::Value& value, std::string_view when_absent) {
  if (value.is_string() ? value.as_string().empty() : value.is_null()) return when_absent;
  return value.is_string() ? value : json::Value(json::print(value));
}

constexpr std::array kPaths{
    PathRow{"@or-none", [](const json::Value& value) { return text_or(value, "<none>"); }},
    PathRow{"@unset", [](const json::Value& value) { return text_or(value, "<unset>"); }},
    PathRow{"@unknown", [](const json::Value& value) { return text_or(value, "<unknown>"); }},
    PathRow{"@n/a", [](const json::Value& value) { return text_or(value, "N/A"); }},
    PathRow{"@count", [](const json::Value& value) { return json::Value(value.as_int()); }},
    PathRow{"@size", [](const json::Value& value) { return json::Value(static_cast<std::int64_t>(value.size())); }},
    PathRow{"@bool", [](const json::Value& value) { return json::Value(value.as_bool()); }},
};

std::string_view brief_mode(std::string_view mode) {
  if (mode == "ReadWriteOnce") return "RWO";
  if (mode == "ReadOnlyMany") return "ROX";
  if (mode == "ReadWriteMany") return "RWX";
  return mode == "ReadWriteOncePod" ? "RWOP" : mode;
}

}  // namespace

BuiltinCell::BuiltinCell(std::string_view function) {
  for (const PathRow& row : kPaths) {
    if (!function.starts_with(row.prefix) || !function.substr(row.prefix.size()).starts_with('.')) continue;
    path_cell_ = row.cell;
    path_ = function.substr(row.prefix.size());
    return;
  }
  constexpr std::array kTables{plain_cells, pod_cells, workload_cells, network_cells, cluster_cells, event_cells};
  for (const auto table : kTables) {
    const auto row = std::ranges::find(table(), function, &CellRow::name);
    if (row != table().end()) cell_ = row->cell;
  }
}

json::Value BuiltinCell::of(const Object& object, Time now) const {
  if (path_cell_ != nullptr) return path_cell_(at_path(object, path_));
  return cell_ == nullptr ? json::Value() : cell_(object, now);
}

json::Value builtin_cell(std::string_view function, const Object& object, Time now) {
  return BuiltinCell(function).of(object, now);
}

std::string since(const json::Value& stamp, Time now) {
  const auto time = time_of(stamp);
  return time ? human_duration(now - *time) : "<unknown>";
}

std::string joined_members(const json::Value& list, std::string_view key) {
  std::string out;
  for (const json::Value& item : list.items()) out += fmt::format("{}{}", out.empty() ? "" : ",", item[key].as_string());
  return out;
}

std::string selector_text(const json::Value& selector) {
  if (selector.empty()) return "<none>";
  const bool is_object = selector.has("matchLabels") || selector.has("matchExpressions");
  const bool is_plain = !is_object || selector["matchLabels"].is_string() || selector["matchExpressions"].is_string();
  const auto parsed = LabelSelector::from_object(is_plain ? json::object({{"matchLabels", selector}}) : selector);
  if (!parsed) return "<error>";
  const std::string text = parsed->to_string();
  return text.empty() ? "<none>" : text;
}

std::string access_modes_text(const json::Value& modes) {
  std::string out;
  for (const json::Value& mode : modes.items())
    out += fmt::format("{}{}", out.empty() ? "" : ",", brief_mode(mode.as_string()));
  return out;
}

}  // namespace slipway::kube
