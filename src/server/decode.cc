// The steps before and after the decision of a write: reading the request strictly, defaulting, admission, validation, limits.
#include <fmt/format.h>

#include <algorithm>

#include "json/text.h"
#include "kube/schema.h"
#include "kube/strategic_merge_parts.h"
#include "server/meta_rules.h"
#include "server/planner.h"
#include "server/rules.h"

namespace slipway::server {

namespace {

constexpr std::size_t kMaxFieldManager = 128;

/// Whether the JSON text is longer than `limit`. Text is only made when that cannot be ruled out: no byte on the heap stands
/// for more than eight of text.
bool is_text_beyond(const Value& value, std::size_t limit) {
  return value.memory_bytes() > limit / 8 && json::print(value).size() > limit;
}

Status too_large(std::size_t limit) {
  Status status;
  status.reason = Reason::RequestEntityTooLarge;
  status.message = fmt::format("Request entity too large: limit is {}", limit);
  return status;
}

std::string_view options_kind(client::Verb verb) {
  if (verb == client::Verb::Create) return "CreateOptions";
  return verb == client::Verb::Patch ? "PatchOptions" : "UpdateOptions";
}

std::vector<Cause> option_causes(const Request& request) {
  std::vector<Cause> causes;
  const bool is_apply = request.verb == client::Verb::Patch && request.patch_type == client::PatchType::Apply;
  const std::string& manager = request.field_manager;
  if (manager.size() > kMaxFieldManager) causes.push_back(field::too_long("fieldManager", kMaxFieldManager));
  if (std::ranges::any_of(manager, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    causes.push_back(field::invalid("fieldManager", json::print(Value(manager)), "should only contain printable characters"));
  }
  if (is_apply && manager.empty()) causes.push_back(field::required("fieldManager", "is required for apply patch"));
  if (request.force && !is_apply) causes.push_back(field::forbidden("force", "may not be specified for non-apply patch"));
  const std::string& validation = request.field_validation;
  if (!validation.empty() && validation != "Ignore" && validation != "Warn" && validation != "Strict") {
    causes.push_back(field::not_supported("fieldValidation", json::print(Value(validation)), {"Ignore", "Strict", "Warn"}));
  }
  return causes;
}

/// The members of an object that are not the very values of `old`, of which it is known that they are pruned and defaulted.
Value changed_part(const Value& object, const Value& old) {
  json::ObjectBuilder part;
  for (const auto [key, value] : object.members()) {
    if (!value.is_same(old[key])) part.add(key, value);
  }
  return part.build();
}

/// The object with its changed part replaced by what became of that: members may have gone or come, metadata may be left out.
Value with_changed_part(const Value& object, const Value& old, const Value& part) {
  json::ObjectBuilder whole(object.size());
  for (const auto [key, value] : object.members()) {
    const Value* changed = part.find(key);
    if (value.is_same(old[key]) || (key == "metadata" && changed == nullptr)) {
      whole.add(key, value);
    } else if (changed != nullptr) {
      whole.add(key, *changed);
    }
  }
  for (const auto [key, value] : part.members()) {
    if (!object.has(key)) whole.add(key, value);
  }
  return whole.build();
}

bool is_row_of(const kube::AdmissionRow& row, const kube::GroupVersionKind& kind) {
  return row.kind == kind.kind && row.group == kind.group;
}

}  // namespace

Result<void> Planner::check_request() {
  if (request_.verb == client::Verb::Delete) return {};
  // What a create or update brings is measured as the object it makes.
  const bool is_patch = request_.verb == client::Verb::Patch;
  if (is_patch && is_text_beyond(request_.body, context_.options.max_body_bytes))
    return fail(too_large(context_.options.max_body_bytes));
  if (auto causes = option_causes(request_); !causes.empty()) {
    return fail(kube::invalid({"meta.k8s.io", "", std::string(options_kind(request_.verb))}, "", std::move(causes)));
  }
  return {};
}

Result<void> Planner::check_identity(const Value& body) const {
  if (!body.is_object()) {
    return fail(Reason::BadRequest, fmt::format("the request body is no {} object", served_.type.kind.kind));
  }
  const std::string_view api_version = body["apiVersion"].as_string();
  const std::string_view kind = body["kind"].as_string();
  if (api_version != served_.api_version) {
    if (api_version.empty()) return fail(Reason::BadRequest, "Object 'apiVersion' is missing in the request body");
    return fail(Reason::BadRequest, fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                                                api_version, served_.api_version));
  }
  if (kind != served_.type.kind.kind) {
    if (kind.empty()) return fail(Reason::BadRequest, "Object 'Kind' is missing in the request body");
    return fail(Reason::BadRequest,
                fmt::format("the kind in the data ({}) does not match the expected kind ({})", kind, served_.type.kind.kind));
  }
  const Value& meta = body["metadata"];
  if (!meta.is_null() && !meta.is_object()) {
    return fail(Reason::BadRequest, fmt::format("{} in version \"{}\" cannot be handled as a {}: metadata must be an object",
                                                kind, served_.type.resource.version, kind));
  }
  const std::string_view ns = meta["namespace"].as_string();
  if (served_.type.is_namespaced && !ns.empty() && ns != request_.ns) {
    return fail(Reason::BadRequest, "the namespace of the provided object does not match the namespace sent on the request");
  }
  return {};
}

Result<Value> Planner::decode(Value body) {
  if (served_.type.schema == nullptr) return body;
  const bool is_strict = request_.field_validation == "Strict";
  std::vector<std::string> dropped;
  Value object = served_.type.schema->prune(body, is_strict || request_.field_validation == "Warn" ? &dropped : nullptr);
  if (dropped.empty()) return object;
  for (std::string& path : dropped) path = fmt::format("unknown field \"{}\"", path);
  if (!is_strict) {
    std::ranges::move(dropped, std::back_inserter(warnings_));
    return object;
  }
  std::string text = "strict decoding error: ";
  for (const std::string& fault : dropped) text += (&fault == &dropped.front() ? "" : ", ") + fault;
  const std::string& kind = served_.type.kind.kind;
  if (request_.verb == client::Verb::Patch) {
    // Upstream shows a strategic merge patch as Go prints it, and of the others what they made.
    const bool is_strategic = request_.patch_type == client::PatchType::StrategicMerge;
    const std::string shown = is_strategic ? kube::strategic::go_text(request_.body) : json::print(body);
    return fail(kube::invalid({}, "", {field::invalid("patch", json::print(Value(shown)), text)}));
  }
  return fail(Reason::BadRequest,
              fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind, served_.type.kind.version, kind, text));
}

