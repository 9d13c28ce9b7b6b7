// The CronJob controller: control/cron_controller.h for Jobs.
#pragma once

#include "control/cron_controller.h"

namespace slipway::cluster {

class CronJobController : public control::CronController {
 public:
  explicit CronJobController(Env& env);
};

}  // namespace slipway::cluster
