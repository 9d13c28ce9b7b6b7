#include "cli/listen.h"

#include <fmt/format.h>

#include <charconv>

namespace slipway::cli {

std::string ListenAddress::url_host() const {
  if (is_any()) return "127.0.0.1";
  return host.contains(':') ? "[" + host + "]" : host;
}

Result<ListenAddress> listen_address(const std::string& option, const std::string& text) {
  ListenAddress address;
  const auto colon = text.rfind(':');
  const auto refuse = [&] {
    return fail(Reason::BadRequest, fmt::format("{} {}: give ADDRESS:PORT, such as 127.0.0.1:6443", option, text));
  };
  if (colon == std::string::npos) return refuse();
  address.host = text.substr(0, colon);
  if (address.host.empty() || address.host == "localhost") address.host = "127.0.0.1";
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc{} || stop != end || colon + 1 == text.size()) return refuse();
  return address;
}

}  // namespace slipway::cli