Result<Value> Planner::decode_change(const Value& body, const Value& old) {
  if (served_.type.schema == nullptr) return body;
  const Value part = changed_part(body, old);
  SLIPWAY_TRY(pruned, decode(part));
  return pruned.is_same(part) ? body : with_changed_part(body, old, pruned);
}

Value Planner::decode_applied(const Value& object, const Value& old) const {
  if (served_.type.schema == nullptr) return object;
  const Value part = changed_part(object, old);
  const Value pruned = served_.type.schema->prune(part);
  return pruned.is_same(part) ? object : with_changed_part(object, old, pruned);
}

/// The body of a write to status with what is used of it, metadata and status, pruned and defaulted.
Result<Value> Planner::decode_status(const Value& body, const Value& old) {
  if (served_.type.schema == nullptr) return body;
  json::ObjectBuilder part;
  for (const char* key : {"metadata", "status"}) {
    if (body.has(key) && !body[key].is_same(old[key])) part.add(key, body[key]);
  }
  SLIPWAY_TRY(pruned, decode(part.build()));
  Value filled = served_.type.schema->fill_defaults(pruned);
  json::ObjectBuilder next(body);
  for (const auto [key, value] : filled.members()) {
    // What did not change was left out above; a default for all of it would take its place.
    if (pruned.has(key) || !body.has(key)) next.set(key, value);
  }
  return next.build();
}

Value Planner::fill_defaults(Value object) const {
  if (served_.type.schema != nullptr) object = served_.type.schema->fill_defaults(object);
  if (served_.strategy->fill_defaults != nullptr) object = served_.strategy->fill_defaults(object);
  return object;
}

Value Planner::fill_change(Value object, const Value& old) const {
  const Value part = changed_part(object, old).without("metadata");  // which has no defaults
  if (served_.type.schema != nullptr && !part.empty()) {
    const Value filled = served_.type.schema->fill_defaults(part);
    if (!filled.is_same(part)) object = with_changed_part(object, old, filled);
  }
  if (!part.empty() && served_.strategy->fill_defaults != nullptr) object = served_.strategy->fill_defaults(object);
  return object;
}

kube::FindObject Planner::finder() const {
  return [this](const kube::Resource& resource, std::string_view ns, std::string_view name) {
    const auto served = context_.registry.served(resource);
    if (!served) return Value();
    const auto entry = context_.store.get_head((*served)->key(ns, name));
    return entry ? (*served)->shown(entry->value, entry->modified) : Value();
  };
}

kube::Asker Planner::asker() const {
  const auto may = [this](std::string_view verb, const kube::Resource& resource, std::string_view ns, std::string_view name) {
    if (request_.user == nullptr) return true;
    Attributes attributes;
    attributes.verb = verb;
    attributes.group = resource.group;
    attributes.version = resource.version;
    attributes.resource = resource.plural;
    attributes.ns = ns;
    attributes.name = name;
    return context_.access.authorizer.decide(*request_.user, attributes).is_allowed;
  };
  return {request_.user.get(), may, now_};
}

Result<Value> Planner::admit(Value object, const Value& old) const {
  if (served_.strategy->admit == nullptr) return mutate(std::move(object), old);
  SLIPWAY_TRY(admitted, served_.strategy->admit(object, old, around()));
  return mutate(std::move(admitted), old);
}

