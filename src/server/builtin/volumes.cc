// PersistentVolume (v1), StorageClass (storage.k8s.io/v1), PriorityClass (scheduling.k8s.io/v1), LimitRange, ResourceQuota
// (v1).
#include <fmt/format.h>

#include <array>

#include "kube/quantity.h"
#include "server/builtin/defaults.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

constexpr std::int64_t kMostUserPriority = 1'000'000'000;

Object prepare_volume(const Object& object, const Surroundings&) {
  static const Value kPending = json::object({{"phase", "Pending"}});
  return object.with("status", kPending);
}

bool is_source(std::string_view key) {
  constexpr std::array kPlain{"capacity",         "accessModes",  "claimRef",     "persistentVolumeReclaimPolicy", "volumeMode",
                              "storageClassName", "mountOptions", "nodeAffinity", "volumeAttributesClassName"};
  return std::ranges::find(kPlain, key) == kPlain.end();
}

/// The members that say where the volume is.
Value sources(const Value& spec) {
  json::ObjectBuilder out;
  for (const auto [key, value] : spec.members()) {
    if (is_source(key)) out.add(key, value);
  }
  return out.build();
}

void validate_volume(const Object& object, const Object& old, std::vector<Cause>& causes) {
  static const std::vector<std::string> kModes{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  if (spec["accessModes"].empty()) causes.push_back(field::required("spec.accessModes"));
  for (const Value& mode : spec["accessModes"].items()) {
    if (std::ranges::find(kModes, mode.as_string()) == kModes.end()) {
      causes.push_back(field::not_supported("spec.accessModes", quoted(mode), kModes));
    }
  }
  if (spec["capacity"].empty()) {
    causes.push_back(field::required("spec.capacity"));
  } else if (!spec["capacity"].has("storage") || spec["capacity"].size() > 1) {
    causes.push_back(field::not_supported("spec.capacity", quoted(spec["capacity"]), {"storage"}));
  }
  const Value source = sources(spec);
  if (source.empty()) causes.push_back(field::required("spec", "must specify a volume type"));
  if (source.size() > 1) {
    causes.push_back(field::forbidden("spec", "may not specify more than 1 volume type"));
  }
  if (spec.has("hostPath") && spec["hostPath"]["path"].as_string().empty()) {
    causes.push_back(field::required("spec.hostPath.path"));
  }
  if (old.is_null()) return;
  if (source != sources(old["spec"])) {
    causes.push_back(
        field::forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"));
  }
  immutable(spec, old["spec"], "spec", "volumeMode", causes);
}

void validate_storage_class(const Object& object, const Object& old, std::vector<Cause>& causes) {
  if (object["provisioner"].as_string().empty()) causes.push_back(field::required("provisioner"));
  if (old.is_null()) return;
  for (const char* key : {"parameters", "provisioner", "reclaimPolicy"}) {
    if (object[key] != old[key]) causes.push_back(field::forbidden(key, fmt::format("updates to {} are forbidden.", key)));
  }
  immutable(object, old, "", "volumeBindingMode", causes);
}

/// The two classes that every cluster has.
bool is_system_class(const Object& object) {
  const std::string_view name = kube::name(object);
  return (name == "system-cluster-critical" && object["value"].as_int() == 2 * kMostUserPriority) ||
         (name == "system-node-critical" && object["value"].as_int() == 2 * kMostUserPriority + 1000);
}

void validate_priority(const Object& object, const Object& old, std::vector<Cause>& causes) {
  if (!old.is_null()) {
    if (object["value"].as_int() != old["value"].as_int()) {
      causes.push_back(field::forbidden("value", "may not be changed in an update."));
    }
    immutable(object, old, "", "preemptionPolicy", causes);
    return;
  }
  if (is_system_class(object)) return;
  if (kube::name(object).starts_with("system-")) {
    causes.push_back(field::forbidden("metadata.name",
                                      "priority class names with 'system-' prefix are reserved for system use only. error: " +
                                          std::string(kube::name(object)) + " is not a known system priority class"));
  } else if (object["value"].as_int() > kMostUserPriority) {
    causes.push_back(
        field::forbidden("value", fmt::format("maximum allowed value of a user defined priority is {}", kMostUserPriority)));
  }
}

/// default of a container's limits is their max, its requests' are the defaults or the min.
Object fill_limits(const Object& object) {
  const auto filled = [](const Value& item) {
    if (item["type"].as_string() != "Container") return item;
    Defaults limits(item["default"]);
    for (const auto [name, value] : item["max"].members()) limits.absent(name, value);
    Defaults requests(item["defaultRequest"]);
    for (const auto [name, value] : limits.value().members()) requests.absent(name, value);
    for (const auto [name, value] : item["min"].members()) requests.absent(name, value);
    Value next = limits.value().is_same(item["default"]) ? item : item.with("default", limits.value());
    return requests.value().is_same(item["defaultRequest"]) ? next : next.with("defaultRequest", requests.value());
  };
  return Defaults(object)
      .present("spec", [&](const Value& spec) { return Defaults(spec).each("limits", filled).value(); })
      .value();
}

void validate_limits(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& limits = object["spec"]["limits"];
  if (limits.is_same(old["spec"]["limits"])) return;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    for (const auto [name, least] : limits.item(i)["min"].members()) {
      const Value& most = limits.item(i)["max"][name];
      const auto low = kube::Quantity::parse(least.is_string() ? least.str() : quoted(least));
      const auto high = kube::Quantity::parse(most.is_string() ? most.str() : quoted(most));
      if (most.is_null() || !low || !high || *low <= *high) continue;
      causes.push_back(
          field::invalid(fmt::format("spec.limits[{}].min[{}]", i, name), quoted(least),
                         fmt::format("min value {} is greater than max value {}", low->to_string(), high->to_string())));
    }
  }
}

Object prepare_quota(const Object& object, const Surroundings&) { return object.with("status", Value::empty_object()); }

void validate_quota(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& hard = object["spec"]["hard"];
  for (const auto [name, value] : hard.members()) {
    const auto amount = kube::Quantity::parse(value.is_string() ? value.str() : quoted(value));
    if (amount && *amount < kube::Quantity()) {
      causes.push_back(field::invalid(fmt::format("spec.hard[{}]", name), quoted(value), "must be greater than or equal to 0"));
    }
  }
  if (!old.is_null() && object["spec"]["scopes"] != old["spec"]["scopes"]) {
    causes.push_back(field::invalid("spec.scopes", quoted(object["spec"]["scopes"]), "field is immutable"));
  }
}

}  // namespace

std::span<const Strategy> volume_strategies() {
  static constexpr std::array kRows{
      Strategy{.group = "", .kind = "PersistentVolume", .prepare_create = prepare_volume, .validate = validate_volume},
      Strategy{.group = "storage.k8s.io", .kind = "StorageClass", .validate = validate_storage_class},
      Strategy{.group = "scheduling.k8s.io", .kind = "PriorityClass", .validate = validate_priority},
      Strategy{.group = "", .kind = "LimitRange", .fill_defaults = fill_limits, .validate = validate_limits},
      Strategy{.group = "", .kind = "ResourceQuota", .prepare_create = prepare_quota, .validate = validate_quota}};
  return kRows;
}

}  // namespace slipway::server
