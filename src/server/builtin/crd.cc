// CustomResourceDefinition: what a definition may say, and its status, which is decided in the write itself: names are accepted
// when no other kind of the group has them, and accepted names are established at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "json/text.h"
#include "kube/names.h"
#include "kube/schema.h"
#include "server/builtin/strategy.h"
#include "server/crd.h"
#include "server/registry.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return result;
}

std::string version_path(std::size_t index, std::string_view rest) { return fmt::format("spec.versions[{}]{}", index, rest); }

Object fill_defaults(const Object& crd) {
  Object object = crd;
  const Value& names = crd["spec"]["names"];
  const std::string_view kind = names["kind"].as_string();
  if (names["singular"].as_string().empty() && !kind.empty()) {
    object = object.with_path({"spec", "names", "singular"}, lower(kind));
  }
  if (names["listKind"].as_string().empty() && !kind.empty()) {
    object = object.with_path({"spec", "names", "listKind"}, std::string(kind) + "List");
  }
  if (!crd["spec"].has("conversion")) object = object.with_path({"spec", "conversion", "strategy"}, "None");
  return object;
}

// Status.

/// Whether another kind of the group has the word as one of its resource names (plural, singular, short), or as kind.
bool is_taken(const Registry& registry, const Object& crd, std::string_view word, bool is_kind) {
  const std::string_view group = crd["spec"]["group"].as_string();
  for (const TypePtr& type : registry.all()) {
    if (type->resource.group != group || type->resource.plural == crd["spec"]["names"]["plural"].as_string()) continue;
    if (is_kind && (type->kind.kind == word || type->list_kind == word)) return true;
    if (is_kind) continue;
    if (type->resource.plural == word || type->singular == word) return true;
    if (std::ranges::find(type->short_names, word) != type->short_names.end()) return true;
  }
  return false;
}

/// The first conflict as {reason, message}; nothing when all names are free. The plural cannot conflict: it is in the name.
std::optional<std::pair<std::string, std::string>> names_conflict(const Registry& registry, const Object& crd) {
  const Value& names = crd["spec"]["names"];
  const auto in_use = [](std::string_view word) { return fmt::format("\"{}\" is already in use", word); };
  if (is_taken(registry, crd, names["plural"].as_string(), false)) {
    return std::pair{"PluralConflict", in_use(names["plural"].as_string())};
  }
  if (is_taken(registry, crd, names["singular"].as_string(), false)) {
    return std::pair{"SingularConflict", in_use(names["singular"].as_string())};
  }
  for (const Value& word : names["shortNames"].items()) {
    if (is_taken(registry, crd, word.as_string(), false)) return std::pair{"ShortNamesConflict", in_use(word.as_string())};
  }
  if (is_taken(registry, crd, names["kind"].as_string(), true))
    return std::pair{"KindConflict", in_use(names["kind"].as_string())};
  if (is_taken(registry, crd, names["listKind"].as_string(), true)) {
    return std::pair{"ListKindConflict", in_use(names["listKind"].as_string())};
  }
  return std::nullopt;
}

Value stored_versions(const Object& crd) {
  Value stored = crd["status"].has("storedVersions") ? crd["status"]["storedVersions"] : Value::empty_array();
  for (const Value& version : crd["spec"]["versions"].items()) {
    if (!version["storage"].as_bool()) continue;
    const auto items = stored.items();
    if (std::ranges::find(items, version["name"]) == items.end()) stored = stored.appended(version["name"]);
  }
  return stored;
}

/// The definition with status decided. `crd` carries the old status, or none.
Object with_status(const Object& crd, const Surroundings& around) {
  const auto conflict = names_conflict(around.registry, crd);
  const bool was_established = kube::is_true(crd, "Established");
  Value conditions = crd["status"]["conditions"];
  conditions = kube::set_condition(conditions,
                                   conflict ? kube::Condition{"NamesAccepted", "False", conflict->first, conflict->second}
                                            : kube::Condition{"NamesAccepted", "True", "NoConflicts", "no conflicts found"},
                                   around.now);
  if (!conflict) {
    conditions = kube::set_condition(
        conditions, {"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"}, around.now);
  } else if (!was_established) {
    conditions =
        kube::set_condition(conditions, {"Established", "False", "NotAccepted", "not all names are accepted"}, around.now);
  }
  json::ObjectBuilder status(crd["status"]);
  status.set("conditions", conditions);
  if (!conflict) {
    status.set("acceptedNames", crd["spec"]["names"]);
  } else if (!crd["status"].has("acceptedNames")) {
    status.set("acceptedNames", json::object({{"plural", ""}, {"kind", ""}}));
  }
  status.set("storedVersions", stored_versions(crd));
  return crd.with("status", status.build());
}

