// A gate's owner binds: its condition is set True only by the user or a member of the group of that name. Who may approve can
// drop such a gate or give it another owner, and both are recorded; a plain flip is refused for them too. False and Unknown may
// be set by every writer. Controllers of this program are not asked. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "delivery/package/conditions.h"
#include "delivery/package/gates.h"

namespace slipway::delivery::package {

/// Who writes: the names that a gate's owner is compared with. None: this program itself.
struct OwnerNames {
  std::vector<std::string> names{};
  bool is_program = false;
};

/// Forbidden, with a cause for each condition of an owned gate that `after` has True, unlike `before`, without its owner having
/// said so.
Result<void> check_owners(const Gates& gates, const Conditions& before, const Conditions& after, const OwnerNames& who,
                          std::string_view object);

/// `conditions` where `gates` name owners that `was` did not: what others had set True becomes Unknown (OwnerChanged).
Conditions asked_again(Conditions conditions, const Gates& was, const Gates& gates, const OwnerNames& who, Time now);

}  // namespace slipway::delivery::package
