#include "delivery/gate/weaker.h"

#include <algorithm>

namespace slipway::delivery::gate {
namespace {

bool is_subset(const std::vector<std::string>& some, const std::vector<std::string>& all) {
  return std::ranges::all_of(some, [&](const std::string& one) { return std::ranges::find(all, one) != all.end(); });
}

/// True if `after` accepts approvers that `before` did not. A gate without names accepts all users with the right to approve;
/// names narrow that, except names of hooks: a hook approves only where it is named.
bool admits_others(const ApprovalGate& before, const ApprovalGate& after) {
  const bool was_open = before.users.empty() && before.groups.empty();
  const bool is_open = after.users.empty() && after.groups.empty();
  const bool names_hook = std::ranges::any_of(after.users, [](const std::string& one) { return one.starts_with(kHookPrefix); });
  if (was_open) return names_hook;
  return is_open || !is_subset(after.users, before.users) || !is_subset(after.groups, before.groups);
}

/// The gate without what approval gates are compared by.
json::Value rest_of(GateSpec gate) {
  gate.approval.reset();
  return json::encode(gate);
}

}  // namespace

bool has_approval(const std::vector<GateSpec>& gates) {
  return std::ranges::any_of(gates, [](const GateSpec& one) { return one.approval.has_value(); });
}

bool is_weaker(const GateSpec& before, const GateSpec& after) {
  if (rest_of(before) != rest_of(after)) return true;
  if (!before.approval) return false;
  if (!after.approval) return true;
  return after.approval->count < before.approval->count || (after.approval->by_author && !before.approval->by_author) ||
         admits_others(*before.approval, *after.approval);
}

std::vector<std::string> weakened_gates(const std::vector<GateSpec>& before, const std::vector<GateSpec>& after) {
  std::vector<std::string> names;
  if (!has_approval(before)) return names;
  for (const GateSpec& one : before) {
    const auto now = std::ranges::find(after, one.name, &GateSpec::name);
    if (now == after.end() || is_weaker(one, *now)) names.push_back(one.name);
  }
  return names;
}

}  // namespace slipway::delivery::gate
