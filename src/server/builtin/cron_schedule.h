// The text of a CronJob's schedule: five fields (minute, hour, day of month, month, day of week) or a macro such as @hourly, as
// github.com/robfig/cron's ParseStandard takes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipway::server {

/// What is wrong with a schedule, in upstream's words; nullopt when nothing is.
std::optional<std::string> schedule_fault(std::string_view schedule);

}  // namespace slipway::server
