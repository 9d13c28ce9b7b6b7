#include "delivery/package/readiness.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/family/text.h"

namespace slipway::delivery::package {
namespace {

Condition aggregate(std::string_view type, Truth status, std::string_view reason, std::string message) {
  return {.type = std::string(type), .status = status, .reason = std::string(reason), .message = std::move(message)};
}

Condition of_gates(std::string_view type, const std::vector<Unmet>& missing, Render render, std::string_view error) {
  if (render == Render::Unreadable) {
    return aggregate(type, Truth::False, kKptfileUnreadable, fmt::format("the Kptfile cannot be read: {}", error));
  }
  if (render == Render::Running) return aggregate(type, Truth::False, "Rendering", "the package is being rendered");
  if (render == Render::Failed) {
    const std::string why = error.empty() ? "" : fmt::format(": {}", one_line(std::string(error)));
    return aggregate(type, Truth::False, "RenderFailed", "the package could not be rendered" + why);
  }
  if (missing.empty()) return aggregate(type, Truth::True, "GatesMet", "");
  std::vector<std::string> texts;
  texts.reserve(missing.size());
  for (const Unmet& one : missing) texts.push_back(one.text());
  return aggregate(type, Truth::False, "GatesUnmet", joined(texts, "; "));
}

bool is_met(const ReadinessGate& gate, const Conditions& conditions) {
  const Condition* condition = find(conditions, gate.type);
  return condition != nullptr && condition->status == Truth::True;
}

}  // namespace

std::string Unmet::text() const {
  std::vector<std::string> known;
  if (!owner.empty()) known.push_back("owner " + owner);
  if (age) known.push_back("for " + human_duration(*age));
  const std::string about = known.empty() ? "" : fmt::format(" ({})", joined(known, ", "));
  const std::string why = message.empty() ? reason : message;
  const std::string state = status ? fmt::format("is {}", json::enum_name(*status)) : "has no condition yet";
  return fmt::format("{} {}{}{}{}", type, state, about, why.empty() ? "" : ": ", why);
}

std::vector<Unmet> unmet(const Gates& gates, const Conditions& conditions, const Now& now) {
  std::vector<Unmet> missing;
  for (const ReadinessGate& gate : gates) {
    if (is_met(gate, conditions)) continue;
    Unmet one{.type = gate.type, .owner = gate.owner, .sources = gate.sources};
    if (const Condition* condition = find(conditions, gate.type)) {
      one.status = condition->status;
      one.reason = condition->reason;
      one.message = condition->message;
      if (one.owner.empty()) one.owner = condition->owner;
      if (condition->since) one.age = std::max(Duration{0}, now.time() - now.present(*condition->since));
    }
    missing.push_back(std::move(one));
  }
  return missing;
}

bool is_ready(const Gates& gates, const Conditions& conditions) {
  return std::ranges::all_of(gates, [&](const ReadinessGate& gate) { return is_met(gate, conditions); });
}

std::string ready_text(const Gates& gates, const Conditions& conditions) {
  const auto met = std::ranges::count_if(gates, [&](const ReadinessGate& gate) { return is_met(gate, conditions); });
  return fmt::format("{}/{}", met, gates.size());
}

std::vector<Cause> unmet_causes(const std::vector<Unmet>& missing) {
  std::vector<Cause> causes;
  causes.reserve(missing.size());
  for (const Unmet& one : missing) {
    causes.push_back(field::forbidden(fmt::format("spec.readinessGates[{}]", one.type),
                                      fmt::format("readiness conditions not met: {}", one.text())));
  }
  return causes;
}

Conditions aggregates(Lifecycle lifecycle, const std::vector<Unmet>& missing, Render render, std::string_view error) {
  switch (lifecycle) {
    case Lifecycle::Draft:
      return {of_gates(kReadyToPropose, missing, render, error),
              aggregate(kReadyToApprove, Truth::False, "NotProposed", "the revision is a draft")};
    case Lifecycle::Proposed:
      return {aggregate(kReadyToPropose, Truth::True, "Proposed", ""), of_gates(kReadyToApprove, missing, render, error)};
    case Lifecycle::Published:
    case Lifecycle::DeletionProposed:
      return {};
  }
  return {};
}

}  // namespace slipway::delivery::package
