// Addresses that commands listen on, as options give them.
#pragma once

#include <string>

#include "base/status.h"

namespace slipway::cli {

struct ListenAddress {
  std::string host;
  unsigned short port = 0;

  bool is_loopback() const { return host == "::1" || host.starts_with("127."); }
  bool is_any() const { return host == "0.0.0.0" || host == "::"; }
  /// As a URL needs it, in a form that this machine can connect to.
  std::string url_host() const;
};

/// "ADDRESS:PORT" of `option`, e.g. "127.0.0.1:6443" of "--listen". BadRequest otherwise.
Result<ListenAddress> listen_address(const std::string& option, const std::string& text);

}  // namespace slipway::cli
