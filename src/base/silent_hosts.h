// Hosts that kept somebody waiting without an answer. Such a host is left alone for 10 s, then for twice as long each time it
// does so again, up to 5 minutes; its first answer ends that. A host is named by a text of the owner's ("team-a git.test:443"),
// so that what one tenant saw stops no other.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "base/env.h"

namespace slipway {

class SilentHosts {
 public:
  static constexpr Duration kFirst = std::chrono::seconds{10};
  static constexpr Duration kLongest = std::chrono::minutes{5};
  static constexpr std::size_t kMax = 1'000;  // hosts; when full, a further silent host is not recorded

  struct Silence {
    int attempts = 0;  // in a row
    Steady until{};
  };

  explicit SilentHosts(Clock& clock) : clock_(clock) {}
  /// Until when the host is left alone; nullopt: it may be asked now.
  std::optional<Silence> find(const std::string& host) const;
  /// "its host has not answered in time (attempts: 2); it is asked again in 20s"
  std::string text(const Silence& silence) const;
  void note(const std::string& host, bool is_silent);

 private:
  Clock& clock_;
  std::map<std::string, Silence> silent_;
};

}  // namespace slipway
