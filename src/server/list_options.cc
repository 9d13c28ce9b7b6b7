#include "server/list_options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/digest.h"
#include "json/quoted.h"
#include "json/text.h"

namespace slipway::server {

using json::quoted;

namespace {

constexpr std::string_view kExact = "Exact";
constexpr std::string_view kNotOlderThan = "NotOlderThan";
constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";

std::unexpected<Status> invalid_options(std::vector<Cause> causes) {
  return fail(kube::invalid({"meta.k8s.io", "", "ListOptions"}, "", std::move(causes)));
}

std::vector<Cause> list_faults(const client::Request& request) {
  std::vector<Cause> causes;
  const std::string& match = request.resource_version_match;
  const auto refuse = [&](std::string detail) {
    causes.push_back(field::forbidden("resourceVersionMatch", std::move(detail)));
  };
  if (!match.empty()) {
    if (request.resource_version.empty()) refuse("resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (!request.continue_token.empty()) refuse("resourceVersionMatch is forbidden when continue is provided");
    if (match != kExact && match != kNotOlderThan) {
      causes.push_back(field::not_supported("resourceVersionMatch", quoted(match), {"Exact", "NotOlderThan", ""}));
    }
    if (match == kExact && request.resource_version == "0") {
      refuse("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (request.send_initial_events) {
    causes.push_back(field::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return causes;
}

std::vector<Cause> watch_faults(const client::Request& request) {
  std::vector<Cause> causes;
  const std::string& match = request.resource_version_match;
  const auto refuse = [&](std::string detail) {
    causes.push_back(field::forbidden("resourceVersionMatch", std::move(detail)));
  };
  if (request.send_initial_events && match != kNotOlderThan) {
    refuse("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (match.empty()) return causes;
  if (!request.send_initial_events) {
    refuse("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (match != kNotOlderThan) causes.push_back(field::not_supported("resourceVersionMatch", quoted(match), {"NotOlderThan"}));
  if (!request.continue_token.empty()) refuse("resourceVersionMatch is forbidden when continue is provided");
  return causes;
}

struct Token {
  kube::Revision revision = 0;
  std::string start;
};

Result<Token> read_token(std::string_view text) {
  const auto refuse = [](std::string_view why) {
    return fail(Reason::BadRequest, fmt::format("invalid continue token: {}", why));
  };
  std::string bytes;
  if (!base64_decode(text, bytes)) return refuse("continue key is not valid: it is no base64url text");
  const auto token = json::parse(bytes);
  if (!token) return refuse(fmt::format("continue key is not valid: {}", token.error().message));
  if ((*token)["v"].as_string() != kTokenVersion) {
    return refuse(fmt::format("continue key is not valid: server does not recognize this encoded version {}",
                              quoted((*token)["v"].as_string())));
  }
  Token result{(*token)["rv"].as_int(), (*token)["start"].str()};
  if (result.revision == 0)
    return refuse("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (result.start.empty()) return refuse("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  return result;
}

}  // namespace

bool Selection::matches(const kube::Object& object) const {
  return (labels.matches_everything() || labels.matches(object["metadata"]["labels"])) &&
         (fields.matches_everything() || fields.matches(object));
}

Result<Selection> Selection::of(const client::Request& request, const Served& served) {
  Selection selection;
  SLIPWAY_TRY(labels, kube::LabelSelector::parse(request.label_selector));
  SLIPWAY_TRY(fields, kube::FieldSelector::parse(request.field_selector));
  SLIPWAY_TRY_VOID(fields.check(served.type.selectable_fields));
  selection.labels = std::move(labels);
  selection.fields = std::move(fields);
  std::optional<std::string> name = selection.fields.demanded("metadata.name");
  if (!request.name.empty()) {
    if (name && *name != request.name) {
      return fail(Reason::BadRequest, "fieldSelector metadata.name doesn't match requested name");
    }
    name = request.name;
  }
  std::optional<std::string> ns = selection.fields.demanded("metadata.namespace");
  if (!request.ns.empty()) ns = request.ns;
  selection.prefix = served.prefix;
  if (served.type.is_namespaced && (!ns || ns->empty())) return selection;
  if (served.type.is_namespaced) selection.prefix += *ns + "/";
  if (name && !name->empty()) {
    selection.prefix += *name;
    selection.is_one_key = true;
  }
  return selection;
}

Result<ListPlan> ListPlan::of(const client::Request& request) {
  if (auto causes = list_faults(request); !causes.empty()) return invalid_options(std::move(causes));
  if (request.limit < 0)
    return invalid_options({field::invalid("limit", std::to_string(request.limit), "must be non-negative")});
  ListPlan plan;
  plan.limit = static_cast<std::size_t>(request.limit);
  SLIPWAY_TRY(revision, revision_of(request.resource_version));
  if (!request.continue_token.empty()) {
    if (revision > 0) return fail(Reason::BadRequest, "specifying resource version is not allowed when using continue");
    SLIPWAY_TRY(token, read_token(request.continue_token));
    plan.at = std::max<kube::Revision>(token.revision, 0);  // -1: go on in whatever state there is now
    plan.start = std::move(token.start);
    return plan;
  }
  const bool is_exact = request.resource_version_match == kExact || (request.resource_version_match.empty() && plan.limit > 0);
  (is_exact ? plan.at : plan.not_older_than) = revision;
  return plan;
}

Result<WatchPlan> WatchPlan::of(const client::Request& request) {
  if (auto causes = watch_faults(request); !causes.empty()) return invalid_options(std::move(causes));
  WatchPlan plan;
  SLIPWAY_TRY(revision, revision_of(request.resource_version));
  if (request.send_initial_events.value_or(false)) {
    plan.starts_with_state = true;
    plan.marks_end_of_state = request.allow_watch_bookmarks;
    plan.not_older_than = revision;
  } else if (revision > 0) {
    plan.from = revision;
  } else {
    plan.starts_now = request.send_initial_events.has_value();
    plan.starts_with_state = !plan.starts_now;
  }
  return plan;
}

Result<kube::Revision> revision_of(std::string_view text) {
  if (text.empty()) return 0;
  kube::Revision revision = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (error == std::errc{} && end == text.data() + text.size() && revision >= 0) return revision;
  return invalid_options({field::invalid("resourceVersion", quoted(text),
                                         fmt::format("strconv.ParseUint: parsing {}: invalid syntax", quoted(text)))});
}

std::string continue_token(kube::Revision revision, std::string_view start) {
  return base64url_encode(json::print(json::object({{"v", kTokenVersion}, {"rv", revision}, {"start", start}})));
}

Status too_large_revision(kube::Revision wanted, kube::Revision current) {
  Status status;
  status.reason = Reason::Timeout;
  status.message = fmt::format("Too large resource version: {}, current: {}", wanted, current);
  status.causes = {{.reason = "ResourceVersionTooLarge", .message = "Too large resource version", .field = ""}};
  status.retry_after_seconds = 1;
  return status;
}

Status too_old_revision(kube::Revision wanted, kube::Revision oldest) {
  Status status;
  status.reason = Reason::Expired;
  status.message = fmt::format("too old resource version: {} ({})", wanted, oldest);
  return status;
}

}  // namespace slipway::server
