#include "delivery/rollout/services.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/rollout/fields.h"
#include "json/text.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;
using kube::Object;

/// The selector that a Service had before, as JSON.
constexpr std::string_view kOwnSelector = "rollout.slipway.dev/selector";

Object service_in(const Objects& objects, const std::string& name) {
  const auto found = objects.find("Service/" + name);
  return found == objects.end() ? Object() : found->second;
}

Value own_selector(const Object& service) {
  const auto kept = kube::annotation(service, kOwnSelector);
  if (kept.empty()) return service["spec"]["selector"];
  auto parsed = json::parse(kept);
  return parsed ? *parsed : service["spec"]["selector"];
}

Value with_labels(const Value& selector, const Labels& labels) {
  if (labels.empty()) return selector;
  json::ObjectBuilder all(selector);
  for (const auto& [key, value] : labels) all.set(key, value);
  return all.build();
}

Object made_service(const Object& service, const std::string& name, const Labels& labels, const Object& rollout) {
  json::ArrayBuilder ports;
  for (const Value& port : service["spec"]["ports"].items()) ports.add(port.without("nodePort"));
  const Value owner = kube::owner_reference(rollout).without("controller").without("blockOwnerDeletion");
  return json::object(
      {{"apiVersion", "v1"},
       {"kind", "Service"},
       {"metadata", json::object({{"name", name},
                                  {"namespace", kube::ns(rollout)},
                                  {"labels", json::object({{kMadeLabel, "true"}})},
                                  {"ownerReferences", json::array({owner})}})},
       {"spec", json::object({{"ports", ports.build()}, {"selector", with_labels(own_selector(service), labels)}})}});
}

Change patch_of(const Object& service, const FieldPatch& patch) {
  return {.kind = Change::Kind::Patch,
          .object_kind = kServiceKind,
          .name = std::string(kube::name(service)),
          .body = patch.build()};
}

}  // namespace

std::string source_service(const Traffic& traffic) {
  return traffic.source_service.empty() ? traffic.service + "-source" : traffic.source_service;
}

std::string target_service(const Traffic& traffic) {
  return traffic.target_service.empty() ? traffic.service + "-target" : traffic.target_service;
}

std::vector<std::string> service_names(const Traffic& traffic) {
  std::vector<std::string> names = {source_service(traffic), target_service(traffic)};
  if (!traffic.service.empty()) names.push_back(traffic.service);
  std::ranges::sort(names);
  const auto doubles = std::ranges::unique(names);
  names.erase(doubles.begin(), doubles.end());
  return names;
}

Result<std::vector<Change>> prepare_services(const Traffic& traffic, const Objects& objects, const Labels& source,
                                             const Labels& target, const Object& rollout) {
  std::vector<Change> changes;
  const Object shared = service_in(objects, traffic.service);
  for (const auto& [name, labels] : {std::pair(source_service(traffic), source), std::pair(target_service(traffic), target)}) {
    const Object service = service_in(objects, name);
    if (service.is_null()) {
      if (shared.is_null()) {
        if (traffic.service.empty()) {
          return fail(Reason::NotFound,
                      "traffic.service: Required value: where sourceService and targetService do not name Services that are "
                      "there, they are made from it");
        }
        return fail(Reason::NotFound,
                    fmt::format("there is neither a Service {} nor a Service {} to make it from", name, traffic.service));
      }
      changes.push_back({.kind = Change::Kind::Create,
                         .object_kind = kServiceKind,
                         .name = name,
                         .body = made_service(shared, name, labels, rollout)});
      continue;
    }
    FieldPatch patch(service);
    patch.test("metadata.resourceVersion");
    const Value own = own_selector(service);
    const Value wanted = with_labels(own, labels);
    if (wanted != service["spec"]["selector"]) {
      const bool is_made = kube::label(service, kMadeLabel) == "true";
      if (!is_made) patch.set_annotation(kOwnSelector, json::print(own));
      patch.set("spec.selector", wanted);
    }
    if (patch.changes_something()) changes.push_back(patch_of(service, patch));
  }
  return changes;
}

std::vector<Change> restore_selectors(const Traffic& traffic, const Objects& objects) {
  std::vector<Change> changes;
  for (const std::string& name : service_names(traffic)) {
    const Object service = service_in(objects, name);
    if (kube::annotation(service, kOwnSelector).empty()) continue;
    FieldPatch patch(service);
    patch.test("metadata.resourceVersion");
    patch.set("spec.selector", own_selector(service));
    patch.remove_annotation(kOwnSelector);
    changes.push_back(patch_of(service, patch));
  }
  return changes;
}

std::vector<Change> remove_services(const Traffic& traffic, const Objects& objects) {
  std::vector<Change> changes;
  for (const std::string& name : service_names(traffic)) {
    const Object service = service_in(objects, name);
    if (service.is_null() || kube::label(service, kMadeLabel) != "true" || kube::is_deleting(service)) continue;
    changes.push_back({.kind = Change::Kind::Delete, .object_kind = kServiceKind, .name = name, .body = {}});
  }
  return changes;
}

}  // namespace slipway::delivery::rollout
