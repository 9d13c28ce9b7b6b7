// What the next commit of a draft says about changes that had no commit of their own, as trailers of its message: each flip of
// a condition, and gates that came, were dropped, or were kept though a commit had removed them. So the history of git has them
// all, also where several flips in a minute end in one commit. A record keeps the newest kMaxNotes and counts the others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/package/conditions.h"
#include "delivery/package/gates.h"
#include "json/codec.h"

namespace slipway::delivery::package {

inline constexpr std::size_t kMaxNotes = 50;
inline constexpr std::string_view kConditionFlip = "Condition-Flip";
inline constexpr std::string_view kGateAdded = "Gate-Added";
inline constexpr std::string_view kGateDropped = "Gate-Dropped";
inline constexpr std::string_view kGateKept = "Gate-Kept";

struct GitNote {
  std::string key{};   // of the trailer
  std::string text{};  // "ipam=True by alice at 2026-11-27T22:00:00Z"

  static void describe(auto& d) {
    d.doc("A trailer of the next commit.");
    d.field("key", &GitNote::key, "Condition-Flip, Gate-Added, Gate-Dropped or Gate-Kept.");
    d.field("text", &GitNote::text, "What changed, by whom and when.");
  }
  bool operator==(const GitNote&) const = default;
};

/// Notes since the last commit of the draft; `total` counts all that there ever were, so that each has a number.
struct GitNotes {
  std::vector<GitNote> pending{};
  std::int64_t total = 0;
  std::int64_t left_out = 0;  // since the last commit

  static void describe(auto& d) {
    d.doc("What the next commit says in its trailers.");
    d.field("pending", &GitNotes::pending, "The newest 50, oldest first.").list_type("atomic");
    d.field("total", &GitNotes::total, "How many there were since the revision was made.");
    d.field("leftOut", &GitNotes::left_out, "How many since the last commit are not among the pending ones.");
  }
  bool operator==(const GitNotes&) const = default;

  void add(std::string_view key, std::string text);
  /// A commit has them.
  void clear();
};

/// Notes each condition whose status differs between the two, or that came or was removed.
void note_flips(GitNotes& notes, const Conditions& before, const Conditions& after, std::string_view by, Time now);
/// Notes each gate that came or was dropped.
void note_gates(GitNotes& notes, const Gates& before, const Gates& after, std::string_view by, Time now);
/// "\nCondition-Flip: …\n": a last paragraph for a commit's message; "" without notes.
std::string trailers(const GitNotes& notes);

}  // namespace slipway::delivery::package
