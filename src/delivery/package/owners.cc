#include "delivery/package/owners.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"

namespace slipway::delivery::package {
namespace {

bool is_among(const std::string& owner, const OwnerNames& who) {
  return std::ranges::find(who.names, owner) != who.names.end();
}

Status forbidden(std::string_view object, std::vector<Cause> causes) {
  Status status;
  status.reason = Reason::Forbidden;
  status.message = fmt::format("{} \"{}\" is forbidden", kRevisions.group_resource(), object);
  const char* separator = ": ";
  for (const Cause& cause : causes) {
    status.message += fmt::format("{}{}: {}", separator, cause.field, cause.message);
    separator = "; ";
  }
  status.name = object;
  status.group = kRevisions.group;
  status.kind = kRevisions.plural;
  status.causes = std::move(causes);
  return status;
}

}  // namespace

Result<void> check_owners(const Gates& gates, const Conditions& before, const Conditions& after, const OwnerNames& who,
                          std::string_view object) {
  if (who.is_program) return {};
  std::vector<Cause> causes;
  for (const ReadinessGate& gate : gates) {
    if (gate.owner.empty() || is_among(gate.owner, who)) continue;
    const Condition* was = find(before, gate.type);
    const Condition* is = find(after, gate.type);
    const bool is_said = is != nullptr && is->status == Truth::True && (was == nullptr || *was != *is);
    if (!is_said) continue;
    causes.push_back(
        {.reason = "FieldValueForbidden",
         .message = fmt::format("gate {0} is owned by {1}: only the user or a member of the group {1} sets it True; who may "
                                "approve (update packagerevisions/approval) may drop the gate or change its owner",
                                gate.type, gate.owner),
         .field = fmt::format("status.conditions[{}]", gate.type)});
  }
  if (causes.empty()) return {};
  return fail(forbidden(object, std::move(causes)));
}

Conditions asked_again(Conditions conditions, const Gates& was, const Gates& gates, const OwnerNames& who, Time now) {
  for (const ReadinessGate& gate : gates) {
    const ReadinessGate* before = find(was, gate.type);
    if (gate.owner.empty() || (before != nullptr && before->owner == gate.owner)) continue;
    const auto at = std::ranges::find(conditions, gate.type, &Condition::type);
    if (at == conditions.end() || at->status != Truth::True) continue;
    const bool is_own = at->owner == gate.owner || (is_among(gate.owner, who) && is_among(at->owner, who));
    if (!is_own) *at = made_unknown(*at, kOwnerChanged, now);
  }
  return conditions;
}

}  // namespace slipway::delivery::package
