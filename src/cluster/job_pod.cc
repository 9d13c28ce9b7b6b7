#include "cluster/job_pod.h"

#include <charconv>

#include "base/digest.h"
#include "cluster/names.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// Pod names are host names too, as far as possible.
constexpr std::size_t kMaxPodHostname = 63;

Value with_index_env(Value spec) {
  const std::string path = fmt::format("metadata.annotations['{}']", kCompletionIndex);
  const Value from = json::object({{"fieldRef", json::object({{"apiVersion", "v1"}, {"fieldPath", path}})}});
  const Value entry = json::object({{"name", "JOB_COMPLETION_INDEX"}, {"valueFrom", from}});
  for (const char* list : {"containers", "initContainers"}) {
    json::ArrayBuilder containers;
    for (const Value& container : spec[list].items()) {
      bool has_it = false;
      for (const Value& env : container["env"].items()) has_it |= env["name"].as_string() == "JOB_COMPLETION_INDEX";
      containers.add(has_it ? container : container.with("env", container["env"].appended(entry)));
    }
    if (!containers.empty()) spec = spec.with(list, containers.build());
  }
  return spec;
}

Value labels_of(const kube::Object& job, JobPodSlot slot) {
  Value labels = job["spec"]["template"]["metadata"]["labels"];
  if (job["spec"]["manualSelector"].as_bool()) {
    return slot.index ? labels.with(kCompletionIndex, std::to_string(*slot.index)) : labels;
  }
  const std::string name(kube::name(job).substr(0, 63));
  const std::string uid(kube::uid(job));
  labels = labels.with("batch.kubernetes.io/controller-uid", uid)
               .with("batch.kubernetes.io/job-name", name)
               .with("controller-uid", uid)
               .with("job-name", name);
  return slot.index ? labels.with(kCompletionIndex, std::to_string(*slot.index)) : labels;
}

Value annotations_of(const kube::Object& job, JobPodSlot slot) {
  Value annotations = job["spec"]["template"]["metadata"]["annotations"];
  if (!annotations.has(kAttempt)) annotations = annotations.with(kAttempt, std::to_string(slot.ordinal));
  if (job["spec"].has("backoffLimitPerIndex")) {
    annotations = annotations.with(kIndexFailures, std::to_string(slot.failures));
  }
  return slot.index ? annotations.with(kCompletionIndex, std::to_string(*slot.index)) : annotations;
}

}  // namespace

std::string job_pod_name(const kube::Object& job, JobPodSlot slot) {
  const std::string index = slot.index ? std::to_string(*slot.index) : "";
  const std::string suffix = name_hash(fmt::format("{}/{}/{}", kube::uid(job), index, slot.ordinal));
  const std::string tail = slot.index ? fmt::format("-{}-{}", index, suffix) : "-" + suffix;
  std::string name(kube::name(job).substr(0, kMaxPodHostname - tail.size()));
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return name + tail;
}

kube::Object make_job_pod(const kube::Object& job, JobPodSlot slot) {
  Value spec = job["spec"]["template"]["spec"];
  if (slot.index) {
    spec = with_index_env(std::move(spec));
    if (!spec.has("hostname")) spec = spec.with("hostname", fmt::format("{}-{}", kube::name(job), *slot.index));
  }
  return json::object({{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", json::object({{"name", job_pod_name(job, slot)},
                                                  {"namespace", kube::ns(job)},
                                                  {"labels", labels_of(job, slot)},
                                                  {"annotations", annotations_of(job, slot)},
                                                  {"ownerReferences", json::array({kube::owner_reference(job)})},
                                                  {"finalizers", json::array({Value(kJobTracking)})}})},
                       {"spec", spec}});
}

std::optional<std::int64_t> completion_index(const kube::Object& pod) {
  auto text = kube::annotation(pod, kCompletionIndex);
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || index < 0) return std::nullopt;
  return index;
}

}  // namespace slipway::cluster
