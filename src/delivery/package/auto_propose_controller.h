// Controller "package-auto-propose", one key per revision: proposes drafts that are marked with the annotation
// config.porch.kpt.dev/auto-lifecycle-mgmt: "true", as soon as they are ready and at rest (auto_propose.h decides). The request
// is that of any user, so the server judges the gates again, in the same append.
#pragma once

#include <memory>
#include <string>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/package/record_index.h"

namespace slipway::delivery::package {

class AutoProposeController : public control::Controller {
 public:
  AutoProposeController(const ControllerContext& context, std::shared_ptr<RecordIndex> records);

  std::string name() const override { return "package-auto-propose"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Env& env_;
  std::shared_ptr<RecordIndex> records_;
  WallSteps wall_;
};

}  // namespace slipway::delivery::package
