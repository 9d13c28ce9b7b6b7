// The schedule of a kind that starts others by the clock (batch/v1 CronJob and kinds with its fields): the checks of admission,
// in upstream's words. When a schedule comes due is in base/cron_schedule.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::kube {

/// Characters of the name of such an object, so that the names of what it starts (its own, a dash and a minute) are labels.
inline constexpr std::size_t kMaxCronName = 52;

/// Adds what is wrong with the name of a new object.
void add_cron_name_causes(std::string_view name, std::vector<Cause>& causes);
/// Adds what is wrong with `schedule` and `timeZone` of a spec. Of zones only the form of the name is checked: which ones this
/// machine has files of is found when it runs.
void add_schedule_causes(const json::Value& spec, std::vector<Cause>& causes);

}  // namespace slipway::kube
