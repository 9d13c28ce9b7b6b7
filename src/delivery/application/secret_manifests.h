// Manifests that are Secrets, or hold what was read from one. A tracker has only their names; the manifests stand in the Secret
// of the revision's name, beside its rendered resources (resources.h), one key `manifest.<digest>` each. From there such an
// object is brought back when it is deleted or changed, without rendering: when the tracker, which users cannot write, has the
// salted digest of what stands there.
#pragma once

#include <vector>

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Whether only those may read the manifest who may read Secrets.
bool is_secret(const Manifest& manifest);
/// Keeps those of the manifests that are secret. Before they are recorded and applied: the records have the digests.
Task<Result<void>> keep_secret_manifests(AppRun& run, std::vector<Manifest> manifests);
/// By object, those that are as they were kept; empty where there is no such Secret. One request. `revision`: that whose Secret
/// is read.
Task<Result<std::map<ObjectId, Value>>> secret_manifests(AppRun& run, std::vector<ManagedResource> of, std::string revision);

}  // namespace slipway::delivery::application
