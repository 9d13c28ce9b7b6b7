// Requests about a revision as pure functions over its record: what was read, what is there and what was sent go in; the record
// to append comes out, with what is to be done to the repository in it. Everything that a request decides, gates and conditions
// included, is one append. What Git must make first (commits) comes in by id.
//
// A whole-object PUT is merged against what its sender had read: conditions and gates by type, the lifecycle as a whole. Only
// what two have changed differently conflicts, so an old resourceVersion by itself is no reason to refuse. DIVERGES: Porch
// refuses each PUT with another resourceVersion than the newest.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "delivery/package/lifecycle.h"
#include "delivery/package/owners.h"
#include "delivery/package/record.h"

namespace slipway::delivery::package {

/// Who asks, and when.
struct Requester {
  std::string user{};
  Now now = Time{};
  std::vector<std::string> groups{};
  bool is_program = false;  // one of this program's controllers

  OwnerNames names() const;
  GateWriter gate_writer(GateRight right) const;
};

struct Updated {
  RevisionRecord record{};
  Move move = Move::Stay;
  bool needs_approval_right = false;  // see UpdateDecision
  std::vector<std::string> warnings{};
};

/// What a PUT of a PackageRevision works with.
struct PutAsk {
  const RevisionRecord& base;     // at the resourceVersion that was sent
  const RevisionRecord& current;  //
  const json::Value& sent;        // the object
  Endpoint endpoint = Endpoint::Main;
  GateMode mode = GateMode::Enforce;
  GateRight gate_right = GateRight::Own;  // Any: the user may approve
  bool was_latest = false;                // kpt.dev/latest-revision at `base`
  /// Of an approval: the commit that was made in the mirror, the branch's commit that it was made upon, and the number.
  std::string commit{};
  std::string branch_commit{};
  std::int64_t revision = 0;
  std::vector<std::string> policies{};  // that agreed, and people whose votes counted, as this program's controllers say
  std::vector<std::string> people{};
};
/// Where the package is, for intents.
struct Place {
  std::string folder{};
  std::string branch = "main";
};
/// To do `kind` to what the record is now; commits, where the kind has any, are the caller's.
Intent intent_of(const RevisionRecord& record, IntentKind kind, const Place& place);
Result<Updated> put_revision(const PutAsk& ask, const Place& place, const Requester& who);
/// Whether it changes gates as only who may approve does.
bool needs_gate_right(const PutAsk& ask, const Requester& who);

/// A PUT of files, rendered already. `conditions` and `gates` are what the sender's Kptfile says of them, nullopt where it says
/// nothing; gates are types.
struct ContentAsk {
  const RevisionRecord& base;
  const RevisionRecord& current;
  const ContentView& content;
  std::optional<Conditions> conditions{};
  std::optional<std::vector<std::string>> gates{};
  Render render = Render::Passed;
  std::string commit{};  // that was made of it
  GateRight gate_right = GateRight::Own;
};
bool needs_gate_right(const ContentAsk& ask, const Requester& who);
/// Conflict when the content was changed since `base`; BadRequest unless it is a draft.
Result<Updated> put_content(const ContentAsk& ask, const Place& place, const Requester& who);

/// A new revision with that content. `source` is the revision that edit and upgrade go on from, or whose package is cloned;
/// null of init and foreign upstreams. `old_upstream` and `upstream` are what
/// an upgrade goes from and to. The causes of names, tasks and lifecycle are
/// judged before.
struct CreateAsk {
  const RevisionSpec& spec;
  const ContentView& content;
  const RevisionRecord* source = nullptr;
  const RevisionRecord* upstream = nullptr;
  const RevisionRecord* old_upstream = nullptr;
  std::vector<std::string> gates{};  // of the Kptfile
  Conditions conditions{};           // that it is created with, as the variant's Drafted
  Render render = Render::Nothing;
  bool is_deployment = false;
  std::string commit{};
  GateRight gate_right = GateRight::Own;
};
/// The gates that it begins with. Invalid where the spec gives a gate of the source or upstream another owner or step, which is
/// not the creator's to do; Forbidden where it sets the condition of an owned gate True.
Result<Gates> check_new(const CreateAsk& ask, const Requester& who);
/// REQUIRES: check_new().
RevisionRecord create_revision(const CreateAsk& ask, const Place& place, const Requester& who);

/// The remote has taken the first intent: the record without it; of an approval it is published now.
RevisionRecord confirmed(const RevisionRecord& record);

}  // namespace slipway::delivery::package
