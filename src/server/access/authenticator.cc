#include "server/access/authenticator.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "json/text.h"

namespace slipway::server {

namespace {

constexpr std::size_t kMostVerified = 1000;
constexpr std::string_view kAnonymous = "system:anonymous";
constexpr std::string_view kAuthenticated = "system:authenticated";
constexpr std::string_view kUnauthenticated = "system:unauthenticated";
constexpr std::string_view kAuthentication = "authentication.k8s.io";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = lower(c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/// %2F and its like; as it is when malformed (as url.PathUnescape's callers do).
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::string(text);
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

/// The token in a list of WebSocket subprotocols, where browsers put it; "" when there is none.
std::string bearer_of_protocols(std::string_view list) {
  constexpr std::string_view kPrefix = "base64url.bearer.authorization.k8s.io.";
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view one = trimmed(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    std::string token;
    if (one.starts_with(kPrefix) && base64_decode(one.substr(kPrefix.size()), token)) return token;
  }
  return {};
}

std::unexpected<Status> unauthorized() { return fail(Reason::Unauthorized, "Unauthorized"); }

/// The fields of one line of comma-separated values; quotes hold commas together and are doubled inside.
std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (is_quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

/// The elements of a list, without blanks around them and without empty ones.
std::vector<std::string> elements(std::string_view list) {
  std::vector<std::string> result;
  for (const std::string_view part : split(list, ',')) {
    if (const std::string_view one = trimmed(part); !one.empty()) result.emplace_back(one);
  }
  return result;
}

/// The namespace and name of "system:serviceaccount:NS:NAME"; empty for another user.
std::pair<std::string, std::string> account_of(std::string_view user) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (!user.starts_with(kPrefix)) return {};
  user.remove_prefix(kPrefix.size());
  const std::size_t colon = user.find(':');
  if (colon == std::string_view::npos || user.find(':', colon + 1) != std::string_view::npos) return {};
  return {std::string(user.substr(0, colon)), std::string(user.substr(colon + 1))};
}

Attributes impersonating(std::string_view group, std::string_view resource, std::string_view name) {
  return {.verb = "impersonate",
          .group = std::string(group),
          .version = "v1",
          .resource = std::string(resource),
          .name = std::string(name)};
}

/// Everything that must be allowed for these headers.
std::vector<Attributes> impersonations(const Credentials& asked) {
  std::vector<Attributes> result;
  if (auto [ns, account] = account_of(asked.impersonated_user); !account.empty()) {
    result.push_back(impersonating("", "serviceaccounts", account));
    result.back().ns = ns;
  } else {
    result.push_back(impersonating("", "users", asked.impersonated_user));
  }
  for (const std::string& group : asked.impersonated_groups) result.push_back(impersonating("", "groups", group));
  for (const auto& [key, values] : asked.impersonated_extra) {
    for (const std::string& value : values) {
      result.push_back(impersonating(kAuthentication, "userextras", value));
      result.back().subresource = key;
    }
  }
  if (!asked.impersonated_uid.empty()) result.push_back(impersonating(kAuthentication, "uids", asked.impersonated_uid));
  return result;
}

/// Adds system:authenticated and the groups of service accounts.
void add_own_groups(kube::UserInfo& user) {
  if (const auto [ns, account] = account_of(user.name); !account.empty() && user.groups.empty()) {
    user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + ns};
  }
  const std::string_view own = user.name == kAnonymous ? kUnauthenticated : kAuthenticated;
  if (!is_in_group(user, kAuthenticated) && !is_in_group(user, own)) user.groups.emplace_back(own);
}

}  // namespace

void Credentials::take_header(std::string_view name, std::string_view value) {
  const std::string key = lower(name);
  constexpr std::string_view kExtra = "impersonate-extra-";
  if (key == "authorization") authorization = value;
  if (key == "sec-websocket-protocol") websocket_bearer = bearer_of_protocols(value);
  if (!key.starts_with("impersonate-")) return;
  is_impersonating = true;
  if (key == "impersonate-user") impersonated_user = value;
  if (key == "impersonate-uid") impersonated_uid = value;
  if (key == "impersonate-group") impersonated_groups.emplace_back(value);
  if (key.starts_with(kExtra)) impersonated_extra[lower(unescaped(key.substr(kExtra.size())))].emplace_back(value);
}

void Credentials::take_headers(const http::Headers& headers) {
  for (const auto& [name, value] : headers) take_header(name, value);
}

Result<std::map<std::string, UserPtr, std::less<>>> read_static_tokens(std::string_view csv) {
  std::map<std::string, UserPtr, std::less<>> result;
  int number = 0;
  while (!csv.empty()) {
    const std::size_t end = csv.find('\n');
    const std::string_view line = trimmed(csv.substr(0, end));
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() < 3 || fields[0].empty() || fields[1].empty()) {
      return fail(Reason::BadRequest, fmt::format("line {} of the token file: want token,user,uid[,\"group,group\"]", number));
    }
    auto user = std::make_shared<kube::UserInfo>();
    user->name = fields[1];
    user->uid = fields[2];
    if (fields.size() > 3) user->groups = elements(fields[3]);
    user->groups.emplace_back(kAuthenticated);
    result.insert_or_assign(fields[0], std::move(user));
  }
  return result;
}

