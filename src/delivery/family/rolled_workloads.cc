#include "delivery/family/rolled_workloads.h"

#include <algorithm>

namespace slipway::delivery {
namespace {

using json::Value;

/// Of a workload that the attempt has a snapshot of; else null.
Value reference_of(const kube::Object& rollout, const Value& id) {
  const auto snapshots = rollout["status"]["snapshots"].items();
  const auto known = std::ranges::find_if(snapshots, [&](const Value& one) { return one["id"] == id; });
  if (known == snapshots.end()) return {};
  return json::object({{"apiVersion", (*known)["apiVersion"]},
                       {"kind", (*known)["kind"]},
                       {"namespace", Value(kube::ns(rollout))},
                       {"name", (*known)["name"]}});
}

}  // namespace

std::vector<Value> rolled_workloads(const kube::Object& rollout) {
  std::vector<Value> all;
  const auto add = [&](const Value& set) {
    Value reference = set.is_null() ? Value() : reference_of(rollout, set["id"]);
    if (!reference.is_null()) all.push_back(std::move(reference));
  };
  const Value& status = rollout["status"];
  add(status["target"]);
  for (std::size_t i = status["sources"].size(); i-- > 0;) add(status["sources"].item(i));
  return all;
}

bool has_rolled_out(const kube::Object& rollout) {
  const Value& spec = rollout["spec"];
  const Value& status = rollout["status"];
  const Value& named = spec[spec.has("targetAppRevisionName") ? "targetAppRevisionName" : "targetRevisionName"];
  const bool is_its = named.is_null() || named == status["lastTargetRevision"];
  return is_its && status["rollingState"].as_string() == "rolloutSucceed";
}

}  // namespace slipway::delivery
