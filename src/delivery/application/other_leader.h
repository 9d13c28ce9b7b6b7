// Two controllers that deliver the same applications undo each other's work. Where KubeVela's own still leads (taking_over.h),
// Slipway writes nothing about applications: it says who leads, and looks again.
#pragma once

#include <optional>
#include <string>

#include "base/env.h"
#include "client/client.h"

namespace slipway::delivery::application {

class OtherLeader {
 public:
  explicit OtherLeader(Env& env) : env_(env) {}

  /// Between two looks.
  static constexpr Duration kPause = std::chrono::seconds{5};

  /// Who leads, or empty. Asks `client` at most once per pause, and says in the log whenever that changes. Errors: those of the
  /// request; then nothing is known, and nothing is to be written.
  Task<Result<std::string>> who(client::Client& client);

 private:
  Env& env_;
  std::optional<Steady> asked_{};
  std::string found_{};
};

}  // namespace slipway::delivery::application
