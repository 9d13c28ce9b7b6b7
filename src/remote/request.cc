#include "remote/request.h"

#include <fmt/format.h>

#include "json/text.h"
#include "net/http.h"

namespace slipway::remote {

namespace {

using client::PatchType;
using client::Verb;
using json::Value;

constexpr std::size_t kMaxDocument = std::size_t{256} << 20;
constexpr std::size_t kMaxErrorText = 1000;

const char* method_of(Verb verb) {
  switch (verb) {
    case Verb::Get:
    case Verb::List:
    case Verb::Watch:
      return "GET";
    case Verb::Create:
      return "POST";
    case Verb::Update:
      return "PUT";
    case Verb::Patch:
      return "PATCH";
    case Verb::Delete:
    case Verb::DeleteCollection:
      return "DELETE";
  }
  return "GET";
}

const char* media_type_of(const client::Request& request) {
  if (request.verb != Verb::Patch) return "application/json";
  switch (request.patch_type) {
    case PatchType::Json:
      return "application/json-patch+json";
    case PatchType::Merge:
      return "application/merge-patch+json";
    case PatchType::StrategicMerge:
      return "application/strategic-merge-patch+json";
    case PatchType::Apply:
      return "application/apply-patch+yaml";  // JSON is YAML
  }
  return "application/json";
}

/// Servers that do not know the short form answer with whole objects.
const char* accepted(const client::Request& request) {
  if (request.form == client::Form::Whole) return "application/json";
  if (request.verb == Verb::List) return "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
}

std::string path_of(const client::Request& request) {
  const kube::Resource& resource = request.resource;
  std::string path =
      resource.group.empty() ? "/api/" + resource.version : fmt::format("/apis/{}/{}", resource.group, resource.version);
  if (!request.ns.empty()) path += "/namespaces/" + net::percent_encode(request.ns);
  path += "/" + resource.plural;
  if (!request.name.empty()) path += "/" + net::percent_encode(request.name);
  if (!request.subresource.empty()) path += "/" + request.subresource;
  return path;
}

std::string query_of(const client::Request& request) {
  net::Query query;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) query.add(name, value);
  };
  const bool is_write = request.verb != Verb::Get && request.verb != Verb::List && request.verb != Verb::Watch;
  add("labelSelector", request.label_selector);
  add("fieldSelector", request.field_selector);
  add("resourceVersion", request.resource_version);
  add("resourceVersionMatch", request.resource_version_match);
  add("continue", request.continue_token);
  if (request.limit > 0) add("limit", std::to_string(request.limit));
  if (request.verb == Verb::Watch) add("watch", "true");
  if (request.send_initial_events) add("sendInitialEvents", *request.send_initial_events ? "true" : "false");
  if (request.allow_watch_bookmarks) add("allowWatchBookmarks", "true");
  if (request.timeout_seconds) add("timeoutSeconds", std::to_string(*request.timeout_seconds));
  if (request.verb == Verb::Create || request.verb == Verb::Update || request.verb == Verb::Patch) {
    add("fieldManager", request.field_manager);
    add("fieldValidation", request.field_validation);
    if (request.verb == Verb::Patch && request.force) add("force", "true");
  }
  if (is_write && request.dry_run) add("dryRun", "All");
  return query.encode();
}

void add_user(const kube::UserInfo& user, http::Headers& headers) {
  headers.add("Impersonate-User", user.name);
  if (!user.uid.empty()) headers.add("Impersonate-Uid", user.uid);
  for (const std::string& group : user.groups) headers.add("Impersonate-Group", group);
  for (const auto& [key, values] : user.extra) {
    for (const std::string& value : values) headers.add("Impersonate-Extra-" + net::percent_encode(key), value);
  }
}

/// The text of `299 - "text"`.
std::string warning_text(std::string_view header) {
  const auto first = header.find('"');
  const auto last = header.rfind('"');
  if (first == std::string_view::npos || last <= first) return std::string(header);
  std::string text;
  for (std::size_t i = first + 1; i < last; ++i) {
    if (header[i] == '\\' && i + 1 < last) ++i;
    text.push_back(header[i]);
  }
  return text;
}

Status failure_of(const http::Response& response) {
  const auto body = json::parse(response.body, {.max_bytes = kMaxDocument});
  Status status;
  if (body && (*body)["kind"].as_string() == "Status") {
    status = kube::status_from_json(*body);
  } else {
    status = kube::status_from_json(json::object({{"code", response.status}}));
    status.message = response.body.substr(0, kMaxErrorText);
    if (status.message.empty()) status.message = fmt::format("{} {}", response.status, http::status_text(response.status));
  }
  const std::string_view seconds = response.headers.get("Retry-After");
  if (status.retry_after_seconds == 0 && !seconds.empty()) {
    status.retry_after_seconds = static_cast<int>(std::min<long>(std::strtol(std::string(seconds).c_str(), nullptr, 10), 3600));
  }
  return status;
}

}  // namespace

HttpCall call_of(const client::Request& request, const std::string& server) {
  HttpCall call;
  call.method = method_of(request.verb);
  const std::string query = query_of(request);
  call.url = server + path_of(request) + (query.empty() ? "" : "?" + query);
  call.headers.add("Accept", accepted(request));
  if (!request.user_agent.empty()) call.headers.add("User-Agent", request.user_agent);
  if (request.user) add_user(*request.user, call.headers);
  if (!request.body.is_null()) {
    call.headers.add("Content-Type", media_type_of(request));
    call.body = json::print(request.body);
  }
  call.is_streaming = request.verb == Verb::Watch;
  return call;
}

Result<client::Reply> reply_of(const http::Response& response) {
  if (response.status < 200 || response.status > 299) return fail(failure_of(response));
  auto object = json::parse(response.body, {.max_bytes = kMaxDocument});
  if (!object) {
    return fail(Reason::InternalError, "the API server's answer is no JSON: " + object.error().message);
  }
  client::Reply reply;
  reply.object = std::move(*object);
  reply.code = response.status;
  for (const std::string_view warning : response.headers.all("Warning")) reply.warnings.push_back(warning_text(warning));
  return reply;
}

Result<client::WatchEvent> event_of(std::string_view line) {
  SLIPWAY_TRY(value, json::parse(line, {.max_bytes = kMaxDocument}));
  const std::string_view type = value["type"].as_string();
  if (type == "ERROR") return fail(kube::status_from_json(value["object"]));
  using Type = client::WatchEvent::Type;
  for (const Type known : {Type::Added, Type::Modified, Type::Deleted, Type::Bookmark}) {
    if (type == client::to_string(known)) return client::WatchEvent{known, value["object"]};
  }
  return fail(Reason::InternalError, fmt::format("a watch gave an event of the unknown type \"{}\"", type));
}

}  // namespace slipway::remote