Result<UserPtr> Authenticator::authenticate(const Credentials& credentials) {
  SLIPWAY_TRY(user, caller(credentials));
  if (!credentials.is_impersonating) return user;
  return impersonate(*user, credentials);
}

Result<UserPtr> Authenticator::caller(const Credentials& credentials) {
  if (credentials.certificate && !credentials.certificate->common_name.empty()) {
    auto user = std::make_shared<kube::UserInfo>();
    user->name = credentials.certificate->common_name;
    user->groups = credentials.certificate->organizations;
    user->groups.emplace_back(kAuthenticated);
    if (const std::string& digest = credentials.certificate->sha256; !digest.empty()) {
      user->extra["authentication.kubernetes.io/credential-id"] = {"X509SHA256=" + digest};
    }
    return user;
  }
  std::string_view bearer = credentials.websocket_bearer;
  std::string_view header = trimmed(credentials.authorization);
  if (const std::size_t space = header.find(' ');
      space != std::string_view::npos && lower(header.substr(0, space)) == "bearer") {
    bearer = trimmed(header.substr(space + 1));
  }
  if (!bearer.empty()) {
    auto facts = token(bearer, {});
    if (!facts) return unauthorized();
    return facts->user;
  }
  if (!options_.allows_anonymous) return unauthorized();
  static const UserPtr kNobody = std::make_shared<const kube::UserInfo>(
      kube::UserInfo{.name = std::string(kAnonymous), .uid = "", .groups = {std::string(kUnauthenticated)}, .extra = {}});
  return kNobody;
}

Result<TokenFacts> Authenticator::token(std::string_view token, const std::vector<std::string>& audiences) {
  const std::vector<std::string>& wanted = audiences.empty() ? options_.tokens.audiences : audiences;
  if (const auto found = options_.static_tokens.find(token); found != options_.static_tokens.end()) {
    return TokenFacts{found->second, {}};
  }
  SLIPWAY_TRY(claims, claims_of(token));
  return token_facts(options_.tokens, store_, claims, wanted, env_.clock.now());
}

Result<json::Value> Authenticator::claims_of(std::string_view token) {
  if (options_.signer == nullptr) return fail(Reason::Unauthorized, "invalid bearer token");
  if (const auto found = verified_.find(token); found != verified_.end()) return found->second;
  SLIPWAY_TRY(text, options_.signer->verify(token));
  auto claims = json::parse(text);
  if (!claims || !claims->is_object()) return fail(Reason::Unauthorized, "invalid bearer token");
  if (verified_.size() >= kMostVerified) verified_.clear();
  verified_.emplace(std::string(token), *claims);
  return *claims;
}

Result<UserPtr> Authenticator::impersonate(const kube::UserInfo& caller, const Credentials& asked) {
  if (asked.impersonated_user.empty()) {
    return fail(Reason::InternalError, "Internal Server Error: impersonation is requested without impersonating a user");
  }
  for (const Attributes& one : impersonations(asked)) SLIPWAY_TRY_VOID(authorizer_.check(caller, one));
  auto user = std::make_shared<kube::UserInfo>();
  user->name = asked.impersonated_user;
  user->uid = asked.impersonated_uid;
  user->groups = asked.impersonated_groups;
  user->extra = asked.impersonated_extra;
  add_own_groups(*user);
  return user;
}

}  // namespace slipway::server
