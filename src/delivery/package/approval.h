// Whether a proposal is approved by itself, by the ApprovalPolicies that select it: each must agree, and without one a person
// approves. A policy approves a package's first revision, any revision, or one that enough people have said yes to; what they
// said counts for the content that they had seen. Windows of time and gates bind all of them. Pure; who people are is stamped
// by admission, as in delivery/gate.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/zone.h"
#include "delivery/package/conditions.h"
#include "delivery/package/gates.h"
#include "delivery/package/lifecycle.h"
#include "delivery/package/policy_spec.h"
#include "delivery/package/readiness.h"
#include "delivery/package/spec.h"
#include "delivery/package/vote.h"

namespace slipway::delivery::package {

/// A policy with its name, for texts and records.
struct NamedPolicy {
  std::string name{};
  std::int64_t generation = 0;
  ApprovalPolicySpec spec{};
};
/// What is wrong with a policy beyond its schema; fields are below "spec".
std::vector<Cause> check(const ApprovalPolicySpec& policy);
bool selects(const ApprovalPolicySpec& policy, std::string_view repository, const json::Value& labels);

/// A revision as policies look at it.
struct ApproveView {
  Lifecycle lifecycle = Lifecycle::Proposed;
  bool is_deleting = false;
  bool has_published = false;       // another revision of the package is published
  std::set<std::string> authors{};  // who proposed it or wrote content
  std::string digest{};
  std::vector<Unmet> missing{};
  GateMode mode = GateMode::Enforce;
  std::vector<Vote> votes{};
  Conditions conditions{};
};

struct ApproveDecision {
  enum class Kind : std::uint8_t {
    NotAsked,  // no policy selects it, or it is no proposal
    Waits,     // for gates, people or a window
    Reject,    // a person who may decide said no: back to Draft, or Published for a deletion
    Approve,   // or carry out the deletion
  };
  Kind kind = Kind::NotAsked;
  std::string text{};
  std::optional<Time> wake{};           // when a window changes
  std::vector<std::string> policies{};  // that agreed: "edge@3"
  std::vector<std::string> people{};    // whose votes counted
};
/// `zones` are by name; UTC is always known. A zone that is missing is no open window.
ApproveDecision decide_approve(const std::vector<NamedPolicy>& policies, const ApproveView& view,
                               const std::map<std::string, Zone>& zones, Time now);

/// What is recorded in one append to the log when a revision is approved, whoever approved it.
struct ApprovalRecord {
  std::string digest{};
  std::string approver{};
  std::vector<std::string> policies{};
  std::vector<std::string> people{};
  std::vector<ReadinessGate> gates{};
  std::vector<Condition> conditions{};
  Time at{};

  static void describe(auto& d) {
    d.doc("What a revision was approved with.");
    d.field("digest", &ApprovalRecord::digest, "Its content.").required();
    d.field("approver", &ApprovalRecord::approver, "Who approved it.").required();
    d.field("policyNames", &ApprovalRecord::policies, "Policies that agreed, with their generations.").list_type("atomic");
    d.field("people", &ApprovalRecord::people, "People whose votes counted.").list_type("atomic");
    d.field("readinessGates", &ApprovalRecord::gates, "Its gates.").list_type("atomic");
    d.field("conditions", &ApprovalRecord::conditions, "Its conditions, with the contents they were about.")
        .list_type("atomic");
    d.field("time", &ApprovalRecord::at, "When.").required();
  }
  bool operator==(const ApprovalRecord&) const = default;
};

}  // namespace slipway::delivery::package
