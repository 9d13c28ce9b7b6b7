// The conditions of an Application's status. The steps of a reconcile have one each, in the order of the work; what comes after
// a step that failed is dropped. Ready is False as soon as one of them is. Pure.
#pragma once

#include <string>
#include <string_view>

#include "delivery/application/status.h"

namespace slipway::delivery::application {

/// lastTransitionTime stays when only reason or message change.
void set_condition(ApplicationStatus& status, const std::string& type, bool is_true, const std::string& reason,
                   const std::string& message, Time now);
/// True, Available.
void pass_condition(ApplicationStatus& status, const char* type, Time now);
bool has_passed(const ApplicationStatus& status, std::string_view type);
/// A step of the reconcile failed: it and Ready say so.
void fail_condition(ApplicationStatus& status, const char* type, const std::string& message, Time now);
void drop_condition(ApplicationStatus& status, std::string_view type);
void drop_conditions_after(ApplicationStatus& status, std::string_view type);
/// Whether the condition of this type has another status or message than in the status `before`.
bool is_news(const json::Value& before, const ApplicationStatus& status, std::string_view type);
/// Null when there is none of that type.
const AppCondition* find_condition(const ApplicationStatus& status, std::string_view type);

}  // namespace slipway::delivery::application
