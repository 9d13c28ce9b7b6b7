#include "delivery/application/naming.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/application/rollout_plans.h"
#include "json/text.h"

namespace slipway::delivery::application {

namespace {

using Member = std::pair<std::string_view, const Value*>;

std::vector<Member> sorted_members(const Value& object) {
  std::vector<Member> out;
  for (auto [key, value] : object.members()) out.emplace_back(key, &value);
  std::ranges::sort(out, {}, &Member::first);
  return out;
}

void dump(const Value& value, std::string& out);

void dump_map(const Value& value, std::string& out) {
  out += "(map[string]interface {})map[";
  const char* between = "";
  for (auto [key, member] : sorted_members(value)) {
    out += between;
    out += key;
    out += ':';
    dump(*member, out);
    between = " ";
  }
  out += ']';
}

void dump_list(const Value& value, std::string& out) {
  out += "([]interface {})[";
  const char* between = "";
  for (const Value& one : value.items()) {
    out += between;
    dump(one, out);
    between = " ";
  }
  out += ']';
}

void dump(const Value& value, std::string& out) {
  switch (value.type()) {
    case json::Type::Null:
      out += "(interface {})<nil>";
      return;
    case json::Type::Bool:
      out += value.as_bool() ? "(bool)true" : "(bool)false";
      return;
    case json::Type::Int:
      out += "(int64)" + value.number_text();
      return;
    case json::Type::Double:
    case json::Type::Number:
      out += fmt::format("(float64){}", value.as_double());
      return;
    case json::Type::String:
      out += fmt::format("(string){}", value.as_string());
      return;
    case json::Type::Array:
      dump_list(value, out);
      return;
    case json::Type::Object:
      dump_map(value, out);
      return;
  }
}

/// Members of all objects in the order of their names.
Value in_order(const Value& value) {
  if (value.is_array()) {
    json::ArrayBuilder out;
    for (const Value& one : value.items()) out.add(in_order(one));
    return out.build();
  }
  if (!value.is_object()) return value;
  json::ObjectBuilder out;
  for (auto [key, member] : sorted_members(value)) out.add(key, in_order(*member));
  return out.build();
}

/// Without vowels, so that no words come of it.
std::string safe_encoded(std::string text) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  for (char& one : text) one = kAlphabet[static_cast<unsigned char>(one) % kAlphabet.size()];
  return text;
}

}  // namespace

std::string go_dump(const Value& object) {
  std::string out = "(unstructured.Unstructured){Object:";
  dump(object, out);
  return out + '}';
}

std::string generated_name(const std::string& component, const std::string& trait_type, const Value& object) {
  const std::string hash = safe_encoded(std::to_string(fnv1a_32(go_dump(object))));
  return fmt::format("{}-{}-{}", component, trait_type.empty() ? "trait" : lower(trait_type), hash);
}

std::string component_revision(const ComponentSpec& component, PlanIn counts) {
  const Value whole = component.to_json();
  return sha256_hex(json::print(in_order(counts == PlanIn::Revision ? whole : component_without_plan(whole)))).substr(0, 16);
}

std::string revision_name(const std::string& type) {
  std::string out = type;
  if (std::size_t at = out.find("@v"); at != std::string::npos && at > 0) out[at] = '-';
  return out;
}

}  // namespace slipway::delivery::application
