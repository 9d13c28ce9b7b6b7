#include "serve/front_proxy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "json/text.h"
#include "net/http.h"

namespace slipway::serve {
namespace {

/// The ConfigMap has lists as JSON texts.
Result<std::vector<std::string>> list_of(const json::Value& config_map, const char* key) {
  const std::string text = config_map["data"][key].str();
  if (text.empty()) return std::vector<std::string>{};
  const auto read = json::parse(text);
  if (!read || !read->is_array()) {
    return fail(Reason::BadRequest, fmt::format("ConfigMap {}: {} is no list", kFrontProxyConfig.to_string(), key));
  }
  std::vector<std::string> names;
  for (const json::Value& one : read->items()) names.push_back(one.str());
  return names;
}

std::string first_of(const http::Headers& headers, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!headers.get(name).empty()) return std::string(headers.get(name));
  }
  return "";
}

Status unauthorized() {
  Status status;
  status.reason = Reason::Unauthorized;
  status.message = "Unauthorized";
  return status;
}

void add_extra(kube::UserInfo& user, const FrontProxy& proxy, const http::Headers::Field& field) {
  for (const std::string& prefix : proxy.extra_prefixes) {
    const bool is_extra = field.first.size() > prefix.size() &&
                          http::equals_ignoring_case(std::string_view(field.first).substr(0, prefix.size()), prefix);
    if (!is_extra) continue;
    const std::string key = lower(field.first.substr(prefix.size()));
    user.extra[net::percent_decode(key).value_or(key)].push_back(field.second);
    return;
  }
}

}  // namespace

Result<FrontProxy> read_front_proxy(const json::Value& config_map) {
  FrontProxy proxy{.authority_pem = config_map["data"]["requestheader-client-ca-file"].str()};
  SLIPWAY_TRY(names, list_of(config_map, "requestheader-allowed-names"));
  SLIPWAY_TRY(users, list_of(config_map, "requestheader-username-headers"));
  SLIPWAY_TRY(uids, list_of(config_map, "requestheader-uid-headers"));
  SLIPWAY_TRY(groups, list_of(config_map, "requestheader-group-headers"));
  SLIPWAY_TRY(extra, list_of(config_map, "requestheader-extra-headers-prefix"));
  if (proxy.authority_pem.empty() || users.empty()) {
    return fail(Reason::BadRequest,
                fmt::format("ConfigMap {} names no front proxy (requestheader-client-ca-file, requestheader-username-headers): "
                            "the cluster passes no requests on",
                            kFrontProxyConfig.to_string()));
  }
  proxy.allowed_names = std::move(names);
  proxy.user_headers = std::move(users);
  proxy.uid_headers = std::move(uids);
  proxy.group_headers = std::move(groups);
  proxy.extra_prefixes = std::move(extra);
  return proxy;
}

Result<std::shared_ptr<const kube::UserInfo>> user_of(const FrontProxy& proxy, const net::ConnectionInfo& connection,
                                                      const http::Headers& headers) {
  const net::PeerCertificate& shown = connection.certificate;
  const bool is_named =
      proxy.allowed_names.empty() || std::ranges::find(proxy.allowed_names, shown.common_name) != proxy.allowed_names.end();
  auto user = std::make_shared<kube::UserInfo>();
  user->name = first_of(headers, proxy.user_headers);
  if (!shown.is_verified || shown.sha256.empty() || !is_named || user->name.empty()) return fail(unauthorized());
  user->uid = first_of(headers, proxy.uid_headers);
  for (const std::string& name : proxy.group_headers) {
    for (const std::string_view group : headers.all(name)) user->groups.emplace_back(group);
  }
  for (const http::Headers::Field& field : headers) add_extra(*user, proxy, field);
  return std::shared_ptr<const kube::UserInfo>(std::move(user));
}

}  // namespace slipway::serve
