// The pods and claims of a StatefulSet as they are created (apps/v1): a stable name per ordinal, claims of the same ordinal,
// and whom these claims belong to (persistentVolumeClaimRetentionPolicy).
#pragma once

#include <string>
#include <vector>

#include "kube/object.h"

namespace slipway::cluster {

std::string stateful_pod_name(const kube::Object& set, std::int64_t ordinal);

/// The pod of that ordinal with the template of `revision`, a ControllerRevision.
kube::Object make_stateful_pod(const kube::Object& set, const kube::Object& revision, std::int64_t ordinal);
/// Its claims, one per volumeClaimTemplate.
std::vector<kube::Object> make_stateful_claims(const kube::Object& set, std::int64_t ordinal);

/// ownerReferences of a claim under the retention policy: of the set, of the pod when it is to go with it, or of neither.
/// Those of others stay; a claim with a foreign controller is left as it is. `pod` is null when there is none.
/// `is_in_range`: the set still asks for that ordinal.
json::Value claim_owners(const kube::Object& set, const kube::Object& claim, const kube::Object& pod, bool is_in_range);

/// Whether the claim goes with an earlier pod of that name: a new pod must wait until it is gone.
bool is_claim_of_gone_pod(const kube::Object& claim, std::string_view pod_name);

}  // namespace slipway::cluster
