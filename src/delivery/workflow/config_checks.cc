// vela/config: whether servers that a configuration names are there and take its credentials. The answer is a verdict, never
// an error: a template decides what it means.
#include <fmt/format.h>

#include "base/digest.h"
#include "base/http_trust.h"
#include "base/text.h"
#include "delivery/workflow/provider.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

Answer verdict(std::string message) { return Answer::done(json::object({{"result", message.empty()}, {"message", message}})); }

struct Login {
  std::string user;
  std::string password;
};

std::string basic(const Login& login) { return "Basic " + base64_encode(login.user + ":" + login.password); }

Task<Result<http::Response>> get(HttpClient& http, std::string url, std::string authorization, HttpTrust trust) {
  HttpCall call{.url = std::move(url)};
  if (!authorization.empty()) call.headers.set("Authorization", authorization);
  if (trust == HttpTrust{}) co_return co_await http.send(std::move(call));
  co_return co_await http.send_trusting(std::move(call), std::move(trust));
}

Task<Answer> helm_repository(ProviderCall call) {
  if (call.setting.http == nullptr) co_return Answer::error("calls of foreign servers are not available here");
  std::string url = call.params["url"].str();
  if (url.starts_with("oci://")) co_return verdict("charts in OCI registries have no index: check the registry instead");
  while (url.ends_with('/')) url.pop_back();
  const Login login{call.params["username"].str(), call.params["password"].str()};
  HttpTrust trust;
  trust.authority_pem = call.params["caFile"].str();
  const auto index = co_await get(*call.setting.http, url + "/index.yaml", login.user.empty() ? "" : basic(login), trust);
  if (!index) co_return verdict(fmt::format("{}/index.yaml: {}", url, index.error().message));
  if (index->status != 200) co_return verdict(fmt::format("{}/index.yaml: {}", url, index->status));
  const bool is_index = index->body.contains("entries:");
  co_return verdict(is_index ? "" : fmt::format("{}/index.yaml is no index of charts", url));
}

/// `realm="https://auth.test/token",service="registry"` → the value of a name.
std::string challenge_value(std::string_view challenge, std::string_view name) {
  const std::string key = fmt::format("{}=\"", name);
  const auto at = challenge.find(key);
  if (at == std::string_view::npos) return "";
  const auto end = challenge.find('"', at + key.size());
  return std::string(challenge.substr(at + key.size(), end == std::string_view::npos ? end : end - at - key.size()));
}

/// Asks the server of tokens that a registry names (the Docker registry's token protocol).
Task<Answer> ask_for_token(HttpClient& http, std::string challenge, Login login, HttpTrust trust) {
  const std::string realm = challenge_value(challenge, "realm");
  const std::string service = challenge_value(challenge, "service");
  if (!realm.starts_with("http")) co_return verdict("the registry asks for a token and does not say where to get it");
  const std::string url = service.empty() ? realm : fmt::format("{}?service={}", realm, service);
  const auto token = co_await get(http, url, login.user.empty() ? "" : basic(login), trust);
  if (!token) co_return verdict(fmt::format("{}: {}", realm, token.error().message));
  co_return verdict(
      token->status == 200 ? "" : fmt::format("{}: {}: the registry does not take these credentials", realm, token->status));
}

Task<Answer> image_registry(ProviderCall call) {
  if (call.setting.http == nullptr) co_return Answer::error("calls of foreign servers are not available here");
  HttpClient& http = *call.setting.http;
  std::string host = call.params["registry"].str();
  if (host.empty() || host == "index.docker.io" || host == "docker.io") host = "registry-1.docker.io";
  const Login login{call.params["auth"]["username"].str(), call.params["auth"]["password"].str()};
  HttpTrust trust;
  trust.is_insecure = call.params["insecure"].as_bool();
  const std::string url = fmt::format("{}://{}/v2/", call.params["useHTTP"].as_bool() ? "http" : "https", host);
  const auto first = co_await get(http, url, "", trust);
  if (!first) co_return verdict(fmt::format("{}: {}", url, first.error().message));
  if (first->status == 200) co_return verdict("");
  if (first->status != 401) co_return verdict(fmt::format("{}: {}", url, first->status));
  const std::string challenge(first->headers.get("WWW-Authenticate"));
  if (challenge.starts_with("Bearer")) co_return co_await ask_for_token(http, challenge, login, trust);
  if (login.user.empty()) co_return verdict(fmt::format("{}: 401: the registry asks for a user", url));
  const auto second = co_await get(http, url, basic(login), trust);
  if (!second) co_return verdict(fmt::format("{}: {}", url, second.error().message));
  co_return verdict(
      second->status == 200 ? "" : fmt::format("{}: {}: the registry does not take these credentials", url, second->status));
}

}  // namespace

std::vector<Provider> config_check_providers() {
  return {{.package = "config",
           .function = "image-registry",
           .params = {"registry", "auth", "insecure", "useHTTP"},
           .run = image_registry,
           .flat_function = "-"},
          {.package = "config",
           .function = "helm-repository",
           .params = {"url", "username", "password", "caFile"},
           .run = helm_repository,
           .flat_function = "-"}};
}

}  // namespace slipway::delivery::workflow
