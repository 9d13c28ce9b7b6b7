// What a rollout remembers of what came to pass, in its status: how earlier attempts ended, and what gates said, with the
// numbers that they said it about, so that the decisions can be made again from it (`slipway rollout replay`). Both are
// bounded: the oldest entries go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/codec.h"

namespace slipway::delivery::rollout {

inline constexpr std::size_t kMaxAttempts = 20;

/// One entry of status.attempts: the present one is the last.
struct AttemptRecord {
  std::int64_t attempt = 0;
  std::string target;  // as the user names it: an id of a workload, a revision
  std::string revision;
  std::optional<Time> began;
  std::optional<Time> ended;
  std::string outcome;  // rolloutSucceed, rolloutFailed, rolloutAbandoning; empty: under way
  std::string text;

  static void describe(auto& d) {
    d.doc("One attempt.");
    d.field("attempt", &AttemptRecord::attempt, "Its number, from 1.").required();
    d.field("target", &AttemptRecord::target, "What was rolled out.");
    d.field("revision", &AttemptRecord::revision, "Identifies the target's template.");
    d.field("began", &AttemptRecord::began, "When it began.");
    d.field("ended", &AttemptRecord::ended, "When it ended.");
    d.field("outcome", &AttemptRecord::outcome,
            "The state it ended in, rolloutAbandoning where another attempt followed; absent: it is under way.");
    d.field("text", &AttemptRecord::text, "Why it failed, or what followed it.");
  }
};

/// Appends or replaces the one of the same number, and drops the oldest beyond kMaxAttempts.
void set_attempt(std::vector<AttemptRecord>& attempts, AttemptRecord attempt);

}  // namespace slipway::delivery::rollout
