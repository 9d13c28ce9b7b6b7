// How a rollout takes charge of an application that waits as a template. The application carries `rollout-template: "true"`
// from its creation; its controller renders its revisions then, and applies nothing. A rollout that targets such a revision
// writes itself into kRolledOutBy, makes the new workload without pods, and takes the first annotation away. As long as the
// second one stands there the application is rendered only; it goes when the rollout has succeeded or is deleted. An owner
// reference would not do: the application would be deleted with the rollout.
#pragma once

#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery {

/// "true": a template. Only a create may carry it, and once it is gone it stays so.
inline constexpr const char* kRolloutTemplate = "app.oam.dev/rollout-template";
/// The rollout in charge: {apiVersion, kind, name, uid} as JSON.
inline constexpr const char* kRolledOutBy = "slipway.dev/rolled-out-by";

inline bool is_rollout_template(const kube::Object& application) {
  return kube::annotation(application, kRolloutTemplate) == "true";
}

/// Null when there is none, or what stands there is no reference.
inline json::Value rolled_out_by(const kube::Object& application) {
  const std::string_view text = kube::annotation(application, kRolledOutBy);
  auto reference = text.empty() ? Result<json::Value>(json::Value()) : json::parse(text);
  return reference && reference->is_object() ? *std::move(reference) : json::Value();
}

}  // namespace slipway::delivery
