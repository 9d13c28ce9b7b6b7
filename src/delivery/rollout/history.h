// What a rollout remembers of what came to pass, in its status: how earlier attempts ended, and what gates said, with the
// numbers that they said it about, so that the decisions can be made again from it (`slipway rollout replay`). Both are
// bounded: the oldest entries go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "delivery/gate/gate.h"
#include "json/codec.h"

namespace slipway::delivery::rollout {

inline constexpr std::size_t kMaxAttempts = 20;
inline constexpr std::size_t kMaxVerdicts = 200;
inline constexpr std::size_t kMaxVerdictBytes = 8 * 1024;

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
    d.field("outcome", &AttemptRecord::outcome, "The state it ended in; absent: it is under way.");
    d.field("text", &AttemptRecord::text, "Why it failed.");
  }
};

/// One entry of status.verdicts: a metric's sample, the answer of a hook, an approval that counted, a window's change.
struct VerdictEntry {
  Time at;
  std::int64_t attempt = 0;
  std::string gate;      // wave::gate_key
  std::string verdict;   // Pass, Wait, Fail, Unknown, NoData: of the gate, after this
  std::string phase;     // of a metric's sample: Successful, Failed, Inconclusive, Error, NoData
  std::string value;     // of a metric: what was measured, as JSON; of a webhook: the HTTP status
  std::string baseline;  // likewise
  std::string text;
  std::string by;

  static void describe(auto& d) {
    d.doc("What a gate said, and about what.");
    d.field("at", &VerdictEntry::at, "When.").required();
    d.field("attempt", &VerdictEntry::attempt, "In which attempt.").required();
    d.field("gate", &VerdictEntry::gate, "The gate's key.").required();
    d.field("verdict", &VerdictEntry::verdict, "How the gate stood then.")
        .required()
        .one_of({"Pass", "Wait", "Fail", "Unknown", "NoData"});
    d.field("phase", &VerdictEntry::phase, "How the sample of a metric was judged.");
    d.field("value", &VerdictEntry::value, "What was measured, as JSON.");
    d.field("baseline", &VerdictEntry::baseline, "The same of the old version.");
    d.field("text", &VerdictEntry::text, "In words.");
    d.field("by", &VerdictEntry::by, "Who approved.");
  }
};

/// Appends, and drops the oldest beyond kMaxVerdicts entries or kMaxVerdictBytes of JSON. Texts are cut at 128 bytes.
void add_verdict(std::vector<VerdictEntry>& log, VerdictEntry entry);
/// Appends or replaces the one of the same number, and drops the oldest beyond kMaxAttempts.
void set_attempt(std::vector<AttemptRecord>& attempts, AttemptRecord attempt);

/// What the log's entries of one gate and attempt make it decide, judged anew.
struct Replayed {
  std::int64_t attempt = 0;
  std::string gate;
  gate::Verdict verdict;   // from the values
  std::string recorded;    // the last entry's
  std::string difference;  // why it cannot be judged anew or differs; empty: the same
};
/// One for each gate of each attempt in the log, in the order of their first entries. `gates` are those of the spec, by their
/// key without the batch's number or with it.
std::vector<Replayed> replay(const std::vector<VerdictEntry>& log,
                             const std::vector<std::pair<std::string, gate::GateSpec>>& gates);

}  // namespace slipway::delivery::rollout
