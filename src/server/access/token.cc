#include "server/access/token.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "kube/object.h"
#include "server/access/authorizer.h"

namespace slipway::server {

namespace {

using json::Value;

constexpr std::string_view kClaims = "kubernetes.io";

std::int64_t seconds(Time time) { return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count(); }

std::unexpected<Status> refused(std::string why) { return fail(Reason::Unauthorized, std::move(why)); }

/// `aud` is one text or a list.
std::vector<std::string> audiences_of(const Value& claims) {
  if (claims["aud"].is_string()) return {claims["aud"].str()};
  std::vector<std::string> result;
  for (const Value& one : claims["aud"].items()) result.push_back(one.str());
  return result;
}

Result<void> check_times(const Value& claims, Time now) {
  if (!claims["exp"].is_number() || seconds(now) >= claims["exp"].as_int()) return refused("service account token has expired");
  if (claims.has("nbf") && seconds(now) < claims["nbf"].as_int()) {
    return refused("service account token is not valid yet");
  }
  return {};
}

/// The object of a kind named in the claims, or none; Unauthorized when it is gone, going or another.
Result<void> check_bound(const store::Store& store, const Value& own, std::string_view ns, std::string_view kind) {
  const Value& claim = own[lower(kind)];
  if (!claim.is_object()) return {};
  const BoundObject bound{std::string(kind), claim["name"].str(), claim["uid"].str()};
  const auto entry = store.get(bound_key(bound, ns));
  if (!entry || kube::uid(entry->value) != bound.uid) {
    return refused(fmt::format("service account token has been invalidated: the {} {} is gone", lower(kind), bound.name));
  }
  return {};
}

std::shared_ptr<kube::UserInfo> user_of(const Value& claims, std::string_view ns, std::string_view name) {
  const Value& own = claims[kClaims];
  auto user = std::make_shared<kube::UserInfo>();
  user->name = account_user(ns, name);
  user->uid = own["serviceaccount"]["uid"].str();
  user->groups = {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", ns), "system:authenticated"};
  const std::string prefix = "authentication.kubernetes.io/";
  if (claims.has("jti")) user->extra[prefix + "credential-id"] = {"JTI=" + claims["jti"].str()};
  for (const std::string_view kind : {"pod", "node"}) {
    const Value& bound = own[kind];
    if (!bound.is_object()) continue;
    user->extra[fmt::format("{}{}-name", prefix, kind)] = {bound["name"].str()};
    user->extra[fmt::format("{}{}-uid", prefix, kind)] = {bound["uid"].str()};
  }
  return user;
}

}  // namespace

std::string account_key(std::string_view ns, std::string_view name) {
  return fmt::format("/registry/core/serviceaccounts/{}/{}", ns, name);
}

std::string bound_key(const BoundObject& bound, std::string_view ns) {
  if (bound.kind == "Node") return fmt::format("/registry/core/nodes/{}", bound.name);
  return fmt::format("/registry/core/{}s/{}/{}", lower(bound.kind), ns, bound.name);
}

Value token_claims(const TokenRules& rules, const Value& account, const BoundObject* bound,
                   const std::vector<std::string>& audiences, Time now, Duration validity, std::string_view id) {
  json::ObjectBuilder own;
  own.add("namespace", kube::ns(account));
  if (bound != nullptr) own.add(lower(bound->kind), json::object({{"name", bound->name}, {"uid", bound->uid}}));
  own.add("serviceaccount", json::object({{"name", kube::name(account)}, {"uid", kube::uid(account)}}));
  return json::object({{"aud", json::array(audiences)},
                       {"exp", seconds(now + validity)},
                       {"iat", seconds(now)},
                       {"iss", rules.issuer},
                       {"jti", id},
                       {kClaims, own.build()},
                       {"nbf", seconds(now)},
                       {"sub", account_user(kube::ns(account), kube::name(account))}});
}

Result<TokenFacts> token_facts(const TokenRules& rules, const store::Store& store, const Value& claims,
                               const std::vector<std::string>& audiences, Time now) {
  if (claims["iss"].as_string() != rules.issuer) return refused("the token is of another issuer");
  SLIPWAY_TRY_VOID(check_times(claims, now));
  TokenFacts facts;
  const std::vector<std::string> offered = audiences_of(claims);
  std::ranges::copy_if(audiences, std::back_inserter(facts.audiences),
                       [&](const std::string& one) { return std::ranges::find(offered, one) != offered.end(); });
  if (facts.audiences.empty()) {
    return refused(fmt::format("token audiences [{}] is invalid for the target audiences [{}]", fmt::join(offered, " "),
                               fmt::join(audiences, " ")));
  }
  const Value& own = claims[kClaims];
  const std::string_view ns = own["namespace"].as_string();
  const std::string_view name = own["serviceaccount"]["name"].as_string();
  const auto account = store.get(account_key(ns, name));
  if (!account) return refused("service account token has been invalidated: the service account is gone");
  if (kube::uid(account->value) != own["serviceaccount"]["uid"].as_string() ||
      claims["sub"].as_string() != account_user(ns, name)) {
    return refused("service account token has been invalidated: the service account is another");
  }
  for (const std::string_view kind : {"Pod", "Secret", "Node"}) SLIPWAY_TRY_VOID(check_bound(store, own, ns, kind));
  facts.user = user_of(claims, ns, name);
  return facts;
}

}  // namespace slipway::server
