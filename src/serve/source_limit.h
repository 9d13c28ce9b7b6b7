// How often strangers may be refused. Paths that anyone may call (webhooks) judge a signature, and to do so they read objects;
// a source whose calls were refused too often is answered 429 before anything is read. Calls that were accepted do not count,
// so that a signed hook keeps what its own limit gives it. A source is an address without its port.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace slipway::serve {

class SourceLimit {
 public:
  static constexpr std::size_t kMaxRefused = 20;
  static constexpr Duration kWindow = std::chrono::seconds{30};
  /// More sources at once count as one, which then is limited for all of them.
  static constexpr std::size_t kMaxSources = 10'000;

  /// "10.0.0.7" of "10.0.0.7:4711", "[::1]" of "[::1]:4711".
  static std::string source_of(std::string_view peer_address);

  bool is_over(const std::string& source, Steady now);
  void add_refused(const std::string& source, Steady now);

 private:
  std::deque<Steady>& refusals_of(const std::string& source, Steady now);

  std::map<std::string, std::deque<Steady>> refused_;
};

}  // namespace slipway::serve
