// What KubeVela left behind, read so that nothing is made again: specs that mean the same, objects under names that it made up,
// fields that it owns. Pure, but for the look at its Lease.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/client.h"
#include "delivery/application/tracker.h"

namespace slipway::delivery::application {

/// Whether two specs of an Application say the same, apart from members without content and names that are made up:
///   {"components": […], "policies": []}  and  {"components": […]}
/// KubeVela's revisions have been through Go types, which leave such members out. Properties count as they are written.
bool is_same_spec(const Value& one, const Value& other);

/// The name under which the trackers hold what `manifest` is, a component's object whose name was made up: of the same kind, by
/// the same trait, under the same name of its outputs. Empty: there is none, or more than one. A Job always gets its own name,
/// since what it runs cannot be changed.
std::string recorded_name(const ManagedResource& manifest, const std::vector<const ManagedResource*>& held);

/// The managedFields of an object in which what KubeVela set by updates was applied by `manager`: only then does a field go
/// that is no longer wanted. Nullopt when KubeVela owns nothing. As client-go's csaupgrade.
std::optional<Value> upgraded_fields(const kube::Object& live, std::string_view manager);

/// Says which controller of KubeVela's holds its Lease in vela-system, or had one there less than its time ago:
/// "kubevela-vela-core-7d9_1 holds Lease vela-system/kubevela (renewed 3 s ago)". Empty: none does.
Task<Result<std::string>> kubevela_leader(client::Client& client, Time now);

}  // namespace slipway::delivery::application
