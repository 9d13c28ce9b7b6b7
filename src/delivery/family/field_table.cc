#include "delivery/family/field_table.h"

#include <fmt/format.h>

namespace slipway::delivery {
namespace {

std::string type_text(const json::Description& field, const FieldTypes& written) {
  if (const auto known = written.find(field.name); known != written.end()) return known->second;
  if (!field.enum_values.empty()) return "string";
  if (field.type == "array") return "[]" + type_text(field.element.front(), written);
  if (field.type == "object" && !field.element.empty()) return "map[string]" + type_text(field.element.front(), written);
  if (field.format == "date-time") return "time";
  if (field.format == "duration") return "duration";
  if (field.type.empty()) return "any";
  return field.type;
}

std::string rules_text(const json::Description& field) {
  std::string text;
  const auto add = [&](const std::string& rule) { text += (text.empty() ? "" : ", ") + rule; };
  if (field.rules.required) add("required");
  if (field.default_value && !field.default_value->is_object()) {
    const auto& value = *field.default_value;
    if (value.is_string() && !value.as_string().empty()) add(fmt::format("default `{}`", value.as_string()));
    if (value.is_number() && value.as_double() != 0) add(fmt::format("default {}", value.number_text()));
  }
  if (field.rules.minimum) add(fmt::format("≥ {}", *field.rules.minimum));
  if (field.rules.maximum) add(fmt::format("≤ {}", *field.rules.maximum));
  std::string values;
  for (const auto& one : field.enum_values) values += (values.empty() ? "`" : ", `") + one + "`";
  if (!values.empty()) add("one of " + values);
  return text;
}

void add_rows(std::string& out, const json::Description& owner, const std::string& path, const FieldTypes& written) {
  for (const auto& field : owner.fields) {
    const std::string at = path + "." + field.name;
    const std::string rules = rules_text(field);
    out += fmt::format("| `{}` | {} | {}{} |\n", at, type_text(field, written), field.doc,
                       rules.empty() ? "" : " (" + rules + ")");
    const bool is_list = field.type == "array";
    const auto* inner = field.element.empty() ? &field : &field.element.front();
    add_rows(out, *inner, field.element.empty() ? at : at + (is_list ? "[]" : "[name]"), written);
  }
}

}  // namespace

std::string field_table(const std::vector<std::pair<std::string, json::Description>>& parts, const FieldTypes& written) {
  std::string out = "| field | type | meaning |\n|---|---|---|\n";
  for (const auto& [path, part] : parts) add_rows(out, part, path, written);
  return out;
}

}  // namespace slipway::delivery
