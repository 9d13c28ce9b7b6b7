#include "delivery/probe/secret.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/gate/condition.h"
#include "kube/well_known.h"

namespace slipway::delivery::probe {

Task<Result<std::map<std::string, std::string>>> read_secret(client::Client& client, std::string ns, json::Value reference) {
  const std::string name = reference["name"].str();
  auto secret = co_await client::get(client, kube::kSecrets, {ns, name});
  if (!secret) {
    Status error = std::move(secret).error();
    error.message = fmt::format("Secret {}/{}: {}", ns, name, error.message);
    co_return fail(std::move(error));
  }
  std::map<std::string, std::string> out;
  for (const auto [key, value] : (*secret)["data"].members()) {
    std::string decoded;
    if (!base64_decode(value.as_string(), decoded)) {
      co_return fail(Reason::Invalid, fmt::format("Secret {}/{}: key {} is not base64", ns, name, key));
    }
    out[std::string(key)] = std::move(decoded);
  }
  for (const auto [key, value] : (*secret)["stringData"].members()) out[std::string(key)] = value.str();
  co_return out;
}

std::string shown_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t at = url.substr(host, url.find('/', host) - host).rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, host)) + std::string(url.substr(host + at + 1));
}

std::string shortened(std::string_view text, std::size_t bytes) {
  std::string out = gate::cut(std::string(trimmed(text.substr(0, 2 * bytes))), bytes);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out;
}

}  // namespace slipway::delivery::probe
