#include "kube/last_applied.h"

#include <algorithm>
#include <string>
#include <vector>

#include "json/text.h"
#include "kube/typed_merge.h"

namespace slipway::kube {
namespace {

using json::Value;

constexpr std::size_t kMostAnnotationBytes = std::size_t{256} << 10;  // of all annotations together

Value with_sorted_keys(const Value& value) {
  if (value.is_array()) {
    json::ArrayBuilder out;
    for (const Value& item : value.items()) out.add(with_sorted_keys(item));
    return out.build();
  }
  if (!value.is_object()) return value;
  std::vector<std::string_view> keys;
  for (const auto [key, member] : value.members()) keys.push_back(key);
  std::ranges::sort(keys);
  json::ObjectBuilder out(keys.size());
  for (const std::string_view key : keys) out.add(key, with_sorted_keys(value[key]));
  return out.build();
}

/// As Go's encoder: <, > and & inside strings, the only place they can stand, are escaped.
std::string with_html_escapes(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

std::size_t annotation_bytes(const Value& annotations) {
  std::size_t bytes = 0;
  for (const auto [key, value] : annotations.members()) bytes += key.size() + value.as_string().size();
  return bytes;
}

}  // namespace

FieldSet last_applied_fields(const SchemaNode* node, const Value& live) {
  const Value& text = live["metadata"]["annotations"][kLastApplied];
  if (text.as_string().empty()) return {};
  const Result<Value> parsed = json::parse(text.as_string());
  if (!parsed || !parsed->is_object()) return {};
  if (!typed::mismatches(node, *parsed, typed::Duplicates::Refused).empty()) return {};
  const typed::Difference difference = typed::compare(node, *parsed, live);
  return subtract(typed::fields_of(node, *parsed), unite(difference.modified, difference.removed));
}

std::string last_applied_text(const Value& config) {
  const Value annotations = config["metadata"]["annotations"].without(kLastApplied);
  const Value plain = config.with_path({"metadata", "annotations"}, annotations);
  return with_html_escapes(json::print(with_sorted_keys(plain))) + "\n";
}

Value with_last_applied(const Value& object, const Value& config) {
  const Value& annotations = object["metadata"]["annotations"];
  if (annotations[kLastApplied].as_string().empty()) return object;
  const std::string text = last_applied_text(config);
  if (annotations[kLastApplied].as_string() == text) return object;
  const Value next = annotations.with(kLastApplied, text);
  if (annotation_bytes(next) <= kMostAnnotationBytes) return object.with_path({"metadata", "annotations"}, next);
  return object.with_path({"metadata", "annotations"}, annotations.with(kLastApplied, ""));
}

}  // namespace slipway::kube
