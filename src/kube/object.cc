#include "kube/object.h"

#include <fmt/format.h>

#include <charconv>

namespace slipway::kube {
namespace {

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

std::string whole_message(const std::vector<Cause>& causes) {
  std::vector<std::string> lines;
  for (const Cause& cause : causes) {
    std::string line = cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  if (lines.size() == 1) return lines.front();
  std::string out = "[";
  for (std::size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "" : ", ") + lines[i];
  return out + "]";
}

Status about_resource(Reason reason, const Resource& resource, std::string_view name, std::string message) {
  Status status;
  status.reason = reason;
  status.message = std::move(message);
  status.name = std::string(name);
  status.group = resource.group;
  status.kind = resource.plural;
  return status;
}

std::optional<Reason> reason_named(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(Reason::Timeout); ++i) {
    if (to_string(static_cast<Reason>(i)) == text) return static_cast<Reason>(i);
  }
  return std::nullopt;
}

/// What a Status without a known reason means, by its HTTP code.
Reason reason_of_code(std::int64_t code) {
  for (int i = 0; i <= static_cast<int>(Reason::Timeout); ++i) {
    if (http_code(static_cast<Reason>(i)) == code && static_cast<Reason>(i) != Reason::AlreadyExists)
      return static_cast<Reason>(i);
  }
  return Reason::InternalError;
}

json::Value with_finalizers(const Object& o, json::Value finalizers) {
  if (finalizers.empty()) return o.without_path({"metadata", "finalizers"});
  return o.with_path({"metadata", "finalizers"}, std::move(finalizers));
}

}  // namespace

Result<GroupVersionKind> GroupVersionKind::of(const json::Value& object) {
  if (!object.is_object()) return fail(Reason::BadRequest, "the object is not a JSON object");
  const std::string_view api_version = object["apiVersion"].as_string();
  const std::string_view kind = object["kind"].as_string();
  if (kind.empty()) return fail(Reason::BadRequest, "Object 'Kind' is missing: kind must be a non-empty string");
  if (api_version.empty())
    return fail(Reason::BadRequest, "Object 'apiVersion' is missing: apiVersion must be a non-empty string");
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return GroupVersionKind{"", std::string(api_version), std::string(kind)};
  if (api_version.find('/', slash + 1) != std::string_view::npos || slash + 1 == api_version.size()) {
    return fail(Reason::BadRequest, fmt::format("unexpected GroupVersion string: {}", api_version));
  }
  return GroupVersionKind{std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1)),
                          std::string(kind)};
}

Revision revision(const Object& o) {
  const std::string_view text = o["metadata"]["resourceVersion"].as_string();
  Revision value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : 0;
}

std::optional<Time> time_of(const json::Value& field) {
  if (!field.is_string()) return std::nullopt;
  auto time = parse_rfc3339(field.as_string());
  if (!time) return std::nullopt;
  return *time;
}

std::optional<Time> creation_time(const Object& o) { return time_of(o["metadata"]["creationTimestamp"]); }

bool has_finalizer(const Object& o, std::string_view finalizer) {
  for (const json::Value& item : o["metadata"]["finalizers"].items()) {
    if (item.as_string() == finalizer) return true;
  }
  return false;
}

Object with_finalizer(const Object& o, std::string_view finalizer) {
  if (has_finalizer(o, finalizer)) return o;
  return with_finalizers(o, o["metadata"]["finalizers"].appended(finalizer));
}

Object without_finalizer(const Object& o, std::string_view finalizer) {
  if (!has_finalizer(o, finalizer)) return o;
  json::ArrayBuilder kept;
  for (const json::Value& item : o["metadata"]["finalizers"].items()) {
    if (item.as_string() != finalizer) kept.add(item);
  }
  return with_finalizers(o, kept.build());
}

const json::Value& controller_of(const Object& o) {
  static const json::Value kNone;
  for (const json::Value& owner : o["metadata"]["ownerReferences"].items()) {
    if (owner["controller"].as_bool()) return owner;
  }
  return kNone;
}

json::Value owner_reference(const Object& owner) {
  return json::object({{"apiVersion", owner["apiVersion"]},
                       {"kind", owner["kind"]},
                       {"name", owner["metadata"]["name"]},
                       {"uid", owner["metadata"]["uid"]},
                       {"controller", true},
                       {"blockOwnerDeletion", true}});
}

bool is_owned_by(const Object& o, std::string_view owner_uid) {
  for (const json::Value& owner : o["metadata"]["ownerReferences"].items()) {
    if (owner["uid"].as_string() == owner_uid) return true;
  }
  return false;
}

bool refers_to(const json::Value& reference, std::string_view group, std::string_view kind) {
  const std::string_view version = reference["apiVersion"].as_string();
  const std::size_t slash = version.find('/');
  return reference["kind"].as_string() == kind && version.substr(0, slash == std::string_view::npos ? 0 : slash) == group;
}

const json::Value& condition(const Object& o, std::string_view type) {
  static const json::Value kNone;
  for (const json::Value& item : o["status"]["conditions"].items()) {
    if (item["type"].as_string() == type) return item;
  }
  return kNone;
}

