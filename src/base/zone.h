// Time zones as values: the offsets from UTC of a place over time, read from a TZif file (RFC 8536) and the POSIX rule at its
// end. load_zone() reads the files of this machine; no table is compiled in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/time.h"

namespace slipway {

class Files;

/// When in a year the clocks change: the `week`th (5: last) `day` (0: Sunday) of a month, or a day of the year.
struct YearlyChange {
  enum class Form : std::uint8_t { MonthWeekDay, DayWithoutLeap, DayOfYear };
  Form form = Form::MonthWeekDay;
  int month = 0;
  int week = 0;
  int day = 0;
  Duration time = std::chrono::hours{2};  // local, in the offset before the change
};

class Zone {
 public:
  /// UTC.
  Zone() = default;
  /// BadRequest for bytes that are no TZif of version 2 or later.
  static Result<Zone> parse(std::string name, std::string_view bytes);
  /// Only a rule, "CET-1CEST,M3.5.0,M10.5.0/3".
  static Result<Zone> from_rule(std::string name, std::string_view rule);

  const std::string& name() const { return name_; }
  /// What is added to UTC to get the local time at that moment.
  Duration offset_at(Time time) const;
  /// The moment at which clocks show `local`; of two the first. A time that is skipped is read in the offset before the gap.
  Time to_utc(Time local) const;

 private:
  struct Change {
    Time at;
    Duration offset{0};
  };
  Result<void> read_rule(std::string_view rule);

  std::string name_ = "UTC";
  Duration first_{0};            // before all changes
  std::vector<Change> changes_;  // ascending
  // After the last change.
  Duration standard_{0};
  std::optional<Duration> summer_;
  YearlyChange to_summer_;
  YearlyChange to_standard_;
};

/// The zone by its IANA name, from the system's zone files (/usr/share/zoneinfo); "UTC" needs none. NotFound, naming the
/// package to install, where there is no such file; Invalid for text that is no name of a zone. A small file is read: keep the
/// result.
Result<Zone> load_zone(Files& files, const std::string& name);

}  // namespace slipway