Object prepare_create(const Object& crd, const Surroundings& around) { return with_status(crd.without("status"), around); }

Object prepare_update(const Object& crd, const Object&, const Surroundings& around) { return with_status(crd, around); }

Object begin_delete(const Object& crd, const Surroundings& around) {
  const Object object = kube::with_finalizer(crd, kCrdFinalizer);
  return object.with_path(
      {"status", "conditions"},
      kube::set_condition(object["status"]["conditions"],
                          {"Terminating", "True", "InstanceDeletionPending",
                           "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"},
                          around.now));
}

// Validation.

void text_causes(const kube::Faults& faults, std::string path, const Value& value, std::vector<Cause>& causes) {
  for (const std::string& fault : faults) causes.push_back(field::invalid(path, json::print(value), fault));
}

void names_causes(const Object& crd, std::vector<Cause>& causes) {
  const Value& names = crd["spec"]["names"];
  for (const char* key : {"plural", "singular"}) {
    const Value& word = names[key];
    if (word.as_string().empty()) {
      causes.push_back(field::required(fmt::format("spec.names.{}", key)));
    } else {
      text_causes(kube::dns1035_label_faults(word.as_string()), fmt::format("spec.names.{}", key), word, causes);
    }
  }
  for (const char* key : {"kind", "listKind"}) {
    const Value& word = names[key];
    const std::string path = fmt::format("spec.names.{}", key);
    if (word.as_string().empty()) {
      causes.push_back(field::required(path));
      continue;
    }
    for (const std::string& fault : kube::dns1035_label_faults(lower(word.as_string()))) {
      causes.push_back(field::invalid(path, json::print(word), "may have mixed case, but should otherwise match: " + fault));
    }
  }
  if (!names["kind"].as_string().empty() && names["kind"] == names["listKind"]) {
    causes.push_back(
        field::invalid("spec.names.listKind", json::print(names["listKind"]), "kind and listKind may not be the same"));
  }
  for (std::size_t i = 0; i < names["shortNames"].size(); ++i) {
    const Value& word = names["shortNames"].item(i);
    text_causes(kube::dns1035_label_faults(word.as_string()), fmt::format("spec.names.shortNames[{}]", i), word, causes);
  }
}

void head_causes(const Object& crd, std::vector<Cause>& causes) {
  const Value& spec = crd["spec"];
  const std::string_view group = spec["group"].as_string();
  if (kube::name(crd) != fmt::format("{}.{}", spec["names"]["plural"].as_string(), group)) {
    causes.push_back(
        field::invalid("metadata.name", json::print(crd["metadata"]["name"]), "must be spec.names.plural+\".\"+spec.group"));
  }
  if (group.empty()) {
    causes.push_back(field::required("spec.group"));
  } else {
    text_causes(kube::dns1123_subdomain_faults(group), "spec.group", spec["group"], causes);
    if (group.find('.') == std::string_view::npos) {
      causes.push_back(field::invalid("spec.group", json::print(spec["group"]), "should be a domain with at least one dot"));
    }
  }
  const std::string_view scope = spec["scope"].as_string();
  if (scope.empty()) {
    causes.push_back(field::required("spec.scope"));
  } else if (scope != "Cluster" && scope != "Namespaced") {
    causes.push_back(field::not_supported("spec.scope", json::print(spec["scope"]), {"Cluster", "Namespaced"}));
  }
  // DIVERGES: no conversion webhooks yet.
  if (const Value& strategy = spec["conversion"]["strategy"]; strategy.as_string() != "None") {
    causes.push_back(field::not_supported("spec.conversion.strategy", json::print(strategy), {"None"}));
  }
  if (spec["preserveUnknownFields"].as_bool()) {
    causes.push_back(field::invalid("spec.preserveUnknownFields", "true",
                                    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                                    "spec.versions[*].schema instead"));
  }
}

