#include "cluster/deployment_facts.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/digest.h"
#include "cluster/names.h"
#include "json/text.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// "Never" in fields that upstream reads as 32 bits.
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();
/// ReplicaSets are named after their Deployment; their names are label values' length at most.
constexpr std::size_t kMaxReplicaSetName = 253;

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_of_controller(std::string_view key) {
  return key == kRevision || key == kRevisionHistory || key == kDesiredReplicas || key == kMaxReplicas || key == kPodNumbers ||
         key == "kubectl.kubernetes.io/last-applied-configuration" || key == "deprecated.deployment.rollback.to";
}

/// Without the hash, and without the maps that are empty then or were written empty.
Value plain_template(const Value& pod) {
  Value plain = pod.without_path({"metadata", "labels", kTemplateHash});
  Value metadata = plain["metadata"].without("creationTimestamp");
  for (const char* map : {"labels", "annotations"}) {
    if (metadata[map].empty()) metadata = metadata.without(map);
  }
  return metadata.empty() ? plain.without("metadata") : plain.with("metadata", metadata);
}

/// JSON text that does not depend on the order of members.
void append_canonical(std::string& text, const Value& value) {
  if (value.is_object()) {
    std::vector<std::pair<std::string_view, const Value*>> members;
    for (const auto& [key, member] : value.members()) members.emplace_back(key, &member);
    std::sort(members.begin(), members.end());
    for (const auto& [key, member] : members) {
      text.append(key).push_back('=');
      append_canonical(text, *member);
      text.push_back(';');
    }
  } else if (value.is_array()) {
    for (const Value& item : value.items()) {
      text.push_back('[');
      append_canonical(text, item);
      text.push_back(']');
    }
  } else {
    text += json::print(value);
  }
}

}  // namespace

std::int64_t resolve_share(const Value& share, std::int64_t total, bool rounds_up) {
  if (share.is_int()) return share.as_int();
  const std::string_view text = share.as_string();
  if (!text.ends_with('%')) return whole(text).value_or(0);
  const std::int64_t percent = whole(text.substr(0, text.size() - 1)).value_or(0);
  return (percent * total + (rounds_up ? 99 : 0)) / 100;
}

DeploymentSpec::DeploymentSpec(const kube::Object& deployment) {
  const Value& spec = deployment["spec"];
  const Value& strategy = spec["strategy"];
  replicas = std::max<std::int64_t>(spec["replicas"].as_int(1), 0);
  is_rolling = strategy["type"].as_string() != "Recreate";
  is_paused = spec["paused"].as_bool();
  min_ready_seconds = spec["minReadySeconds"].as_int();
  const Value& rolling = strategy["rollingUpdate"];
  const Value quarter("25%");
  const auto share = [&](const char* name, bool rounds_up) {
    return resolve_share(rolling.has(name) ? rolling[name] : quarter, replicas, rounds_up);
  };
  max_surge = is_rolling ? share("maxSurge", true) : 0;
  max_unavailable = is_rolling ? share("maxUnavailable", false) : 0;
  if (is_rolling && max_surge == 0 && max_unavailable == 0) max_unavailable = 1;
  max_unavailable = std::min(max_unavailable, replicas);
  const std::int64_t limit = spec["revisionHistoryLimit"].as_int(10);
  if (limit < kNoLimit) history_limit = limit;
  const std::int64_t deadline = spec["progressDeadlineSeconds"].as_int(600);
  if (deadline < kNoLimit) progress_deadline = seconds_saturating(deadline);
}

bool is_older(const kube::Object& left, const kube::Object& right) {
  if (kube::creation_time(left) != kube::creation_time(right)) return kube::creation_time(left) < kube::creation_time(right);
  return kube::name(left) < kube::name(right);
}

bool are_equal_templates(const Value& left, const Value& right) { return plain_template(left) == plain_template(right); }

std::string template_hash(const kube::Object& deployment) {
  std::string text;
  append_canonical(text, plain_template(deployment["spec"]["template"]));
  if (const std::int64_t collisions = deployment["status"]["collisionCount"].as_int(); collisions > 0) {
    text += fmt::format("/{}", collisions);
  }
  // Digits as letters that make no words, as generateName does.
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string hash = std::to_string(fnv1a_32(text));
  for (char& digit : hash) digit = kLetters[static_cast<unsigned char>(digit) % kLetters.size()];
  return hash;
}

std::int64_t number_annotation(const kube::Object& object, std::string_view key) {
  return whole(kube::annotation(object, key)).value_or(0);
}

Value inherited_annotations(const kube::Object& deployment) {
  json::ObjectBuilder inherited;
  for (const auto& [key, value] : deployment["metadata"]["annotations"].members()) {
    if (!is_of_controller(key)) inherited.add(key, value);
  }
  return inherited.build();
}

kube::Object make_replica_set(const kube::Object& deployment) {
  const Value& spec = deployment["spec"];
  const std::string hash = template_hash(deployment);
  const Value pod = spec["template"].with_path({"metadata", "labels", kTemplateHash}, hash);
  std::string name(kube::name(deployment).substr(0, kMaxReplicaSetName - 1 - hash.size()));
  json::ObjectBuilder made;
  made.set("replicas", 0);
  if (spec.has("minReadySeconds")) made.set("minReadySeconds", spec["minReadySeconds"]);
  made.set("selector", spec["selector"].with_path({"matchLabels", kTemplateHash}, hash)).set("template", pod);
  return json::object({{"apiVersion", "apps/v1"},
                       {"kind", "ReplicaSet"},
                       {"metadata", json::object({{"name", name + "-" + hash},
                                                  {"namespace", kube::ns(deployment)},
                                                  {"labels", pod["metadata"]["labels"]},
                                                  {"annotations", inherited_annotations(deployment)},
                                                  {"ownerReferences", json::array({kube::owner_reference(deployment)})}})},
                       {"spec", made.build()}});
}

}  // namespace slipway::cluster
