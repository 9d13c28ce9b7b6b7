#include "delivery/package/upstream_name.h"

#include "json/codec.h"

namespace slipway::delivery::package {

std::string upstream_of(const RevisionTask& task) {
  std::string name;
  if (task.clone && task.clone->upstream.revision) name = task.clone->upstream.revision->name;
  if (task.upgrade) name = task.upgrade->new_upstream.name;
  return name.empty() ? std::string(kNoUpstream) : name;
}

std::string missing_upstream(const json::Value& object) {
  const json::Value& spec = object["spec"];
  if (!spec["upstreamName"].as_string().empty()) return "";
  const json::Value& first = spec["tasks"].item(0);
  const auto task = json::decode<RevisionTask>(first, "spec.tasks[0]", {.allow_unknown = true});
  return task ? upstream_of(*task) : std::string(kNoUpstream);
}

}  // namespace slipway::delivery::package
