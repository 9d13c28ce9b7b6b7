#include "kube/cron_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/cron_schedule.h"
#include "json/text.h"

namespace slipway::kube {
namespace {

/// The areas of the time zone database. Which places they have is not known here.
constexpr std::array<std::string_view, 11> kAreas{"Africa",    "America", "Antarctica", "Arctic",  "Asia", "Atlantic",
                                                  "Australia", "Europe",  "Indian",     "Pacific", "Etc"};

bool is_time_zone(std::string_view name) {
  const auto slash = name.find('/');
  return slash == std::string_view::npos || std::ranges::find(kAreas, name.substr(0, slash)) != kAreas.end();
}

}  // namespace

void add_cron_name_causes(std::string_view name, std::vector<Cause>& causes) {
  if (name.size() <= kMaxCronName) return;
  causes.push_back(field::invalid("metadata.name", json::print(json::Value(name)),
                                  fmt::format("must be no more than {} characters", kMaxCronName)));
}

void add_schedule_causes(const json::Value& spec, std::vector<Cause>& causes) {
  const json::Value& schedule = spec["schedule"];
  if (schedule.as_string().empty()) {
    causes.push_back(field::required("spec.schedule"));
  } else if (schedule.as_string().find("TZ") != std::string_view::npos) {
    causes.push_back(field::invalid("spec.schedule", json::print(schedule),
                                    "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  } else if (const auto fault = schedule_fault(schedule.as_string())) {
    causes.push_back(field::invalid("spec.schedule", json::print(schedule), *fault));
  }
  const json::Value& zone = spec["timeZone"];
  if (zone.is_null()) return;
  if (zone.as_string().empty()) {
    causes.push_back(field::invalid("spec.timeZone", json::print(zone), "timeZone must be nil or non-empty string"));
  } else if (zone.as_string() == "Local") {
    causes.push_back(field::invalid("spec.timeZone", json::print(zone),
                                    "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"));
  } else if (!is_time_zone(zone.as_string())) {
    causes.push_back(field::invalid("spec.timeZone", json::print(zone), fmt::format("unknown time zone {}", zone.as_string())));
  }
}

}  // namespace slipway::kube
