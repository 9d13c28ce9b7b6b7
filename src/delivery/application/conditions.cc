#include "delivery/application/conditions.h"

#include <algorithm>

namespace slipway::delivery::application {
namespace {

constexpr const char* kOrder[] = {"Parsed", "Revision", "Policy", "Render", "Workflow", "Ready"};

}  // namespace

void set_condition(ApplicationStatus& status, const std::string& type, bool is_true, const std::string& reason,
                   const std::string& message, Time now) {
  const auto at = std::ranges::find(status.conditions, type, &AppCondition::type);
  AppCondition condition{
      .type = type, .status = is_true ? "True" : "False", .last_transition_time = now, .reason = reason, .message = message};
  if (at == status.conditions.end()) {
    status.conditions.push_back(std::move(condition));
    return;
  }
  if (at->status == condition.status) condition.last_transition_time = at->last_transition_time;
  *at = std::move(condition);
}

void pass_condition(ApplicationStatus& status, const char* type, Time now) {
  set_condition(status, type, true, "Available", "", now);
}

bool has_passed(const ApplicationStatus& status, std::string_view type) {
  const AppCondition* condition = find_condition(status, type);
  return condition != nullptr && condition->status == "True";
}

void fail_condition(ApplicationStatus& status, const char* type, const std::string& message, Time now) {
  drop_conditions_after(status, type);
  set_condition(status, type, false, "ReconcileError", message, now);
  set_condition(status, "Ready", false, "ReconcileError", message, now);
}

void drop_condition(ApplicationStatus& status, std::string_view type) {
  std::erase_if(status.conditions, [&](const AppCondition& one) { return one.type == type; });
}

void drop_conditions_after(ApplicationStatus& status, std::string_view type) {
  const auto* from = std::ranges::find(kOrder, type);
  std::erase_if(status.conditions, [&](const AppCondition& one) {
    return std::find(from == std::end(kOrder) ? from : from + 1, std::end(kOrder), one.type) != std::end(kOrder);
  });
}

const AppCondition* find_condition(const ApplicationStatus& status, std::string_view type) {
  const auto at = std::ranges::find(status.conditions, type, &AppCondition::type);
  return at == status.conditions.end() ? nullptr : &*at;
}

bool is_news(const json::Value& before, const ApplicationStatus& status, std::string_view type) {
  const AppCondition* now = find_condition(status, type);
  for (const json::Value& one : before["conditions"].items()) {
    if (one["type"].as_string() != type) continue;
    return now == nullptr || one["status"].as_string() != now->status || one["message"].as_string() != now->message;
  }
  return now != nullptr;
}

}  // namespace slipway::delivery::application
