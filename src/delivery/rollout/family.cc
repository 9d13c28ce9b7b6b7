#include "delivery/rollout/family.h"

#include "delivery/rollout/controller.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/kinds.h"

namespace slipway::delivery::rollout {
namespace {

Family make() {
  Family family{.name = "rollout", .groups = {std::string(kTraitGroup)}};
  family.definitions = custom_resource_definitions();
  family.controllers = [](const ControllerContext& context) {
    std::vector<std::unique_ptr<control::Controller>> made;
    made.push_back(std::make_unique<RolloutController>(context.env, context.http, "rollout-trait", kTraits));
    return made;
  };
  return family;
}

}  // namespace

const Family& family() {
  static const Family row = make();
  return row;
}

}  // namespace slipway::delivery::rollout