bool is_true(const Object& o, std::string_view type) { return condition(o, type)["status"].as_string() == "True"; }

json::Value set_condition(const json::Value& conditions, const Condition& condition, Time now, bool with_probe_time) {
  std::size_t at = 0;
  while (at < conditions.size() && conditions.item(at)["type"].as_string() != condition.type) ++at;
  const json::Value& old = conditions.item(at);
  const bool keeps_status = old["status"].as_string() == condition.status && old.is_object();
  if (keeps_status && old["reason"].as_string() == condition.reason && old["message"].as_string() == condition.message)
    return conditions;

  const std::string stamp = to_rfc3339(now);
  json::ObjectBuilder next(old.is_object() ? old : json::Value::empty_object());
  next.set("type", condition.type).set("status", condition.status);
  if (with_probe_time) next.set("lastProbeTime", stamp);
  next.set("lastTransitionTime",
           keeps_status && old.has("lastTransitionTime") ? old["lastTransitionTime"] : json::Value(stamp));
  if (!condition.reason.empty() || old.has("reason")) next.set("reason", condition.reason);
  if (!condition.message.empty() || old.has("message")) next.set("message", condition.message);
  return conditions.with_item(at, next.build());
}

json::Value without_condition(const json::Value& status, std::string_view type) {
  const json::Value& conditions = status["conditions"];
  json::ArrayBuilder rest;
  for (const json::Value& one : conditions.items()) {
    if (one["type"].as_string() != type) rest.add(one);
  }
  if (rest.size() == conditions.size()) return status;
  return rest.empty() ? status.without("conditions") : status.with("conditions", rest.build());
}

json::Value reference_to(const Object& o) {
  json::ObjectBuilder reference;
  reference.set("apiVersion", o["apiVersion"]).set("kind", o["kind"]);
  if (!ns(o).empty()) reference.set("namespace", o["metadata"]["namespace"]);
  reference.set("name", o["metadata"]["name"]);
  if (!uid(o).empty()) reference.set("uid", o["metadata"]["uid"]);
  return reference.build();
}

json::Value to_json(const Status& status) {
  json::ObjectBuilder details;
  if (!status.name.empty()) details.add("name", status.name);
  if (!status.group.empty()) details.add("group", status.group);
  if (!status.kind.empty()) details.add("kind", status.kind);
  if (!status.uid.empty()) details.add("uid", status.uid);
  json::ArrayBuilder causes;
  for (const Cause& cause : status.causes) {
    json::ObjectBuilder one;
    if (!cause.reason.empty()) one.add("reason", cause.reason);
    if (!cause.message.empty()) one.add("message", cause.message);
    if (!cause.field.empty()) one.add("field", cause.field);
    causes.add(one.build());
  }
  if (!causes.empty()) details.add("causes", causes.build());
  if (status.retry_after_seconds != 0) details.add("retryAfterSeconds", status.retry_after_seconds);

  json::ObjectBuilder out;
  out.add("kind", "Status").add("apiVersion", "v1").add("metadata", json::Value::empty_object()).add("status", "Failure");
  out.add("message", status.message).add("reason", to_string(status.reason));
  if (!details.empty()) out.add("details", details.build());
  out.add("code", http_code(status.reason));
  return out.build();
}

Status status_from_json(const json::Value& value) {
  Status status;
  status.reason = reason_named(value["reason"].as_string()).value_or(reason_of_code(value["code"].as_int()));
  status.message = value["message"].str();
  const json::Value& details = value["details"];
  status.name = details["name"].str();
  status.group = details["group"].str();
  status.kind = details["kind"].str();
  status.uid = details["uid"].str();
  for (const json::Value& cause : details["causes"].items()) {
    status.causes.push_back(
        {.reason = cause["reason"].str(), .message = cause["message"].str(), .field = cause["field"].str()});
  }
  status.retry_after_seconds = static_cast<int>(details["retryAfterSeconds"].as_int());
  return status;
}

Status invalid(const GroupVersionKind& kind, std::string_view name, std::vector<Cause> causes) {
  Status status;
  status.reason = Reason::Invalid;
  const std::string group_kind = kind.group.empty() ? kind.kind : kind.kind + "." + kind.group;
  status.message = fmt::format("{} {} is invalid", group_kind, quoted(name));
  if (!causes.empty()) status.message += ": " + whole_message(causes);
  status.name = std::string(name);
  status.group = kind.group;
  status.kind = kind.kind;
  status.causes = std::move(causes);
  return status;
}

Status not_found(const Resource& resource, std::string_view name) {
  return about_resource(Reason::NotFound, resource, name,
                        fmt::format("{} {} not found", resource.group_resource(), quoted(name)));
}

Status already_exists(const Resource& resource, std::string_view name) {
  return about_resource(Reason::AlreadyExists, resource, name,
                        fmt::format("{} {} already exists", resource.group_resource(), quoted(name)));
}

Status conflict(const Resource& resource, std::string_view name, std::string_view detail) {
  return about_resource(
      Reason::Conflict, resource, name,
      fmt::format("Operation cannot be fulfilled on {} {}: {}", resource.group_resource(), quoted(name), detail));
}

}  // namespace slipway::kube
