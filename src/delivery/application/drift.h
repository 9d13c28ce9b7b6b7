// Drift: fields of live objects that differ from what an application wants of them, who made them so, and how often they are
// put right. A field that another writer changes again and again is left to it for a while, so that two controllers do not keep
// a cluster busy: see RepairLog. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "delivery/application/tracker.h"

namespace slipway::delivery::application {

/// Whether every field of `wanted` stands in `live` with the same value; lists pair items by name where they have one.
bool has_drifted(const Value& wanted, const Value& live);

struct DriftedField {
  std::string path;     // "spec.template.spec.containers[web].image"
  std::string manager;  // who wrote it, of others than `own`; empty: not known
  auto operator<=>(const DriftedField&) const = default;
};
/// The fields that differ, the outermost of each. `own` is the manager that wants them.
std::vector<DriftedField> drifted_fields(const Value& wanted, const Value& live, std::string_view own);

/// The condition that tells of contested fields; there only while there are some.
inline constexpr const char* kContested = "Contested";

/// The repairs of an application's objects, of late. After `kMostRepairs` of one field within `kWindow` the field is contested:
/// from then on it is repaired once per `kPause`, until it has stayed as wanted for that long.
class RepairLog {
 public:
  static constexpr std::size_t kMostRepairs = 3;
  static constexpr Duration kWindow = std::chrono::minutes{1};
  static constexpr Duration kPause = std::chrono::minutes{1};

  /// How long the repair of these fields of an object is put off; nullopt: it is to be made now.
  std::optional<Duration> put_off(const ObjectId& object, const std::vector<DriftedField>& fields, Steady now);
  void repaired(const ObjectId& object, const std::vector<DriftedField>& fields, Steady now);
  /// A sentence for each contested field, in order; those that have been left alone for `kPause` are forgotten.
  std::vector<std::string> contested(Steady now);
  /// When one of them may be forgotten.
  std::optional<Duration> next(Steady now) const;

 private:
  struct Entry {
    std::vector<Steady> repairs{};  // within the window; of a contested field the last
    Steady last_seen{};             // when the field last differed; of one put off when it may be repaired
    std::string manager{};
    bool is_contested = false;
  };
  std::map<std::pair<ObjectId, std::string>, Entry> fields_;
};

}  // namespace slipway::delivery::application
