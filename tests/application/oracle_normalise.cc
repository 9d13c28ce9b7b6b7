#include "oracle_normalise.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace slipway::oracle_test {

namespace {

constexpr std::string_view kMetadata[] = {"uid",           "resourceVersion", "generation",       "creationTimestamp",
                                          "managedFields", "selfLink",        "deletionTimestamp"};
constexpr std::string_view kAnnotations[] = {
    "app.oam.dev/last-applied-configuration",  // last applied
    "app.oam.dev/last-applied-time",
    "kubectl.kubernetes.io/last-applied-configuration",
    "oam.dev/kubevela-version",           // version of the controller
    "deployment.kubernetes.io/revision",  // not in the oracle's objects
};
constexpr std::string_view kLabels[] = {"app.oam.dev/app-revision-hash", "oam.dev/render-hash", "app.oam.dev/revision"};
constexpr std::string_view kSpec[] = {"clusterIP", "clusterIPs", "healthCheckNodePort", "volumeName"};

Value without_members(Value object, std::span<const std::string_view> names) {
  for (const std::string_view name : names) object = object.without(name);
  return object;
}

/// Without the members; the map goes with the last one.
Value with_map_cleaned(const Value& object, std::string_view map, std::span<const std::string_view> names) {
  if (!object.has(map)) return object;
  Value cleaned = without_members(object[map], names);
  return cleaned.empty() ? object.without(map) : object.with(map, cleaned);
}

Value cleaned_metadata(const Value& metadata) {
  Value cleaned = without_members(metadata, kMetadata);
  cleaned = with_map_cleaned(cleaned, "annotations", kAnnotations);
  cleaned = with_map_cleaned(cleaned, "labels", kLabels);
  if (!cleaned.has("ownerReferences")) return cleaned;
  json::ArrayBuilder owners;
  for (const Value& owner : cleaned["ownerReferences"].items()) owners.add(owner.without("uid"));
  return cleaned.with("ownerReferences", owners.build());
}

Value without_node_ports(const Value& spec) {
  if (!spec["ports"].is_array()) return spec;
  json::ArrayBuilder ports;
  for (const Value& port : spec["ports"].items()) ports.add(port.without("nodePort"));
  return spec.with("ports", ports.build());
}

/// Templates of pods say `creationTimestamp: null` upstream.
Value without_template_time(const Value& spec) {
  if (!spec["template"]["metadata"].is_object()) return spec;
  return spec.without_path({"template", "metadata", "creationTimestamp"});
}

}  // namespace

Value normalised(const Value& object) {
  Value cleaned = object.without("status").with("metadata", cleaned_metadata(object["metadata"]));
  if (!cleaned["spec"].is_object()) return cleaned;
  Value spec = without_template_time(without_node_ports(without_members(cleaned["spec"], kSpec)));
  return cleaned.with("spec", spec);
}

std::string normalised_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool is_address = std::ranges::count(word, '.') == 3 && word.size() >= 7 && is_digit(word.back());
    out += is_address ? "<ip>" : word;
    if (end == at) out += text[end++];
    at = end;
  }
  return out;
}

}  // namespace slipway::oracle_test
