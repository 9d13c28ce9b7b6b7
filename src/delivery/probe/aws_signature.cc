#include "delivery/probe/aws_signature.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/digest.h"
#include "base/mac.h"
#include "base/text.h"

namespace slipway::delivery::probe {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string bytes_of(std::string_view hex) {
  const auto digit = [](char c) { return is_digit(c) ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) out += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return out;
}

/// The next key of the chain date, region, service, "aws4_request".
std::string derived(std::string_view key, std::string_view part) { return bytes_of(hmac_hex(MacHash::Sha256, key, part)); }

/// "2026-01-01T00:00:00Z" becomes "20260101T000000Z".
std::string basic_time(Time time) {
  std::string out;
  for (const char c : to_rfc3339(std::chrono::floor<std::chrono::seconds>(time))) {
    if (c != '-' && c != ':') out += c;
  }
  return out;
}

std::string host_of(std::string_view url) {
  const std::size_t begin = url.find("://");
  if (begin != std::string_view::npos) url.remove_prefix(begin + 3);
  return std::string(url.substr(0, url.find_first_of("/?")));
}

}  // namespace

void sign_for_aws(HttpCall& call, const AwsIdentity& identity, Time now) {
  const std::string date = basic_time(now);
  call.headers.set("X-Amz-Date", date);
  if (!identity.session_token.empty()) call.headers.set("X-Amz-Security-Token", identity.session_token);
  std::map<std::string, std::string> signed_headers{{"host", host_of(call.url)}};
  for (const auto& [name, value] : call.headers) signed_headers[lower(name)] = std::string(trimmed(value));
  std::string lines;
  std::vector<std::string> names;
  for (const auto& [name, value] : signed_headers) {
    lines += fmt::format("{}:{}\n", name, value);
    names.push_back(name);
  }
  const std::string list = joined(names, ";");
  const std::string request = fmt::format("{}\n/\n\n{}\n{}\n{}", call.method, lines, list, sha256_hex(call.body));
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", date.substr(0, 8), identity.region, identity.service);
  const std::string text = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, date, scope, sha256_hex(request));
  std::string key = derived("AWS4" + identity.secret, date.substr(0, 8));
  for (const std::string_view part : {std::string_view(identity.region), std::string_view(identity.service)}) {
    key = derived(key, part);
  }
  key = derived(key, "aws4_request");
  call.headers.set("Authorization", fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                                                identity.key_id, scope, list, hmac_hex(MacHash::Sha256, key, text)));
}

}  // namespace slipway::delivery::probe
