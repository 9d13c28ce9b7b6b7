// The Services of a rollout that moves traffic: one selects the pods of the source, one those of the target. Those that are
// missing are made from the Service that clients use; those that both versions share get the revision's labels in their
// selector meanwhile, and their own selector back at every end. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "delivery/rollout/spec.h"
#include "delivery/rollout/traffic.h"

namespace slipway::delivery::rollout {

using Labels = std::map<std::string, std::string>;

inline const kube::GroupVersionKind kServiceKind{"", "v1", "Service"};
/// "true" on a Service that a rollout has made.
inline constexpr std::string_view kMadeLabel = "rollout.slipway.dev/made";

/// The plan's names, or those of the Services that are made: "web-source", "web-target".
std::string source_service(const Traffic& traffic);
std::string target_service(const Traffic& traffic);
/// Which Services are looked at, each once.
std::vector<std::string> service_names(const Traffic& traffic);

/// What is to be written so that each of the two selects its own pods; empty when it is so. NotFound when there is nothing to
/// make a missing one from.
Result<std::vector<Change>> prepare_services(const Traffic& traffic, const Objects& objects, const Labels& source,
                                             const Labels& target, const kube::Object& rollout);
/// Own selectors back.
std::vector<Change> restore_selectors(const Traffic& traffic, const Objects& objects);
/// Those that were made go.
std::vector<Change> remove_services(const Traffic& traffic, const Objects& objects);

}  // namespace slipway::delivery::rollout
