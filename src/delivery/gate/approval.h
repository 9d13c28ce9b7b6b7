// Approvals by people: what was said, by whom, and whether it is enough. That who said it is true is the admission's doing,
// which stamps user, groups and time over whatever was written; an approval without that stamp counts for nothing and is
// reported.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/gate/gate.h"

namespace slipway::delivery::gate {

/// What one person said about one gate. Later ones of the same person replace earlier ones.
struct Approval {
  enum class Decision : std::uint8_t { Approve, Reject };
  std::string gate{};        // its name
  std::int64_t attempt = 0;  // it counts for that attempt and batch only
  std::int64_t batch = -1;   // -1: not of a batch
  Decision decision = Decision::Approve;
  std::string comment{};
  std::string user{};  // stamped by the admission, as are groups and time
  std::vector<std::string> groups{};
  std::optional<Time> at{};

  static void describe(auto& d) {
    d.doc("What a person said about a gate.");
    d.field("gate", &Approval::gate, "Name of the gate.").required().min_length(1).max_length(63);
    d.field("attempt", &Approval::attempt, "The attempt it is about.").required().minimum(0);
    d.field("batch", &Approval::batch, "The batch it is about, from 0; absent: none.").minimum(-1);
    d.field("decision", &Approval::decision, "What was said.").required();
    d.field("comment", &Approval::comment, "Why.").max_length(256);
    d.field("user", &Approval::user, "Who said it; set by the server.");
    d.field("groups", &Approval::groups, "The user's groups; set by the server.").list_type("atomic");
    d.field("time", &Approval::at, "When; set by the server.");
  }
  bool operator==(const Approval&) const = default;
};
inline auto describe_enum(Approval::Decision) {
  return json::enum_names<Approval::Decision>(
      {{Approval::Decision::Approve, "approve"}, {Approval::Decision::Reject, "reject"}});
}

/// What is to be approved.
struct Approvable {
  std::string gate{};
  std::int64_t attempt = 0;
  std::int64_t batch = -1;
  std::string author{};  // who wrote what is approved; empty: not known

  static void describe(auto& d) {
    d.doc("What people are asked about.");
    d.field("gate", &Approvable::gate, "Name of the gate.").required();
    d.field("attempt", &Approvable::attempt, "The attempt.");
    d.field("batch", &Approvable::batch, "The batch, from 0; absent: none.");
    d.field("author", &Approvable::author, "Who wrote what is to be approved.");
  }
  bool operator==(const Approvable&) const = default;
};
bool is_about(const Approval& approval, const Approvable& what);

/// Fail: a person who may decide rejected. Unknown, with text "ApproverUnknown: …": not enough, and one came past the
/// admission. With byAuthor false and an author who is not known it is Unknown too.
Verdict judge(const ApprovalGate& rule, const std::vector<Approval>& approvals, const Approvable& what);

}  // namespace slipway::delivery::gate
