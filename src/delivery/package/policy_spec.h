// Our own kinds: ApprovalPolicy says when a proposal is approved without a person asking for it, PackageRollout approves the
// proposals of one upstream revision a few percent at a time. approval.h and rollout_plan.h decide by them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delivery/gate/gate.h"
#include "delivery/package/repository_status.h"
#include "delivery/package/variant_spec.h"
#include "json/codec.h"

namespace slipway::delivery::package {

/// See `approve` of ApprovalPolicySpec.
enum class ApprovalRule : std::uint8_t { Initial, Always, People };
inline auto describe_enum(ApprovalRule) {
  return json::enum_names<ApprovalRule>(
      {{ApprovalRule::Initial, "initial"}, {ApprovalRule::Always, "always"}, {ApprovalRule::People, "people"}});
}

struct NamedWindow : gate::WindowGate {
  std::string name{};

  static void describe(auto& d) {
    gate::WindowGate::describe(d);
    d.field("name", &NamedWindow::name, "Tells it apart.").required().min_length(1).max_length(63);
  }
};

struct ApprovalPolicySpec {
  std::vector<std::string> repositories{};
  std::optional<json::Value> selector{};
  ApprovalRule rule = ApprovalRule::People;
  std::optional<gate::ApprovalGate> people{};
  std::vector<NamedWindow> windows{};
  bool approves_deletion = false;
  std::vector<std::string> conditions{};

  static void describe(auto& d) {
    d.doc("When proposals are approved. Where several policies select a revision, each must agree.");
    d.field("repositories", &ApprovalPolicySpec::repositories, "Revisions of these; absent: of all in the namespace.")
        .list_type("set");
    d.field("selector", &ApprovalPolicySpec::selector, "Revisions with these labels; absent: all.").any_object();
    d.field("approve", &ApprovalPolicySpec::rule,
            "initial: only while the package has no published revision. always. people: when enough of them have said yes.")
        .required();
    d.field("people", &ApprovalPolicySpec::people, "Who, and how many, for approve people.");
    d.field("windows", &ApprovalPolicySpec::windows, "Times at which anything is approved; absent: always.")
        .list_type("map", {"name"});
    d.field("conditions", &ApprovalPolicySpec::conditions,
            "Types of conditions of the revision that must be True beside its gates, at most 100; not asked of deletions.")
        .list_type("set")
        .max_items(100);
    d.field("deletions", &ApprovalPolicySpec::approves_deletion, "Proposed deletions are carried out by the same rule.");
  }
};

struct ApprovalPolicyStatus {
  std::vector<ObjectCondition> conditions{};

  static void describe(auto& d) {
    d.doc("How it goes.");
    d.field("conditions", &ApprovalPolicyStatus::conditions, "Ready: the policy can be read and followed.")
        .list_type("map", {"type"});
  }
};

struct RolloutStep {
  std::int64_t percent = 100;
  Duration soak{0};
  std::vector<gate::GateSpec> gates{};
  std::optional<json::Value> max_failures{};

  static void describe(auto& d) {
    d.doc("A part of the targets.");
    d.field("percent", &RolloutStep::percent,
            "Percent of all targets that may be approved once this step has begun, rounded up; at least one target.")
        .required()
        .minimum(1)
        .maximum(100);
    d.field("soak", &RolloutStep::soak,
            "How long its targets must have been healthy before the next step, e.g. 10m; absent: no time.");
    d.field("gates", &RolloutStep::gates, "What must pass before the next step; no data is no pass.")
        .list_type("map", {"name"});
    d.field("maxFailures", &RolloutStep::max_failures,
            "Failed targets that are forgiven in this step; absent: as the rollout says.")
        .int_or_string();
  }
};

enum class OnRolloutFailure : std::uint8_t {
  Stop,     // nothing more is approved
  BackOut,  // and what was approved is replaced by new revisions with the content from before
};
inline auto describe_enum(OnRolloutFailure) {
  return json::enum_names<OnRolloutFailure>({{OnRolloutFailure::Stop, "Stop"}, {OnRolloutFailure::BackOut, "BackOut"}});
}

struct PackageRolloutSpec {
  Upstream upstream{};
  std::optional<json::Value> selector{};
  std::vector<RolloutStep> steps{};
  std::optional<json::Value> max_failures{};
  std::optional<OnRolloutFailure> on_failure{};
  std::vector<std::string> first{};
  std::vector<std::string> exclude{};
  bool is_paused = false;
  std::int64_t attempt = 1;
  std::optional<std::int64_t> step_deadline_seconds{};

  static void describe(auto& d) {
    d.doc("Approves the proposals that follow one upstream revision, in steps.");
    d.field("upstream", &PackageRolloutSpec::upstream, "The revision that is rolled out.").required();
    d.field("selector", &PackageRolloutSpec::selector, "Of the revisions that follow it, those with these labels; absent: all.")
        .any_object();
    d.field("steps", &PackageRolloutSpec::steps, "Ascending; a last one of 100 percent is meant where it is missing.")
        .required()
        .min_items(1)
        .max_items(100)
        .list_type("atomic");
    d.field("maxFailures", &PackageRolloutSpec::max_failures,
            "Failed targets that are forgiven, number or percentage of those approved; absent: 0.")
        .int_or_string();
    d.field("onFailure", &PackageRolloutSpec::on_failure,
            "What a failure does. Stop: nothing more is approved. BackOut: and new revisions bring back the content from "
            "before; absent: Stop.");
    d.field("first", &PackageRolloutSpec::first, "Targets that come before all others, as REPOSITORY/PACKAGE, in order.")
        .list_type("set");
    d.field("exclude", &PackageRolloutSpec::exclude, "Targets that are left alone, as REPOSITORY/PACKAGE.").list_type("set");
    d.field("paused", &PackageRolloutSpec::is_paused, "True: nothing new is approved; what is approved goes on.");
    d.field("attempt", &PackageRolloutSpec::attempt, "A greater one goes on after a stop.").minimum(1).with_default();
    d.field("stepDeadlineSeconds", &PackageRolloutSpec::step_deadline_seconds,
            "Seconds that a step may take until its targets are healthy; absent: for ever.")
        .minimum(1);
  }
};

}  // namespace slipway::delivery::package
