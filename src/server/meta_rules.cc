#include "server/meta_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "json/text.h"
#include "kube/names.h"

namespace slipway::server {

namespace {

using json::Value;

constexpr std::array<std::string_view, 3> kStandardFinalizers{"orphan", "foregroundDeletion", "kubernetes"};

/// Members of metadata that the server writes itself, in front.
bool is_set_at_birth(std::string_view key) {
  static constexpr std::array<std::string_view, 10> kKeys{"name",
                                                          "generateName",
                                                          "namespace",
                                                          "uid",
                                                          "resourceVersion",
                                                          "generation",
                                                          "creationTimestamp",
                                                          "selfLink",
                                                          "deletionTimestamp",
                                                          "deletionGracePeriodSeconds"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

std::vector<std::string> name_faults(std::string_view name, NameRule rule) {
  switch (rule) {
    case NameRule::Label:
      return kube::dns1123_label_faults(name);
    case NameRule::ServiceLabel:
      return kube::dns1035_label_faults(name);
    case NameRule::PathSegment:
      return path_segment_faults(name);
    case NameRule::Subdomain:
      break;
  }
  return kube::dns1123_subdomain_faults(name);
}

void name_causes(const Value& meta, NameRule rule, std::vector<Cause>& causes) {
  const Value& name = meta["name"];
  if (name.as_string().empty()) {
    causes.push_back(field::required("metadata.name", "name or generateName is required"));
    return;
  }
  auto faults = name_faults(name.as_string(), rule);
  for (auto& fault : faults) causes.push_back(field::invalid("metadata.name", json::print(name), std::move(fault)));
}

void owner_causes(const Value& owners, std::vector<Cause>& causes) {
  std::string first_controller;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Value& owner = owners.item(i);
    const auto at = [i](std::string_view name) { return fmt::format("metadata.ownerReferences[{}].{}", i, name); };
    const std::string_view api_version = owner["apiVersion"].as_string();
    if (api_version.empty() || api_version.ends_with('/')) {
      causes.push_back(field::invalid(at("apiVersion"), json::print(owner["apiVersion"]), "version must not be empty"));
    }
    for (const char* key : {"kind", "name", "uid"}) {
      if (owner[key].as_string().empty()) causes.push_back(field::invalid(at(key), "\"\"", "must not be empty"));
    }
    if (api_version == "v1" && owner["kind"].as_string() == "Event") {
      causes.push_back(field::invalid(fmt::format("metadata.ownerReferences[{}]", i), json::print(owner),
                                      "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (!owner["controller"].as_bool()) continue;
    const std::string controller = owner["kind"].str() + "/" + owner["name"].str();
    if (!first_controller.empty()) {
      causes.push_back(field::invalid(
          "metadata.ownerReferences", json::print(owners),
          fmt::format("Only one reference can have Controller set to true. Found \"true\" in references for {} and {}",
                      first_controller, controller)));
    }
    if (first_controller.empty()) first_controller = controller;
  }
}

/// A finalizer that only the server's own names may lack: a domain before a slash.
bool is_plain_finalizer(std::string_view name) {
  return !name.contains('/') && std::ranges::find(kStandardFinalizers, name) == kStandardFinalizers.end();
}

void finalizer_causes(const Value& finalizers, bool takes_plain, std::vector<Cause>& causes) {
  if (finalizers.empty()) return;
  std::ranges::move(kube::finalizer_causes(finalizers, "metadata.finalizers"), std::back_inserter(causes));
  bool orphans = false;
  bool foreground = false;
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const Value& finalizer = finalizers.item(i);
    orphans |= finalizer.as_string() == "orphan";
    foreground |= finalizer.as_string() == "foregroundDeletion";
    if (takes_plain || !is_plain_finalizer(finalizer.as_string())) continue;
    causes.push_back(field::invalid(fmt::format("metadata.finalizers[{}]", i), json::print(finalizer),
                                    "name is neither a standard finalizer name nor is it fully qualified"));
  }
  if (orphans && foreground) {
    causes.push_back(field::invalid("metadata.finalizers", json::print(finalizers),
                                    "finalizer orphan and foregroundDeletion cannot be both set"));
  }
}

void new_finalizer_causes(const Value& meta, const Value& old_meta, std::vector<Cause>& causes) {
  if (!old_meta.has("deletionTimestamp")) return;
  const auto old = old_meta["finalizers"].items();
  std::vector<std::string> added;
  for (const Value& finalizer : meta["finalizers"].items()) {
    if (std::ranges::find(old, finalizer) == old.end()) added.push_back(json::print(finalizer));
  }
  if (added.empty()) return;
  std::ranges::sort(added);
  causes.push_back(field::forbidden(
      "metadata.finalizers",
      fmt::format("no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                  fmt::join(added, ", "))));
}

void immutable_causes(const Value& meta, const Value& old_meta, std::vector<Cause>& causes) {
  for (const char* key : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    if (meta[key] == old_meta[key]) continue;
    causes.push_back(field::invalid(fmt::format("metadata.{}", key), json::print(meta[key]), "field is immutable"));
  }
}

}  // namespace

std::vector<std::string> path_segment_faults(std::string_view name) {
  if (name == "." || name == "..") return {fmt::format("may not be '{}'", name)};
  std::vector<std::string> faults;
  for (const char bad : {'/', '%'}) {
    if (name.contains(bad)) faults.push_back(fmt::format("may not contain '{}'", bad));
  }
  return faults;
}

kube::Object with_birth(const kube::Object& object, const Birth& birth) {
  const Value& meta = object["metadata"];
  json::ObjectBuilder next(meta.size() + 6);
  next.add("name", birth.name);
  if (!meta["generateName"].as_string().empty()) next.add("generateName", meta["generateName"]);
  if (!birth.ns.empty()) next.add("namespace", birth.ns);
  next.add("uid", birth.uid);
  if (birth.revision > 0) next.add("resourceVersion", std::to_string(birth.revision));
  if (birth.has_generation) next.add("generation", 1);
  next.add("creationTimestamp", to_rfc3339(birth.now));
  for (const auto [key, value] : meta.members()) {
    if (!is_set_at_birth(key) && !value.is_null()) next.add(key, value);
  }
  return object.with("metadata", next.build());
}

kube::Object with_old_metadata(const kube::Object& object, const kube::Object& old) {
  const Value& meta = object["metadata"];
  const Value& before = old["metadata"];
  if (meta.is_same(before)) return object;
  json::ObjectBuilder next(meta.size() + 4);
  // What both have keeps the old order, so that an unchanged object is found unchanged quickly.
  for (const auto [key, value] : before.members()) {
    const bool is_servers = key == "generation" || key == "resourceVersion";
    const bool may_be_left_out = key == "name" || key == "namespace" || key == "uid" || key == "creationTimestamp" ||
                                 key == "deletionTimestamp" || key == "deletionGracePeriodSeconds" || key == "generateName" ||
                                 key == "managedFields";
    const Value* mine = meta.find(key);
    if (mine != nullptr && mine->is_null()) mine = nullptr;
    if (is_servers || (mine == nullptr && may_be_left_out)) {
      next.add(key, value);
    } else if (mine != nullptr) {
      next.add(key, *mine);
    }
  }
  for (const auto [key, value] : meta.members()) {
    if (key == "generation" || key == "resourceVersion" || key == "selfLink" || before.has(key) || value.is_null()) continue;
    next.add(key, value);
  }
  return object.with("metadata", next.build());
}

void metadata_causes(const kube::Object& object, const kube::Object& old, const MetadataRules& rules,
                     std::vector<Cause>& causes) {
  const Value& meta = object["metadata"];
  const Value& before = old["metadata"];
  if (old.is_null()) name_causes(meta, rules.name, causes);
  const auto changed = [&](const char* key) { return old.is_null() || !meta[key].is_same(before[key]); };
  if (changed("labels")) std::ranges::move(kube::label_causes(meta["labels"], "metadata.labels"), std::back_inserter(causes));
  if (changed("annotations")) {
    std::ranges::move(kube::annotation_causes(meta["annotations"], "metadata.annotations"), std::back_inserter(causes));
  }
  if (changed("ownerReferences")) owner_causes(meta["ownerReferences"], causes);
  if (changed("finalizers")) finalizer_causes(meta["finalizers"], rules.takes_plain_finalizers, causes);
  if (old.is_null()) return;
  immutable_causes(meta, before, causes);
  new_finalizer_causes(meta, before, causes);
}

std::vector<std::string> finalizer_warnings(const kube::Object& object, const kube::Object& old) {
  const Value& finalizers = object["metadata"]["finalizers"];
  const auto before = old["metadata"]["finalizers"].items();
  std::set<std::string_view> added;
  for (const Value& finalizer : finalizers.items()) {
    if (std::ranges::find(before, finalizer) == before.end()) added.insert(finalizer.as_string());
  }
  std::vector<std::string> warnings;
  for (const std::string_view name : added) {
    if (!is_plain_finalizer(name)) continue;
    warnings.push_back(fmt::format(
        "metadata.finalizers: {}: prefer a domain-qualified finalizer name {}to avoid accidental conflicts with other "
        "finalizer writers",
        json::print(Value(name)), name.contains('.') ? "including a path (/) " : ""));
  }
  return warnings;
}

}  // namespace slipway::server
