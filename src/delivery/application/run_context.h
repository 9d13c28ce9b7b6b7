// The ConfigMap `workflow-<name>-context` that keeps the variables and notes of a run (RunStore), as KubeVela's clients know
// it: `vars` is CUE (here always JSON), other keys are notes.
#pragma once

#include <string>

#include "client/client.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::application {

using json::Value;

struct LoadedContext {
  workflow::RunStore store;
  Value object;  // the ConfigMap; null: not there yet
};
/// A ConfigMap of another owner is left alone; a suffix then tells them apart.
Task<Result<LoadedContext>> load_context(client::Client& client, kube::Object owner);
/// Creates or replaces it. Gives the object.
Task<Result<Value>> save_context(client::Client& client, kube::Object owner, Value object, workflow::RunStore store);
/// The reference to it that a status has.
workflow::ContextBackend backend_of(const Value& context);

}  // namespace slipway::delivery::application