void version_causes(const Value& version, std::size_t index, std::vector<Cause>& causes) {
  text_causes(kube::dns1035_label_faults(version["name"].as_string()), version_path(index, ".name"), version["name"], causes);
  const Value& schema = version["schema"]["openAPIV3Schema"];
  const std::string path = version_path(index, ".schema.openAPIV3Schema");
  if (schema.is_null()) {
    causes.push_back(field::required(path, "schemas are required"));
  } else if (auto compiled = kube::Schema::compile(schema, path); !compiled) {
    if (compiled.error().causes.empty()) causes.push_back(field::invalid(path, "{}", compiled.error().message));
    std::ranges::move(compiled.error().causes, std::back_inserter(causes));
  }
  const auto& columns = version["additionalPrinterColumns"];
  for (std::size_t i = 0; i < columns.size(); ++i) {
    static const std::vector<std::string> kTypes{"boolean", "date", "integer", "number", "string"};
    const Value& column = columns.item(i);
    const auto at = [&](std::string_view key) {
      return version_path(index, fmt::format(".additionalPrinterColumns[{}].{}", i, key));
    };
    for (const char* key : {"name", "jsonPath"}) {
      if (column[key].as_string().empty()) causes.push_back(field::required(at(key)));
    }
    if (std::ranges::find(kTypes, column["type"].as_string()) == kTypes.end()) {
      causes.push_back(
          field::invalid(at("type"), json::print(column["type"]), "must be one of boolean,date,integer,number,string"));
    }
  }
}

void versions_causes(const Object& crd, const Object& old, std::vector<Cause>& causes) {
  const Value& versions = crd["spec"]["versions"];
  std::set<std::string_view> names;
  std::size_t storage = 0;
  bool is_unique = true;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Value& version = versions.item(i);
    if (version != old["spec"]["versions"].item(i)) version_causes(version, i, causes);
    is_unique &= names.insert(version["name"].as_string()).second;
    storage += version["storage"].as_bool() ? 1 : 0;
  }
  if (!is_unique) causes.push_back(field::invalid("spec.versions", "[]", "must contain unique version names"));
  if (storage != 1)
    causes.push_back(field::invalid("spec.versions", "[]", "must have exactly one version marked as storage version"));
  const Value& stored = crd["status"]["storedVersions"];
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::string_view name = stored.item(i).as_string();
    if (names.contains(name)) continue;
    causes.push_back(
        field::invalid(fmt::format("status.storedVersions[{}]", i), json::print(stored.item(i)),
                       fmt::format("missing from spec.versions; {0} was previously a storage version, and must remain in "
                                   "spec.versions until a storage migration ensures no data remains persisted in {0} and "
                                   "removes {0} from status.storedVersions",
                                   name)));
  }
}

void validate(const Object& crd, const Object& old, std::vector<Cause>& causes) {
  head_causes(crd, causes);
  names_causes(crd, causes);
  versions_causes(crd, old, causes);
  if (!kube::is_true(old, "Established")) return;
  constexpr std::array<std::array<const char*, 2>, 2> kNames{{{"names", "kind"}, {"names", "plural"}}};
  for (const char* key : {"group", "scope"}) {
    if (crd["spec"][key] == old["spec"][key]) continue;
    causes.push_back(field::invalid(fmt::format("spec.{}", key), json::print(crd["spec"][key]), "field is immutable"));
  }
  for (const auto& [outer, key] : kNames) {
    const Value& value = crd["spec"][outer][key];
    if (value == old["spec"][outer][key]) continue;
    causes.push_back(field::invalid(fmt::format("spec.names.{}", key), json::print(value), "field is immutable"));
  }
}

}  // namespace

std::span<const Strategy> crd_strategies() {
  static constexpr std::array kRows{Strategy{.group = "apiextensions.k8s.io",
                                             .kind = "CustomResourceDefinition",
                                             .fill_defaults = fill_defaults,
                                             .prepare_create = prepare_create,
                                             .prepare_update = prepare_update,
                                             .validate = validate,
                                             .begin_delete = begin_delete}};
  return kRows;
}

}  // namespace slipway::server
