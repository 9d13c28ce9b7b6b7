#include "kube/apply.h"

#include <fmt/format.h>

#include <utility>

#include "kube/field_ownership.h"
#include "kube/last_applied.h"
#include "kube/managed_fields.h"
#include "kube/object.h"
#include "kube/schema.h"
#include "kube/schema_node.h"
#include "kube/typed_merge.h"
#include "kube/typed_shape.h"

namespace slipway::kube {
namespace {

using json::Value;

const SchemaNode* root_of(const ResourceType& type) { return type.schema == nullptr ? nullptr : &type.schema->root(); }

const Value& managed_of(const Value& object) { return object["metadata"]["managedFields"]; }

Value with_managed(const Value& object, const Value& managed) {
  if (managed.is_null())
    return object["metadata"].has("managedFields") ? object.without_path({"metadata", "managedFields"}) : object;
  if (managed_of(object).is_same(managed)) return object;
  return object.with_path({"metadata", "managedFields"}, managed);
}

Value without_managed(const Value& object) { return with_managed(object, {}); }

Value without_times(const Value& managed) {
  json::ArrayBuilder rows;
  for (const Value& row : managed.items()) rows.add(row.without("time"));
  return rows.build();
}

/// Fields that identify an object or that the server writes.
const FieldSet& never_owned() {
  static const FieldSet fields = [] {
    FieldSet result;
    for (std::string_view name : {"apiVersion", "kind", "metadata"}) result = result.with(FieldPath{PathElement::field(name)});
    for (std::string_view name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
                                  "managedFields", "resourceVersion"}) {
      result = result.with(FieldPath{PathElement::field("metadata"), PathElement::field(name)});
    }
    return result;
  }();
  return fields;
}

const FieldSet& status_field() {
  static const FieldSet fields = FieldSet::of_paths({{PathElement::field("status")}});
  return fields;
}

const FieldSet& spec_field() {
  static const FieldSet fields = FieldSet::of_paths({{PathElement::field("spec")}});
  return fields;
}

/// The main endpoint leaves status alone, the status endpoint of a custom kind everything else, that of a built-in kind only
/// the spec.
OwnableFields ownable_by(const ResourceType& type, const Writer& writer) {
  OwnableFields result{.never = never_owned()};
  if (writer.subresource == "status") {
    if (type.is_custom) result.only = "status";
    if (!type.is_custom) result.ignored = spec_field();
  } else if (type.has_status) {
    result.ignored = status_field();
  }
  return result;
}

Writer named(const Writer& writer) {
  Writer result = writer;
  if (result.manager.empty()) result.manager = "unknown";
  return result;
}

/// The owners before an update. A client may send its own list, except through a subresource; one that is malformed, or says
/// nothing, is as none.
ManagedFields owners_before(const Value& live, const Value& updated, const Writer& writer) {
  const Value& sent = managed_of(updated);
  const Value& stored = managed_of(live);
  if (!writer.subresource.empty() || !sent.is_array() || sent.is_same(stored)) return ManagedFields::stored(stored);
  if (ManagedFields::is_reset(sent)) return {};
  if (sent == stored) return ManagedFields::stored(stored);
  Result<ManagedFields> decoded = ManagedFields::decode(sent);
  return decoded && !decoded->empty() ? *std::move(decoded) : ManagedFields::stored(stored);
}

typed::Difference difference_of(const SchemaNode* node, const Value& live, const Value& updated) {
  if (managed_of(live).is_same(managed_of(updated))) return typed::compare(node, live, updated);
  return typed::compare(node, without_managed(live), without_managed(updated));
}

/// What of an applied configuration counts at this endpoint.
Value config_in_reach(const ResourceType& type, const Value& config, const Writer& writer) {
  if (writer.subresource == "status") {
    json::ObjectBuilder result(4);
    for (auto [name, value] : config.members()) {
      if (name != "status" && name != "apiVersion" && name != "kind" && name != "metadata") continue;
      result.add(name, name == "metadata" && type.is_custom ? Value::empty_object() : value);
    }
    return result.build();
  }
  return type.has_status && config.has("status") ? config.without("status") : config;
}

Result<void> check_config(const ResourceType& type, const Value& config, const Writer& writer) {
  const std::string_view version = config["apiVersion"].as_string();
  if (version != writer.api_version) {
    return fail(Reason::BadRequest,
                fmt::format("Incorrect version specified in apply patch. Specified patch version: {}, expected: {}", version,
                            writer.api_version));
  }
  if (managed_of(config).is_array()) return fail(Reason::BadRequest, "metadata.managedFields must be nil");
  std::vector<Cause> causes = typed::mismatches(root_of(type), config, typed::Duplicates::Refused);
  if (causes.empty()) return {};
  // DIVERGES: upstream answers 500 without causes.
  Status status;
  status.reason = Reason::Invalid;
  status.name = config["metadata"]["name"].str();
  status.group = type.kind.group;
  status.kind = type.kind.kind;
  status.message = fmt::format("failed to create typed patch object ({}/{}; {}, Kind={}): ", ns(config), name(config), version,
                               kind(config));
  if (causes.size() > 1) status.message += "errors:";
  for (const Cause& cause : causes) {
    if (causes.size() > 1) status.message += "\n  ";
    status.message += cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
  }
  status.causes = std::move(causes);
  return fail(std::move(status));
}

}  // namespace

