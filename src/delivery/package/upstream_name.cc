#include "delivery/package/upstream_name.h"

#include "json/codec.h"

namespace slipway::delivery::package {

std::string upstream_of(const RevisionTask& task) {
  if (task.clone && task.clone->upstream.revision) return task.clone->upstream.revision->name;
  return task.upgrade ? task.upgrade->new_upstream.name : "";
}

std::string missing_upstream(const json::Value& object) {
  const json::Value& spec = object["spec"];
  if (!spec["upstreamName"].as_string().empty()) return "";
  const json::Value& first = spec["tasks"].item(0);
  if (!first.has("clone") && !first.has("upgrade")) return "";  // most: nothing is decoded for them
  const auto task = json::decode<RevisionTask>(first, "spec.tasks[0]", {.allow_unknown = true});
  return task ? upstream_of(*task) : "";
}

}  // namespace slipway::delivery::package
