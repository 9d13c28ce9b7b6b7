#include "cluster/cron_job.h"

#include "cluster/names.h"

namespace slipway::cluster {

CronJobController::CronJobController(Env& env)
    : CronController(env, {.controller = "cronjob",
                           .manager = "slipway-cronjob",
                           .resource = kCronJobs,
                           .kind = {"batch", "v1", "CronJob"},
                           .children = kJobs,
                           .child = {"batch", "v1", "Job"},
                           .template_field = "jobTemplate",
                           .successful_limit = "successfulJobsHistoryLimit",
                           .failed_limit = "failedJobsHistoryLimit",
                           .scheduled_annotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"}) {}

}  // namespace slipway::cluster
