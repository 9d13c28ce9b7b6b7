#include "delivery/family/handover.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "json/members.h"

namespace slipway::delivery {
namespace {

using json::Value;
using kube::Object;

constexpr const char* kNameLabel = "app.oam.dev/name";
constexpr const char* kNamespaceLabel = "app.oam.dev/namespace";
constexpr const char* kUidLabel = "app.oam.dev/uid";

Value entry_of(const Holdings& holding, const Object& object) {
  json::ObjectBuilder labels;
  for (const auto& [key, value] : object["metadata"]["labels"].members()) {
    if (key.contains("oam.dev/")) labels.set(key, value);
  }
  const Value raw =
      json::object({{"apiVersion", object["apiVersion"]},
                    {"kind", object["kind"]},
                    {"metadata", json::object({{"name", object["metadata"]["name"]},
                                               {"namespace", object["metadata"]["namespace"]},
                                               {"labels", labels.build()},
                                               {"annotations", json::object({{kRevisionAnnotation, holding.revision}})}})}});
  return json::object({{"apiVersion", object["apiVersion"]},
                       {"kind", object["kind"]},
                       {"namespace", object["metadata"]["namespace"]},
                       {"name", object["metadata"]["name"]},
                       {"creator", "rollout"},
                       {"component", holding.component},
                       {"metadataOnly", true},
                       {"raw", raw}});
}

bool is_of_same_object(const Value& one, const Value& other) {
  return one["kind"] == other["kind"] && one["apiVersion"] == other["apiVersion"] && one["namespace"] == other["namespace"] &&
         one["name"] == other["name"];
}

Object new_tracker(const Holdings& holding, const std::string& name) {
  json::ObjectBuilder labels;
  labels.set(kNameLabel, holding.application);
  labels.set(kNamespaceLabel, Value(kube::ns(holding.rollout)));
  if (!holding.application_uid.empty()) labels.set(kUidLabel, holding.application_uid);
  return json::object({{"apiVersion", holding.kind.api_version()},
                       {"kind", holding.kind.kind},
                       {"metadata", json::object({{"name", name},
                                                  {"labels", labels.build()},
                                                  {"annotations", json::object({{kHolder, holder_name(holding.rollout)}})}})},
                       {"spec", json::object({{"type", "versioned"}, {"managedResources", Value::empty_array()}})}});
}

}  // namespace

std::string holder_name(const Object& rollout) {
  const Value& name = rollout["metadata"].is_object() ? rollout["metadata"]["name"] : rollout["name"];
  return fmt::format("{}/{}/{}", rollout["apiVersion"].as_string(), rollout["kind"].as_string(), name.as_string());
}

std::string_view holder_text(std::string_view holder) {
  const auto name = holder.rfind('/');
  if (name == std::string_view::npos || name == 0) return holder;
  const auto kind = holder.rfind('/', name - 1);
  return kind == std::string_view::npos ? holder : holder.substr(kind + 1);
}

std::string kind_text(const kube::GroupVersionKind& kind) { return fmt::format("{}/{}", kind.api_version(), kind.kind); }

std::optional<kube::GroupVersionKind> read_kind(std::string_view text) {
  const auto kind = text.rfind('/');
  if (kind == std::string_view::npos || kind + 1 == text.size()) return std::nullopt;
  auto read = kube::GroupVersionKind::of(
      json::object({{"apiVersion", std::string(text.substr(0, kind))}, {"kind", std::string(text.substr(kind + 1))}}));
  return read ? std::optional(std::move(*read)) : std::nullopt;
}

std::optional<Holder> read_holder(std::string_view text) {
  const auto name = text.rfind('/');
  if (name == std::string_view::npos || name + 1 == text.size()) return std::nullopt;
  auto kind = read_kind(text.substr(0, name));
  if (!kind) return std::nullopt;
  return Holder{.kind = std::move(*kind), .name = std::string(text.substr(name + 1))};
}

bool is_holder(const Object& object) {
  const Value& spec = object["spec"];
  return spec["rolloutPlan"].is_object() && (spec.has("targetAppRevisionName") || spec.has("targetRevisionName"));
}

std::string component_of_holder(const Object& rollout) {
  const Value& spec = rollout["spec"];
  return spec.has("componentList") ? spec["componentList"].item(0).str() : spec["componentName"].str();
}

std::string completion_of(const Object& rollout, std::string_view revision) {
  const auto request = kube::annotation(rollout, kRestoreRequest);
  return request.empty() ? std::string(revision) : fmt::format("{}@{}", revision, request);
}

std::string revision_workload_name(std::string_view component, std::string_view application, std::string_view revision) {
  const std::string prefix = fmt::format("{}-", application);
  const bool is_of_it = revision.starts_with(prefix) && revision.size() > prefix.size();
  return fmt::format("{}-{}", component, is_of_it ? revision.substr(prefix.size()) : revision);
}

Value under_revision_name(Value workload, const std::string& name, const std::string& revision) {
  return workload.with_path({"metadata", "name"}, name)
      .with_path({"metadata", "labels", kRevisionLabel}, name)
      .with_path({"metadata", "annotations", kRevisionAnnotation}, revision)
      .with_path({"spec", "selector", "matchLabels", kRevisionLabel}, name)
      .with_path({"spec", "template", "metadata", "labels", kRevisionLabel}, name);
}

Value following_workload(Value object, const Value& workload, std::string_view old_name, const std::string& name) {
  const Value& scaled = object["spec"]["scaleTargetRef"];
  const bool is_its = scaled["kind"] == workload["kind"] && scaled["name"].as_string() == old_name;
  return is_its ? object.with_path({"spec", "scaleTargetRef", "name"}, name) : object;
}

std::string yield_request(std::string_view by, std::int64_t attempt) { return fmt::format("{}@{}", by, attempt); }

bool is_asked_to_yield(const Object& rollout, std::int64_t attempt) {
  return kube::annotation(rollout, kYieldRequest).ends_with(fmt::format("@{}", attempt));
}

std::optional<Value> handed_over_fields(const Object& live, std::string_view from, std::string_view to) {
  Value fields = Value::empty_object();
  Value newest;
  json::ArrayBuilder others;
  bool has_any = false;
  for (const Value& entry : live["metadata"]["managedFields"].items()) {
    const bool is_applied = entry["operation"].as_string() == "Apply" && entry["subresource"].as_string().empty();
    const bool is_from = is_applied && entry["manager"].as_string() == from;
    const bool is_to = is_applied && entry["manager"].as_string() == to;
    has_any |= is_from;
    if (!is_from && !is_to) {
      others.add(entry);
      continue;
    }
    fields = json::field_union(fields, entry["fieldsV1"]);
    newest = entry;
  }
  if (!has_any) return std::nullopt;
  others.add(newest.with("manager", std::string(to)).with("fieldsV1", fields));
  return others.build();
}

Task<Result<void>> record_held(client::Client& client, Holdings holding, std::string manager) {
  const std::string name = fmt::format("{}-{}-{}-{}", holding.application, lower(kube::kind(holding.rollout)),
                                       kube::name(holding.rollout), kube::ns(holding.rollout));
  auto there = co_await client::get(client, holding.resource, {"", name});
  if (!there && there.error().reason != Reason::NotFound) co_return fail(std::move(there).error());
  const Object before = there ? *there : new_tracker(holding, name);
  json::ArrayBuilder entries;
  std::vector<Value> added;
  for (const Object& object : holding.objects) added.push_back(entry_of(holding, object));
  for (const Value& known : before["spec"]["managedResources"].items()) {
    const auto is_it = [&](const Value& entry) { return is_of_same_object(entry, known); };
    if (std::ranges::none_of(added, is_it)) entries.add(known);
  }
  for (const Value& entry : added) entries.add(entry);
  const Object wanted = before.with_path({"spec", "managedResources"}, entries.build());
  if (there && wanted == before) co_return Result<void>{};
  auto written = there ? co_await client::update(client, holding.resource, wanted, manager)
                       : co_await client::create(client, holding.resource, wanted, manager);
  if (!written) co_return fail(std::move(written).error());
  co_return Result<void>{};
}

}  // namespace slipway::delivery
