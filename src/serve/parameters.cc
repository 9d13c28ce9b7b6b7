#include "serve/parameters.h"

#include <fmt/format.h>

#include <charconv>

#include "base/time.h"
#include "json/text.h"

namespace slipway::serve {
namespace {

using client::Request;
using client::Verb;

Result<void> read_list(const net::Query& query, Request& request) {
  request.label_selector = query.get("labelSelector");
  request.field_selector = query.get("fieldSelector");
  request.resource_version = query.get("resourceVersion");
  request.resource_version_match = query.get("resourceVersionMatch");
  request.continue_token = query.get("continue");
  SLIPWAY_TRY(limit, integer_of(query, "limit"));
  request.limit = limit.value_or(0);
  SLIPWAY_TRY(timeout, integer_of(query, "timeoutSeconds"));
  request.timeout_seconds = timeout;
  request.allow_watch_bookmarks = flag_of(query, "allowWatchBookmarks");
  if (query.find("sendInitialEvents")) request.send_initial_events = flag_of(query, "sendInitialEvents");
  return {};
}

std::string_view options_kind(Verb verb) {
  switch (verb) {
    case Verb::Create:
      return "CreateOptions";
    case Verb::Patch:
      return "PatchOptions";
    case Verb::Delete:
    case Verb::DeleteCollection:
      return "DeleteOptions";
    case Verb::Update:
    case Verb::Get:
    case Verb::List:
    case Verb::Watch:
      break;
  }
  return "UpdateOptions";
}

Result<bool> dry_run_of(const std::vector<std::string_view>& values, Verb verb) {
  for (const std::string_view value : values) {
    if (value == "All") continue;
    return fail(kube::invalid({"meta.k8s.io", "", std::string(options_kind(verb))}, "",
                              {field::not_supported("dryRun", json::print(json::Value(value)), {"All"})}));
  }
  return !values.empty();
}

Result<void> read_write(const net::Query& query, Request& request) {
  SLIPWAY_TRY(dry_run, dry_run_of(query.all("dryRun"), request.verb));
  request.dry_run = dry_run;
  request.field_manager = query.get("fieldManager");
  request.field_validation = query.get("fieldValidation");
  if (request.field_validation.empty()) request.field_validation = "Warn";  // what the API server does by default
  request.force = request.verb == Verb::Patch && flag_of(query, "force");
  return {};
}

Result<void> read_delete(const net::Query& query, Request& request) {
  if (!request.body.is_null()) {
    std::vector<std::string_view> values;
    for (const json::Value& value : request.body["dryRun"].items()) values.push_back(value.as_string());
    SLIPWAY_TRY(dry_run, dry_run_of(values, request.verb));
    request.dry_run = dry_run;
    return {};
  }
  SLIPWAY_TRY(dry_run, dry_run_of(query.all("dryRun"), request.verb));
  request.dry_run = dry_run;
  json::ObjectBuilder options;
  SLIPWAY_TRY(grace, integer_of(query, "gracePeriodSeconds"));
  if (grace) options.set("gracePeriodSeconds", *grace);
  if (const auto policy = query.find("propagationPolicy")) options.set("propagationPolicy", *policy);
  if (query.find("orphanDependents")) options.set("orphanDependents", flag_of(query, "orphanDependents"));
  if (!options.empty()) request.body = options.set("kind", "DeleteOptions").set("apiVersion", "v1").build();
  return {};
}

}  // namespace

bool flag_of(const net::Query& query, std::string_view name) {
  const auto value = query.find(name);
  return value && *value != "0" && !http::equals_ignoring_case(*value, "false");
}

Result<std::optional<std::int64_t>> integer_of(const net::Query& query, std::string_view name) {
  const auto text = query.find(name);
  if (!text || text->empty()) return std::optional<std::int64_t>{};
  std::string_view digits = *text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc{} && end == digits.data() + digits.size()) return value;
  return fail(Reason::BadRequest,
              fmt::format("strconv.ParseInt: parsing {}: {}", json::print(json::Value(*text)),
                          error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax"));
}

Result<void> read_parameters(const net::Query& query, Request& request) {
  switch (request.verb) {
    case Verb::Get:
      request.resource_version = query.get("resourceVersion");
      return {};
    case Verb::List:
    case Verb::Watch:
      return read_list(query, request);
    case Verb::Create:
    case Verb::Update:
    case Verb::Patch:
      return read_write(query, request);
    case Verb::DeleteCollection:
      SLIPWAY_TRY_VOID(read_list(query, request));
      return read_delete(query, request);
    case Verb::Delete:
      return read_delete(query, request);
  }
  return {};
}

Result<void> check_timeout(const net::Query& query) {
  const auto text = query.find("timeout");
  if (!text || text->empty() || parse_duration(*text)) return {};
  return fail(Reason::BadRequest, fmt::format("invalid timeout specified in the request URL - time: invalid duration {}",
                                              json::print(json::Value(*text))));
}

}  // namespace slipway::serve
