#include "delivery/package/revision_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"
#include "delivery/package/metadata_merge.h"
#include "json/members.h"
#include "json/patch.h"

namespace slipway::delivery::package {
namespace {

using client::PatchType;
using client::Request;
using client::ServedContext;
using client::Verb;
using json::Value;

Task<Result<Sent>> sent_by_put(ServedContext context, Request request, StoredRecord current) {
  const std::string version = request.body["metadata"]["resourceVersion"].str();
  if (version.empty()) {
    co_return fail(kube::invalid(kRevisionKind, request.name,
                                 {field::invalid("metadata.resourceVersion", "\"\"", "must be specified for an update")}));
  }
  if (version == current.version()) co_return Sent{std::nullopt, std::move(current), request.body};
  SLIPWAY_CO_TRY(base, co_await record_at(context.server, current, version));
  co_return Sent{std::move(base), std::move(current), request.body};
}

Result<Sent> sent_by_patch(const ServedContext& context, const Request& request, StoredRecord current) {
  const Value live = shown_revision(current, context.env.clock.now());
  SLIPWAY_TRY(object, patched(request, live));
  SLIPWAY_TRY_VOID(check_version(request, current, object));
  return Sent{std::nullopt, std::move(current), object};
}

Result<void> check_apply(const Request& request, const StoredRecord& current) {
  SLIPWAY_TRY_VOID(check_version(request, current, request.body));
  if (request.body["metadata"].has("managedFields")) return fail(Reason::BadRequest, "metadata.managedFields must be nil");
  return {};
}

/// Puts the conditions that an apply sends into the record, by their owner.
Result<void> apply_conditions(const ServedContext& context, const Request& request, RevisionRecord& record) {
  const Value only = json::object({{"conditions", request.body["status"]["conditions"]}});
  SLIPWAY_TRY(status, json::decode<RevisionStatus>(only, "status", {.allow_unknown = true}));
  if (is_published(record.lifecycle)) {
    return fail(kube::invalid(
        kRevisionKind, request.name,
        {field::forbidden("status.conditions", "conditions of a published revision are those it was approved with")}));
  }
  const std::string manager = request.field_manager.empty() ? request.user_agent : request.field_manager;
  const ContentView content(record.file_digests, record.digest);
  const Write write{.object = request.name,
                    .by = manager,
                    .now = context.env.clock.now(),
                    .content = content,
                    .generation = generation_of(record)};
  SLIPWAY_TRY(merged, merge_apply(record.conditions, status.conditions, write, request.force ? Force::Yes : Force::No));
  SLIPWAY_TRY_VOID(check_owners(record.gates, record.conditions, merged, requester_of(context, request).names(), request.name));
  note_flips(record.notes, record.conditions, merged, manager, write.now);
  record.conditions = std::move(merged);
  return {};
}

/// Those that are there, with the fields that are sent, and the new ones after them.
Value applied_gates(const Value& now, const Value& sent) {
  const auto is_same = [](const Value& one, const Value& other) { return one["conditionType"] == other["conditionType"]; };
  json::ArrayBuilder gates;
  for (const Value& one : now.items()) {
    Value made = one;
    for (const Value& other : sent.items()) {
      if (!is_same(one, other)) continue;
      made = json::with_members(made, other);
    }
    gates.add(made);
  }
  for (const Value& one : sent.items()) {
    const bool is_there = std::ranges::any_of(now.items(), [&](const Value& other) { return is_same(one, other); });
    if (!is_there) gates.add(one);
  }
  return gates.build();
}

/// What an apply sends is laid over what is there; conditions are merged before.
Result<Sent> sent_by_apply(const ServedContext& context, const Request& request, StoredRecord current) {
  const Value& config = request.body;
  SLIPWAY_TRY_VOID(check_apply(request, current));
  if (config["status"].has("conditions")) SLIPWAY_TRY_VOID(apply_conditions(context, request, current.record));
  Value object = unjudged_revision(current);
  for (const char* map : {"labels", "annotations"}) {
    object = object.with_path({"metadata", map}, merge_members({}, object["metadata"][map], config["metadata"][map]));
  }
  for (const char* list : {"finalizers", "ownerReferences"}) {
    object = object.with_path({"metadata", list}, merge_items({}, object["metadata"][list], config["metadata"][list]));
  }
  for (const auto& [key, value] : config["spec"].members()) {
    const Value& now = object["spec"][key];
    Value wanted = value;
    if (key == "packageMetadata") wanted = json::apply_merge_patch(now, value);
    if (key == "readinessGates") wanted = applied_gates(now, value);
    object = object.with_path({"spec", key}, wanted);
  }
  return Sent{std::nullopt, std::move(current), object};
}

/// Of what was sent to the endpoint of the status only its conditions count.
void keep_only_status(Sent& sent) {
  const Value conditions = sent.object["status"]["conditions"];
  sent.object = unjudged_revision(sent.read());
  if (!conditions.is_null()) sent.object = sent.object.with_path({"status", "conditions"}, conditions);
}

}  // namespace

bool is_apply_of(const Request& request) {
  return request.verb == Verb::Patch && request.patch_type == PatchType::Apply &&
         (request.subresource.empty() || request.subresource == kStatusEndpoint);
}

Value only_status(const Value& config) {
  json::ObjectBuilder made;
  for (const char* key : {"apiVersion", "kind", "status"}) {
    if (config.has(key)) made.add(key, config[key]);
  }
  json::ObjectBuilder metadata;
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "managedFields"}) {
    if (config["metadata"].has(key)) metadata.add(key, config["metadata"][key]);
  }
  return made.add("metadata", metadata.build()).build();
}

bool has_only_conditions(const Request& request) {
  const bool is_apply = is_apply_of(request) && request.body["status"].has("conditions");
  if (!is_apply) return false;
  const auto is_one_of = [](std::string_view key, std::initializer_list<std::string_view> known) {
    return std::ranges::find(known, key) != known.end();
  };
  for (const auto& [key, value] : request.body.members()) {
    if (!is_one_of(key, {"apiVersion", "kind", "metadata", "status"})) return false;
  }
  for (const auto& [key, value] : request.body["metadata"].members()) {
    if (!is_one_of(key, {"name", "namespace", "uid", "resourceVersion"})) return false;
  }
  return true;
}

Result<void> check_not_publishing(const Request& request, const RevisionRecord& record) {
  if (!record.is_publishing()) return {};
  return fail(kube::conflict(kRevisions, request.name, "it was approved and is being published"));
}

Result<Change> with_applied_conditions(const ServedContext& context, const Request& request, StoredRecord newest) {
  SLIPWAY_TRY_VOID(check_apply(request, newest));
  SLIPWAY_TRY_VOID(check_not_publishing(request, newest.record));
  SLIPWAY_TRY_VOID(apply_conditions(context, request, newest.record));
  return Change{.record = std::move(newest.record), .metadata = newest.object["metadata"]};
}

Task<Result<Sent>> sent_of(ServedContext context, Request request, StoredRecord current) {
  const bool is_of_status = request.subresource == kStatusEndpoint;
  Result<Sent> sent = fail(Reason::InternalError, "");
  if (request.verb == Verb::Update) {
    sent = co_await sent_by_put(context, std::move(request), std::move(current));
  } else if (request.patch_type == PatchType::Apply) {
    sent = sent_by_apply(context, request, std::move(current));
  } else {
    sent = sent_by_patch(context, request, std::move(current));
  }
  if (sent && is_of_status) keep_only_status(*sent);
  co_return sent;
}

}  // namespace slipway::delivery::package
