#include "delivery/application/taking_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "json/members.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

constexpr std::array<std::string_view, 2> kManagers{"kubevela", "vela-core"};
constexpr std::array<std::string_view, 4> kLeases{"kubevela", "vela-core", "vela-workflow", "kubevela-vela-core"};
constexpr std::int64_t kDefaultLeaseSeconds = 15;

bool is_empty(const Value& value) {
  return value.is_null() || ((value.is_object() || value.is_array()) && value.empty()) ||
         (value.is_string() && value.as_string().empty());
}

/// Without members that say nothing. `properties` stay as they are.
Value without_empty(const Value& value) {
  if (value.is_array()) {
    json::ArrayBuilder out;
    for (const Value& item : value.items()) out.add(without_empty(item));
    return out.build();
  }
  if (!value.is_object()) return value;
  json::ObjectBuilder out;
  for (const auto& [key, member] : value.members()) {
    const Value kept = key == "properties" ? member : without_empty(member);
    if (!is_empty(kept)) out.set(key, kept);
  }
  return out.build();
}

Value with_names_of_policies(const Value& spec) {
  if (!spec["policies"].is_array()) return spec;
  json::ArrayBuilder policies;
  for (std::size_t i = 0; i < spec["policies"].size(); ++i) {
    const Value& policy = spec["policies"].item(i);
    policies.add(policy.has("name") ? policy
                                    : policy.with("name", fmt::format("{}-auto-gen-{}", policy["type"].as_string(), i)));
  }
  return spec.with("policies", policies.build());
}

Value plain(const Value& spec) { return with_names_of_policies(without_empty(spec)); }

bool is_kubevelas(const Value& entry) {
  return entry["operation"].as_string() == "Update" && entry["subresource"].as_string().empty() &&
         std::ranges::find(kManagers, entry["manager"].as_string()) != kManagers.end();
}

bool is_leader_lease(std::string_view name) {
  return std::ranges::any_of(
      kLeases, [&](std::string_view one) { return name == one || (name.starts_with(one) && name[one.size()] == '-'); });
}

}  // namespace

bool is_same_spec(const Value& one, const Value& other) { return one == other || plain(one) == plain(other); }

std::string recorded_name(const ManagedResource& manifest, const std::vector<const ManagedResource*>& held) {
  if (manifest.kind == "Job") return {};
  const ObjectId id = manifest.id();
  const auto made_by = [](const ManagedResource& one) {
    return std::pair(kube::label(one.raw, kLabelTrait), kube::label(one.raw, kLabelTraitResource));
  };
  std::vector<std::string> names;
  for (const ManagedResource* one : held) {
    const ObjectId other = one->id();
    const bool is_alike = other.cluster == id.cluster && other.group == id.group && other.kind == id.kind &&
                          other.ns == id.ns && one->component == manifest.component && made_by(*one) == made_by(manifest);
    if (is_alike && std::ranges::find(names, one->name) == names.end()) names.push_back(one->name);
  }
  return names.size() == 1 ? names.front() : std::string();
}

std::optional<Value> upgraded_fields(const kube::Object& live, std::string_view manager) {
  Value fields = Value::empty_object();
  Value newest;
  json::ArrayBuilder others;
  bool owns = false;
  for (const Value& entry : live["metadata"]["managedFields"].items()) {
    const bool is_ours = entry["operation"].as_string() == "Apply" && entry["manager"].as_string() == manager;
    owns |= is_kubevelas(entry);
    if (!is_ours && !is_kubevelas(entry)) {
      others.add(entry);
      continue;
    }
    fields = json::field_union(fields, entry["fieldsV1"]);
    newest = entry;
  }
  if (!owns) return std::nullopt;
  others.add(newest.with("manager", std::string(manager)).with("operation", "Apply").with("fieldsV1", fields));
  return others.build();
}

Task<Result<std::string>> kubevela_leader(client::Client& client, Time now) {
  auto leases = co_await client::list(client, kube::kLeases, {kDefinitionNamespace, "", ""});
  if (!leases && leases.error().reason == Reason::NotFound) co_return std::string();
  if (!leases) co_return fail(std::move(leases).error());
  for (const Value& lease : (*leases)["items"].items()) {
    const Value& spec = lease["spec"];
    const auto renewed = kube::time_of(spec["renewTime"]);
    if (!is_leader_lease(kube::name(lease)) || spec["holderIdentity"].as_string().empty() || !renewed) continue;
    const std::int64_t lasts =
        spec["leaseDurationSeconds"].is_null() ? kDefaultLeaseSeconds : spec["leaseDurationSeconds"].as_int();
    const auto ago = std::chrono::duration_cast<std::chrono::seconds>(now - *renewed);
    if (ago.count() > lasts) continue;
    co_return fmt::format("{} holds Lease {}/{} (renewed {} s ago)", spec["holderIdentity"].as_string(), kDefinitionNamespace,
                          kube::name(lease), std::max<std::int64_t>(ago.count(), 0));
  }
  co_return std::string();
}

}  // namespace slipway::delivery::application
