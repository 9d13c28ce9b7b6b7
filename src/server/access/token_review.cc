#include "server/access/token_review.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "json/text.h"
#include "server/access/review.h"

namespace slipway::server {

namespace {

constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io";
constexpr std::int64_t kDefaultSeconds = 3600;
constexpr std::int64_t kLeastSeconds = 600;
constexpr std::int64_t kMostTokenSeconds = std::int64_t{1} << 32;

Result<std::int64_t> validity_of(const Value& spec) {
  const Value& asked = spec["expirationSeconds"];
  const std::int64_t seconds = asked.is_null() ? kDefaultSeconds : asked.as_int();
  const char* fault = seconds < kLeastSeconds       ? "may not specify a duration less than 10 minutes"
                      : seconds > kMostTokenSeconds ? "may not specify a duration larger than 2^32 seconds"
                                                    : nullptr;
  if (fault == nullptr) return seconds;
  return fail(kube::invalid({std::string(kAuthenticationGroup), "v1", "TokenRequest"}, "",
                            {field::invalid("spec.expirationSeconds", std::to_string(seconds), fault)}));
}

/// The object a token is to be bound to, as it is.
Result<std::optional<BoundObject>> bound_of(const ServerContext& context, const Value& spec, const Value& account) {
  const Value& reference = spec["boundObjectRef"];
  if (!reference.is_object()) return std::nullopt;
  BoundObject bound{reference["kind"].str(), reference["name"].str(), reference["uid"].str()};
  constexpr std::array<std::string_view, 3> kKinds{"Pod", "Secret", "Node"};
  if (reference["apiVersion"].as_string() != "v1" || std::ranges::find(kKinds, bound.kind) == kKinds.end()) {
    return fail(Reason::BadRequest, fmt::format("cannot bind token to object of type {}, Kind={}",
                                                reference["apiVersion"].as_string(), bound.kind));
  }
  const auto entry = context.store.get(bound_key(bound, kube::ns(account)));
  const std::string plural = bound.kind == "Pod" ? "pods" : bound.kind == "Node" ? "nodes" : "secrets";
  const kube::Resource resource{"", "v1", plural};
  if (!entry) return fail(kube::not_found(resource, bound.name));
  const Value& object = entry->value;
  if (bound.kind == "Pod" && object["spec"]["serviceAccountName"].as_string() != kube::name(account)) {
    return fail(Reason::BadRequest,
                fmt::format("cannot bind token for serviceaccount \"{}\" to pod running with different serviceaccount name.",
                            kube::name(account)));
  }
  if (!bound.uid.empty() && bound.uid != kube::uid(object)) {
    return fail(kube::conflict(resource, bound.name,
                               fmt::format("the UID in the bound object reference ({}) does not match the UID in record. The "
                                           "object might have been deleted and then recreated",
                                           bound.uid)));
  }
  bound.uid = kube::uid(object);
  return bound;
}

}  // namespace

Task<Result<Reply>> review_token(ServerContext& context, Request request) {
  SLIPWAY_CO_TRY_VOID(check_review_body(request.body, {std::string(kAuthenticationGroup), "v1", "TokenReview"}));
  const Value& spec = request.body["spec"];
  const std::string_view token = spec["token"].as_string();
  if (token.empty()) co_return fail(Reason::BadRequest, "token is required for TokenReview in authentication");
  json::ObjectBuilder status;
  const auto facts = context.access.authenticator.token(token, strings_of(spec["audiences"]));
  if (facts) {
    status.add("authenticated", true).add("user", user_object(*facts->user));
    if (!facts->audiences.empty()) status.add("audiences", json::array(facts->audiences));
  } else {
    status.add("user", Value::empty_object()).add("error", facts.error().message);
  }
  co_return reviewed(request.body, Value::empty_object(), status.build());
}

Task<Result<Reply>> review_self(ServerContext& context, Request request) {
  SLIPWAY_CO_TRY_VOID(
      check_review_body(request.body, {std::string(kAuthenticationGroup), request.resource.version, "SelfSubjectReview"}));
  co_return reviewed(request.body, json::object({{"creationTimestamp", to_rfc3339(context.env.clock.now())}}),
                     json::object({{"userInfo", user_object(user_of(request))}}));
}

Task<Result<Reply>> create_token(ServerContext& context, Request request) {
  SLIPWAY_CO_TRY_VOID(check_review_body(request.body, {std::string(kAuthenticationGroup), "v1", "TokenRequest"}));
  const Authenticator::Options& options = context.access.authenticator.options();
  if (options.signer == nullptr) co_return fail(Reason::NotImplemented, "this server has no key to sign tokens with");
  const auto account = context.store.get(account_key(request.ns, request.name));
  if (!account) co_return fail(kube::not_found({"", "v1", "serviceaccounts"}, request.name));
  const std::string_view name = kube::name(request.body);
  if (!name.empty() && name != request.name) {
    co_return fail(Reason::BadRequest,
                   fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, request.name));
  }
  const Value& spec = request.body["spec"];
  SLIPWAY_CO_TRY(seconds, validity_of(spec));
  SLIPWAY_CO_TRY(bound, bound_of(context, spec, account->value));
  std::vector<std::string> audiences = strings_of(spec["audiences"]);
  if (audiences.empty()) audiences = options.tokens.audiences;
  const Time now = context.env.clock.now();
  const Duration validity = seconds_saturating(seconds);
  const Value claims = token_claims(options.tokens, account->value, bound ? &*bound : nullptr, audiences, now, validity,
                                    uuid(context.env.random));
  SLIPWAY_CO_TRY(token, options.signer->sign(json::print(claims)));
  json::ObjectBuilder asked;
  asked.add("audiences", json::array(audiences)).add("expirationSeconds", seconds);
  asked.add("boundObjectRef", bound ? spec["boundObjectRef"].with("uid", bound->uid) : Value());
  co_return reviewed(request.body.with("spec", asked.build()),
                     json::object({{"name", request.name}, {"namespace", request.ns}, {"creationTimestamp", to_rfc3339(now)}}),
                     json::object({{"token", token}, {"expirationTimestamp", to_rfc3339(now + validity)}}));
}

}  // namespace slipway::server
