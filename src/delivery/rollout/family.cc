#include "delivery/rollout/family.h"

#include "delivery/rollout/kind.h"
#include "delivery/rollout/kinds.h"

namespace slipway::delivery::rollout {
namespace {

Family make() {
  Family family{.name = "rollout", .groups = {std::string(kTraitGroup)}};
  family.definitions = custom_resource_definitions();
  return family;
}

}  // namespace

const Family& family() {
  static const Family row = make();
  return row;
}

}  // namespace slipway::delivery::rollout
