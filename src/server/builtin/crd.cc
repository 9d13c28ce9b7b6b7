// CustomResourceDefinition: its defaults and its status, which is decided in the write itself: names are accepted
// when no other kind of the group has them, and accepted names are established at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/builtin/crd_rules.h"
#include "server/builtin/strategy.h"
#include "server/crd.h"
#include "server/registry.h"

namespace slipway::server {

namespace definition_rules {
namespace {

using json::Value;
using kube::Object;

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

bool is_named_as_builtin(const Registry& registry, const Object& crd) {
  return is_named_as_builtin(registry, crd["spec"]["group"].as_string(), crd["spec"]["names"]["plural"].as_string());
}

/// The types of the definition's group that are not its own.
std::vector<TypePtr> others_of_group(const Registry& registry, const Object& crd) {
  const std::string_view group = crd["spec"]["group"].as_string();
  const std::string_view plural = crd["spec"]["names"]["plural"].as_string();
  std::vector<TypePtr> others = registry.all();
  std::erase_if(others, [&](const TypePtr& type) {
    return type->resource.group != group || (type->is_custom && type->resource.plural == plural);
  });
  return others;
}

/// Whether one of them has the word as one of its resource names (plural, singular, short), or as kind.
bool is_taken(const std::vector<TypePtr>& others, std::string_view word, bool is_kind) {
  for (const TypePtr& type : others) {
    if (is_kind && (type->kind.kind == word || type->list_kind == word)) return true;
    if (is_kind) continue;
    if (type->resource.plural == word || type->singular == word) return true;
    if (std::ranges::find(type->short_names, word) != type->short_names.end()) return true;
  }
  return false;
}

/// Whether functions answer for the resource of the definition (client/served.h).
bool is_answered(const Registry& registry, const Object& crd) {
  const auto versions = registry.versions(crd["spec"]["group"].as_string(), crd["spec"]["names"]["plural"].as_string());
  return std::ranges::any_of(versions, [](const ServedPtr& one) { return one->answers != nullptr; });
}

/// The first conflict as {reason, message}; nothing when all names are free. The plural is in the definition's own name, so it
/// conflicts only with what is no definition.
std::optional<std::pair<std::string, std::string>> names_conflict(const Registry& registry, const Object& crd) {
  const Value& names = crd["spec"]["names"];
  const std::vector<TypePtr> others = others_of_group(registry, crd);
  const auto in_use = [](std::string_view word) { return fmt::format("\"{}\" is already in use", word); };
  if (is_answered(registry, crd) || is_taken(others, names["plural"].as_string(), false)) {
    return std::pair{"PluralConflict", in_use(names["plural"].as_string())};
  }
  if (is_taken(others, names["singular"].as_string(), false)) {
    return std::pair{"SingularConflict", in_use(names["singular"].as_string())};
  }
  for (const Value& word : names["shortNames"].items()) {
    if (is_taken(others, word.as_string(), false)) return std::pair{"ShortNamesConflict", in_use(word.as_string())};
  }
  if (is_taken(others, names["kind"].as_string(), true)) return std::pair{"KindConflict", in_use(names["kind"].as_string())};
  if (is_taken(others, names["listKind"].as_string(), true)) {
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
  const bool is_builtin = is_named_as_builtin(around.registry, crd);
  Value conditions = crd["status"]["conditions"];
  conditions = kube::set_condition(conditions,
                                   conflict ? kube::Condition{"NamesAccepted", "False", conflict->first, conflict->second}
                                            : kube::Condition{"NamesAccepted", "True", "NoConflicts", "no conflicts found"},
                                   around.now);
  if (!conflict) {
    conditions = kube::set_condition(
        conditions, {"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"}, around.now);
  } else if (!was_established || is_builtin) {
    conditions =
        kube::set_condition(conditions, {"Established", "False", "NotAccepted", "not all names are accepted"}, around.now);
  }
  if (const Approval approval = approval_of(crd); approval.is_needed) {
    conditions = kube::set_condition(
        conditions,
        {"KubernetesAPIApprovalPolicyConformant", approval.is_approved ? "True" : "False", approval.reason, approval.message},
        around.now);
  }
  json::ObjectBuilder status(crd["status"]);
  status.set("conditions", conditions);
  if (!conflict) {
    status.set("acceptedNames", crd["spec"]["names"]);
  } else if (!crd["status"].has("acceptedNames") || is_builtin) {
    status.set("acceptedNames", json::object({{"plural", ""}, {"kind", ""}}));
  }
  status.set("storedVersions", stored_versions(crd));
  return crd.with("status", status.build());
}

Object prepare_create(const Object& crd, const Surroundings& around) { return with_status(crd.without("status"), around); }

Object prepare_update(const Object& crd, const Object&, const Surroundings& around) { return with_status(crd, around); }

Object begin_delete(const Object& crd, const Surroundings& around) {
  if (is_named_as_builtin(around.registry, crd)) return crd;  // the objects of that name are not its own
  const Object object = kube::with_finalizer(crd, kCrdFinalizer);
  return object.with_path(
      {"status", "conditions"},
      kube::set_condition(object["status"]["conditions"],
                          {"Terminating", "True", "InstanceDeletionPending",
                           "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"},
                          around.now));
}

}  // namespace
}  // namespace definition_rules

std::span<const Strategy> crd_strategies() {
  static constexpr std::array kRows{Strategy{.group = "apiextensions.k8s.io",
                                             .kind = "CustomResourceDefinition",
                                             .fill_defaults = definition_rules::fill_defaults,
                                             .prepare_create = definition_rules::prepare_create,
                                             .prepare_update = definition_rules::prepare_update,
                                             .validate = crd_causes,
                                             .begin_delete = definition_rules::begin_delete}};
  return kRows;
}

}  // namespace slipway::server
