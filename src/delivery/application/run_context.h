// The ConfigMap `workflow-<name>-context` that keeps the variables and notes of a run (RunStore), as KubeVela's clients know
// it: `vars` is CUE (here always JSON), other keys are notes. What was made from Secrets stands in a Secret of the same name
// and form, which the ConfigMap names in an annotation.
#pragma once

#include <string>

#include "client/client.h"
#include "delivery/application/acting.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::application {

using json::Value;

struct LoadedContext {
  workflow::RunStore store;
  Value object;  // the ConfigMap, perhaps not created yet
  Value secret;  // null: there is none
  /// A user has written what only the process writes; the store is empty. Nothing may be done with it but begin_context().
  bool is_foreign = false;
};
/// A ConfigMap of another owner is left alone; a suffix then tells them apart.
Task<Result<LoadedContext>> load_context(client::Client& client, kube::Object owner);
/// For a run that has not begun, by what was read of `owner`: what an earlier run has left is dropped. Conflict when there is a
/// newer state of the owner, from a cache that is behind: its run may have begun, and what it left is needed.
Task<Result<void>> begin_context(client::Client& client, kube::Resource resource, kube::Object owner, LoadedContext& loaded);
/// Forbidden for one that a user has written.
Result<void> check_context(const LoadedContext& loaded);
/// The text of a note; empty where there is none.
std::string note_in(const workflow::RunStore& store, const char* key);
/// Stores the rules of the author's rights in the run's context at its start, and passes them to `acting` in every pass.
Task<> follow_rights(Acting& acting, kube::Object owner, workflow::RunStore& store, bool is_first);

/// Creates or replaces them where they differ from what was loaded, the Secret first. Gives the ConfigMap.
Task<Result<Value>> save_context(client::Client& client, LoadedContext loaded, workflow::RunStore store);
/// The reference to it that a status has.
workflow::ContextBackend backend_of(const Value& context);

}  // namespace slipway::delivery::application
