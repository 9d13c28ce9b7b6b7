// The rendered resources of a revision for everybody to read: a ConfigMap of the revision's name, one key per component, a list
// of its objects as they are before overrides and placement. A component that needs what is not there yet says so,
// {"pending": ["input connSecret"]}. Objects that are Secrets stand whole in a Secret of the same name only. More than 4 KiB
// are compressed (`binaryData`, gzip, key `<component>.gz`).
#pragma once

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Writes both; what is there already for the revision stays.
Task<Result<void>> write_resources(AppRun& run);

}  // namespace slipway::delivery::application
