// The rendered resources of a revision for everybody to read: a ConfigMap of the revision's name, one key per component, a list
// of its objects as they are before overrides and placement, and one key `policy_<name>` per policy that makes objects. A
// component that needs what is not there yet says so,
// {"pending": ["input connSecret"]}, until it has been rendered. Objects that are Secrets, or hold what was read from one,
// stand whole in a Secret of the same name only, under the component's name; the ConfigMap has what they are called. More than
// 4 KiB are compressed (`binaryData`, gzip, key `<component>.gz`).
#pragma once

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Writes both; what is there already for the revision stays.
Task<Result<void>> write_resources(AppRun& run);
/// Tells of the components that waited for inputs and have been delivered in this pass.
Task<Result<void>> complete_resources(AppRun& run);
/// Adds the data of `whole`, a ConfigMap or Secret of the revision's name, to the one that is there, or creates it. False, and
/// in the log: one is there that is not the application's, and is left alone, or the server refuses so much.
Task<Result<bool>> add_to_record(AppRun& run, kube::Resource resource, Value whole);
/// Both, of a revision that goes.
Task<Result<void>> remove_resources(client::Client& client, kube::Object application, std::string revision);

}  // namespace slipway::delivery::application
