// How the conditions of a revision change. Each type is there once and has an owner, who wrote it last; writers of different
// types never disturb each other, whichever way they write. Pure: what is recorded, what was sent and the content go in.
//
//   whole-object PUT  what the sender changed against what it had read is merged by type into what is there now; only a type
//   that
//                     another writer changed meanwhile conflicts. A type it leaves out goes; extra fields it leaves out stay.
//   apply             only the types that are sent; those that the same manager applied before and sends no more go.
//   new content       a condition says something about a content: when that changes, or a new revision begins with it, even
//   with
//                     equal bytes, it is Unknown until its owner has looked again, unless the files that it declared to depend
//                     on are the same.
// DIVERGES: Porch replaces the list by the one that was sent, and carries conditions over to new revisions as they are
// (kptdev/kpt#3455, "keep both").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "delivery/package/condition.h"
#include "delivery/package/digest.h"

namespace slipway::delivery::package {

/// Each type once, in the order in which they came.
using Conditions = std::vector<Condition>;

inline constexpr std::size_t kMostConditions = 256;
/// Types that the server computes (readiness.h). They are never stored; what is sent of them is not looked at.
inline constexpr std::string_view kReadyToPropose = "ReadyToPropose";
inline constexpr std::string_view kReadyToApprove = "ReadyToApprove";
inline constexpr std::string_view kDrift = "Drift";          // only there while a person has to decide about it
inline constexpr std::string_view kNotPushed = "NotPushed";  // only there while the repository does not take what was decided
inline constexpr std::string_view kRendered = "Rendered";    // how the pipeline ended; absent where none was run
bool is_computed(std::string_view type);

/// Reasons of conditions that became Unknown.
inline constexpr std::string_view kNewRevision = "NewRevision";
inline constexpr std::string_view kContentChanged = "ContentChanged";
inline constexpr std::string_view kImported = "Imported";
inline constexpr std::string_view kOwnerChanged = "OwnerChanged";

const Condition* find(const Conditions& conditions, std::string_view type);

/// Who writes, when, and about what.
struct Write {
  std::string_view object{};  // name of the revision, for errors
  std::string_view by{};      // user, or field manager of an apply
  Time now{};
  const ContentView& content;
  std::optional<std::int64_t> generation{};  // of the revision; for verdicts that do not name theirs
};

/// A verdict of its owner about the content as it is: `said` gives type, status, reason, message and, if not empty, scope.
void set_condition(Conditions& conditions, const Condition& said, const Write& write);

/// `base` is what the sender had read. Conflict, with a cause for each type that both changed differently. Invalid: a type
/// twice, or too many.
Result<Conditions> merge_put(const Conditions& base, const Conditions& current, const Conditions& sent, const Write& write);

enum class Force : std::uint8_t { No, Yes };
/// Conflict, worded as server-side apply, when a type is another one's with another verdict.
Result<Conditions> merge_apply(const Conditions& current, const Conditions& sent, const Write& write, Force force);

/// What of the conditions holds for another content: `reason` is kNewRevision or kContentChanged. The message says what it was
/// before. A reason that names an object (Nephio's functions keep there whose condition it is, as
/// "req.nephio.org/v1alpha1.Interface.n3") stays, and `reason` goes before the message: "ContentChanged: was True: done".
Conditions reset(const Conditions& conditions, std::string_view reason, const ContentView& content, Time now);

/// One condition, Unknown for that reason, as reset() words it.
Condition made_unknown(const Condition& before, std::string_view reason, Time now);

/// Conditions of a Kptfile that was copied from elsewhere: claims of unknown authors, Unknown until their owner confirms them.
Conditions imported(const Conditions& found, Time now);

}  // namespace slipway::delivery::package
