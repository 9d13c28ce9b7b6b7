#include "delivery/package/output.h"

#include <fmt/format.h>

#include "base/text.h"
#include "json/path.h"
#include "json/quoted.h"
#include "json/text.h"
#include "kube/table.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

constexpr std::string_view kColumns = "custom-columns=";
constexpr std::string_view kJsonPath = "jsonpath=";

struct ChosenColumn {
  std::string header{};
  json::Path path{};
};

Result<std::vector<ChosenColumn>> read_columns(std::string_view text) {
  std::vector<ChosenColumn> columns;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return fail(Reason::BadRequest, fmt::format("--output {}: must be HEADER:.path,…", json::quoted(part)));
    }
    SLIPWAY_TRY(path, json::Path::compile_expression(part.substr(colon + 1)));
    columns.push_back({std::string(part.substr(0, colon)), std::move(path)});
  }
  return columns;
}

std::string cell(const json::Path& path, const kube::Object& object) {
  const auto value = path.first(object);
  if (!value || value->is_null()) return "<none>";
  return value->is_string() ? value->str() : json::print(*value);
}

/// As kubectl's tables: three blanks between columns.
std::string columns_text(const std::vector<ChosenColumn>& columns, const std::vector<kube::Object>& objects) {
  json::ArrayBuilder headers;
  for (const ChosenColumn& one : columns) headers.add(json::object({{"name", Value(one.header)}, {"type", Value("string")}}));
  json::ArrayBuilder rows;
  for (const kube::Object& object : objects) {
    json::ArrayBuilder cells;
    for (const ChosenColumn& one : columns) cells.add(cell(one.path, object));
    rows.add(json::object({{"cells", cells.build()}}));
  }
  return kube::print_table(json::object({{"columnDefinitions", headers.build()}, {"rows", rows.build()}}));
}

}  // namespace

Result<void> check_output(const CommandCall& call, const std::vector<std::string>& allowed) {
  const std::string given = option(call, "output");
  if (given.starts_with(kColumns)) {
    SLIPWAY_TRY_VOID(read_columns(std::string_view(given).substr(kColumns.size())));
    return {};
  }
  if (given.starts_with(kJsonPath)) {
    SLIPWAY_TRY_VOID(json::Path::compile(std::string_view(given).substr(kJsonPath.size())));
    return {};
  }
  return check_option(call, "output", allowed);
}

std::optional<std::string> chosen_output(const CommandCall& call, const std::vector<kube::Object>& objects) {
  const std::string given = option(call, "output");
  if (given.starts_with(kColumns)) {
    const auto columns = read_columns(std::string_view(given).substr(kColumns.size()));
    return columns ? std::optional(columns_text(*columns, objects)) : std::nullopt;
  }
  if (!given.starts_with(kJsonPath)) return std::nullopt;
  const auto path = json::Path::compile(std::string_view(given).substr(kJsonPath.size()));
  if (!path) return std::nullopt;
  std::string text;
  for (const kube::Object& one : objects) {
    const auto printed = path->print(one, json::Path::Missing::Empty);
    text += printed ? *printed + "\n" : "";
  }
  return text;
}

}  // namespace slipway::delivery::package
