#include "delivery/package/approval.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "delivery/gate/window.h"
#include "kube/selector.h"

namespace slipway::delivery::package {
namespace {

using ApproveKind = ApproveDecision::Kind;

constexpr std::string_view kGate = "approval";

/// A policy's answer.
struct Answer {
  ApproveKind kind = ApproveKind::Waits;
  std::string text{};
  std::optional<Time> wake{};
  std::vector<std::string> people{};
};

/// Votes about this content as approvals of delivery/gate; those of authors only where they count.
std::vector<gate::Approval> counted(const gate::ApprovalGate& rule, const ApproveView& view) {
  std::vector<gate::Approval> out;
  for (const Vote& vote : view.votes) {
    const bool is_own = view.authors.contains(vote.user);
    const bool is_refusal = vote.decision == gate::Approval::Decision::Reject;
    if (vote.digest != view.digest || (is_own && !rule.by_author && !is_refusal)) continue;
    out.push_back({.gate = std::string(kGate),
                   .decision = vote.decision,
                   .comment = vote.comment,
                   .user = vote.user,
                   .groups = vote.groups,
                   .at = vote.at});
  }
  return out;
}

Answer ask_people(const gate::ApprovalGate& rule, const ApproveView& view) {
  if (!rule.by_author && view.authors.empty()) {
    return {.kind = ApproveKind::Waits, .text = "its authors, whose approval does not count, are not known"};
  }
  gate::ApprovalGate judged = rule;
  judged.by_author = true;  // authors are many; counted() has left out what does not count
  const gate::Verdict verdict = gate::judge(judged, counted(rule, view), {.gate = std::string(kGate)});
  switch (verdict.kind) {
    case gate::Verdict::Kind::Pass: {
      Answer answer{.kind = ApproveKind::Approve};
      for (const std::string_view one : split(verdict.by, ',')) answer.people.emplace_back(trimmed(one));
      return answer;
    }
    case gate::Verdict::Kind::Fail:
      return {.kind = ApproveKind::Reject, .text = verdict.text};
    case gate::Verdict::Kind::Wait:
    case gate::Verdict::Kind::Unknown:
    case gate::Verdict::Kind::NoData:
      return {.kind = ApproveKind::Waits, .text = verdict.text};
  }
  return {};
}

Answer ask_windows(const ApprovalPolicySpec& policy, const std::map<std::string, Zone>& zones, Time now) {
  for (const NamedWindow& window : policy.windows) {
    const auto zone = zones.find(window.time_zone);
    if (zone == zones.end() && window.time_zone != "UTC") {
      return {.text = fmt::format("time zone {} of window {} is not known", window.time_zone, window.name)};
    }
    const gate::WindowView view = gate::look(window, zone == zones.end() ? Zone() : zone->second, now);
    if (view.verdict.kind != gate::Verdict::Kind::Pass) {
      return {.text = fmt::format("window {}: {}", window.name, view.verdict.text), .wake = view.changes};
    }
  }
  return {.kind = ApproveKind::Approve};
}

/// Those of a published revision are what it was approved with, so a deletion has none to wait for.
Answer ask_conditions(const ApprovalPolicySpec& policy, const ApproveView& view, Time now) {
  if (view.lifecycle == Lifecycle::DeletionProposed) return {.kind = ApproveKind::Approve};
  std::vector<std::string> waits;
  for (const Unmet& one : unmet(gates_of(policy.conditions, "policy"), view.conditions, now)) {
    waits.push_back(one.text());
  }
  if (waits.empty()) return {.kind = ApproveKind::Approve};
  return {.text = joined(waits, "; ")};
}

Answer ask(const ApprovalPolicySpec& policy, const ApproveView& view, const std::map<std::string, Zone>& zones, Time now) {
  const bool is_deletion = view.lifecycle == Lifecycle::DeletionProposed;
  if (is_deletion && !policy.approves_deletion) return {.text = "its policy leaves deletions to people"};
  Answer answer{.kind = ApproveKind::Approve};
  if (policy.rule == ApprovalRule::Initial && (view.has_published || is_deletion)) {
    return {.text = "the package has a published revision already: a person approves"};
  }
  if (policy.rule == ApprovalRule::People) answer = ask_people(policy.people.value_or(gate::ApprovalGate{}), view);
  if (answer.kind != ApproveKind::Approve) return answer;
  if (Answer said = ask_conditions(policy, view, now); said.kind != ApproveKind::Approve) return said;
  Answer window = ask_windows(policy, zones, now);
  return window.kind == ApproveKind::Approve ? answer : window;
}

}  // namespace

std::vector<Cause> check(const ApprovalPolicySpec& policy) {
  std::vector<Cause> causes;
  if (policy.rule == ApprovalRule::People && !policy.people) {
    causes.push_back(field::required("spec.people", "approve: people needs to know who, and how many"));
  }
  if (policy.people && policy.people->groups.empty() && !policy.people->users.empty()) {
    const std::set<std::string> users(policy.people->users.begin(), policy.people->users.end());
    if (policy.people->count > static_cast<std::int64_t>(users.size())) {
      causes.push_back(field::invalid("spec.people.count", fmt::format("{}", policy.people->count),
                                      fmt::format("only {} user(s) count", users.size())));
    }
  }
  if (policy.rule != ApprovalRule::People && policy.people) {
    causes.push_back(field::forbidden("spec.people", "is for approve: people"));
  }
  if (policy.selector) {
    const auto selector = kube::LabelSelector::from_object(*policy.selector);
    if (!selector) causes.push_back(field::invalid("spec.selector", "", selector.error().message));
  }
  for (const std::string& type : policy.conditions) {
    if (is_computed(type)) {
      causes.push_back(field::invalid("spec.conditions", fmt::format("{:?}", type), "is computed by the server"));
    }
  }
  for (const NamedWindow& window : policy.windows) {
    const auto rule = gate::Recurrence::parse(window.rrule);
    if (rule) continue;
    causes.push_back(field::invalid(fmt::format("spec.windows[{}].rrule", window.name), fmt::format("{:?}", window.rrule),
                                    rule.error().message));
  }
  return causes;
}

bool selects(const ApprovalPolicySpec& policy, std::string_view repository, const json::Value& labels) {
  const bool is_elsewhere =
      !policy.repositories.empty() && std::ranges::find(policy.repositories, repository) == policy.repositories.end();
  if (is_elsewhere) return false;
  if (!policy.selector) return true;
  const auto selector = kube::LabelSelector::from_object(*policy.selector);
  return selector && selector->matches(labels);
}

ApproveDecision decide_approve(const std::vector<NamedPolicy>& policies, const ApproveView& view,
                               const std::map<std::string, Zone>& zones, Time now) {
  const bool is_proposal = view.lifecycle == Lifecycle::Proposed || view.lifecycle == Lifecycle::DeletionProposed;
  if (policies.empty() || !is_proposal || view.is_deleting) return {};
  ApproveDecision decision{.kind = ApproveKind::Approve};
  std::vector<std::string> waits;
  for (const NamedPolicy& policy : policies) {
    const Answer answer = ask(policy.spec, view, zones, now);
    const std::string said = fmt::format("{}: {}", policy.name, answer.text);
    if (answer.kind == ApproveKind::Reject) return {.kind = ApproveKind::Reject, .text = said};
    decision.policies.push_back(fmt::format("{}@{}", policy.name, policy.generation));
    for (const std::string& one : answer.people) {
      if (std::ranges::find(decision.people, one) == decision.people.end()) decision.people.push_back(one);
    }
    if (answer.kind == ApproveKind::Approve) continue;
    waits.push_back(said);
    if (answer.wake) decision.wake = decision.wake ? std::min(*decision.wake, *answer.wake) : *answer.wake;
  }
  const bool has_gates = view.lifecycle == Lifecycle::Proposed && view.mode == GateMode::Enforce;
  for (const Unmet& one : view.missing) {
    if (has_gates) waits.push_back(one.text());
  }
  if (waits.empty()) return decision;
  return {.kind = ApproveKind::Waits, .text = joined(waits, "; "), .wake = decision.wake};
}

}  // namespace slipway::delivery::package
