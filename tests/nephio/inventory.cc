#include "inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace slipway::nephio {

std::string kind_of(const Value& object) {
  return fmt::format("{}.{}", object["apiVersion"].as_string(), object["kind"].as_string());
}

std::string ref_of(const Value& object) {
  return fmt::format("{}.{}", kind_of(object), object["metadata"]["name"].as_string());
}

std::string name_in(std::string_view ref, std::string_view kind) {
  if (!ref.starts_with(kind) || ref.size() <= kind.size() || ref[kind.size()] != '.') return "";
  return std::string(ref.substr(kind.size() + 1));
}

Inventory::Inventory(std::vector<Value> objects) {
  for (Value& one : objects) {
    if (one["kind"].as_string() != "Kptfile") {
      objects_.push_back(std::move(one));
      continue;
    }
    for (const Value& condition : one["status"]["conditions"].items()) conditions_.push_back(condition);
    kptfile_ = std::move(one);
  }
}

std::vector<Value> Inventory::all(std::string_view kind) const {
  std::vector<Value> found;
  for (const Value& one : objects_) {
    if (kind_of(one) == kind) found.push_back(one);
  }
  std::ranges::sort(found, {}, [](const Value& one) { return one["metadata"]["name"].str(); });
  return found;
}

Value Inventory::find(std::string_view ref) const {
  const auto found = std::ranges::find_if(objects_, [&](const Value& one) { return ref_of(one) == ref; });
  return found == objects_.end() ? Value() : *found;
}

void Inventory::put(const Value& object) {
  const std::string ref = ref_of(object);
  const auto found = std::ranges::find_if(objects_, [&](const Value& one) { return ref_of(one) == ref; });
  if (found == objects_.end()) {
    objects_.push_back(object);
  } else {
    *found = object;
  }
}

Value Inventory::condition(std::string_view type) const {
  const auto found = std::ranges::find_if(conditions_, [&](const Value& one) { return one["type"].as_string() == type; });
  return found == conditions_.end() ? Value() : *found;
}

void Inventory::say(const std::string& type, bool is_true, const std::string& message, const std::string& reason) {
  json::ObjectBuilder made;
  if (!message.empty()) made.add("message", message);
  if (!reason.empty()) made.add("reason", reason);
  made.add("status", is_true ? "True" : "False");
  made.add("type", type);
  const auto found = std::ranges::find_if(conditions_, [&](const Value& one) { return one["type"].as_string() == type; });
  if (found == conditions_.end()) {
    conditions_.push_back(made.build());
  } else {
    *found = made.build();
  }
}

void Inventory::say(const std::string& type, bool is_true, const std::string& message) {
  say(type, is_true, message, condition(type)["reason"].str());
}

void Inventory::add_gate(const std::string& type) {
  json::ArrayBuilder gates;
  for (const Value& one : kptfile_["info"]["readinessGates"].items()) {
    if (one["conditionType"].as_string() == type) return;
    gates.add(one);
  }
  gates.add(json::object({{"conditionType", Value(type)}}));
  kptfile_ = kptfile_.with_path({"info", "readinessGates"}, gates.build());
}

std::vector<Value> Inventory::items() const {
  std::map<std::string, Value> by_ref;
  for (const Value& one : objects_) by_ref.emplace(ref_of(one), sorted(one));
  Value status = Value::empty_object();
  if (!conditions_.empty()) status = status.with("conditions", json::array(conditions_));
  by_ref.emplace(ref_of(kptfile_), sorted(kptfile_.with("status", status)));
  std::vector<Value> all;
  for (auto& [ref, one] : by_ref) all.push_back(std::move(one));
  return all;
}

Value sorted(const Value& value) {
  if (value.is_array()) {
    json::ArrayBuilder made;
    for (const Value& one : value.items()) made.add(sorted(one));
    return made.build();
  }
  if (!value.is_object()) return value;
  std::map<std::string, Value> members;
  for (const auto& [key, member] : value.members()) members.emplace(key, sorted(member));
  json::ObjectBuilder made;
  for (const auto& [key, member] : members) made.add(key, member);
  return made.build();
}

}  // namespace slipway::nephio