Value Planner::mutate(Value object, const Value& old) const {
  for (const kube::AdmissionRow& row : context_.options.admission) {
    if (!is_row_of(row, served_.type.kind)) continue;
    if (row.mutate) object = row.mutate(object, old);
    if (row.mutate_around) object = row.mutate_around(object, old, finder());
    if (row.mutate_for) object = row.mutate_for(object, old, asker());
  }
  return object;
}

Result<Value> Planner::stamp_status(Value object, const Value& old) {
  for (const kube::AdmissionRow& row : context_.options.admission) {
    if (!row.stamp_status || !is_row_of(row, served_.type.kind)) continue;
    if (row.warn) std::ranges::move(row.warn(object, old, finder()), std::back_inserter(warnings_));
    SLIPWAY_TRY(stamped, row.stamp_status(object, old, asker()));
    object = std::move(stamped);
  }
  return object;
}

Result<void> Planner::validate(const Value& object, const Value& old) {
  std::vector<Cause> causes;
  // The kinds of apiextensions are judged by the general rules, not by those of the core.
  const bool takes_plain = served_.type.is_custom || served_.type.kind.group == "apiextensions.k8s.io";
  metadata_causes(object, old, {.name = served_.strategy->name_rule, .takes_plain_finalizers = takes_plain}, causes);
  if (served_.type.schema != nullptr) {
    std::ranges::move(served_.type.schema->validate(object, old.is_null() ? nullptr : &old), std::back_inserter(causes));
  }
  if (served_.rules != nullptr) validate_rules(*served_.rules, object, old, causes);
  // Rows read objects that fit their schema, and judge what the main endpoint writes.
  const bool is_main = request_.subresource.empty();
  if (is_main && causes.empty() && served_.strategy->validate != nullptr) served_.strategy->validate(object, old, causes);
  if (is_main && causes.empty() && served_.strategy->validate_around != nullptr) {
    served_.strategy->validate_around(object, old, around(), causes);
  }
  for (const kube::AdmissionRow& row : context_.options.admission) {
    if (!is_main || !causes.empty()) break;
    if (!is_row_of(row, served_.type.kind)) continue;
    if (row.validate) causes = row.validate(object, old);
    if (row.validate_for && causes.empty()) causes = row.validate_for(object, old, asker());
    if (row.check && causes.empty() && !run_check(row, object, old, causes))
      return fail(Reason::InternalError, "the admission check has not run yet");
    if (row.validate_around && causes.empty()) causes = row.validate_around(object, old, finder());
    if (row.warn && causes.empty()) std::ranges::move(row.warn(object, old, finder()), std::back_inserter(warnings_));
  }
  if (causes.empty()) return {};
  return fail(kube::invalid(served_.type.kind, kube::name(object), std::move(causes)));
}

Result<void> Planner::validate_delete(const Value& old) const {
  if (request_.user == nullptr || kube::is_deleting(old)) return {};
  const Value going = old.with_path({"metadata", "deletionTimestamp"}, to_rfc3339(now_));
  for (const kube::AdmissionRow& row : context_.options.admission) {
    if (!row.validate_for || !is_row_of(row, served_.type.kind)) continue;
    const std::vector<Cause> causes = row.validate_for(going, old, asker());
    if (causes.empty()) continue;
    Status status;
    status.reason = Reason::Forbidden;
    status.name = kube::name(old);
    status.group = served_.type.resource.group;
    status.kind = served_.type.resource.plural;
    status.causes = causes;
    status.message = fmt::format("{} \"{}\" is forbidden: {}: {}", served_.type.resource.group_resource(), kube::name(old),
                                 causes.front().field, causes.front().message);
    return fail(std::move(status));
  }
  return {};
}

bool Planner::run_check(const kube::AdmissionRow& row, const Value& object, const Value& old, std::vector<Cause>& causes) {
  auto& check = checks_.by_row[&row];
  if (check == nullptr) check = row.check();
  if (checks_.may_compute && check->read(object, old, finder())) {
    to_compute_ = check;
    return false;
  }
  kube::Assessment assessment = check->result(object, old, finder());
  causes = std::move(assessment.causes);
  if (causes.empty()) std::ranges::move(assessment.warnings, std::back_inserter(warnings_));
  return true;
}

Result<void> Planner::check_size(const Value& object) const {
  if (is_text_beyond(object, context_.options.max_object_bytes)) return fail(too_large(context_.options.max_object_bytes));
  return {};
}

Result<void> Planner::check_tracked_size(const Value& object, const Value& old) const {
  const std::size_t limit = context_.options.max_object_bytes;
  const std::size_t tracked = kube::least_tracked_bytes(served_.type, old, object);
  if (tracked < limit / 8) return {};
  // The rows that are there may shrink.
  const Value bare = object.without_path({"metadata", "managedFields"});
  if (tracked > limit || is_text_beyond(bare, limit - tracked)) return fail(too_large(limit));
  return {};
}

}  // namespace slipway::server
