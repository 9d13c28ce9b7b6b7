// Which objects belong to an owner with a selector (ReplicaSet → pods, Deployment → ReplicaSets): it keeps what its controller
// reference and its selector name, lets go of what the selector no longer matches, and takes what matches and has no
// controller. After upstream's ControllerRefManager.
#pragma once

#include <string>
#include <vector>

#include "client/client.h"
#include "client/informer.h"
#include "kube/object.h"

namespace slipway::cluster {

struct Claim {
  std::vector<kube::Object> own;      // owned and matched
  std::vector<kube::Object> adopt;    // matched, without a controller
  std::vector<kube::Object> release;  // owned, no longer matched

  bool needs_writes() const { return !adopt.empty() || !release.empty(); }
};

/// `candidates`: what the owner controls, and what has no controller in its namespace; others are passed over. A selector that
/// is absent or wrong claims nothing anew and releases nothing. What is being deleted is neither adopted nor released.
Claim sort_claim(const kube::Object& owner, const std::vector<kube::Object>& candidates);

/// The index keys under which an object may be claimed: its controller's uid, or orphan_key() of its namespace.
std::vector<std::string> claim_keys(const kube::Object& object);
std::string orphan_key(std::string_view ns);

/// The owner of that group and kind that controls the object, or, for one without a controller, those whose selector matches
/// it.
std::vector<kube::ObjectKey> claimants(const client::Informer& owners, std::string_view group, std::string_view kind,
                                       const kube::Object& object);
/// What sort_claim() is to look at, from an index of claim_keys().
std::vector<kube::Object> claim_candidates(const client::Informer& objects, const std::string& index,
                                           const kube::Object& owner);

/// Replaces the owners; null: none. Conflict when the object has changed since; one that is gone is fine.
Task<Result<void>> write_owners(client::Client& client, kube::Resource resource, kube::Object object, json::Value owners,
                                std::string manager);

/// Takes and lets go. The owner is asked for again before anything is taken, so that an old cache adopts nothing for an owner
/// that has gone. Conflict when an object has changed since. `finalizer` comes with the owner and goes with it.
Task<Result<void>> settle_claim(client::Client& client, kube::Resource owners, kube::Object owner, kube::Resource resource,
                                Claim claim, std::string manager, std::string_view finalizer = "");

}  // namespace slipway::cluster
