#include "server/access/access_review.h"

#include <fmt/format.h>

#include "json/text.h"
#include "server/access/review.h"

namespace slipway::server {

namespace {

constexpr std::string_view kAuthorizationGroup = "authorization.k8s.io";

kube::GroupVersionKind kind_named(std::string_view name) { return {std::string(kAuthorizationGroup), "v1", std::string(name)}; }

/// What is wrong with a spec (k8s.io/kubernetes pkg/apis/authorization/validation).
std::vector<Cause> attribute_causes(const Value& spec) {
  std::vector<Cause> causes;
  const bool has_resource = spec["resourceAttributes"].is_object();
  const bool has_path = spec["nonResourceAttributes"].is_object();
  if (has_resource && has_path) {
    causes.push_back(field::invalid("spec.nonResourceAttributes", json::print(spec["nonResourceAttributes"]),
                                    "cannot be specified in combination with resourceAttributes"));
  }
  if (!has_resource && !has_path) {
    causes.push_back(field::invalid("spec.resourceAttributes", "null",
                                    "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  return causes;
}

std::vector<Cause> subject_causes(const Value& spec) {
  std::vector<Cause> causes = attribute_causes(spec);
  if (spec["user"].as_string().empty() && spec["groups"].empty()) {
    causes.push_back(field::invalid("spec.user", "\"\"", "at least one of user or group must be specified"));
  }
  return causes;
}

Attributes attributes_in(const Value& spec) {
  const Value& what = spec["resourceAttributes"];
  if (!what.is_object()) {
    const Value& path = spec["nonResourceAttributes"];
    return Attributes::of_path(path["verb"].as_string(), path["path"].as_string());
  }
  return {.verb = what["verb"].str(),
          .group = what["group"].str(),
          .version = what["version"].str(),
          .resource = what["resource"].str(),
          .subresource = what["subresource"].str(),
          .ns = what["namespace"].str(),
          .name = what["name"].str()};
}

kube::UserInfo user_in(const Value& spec) {
  kube::UserInfo user{.name = spec["user"].str(), .uid = spec["uid"].str(), .groups = strings_of(spec["groups"]), .extra = {}};
  for (const auto [key, values] : spec["extra"].members()) user.extra[std::string(key)] = strings_of(values);
  return user;
}

Reply judged(ServerContext& context, const Value& body, Value metadata, const kube::UserInfo& user) {
  const auto decision = context.access.authorizer.decide(user, attributes_in(body["spec"]));
  json::ObjectBuilder status;
  status.add("allowed", decision.is_allowed);
  if (!decision.reason.empty()) status.add("reason", decision.reason);
  return reviewed(body, std::move(metadata), status.build());
}

Value rule_object(const PolicyRule& rule) {
  const Value made = rule.to_json();
  return rule.paths.empty() ? made : made.without("apiGroups").without("resources").without("resourceNames");
}

}  // namespace

Task<Result<Reply>> review_own_access(ServerContext& context, Request request) {
  const kube::GroupVersionKind kind = kind_named("SelfSubjectAccessReview");
  SLIPWAY_CO_TRY_VOID(check_review_body(request.body, kind));
  if (auto causes = attribute_causes(request.body["spec"]); !causes.empty()) {
    co_return fail(kube::invalid(kind, "", std::move(causes)));
  }
  co_return judged(context, request.body, Value::empty_object(), user_of(request));
}

Task<Result<Reply>> review_access(ServerContext& context, Request request) {
  const kube::GroupVersionKind kind = kind_named("SubjectAccessReview");
  SLIPWAY_CO_TRY_VOID(check_review_body(request.body, kind));
  if (auto causes = subject_causes(request.body["spec"]); !causes.empty()) {
    co_return fail(kube::invalid(kind, "", std::move(causes)));
  }
  co_return judged(context, request.body, Value::empty_object(), user_in(request.body["spec"]));
}

Task<Result<Reply>> review_local_access(ServerContext& context, Request request) {
  const kube::GroupVersionKind kind = kind_named("LocalSubjectAccessReview");
  SLIPWAY_CO_TRY_VOID(check_review_body(request.body, kind));
  const Value& spec = request.body["spec"];
  std::vector<Cause> causes = subject_causes(spec);
  const Value& ns = spec["resourceAttributes"]["namespace"];
  if (spec["resourceAttributes"].is_object() && ns.as_string() != request.ns) {
    causes.push_back(field::invalid("spec.resourceAttributes.namespace", json::print(Value(ns.as_string())),
                                    "must match metadata.namespace"));
  }
  if (spec["nonResourceAttributes"].is_object()) {
    causes.push_back(field::invalid("spec.nonResourceAttributes", json::print(spec["nonResourceAttributes"]),
                                    "disallowed on this kind of request"));
  }
  if (!causes.empty()) co_return fail(kube::invalid(kind, "", std::move(causes)));
  co_return judged(context, request.body, json::object({{"namespace", request.ns}}), user_in(spec));
}

Task<Result<Reply>> review_own_rules(ServerContext& context, Request request) {
  SLIPWAY_CO_TRY_VOID(check_review_body(request.body, kind_named("SelfSubjectRulesReview")));
  const std::string_view ns = request.body["spec"]["namespace"].as_string();
  if (ns.empty()) co_return fail(Reason::BadRequest, "no namespace on request");
  json::ArrayBuilder resources;
  json::ArrayBuilder paths;
  for (const PolicyRule& rule : context.access.authorizer.rules_for(user_of(request), ns)) {
    (rule.paths.empty() ? resources : paths).add(rule_object(rule));
  }
  co_return reviewed(
      request.body, Value::empty_object(),
      json::object({{"resourceRules", resources.build()}, {"nonResourceRules", paths.build()}, {"incomplete", false}}));
}

}  // namespace slipway::server
