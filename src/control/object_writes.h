// Writes that every controller makes: finalizers and status. Each touches nothing else of the object, is exact (uid and
// resourceVersion are preconditions), and may be made again after a crash.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "client/client.h"

namespace slipway::control {

/// Adds `finalizer` and gives the object as it is then; no write when it is there already. Conflict when the object has
/// changed since.
Task<Result<kube::Object>> add_finalizer(client::Client& client, kube::Resource resource, kube::Object object,
                                         std::string finalizer, std::string manager);
/// Takes `finalizer` away. Conflict when the object has changed since. An object or finalizer that is absent is fine.
Task<Result<void>> remove_finalizer(client::Client& client, kube::Resource resource, kube::Object object,
                                    std::string_view finalizer, std::string manager);

/// Undoes what a controller has done for an object, before the object may go. True: done. False: it takes longer, the caller
/// looks again. Run again from the top after any failure.
using CleanUp = std::function<Task<Result<bool>>()>;

/// What finalize() found or did.
struct Finalized {
  enum class Stage : std::uint8_t {
    Live,   // not being deleted; the finalizer is on it
    Going,  // being deleted: nothing new may be begun for it; clean_up has not finished yet
    Gone,   // being deleted, and ours no longer
  };
  Stage stage = Stage::Live;
  kube::Object object;  // Live: as it is with the finalizer
};
/// The life of an object that must be cleaned up after: puts `finalizer` on a live one, so that nothing is done for an object
/// that could vanish unseen; for one that is being deleted runs `clean_up` and, when that says true, lets go of it.
Task<Result<Finalized>> finalize(client::Client& client, kube::Resource resource, kube::Object object, std::string finalizer,
                                 std::string manager, CleanUp clean_up);

/// `status` with observedGeneration and, on top of the object's present conditions, `conditions`, each with the
/// observedGeneration it speaks of. lastTransitionTime moves only when a condition's status changes. Pure.
json::Value observed_status(const kube::Object& object, const json::Value& status,
                            const std::vector<kube::Condition>& conditions, Time now);
/// Replaces the status and gives the object as it is then; writes nothing when it is the same already. Conflict when the object
/// has changed since, NotFound when it is gone.
Task<Result<kube::Object>> write_status(client::Client& client, kube::Resource resource, kube::Object object,
                                        json::Value status, std::string manager);

}  // namespace slipway::control
