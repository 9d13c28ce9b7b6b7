// The workloads of a roll, as they are recorded and as they are seen: which of them is which, how many pods they have, and
// whether what was decided on stands on them. What is written to a workload carries a stamp (SetRecord::stamp); from the stamp
// that is seen one tells a write that has not arrived from a change by another writer.
#pragma once

#include <vector>

#include "delivery/wave/roll.h"

namespace slipway::delivery::wave {

class Sets {
 protected:
  Sets(const Settings& settings, const Record& record, const World& world) : settings_(settings), world_(world), r_(record) {}

  Shape shape() const;
  bool is_sized() const;
  /// Null when it is gone.
  const SetView* view(const SetRecord& set) const;
  /// Those that this shape writes to: the sources, then the target.
  std::vector<SetRecord*> sets();
  SetRecord begun(const SetView& view, std::int64_t size) const;
  static void claim(SetRecord& set, const SetView& view);
  void write(SetRecord& set, const SetView& view, std::int64_t number) const;
  bool is_pending(const SetRecord& set) const;
  /// Every size that was decided on stands on its object.
  bool is_settled();
  std::int64_t source_sum() const;
  std::int64_t sources_present() const;
  /// Of them those that are to stay, or serve: a rolling update of their own may keep others that are never ready.
  std::int64_t sources_left() const;
  std::int64_t new_ready() const;
  std::int64_t old_ready() const;

  const Settings& settings_;
  const World& world_;
  Record r_;  // as it becomes
};

}  // namespace slipway::delivery::wave
