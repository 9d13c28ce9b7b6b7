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
  if (!secret) co_return fail(secret.error().reason, fmt::format("Secret {}/{}: {}", ns, name, secret.error().message));
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

std::string shortened(std::string_view text, std::size_t bytes) {
  std::string out = gate::cut(std::string(trimmed(text.substr(0, 2 * bytes))), bytes);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out;
}

}  // namespace slipway::delivery::probe
