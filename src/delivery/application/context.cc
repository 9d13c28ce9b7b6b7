#include "base/text.h"
#include "delivery/application/naming.h"
#include "delivery/application/render.h"

namespace slipway::delivery::application {

namespace {

/// API servers say "33" or "33+", templates compare numbers.
Value with_number_as_minor(const Value& version) {
  const Value& minor = version["minor"];
  if (!minor.is_string()) return version;
  std::int64_t number = 0;
  for (char c : trimmed(minor.as_string())) {
    if (!is_digit(c)) break;
    number = number * 10 + (c - '0');
  }
  return version.with("minor", number);
}

Value object_or_empty(const Value& value) { return value.is_object() ? value : json::object({}); }

}  // namespace

Value component_context(const ComponentSpec& component, const RenderContext& context) {
  json::ObjectBuilder out;
  out.add("name", component.name);
  out.add("namespace", context.target_namespace.empty() ? context.ns : context.target_namespace);
  out.add("appName", context.app_name);
  out.add("appRevision", context.app_revision);
  out.add("appRevisionNum", context.app_revision_number);
  out.add("appLabels", object_or_empty(context.app_labels));
  out.add("appAnnotations", object_or_empty(context.app_annotations));
  out.add("components", context.components.is_array() ? context.components : json::array({}));
  out.add("revision", component.external_revision.empty() ? component_revision(component) : component.external_revision);
  out.add("replicaKey", component.replica_key);
  out.add("publishVersion", context.publish_version);
  out.add("workflowName", context.workflow_name);
  out.add("cluster", context.cluster);
  if (context.cluster_version.is_object()) out.add("clusterVersion", with_number_as_minor(context.cluster_version));
  if (!component.properties.is_null()) out.add("parameter", component.properties);
  if (!context.custom.is_null()) out.add("custom", context.custom);
  return out.build();
}

}  // namespace slipway::delivery::application