Value settled_apply(const Value& live, const Value& applied) {
  if (!live.is_object() || applied.is_same(live)) return applied;
  const bool is_same = without_times(managed_of(applied)) == without_times(managed_of(live)) &&
                       without_managed(applied) == without_managed(live);
  return is_same ? live : applied;
}

Value track_update(const ResourceType& type, const Value& live, const Value& updated, const Writer& writer, Time now) {
  ManagedFields managed = owners_before(live, updated, writer);
  const bool is_create = !live.is_object();
  if (managed.empty() && !is_create) return without_managed(updated);  // untracked until it is applied to
  const SchemaNode* node = root_of(type);
  const Writer updater = named(writer);
  const OwnableFields ownable = ownable_by(type, writer);
  own_update(managed, node, difference_of(node, live, updated), {updater, ownable, now});
  return with_managed(updated, managed.encode());
}

std::size_t least_tracked_bytes(const ResourceType& type, const Value& live, const Value& updated) {
  if (live.is_object() && (managed_of(live).is_null() || ManagedFields::is_reset(managed_of(updated)))) return 0;
  std::size_t bytes = 0;
  for (auto [name, value] : updated.members()) {
    const bool is_ours = name != "apiVersion" && name != "kind" && name != "metadata" && name != "status";
    if (!is_ours || value.is_same(live[name])) continue;
    bytes += typed::least_added_bytes(typed::member_node(root_of(type), name).node, live[name], value);
  }
  return bytes;
}

Result<Value> apply(const ResourceType& type, const Value& live, const Value& config, const Writer& writer, bool force,
                    Time now) {
  SLIPWAY_TRY_VOID(check_config(type, config, writer));
  const SchemaNode* node = root_of(type);
  const Writer applier = named(writer);
  const OwnableFields ownable = ownable_by(type, writer);
  const Value bare = live.is_object() ? without_managed(live) : Value::empty_object();
  ManagedFields managed = ManagedFields::stored(managed_of(live));
  if (managed.empty() && live.is_object()) {
    const Writer before{std::string(ManagedFields::kBeforeFirstApply), writer.api_version, writer.subresource};
    own_update(managed, node, typed::compare(node, Value(), bare), {before, ownable, now});
  }
  const bool is_kubectl = writer.manager == kLastAppliedManager && live.is_object();
  const FieldSet may_take = is_kubectl && !force ? last_applied_fields(node, bare) : FieldSet();
  SLIPWAY_TRY(result, own_apply(managed, node, bare, config_in_reach(type, config, writer), {applier, ownable, now, may_take},
                                force ? OnConflict::Take : OnConflict::Refuse, typed::Emptied::Absent));
  if (is_kubectl && writer.subresource.empty()) result = with_last_applied(result, config);
  const Value owners = managed.encode();
  if (result.is_same(bare) && owners.is_same(managed_of(live))) return live;
  return with_managed(result, owners);
}

}  // namespace slipway::kube
