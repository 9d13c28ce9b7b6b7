// The log of verdicts: what was decided, when, and from what, so that the decisions can be made again from it (replay). It
// lives in an object and is bounded: at most 200 entries and 8 KiB. What gives way first are old steps on the way to a
// decision, whose inputs are joined with those of the next step at the same gate; then whole gates, the oldest first.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/zone.h"
#include "delivery/gate/approval.h"
#include "delivery/gate/gate.h"
#include "delivery/gate/metric.h"

namespace slipway::delivery::gate {

/// A decision at a gate with what it was made from. A metric's samples are those since the entry before at the same gate.
struct LogEntry {
  Time at{};
  std::string gate{};  // whichever key the caller tells questions apart by: "1/3/after/success-rate"
  Verdict::Kind verdict = Verdict::Kind::Wait;
  std::string text{};  // at most 120 bytes; of a metric that passes none
  std::string by{};
  bool is_deadline = false;  // the deadline decided: the verdict is what at_deadline() made of the one before
  std::vector<Sample> samples{};
  std::optional<std::int64_t> status{};    // of a webhook's answer; absent: none came
  std::optional<Approvable> approvable{};  // of an approval gate
  std::vector<Approval> approvals{};

  static void describe(auto& d) {
    d.doc("A decision at a gate, and what it was made from.");
    d.field("at", &LogEntry::at, "When.").required();
    d.field("gate", &LogEntry::gate, "Which gate, when asked.").required();
    d.field("verdict", &LogEntry::verdict, "What was decided.").required();
    d.field("text", &LogEntry::text, "Why.");
    d.field("by", &LogEntry::by, "Who approved.");
    d.field("deadline", &LogEntry::is_deadline, "The deadline decided.");
    d.field("samples", &LogEntry::samples, "Measurements since the last entry of the gate.").list_type("atomic");
    d.field("status", &LogEntry::status, "HTTP status of the webhook.");
    d.field("approvable", &LogEntry::approvable, "What people were asked about.");
    d.field("approvals", &LogEntry::approvals, "What people had said.").list_type("atomic");
  }
  bool operator==(const LogEntry&) const = default;
};

inline constexpr std::size_t kMostLogEntries = 200;
inline constexpr std::size_t kMostLogBytes = 8 << 10;

/// Adds a decision; `samples` are all so far (as probe::Answer gives them), of which the log keeps what is new. An entry that
/// repeats the one before at its gate takes its place.
void append(std::vector<LogEntry>& log, LogEntry entry);

/// A decision made again.
struct Replayed {
  LogEntry entry;   // as it was
  Verdict verdict;  // as it is made now
  bool is_same() const { return verdict.kind == entry.verdict; }
};
/// Makes every decision of the log again under `gates` (by the log's keys) and, for windows, `zones`. Single samples whose
/// value is whole are judged anew, so that changed conditions show. Entries of gates that are not there are left out.
std::vector<Replayed> replay(const std::vector<LogEntry>& log, const std::map<std::string, GateSpec>& gates,
                             const std::map<std::string, Zone>& zones);

}  // namespace slipway::delivery::gate
