#include "delivery/application/contract.h"

#include <array>
#include <vector>

#include "base/text.h"
#include "delivery/application/naming.h"
#include "kube/object.h"

namespace slipway::delivery::application {

namespace {

// Annotations of an application that are about itself.
constexpr std::array kOwnAnnotations = {"app.oam.dev/inplace-upgrade", "filter.oam.dev/label-keys",
                                        "filter.oam.dev/annotation-keys", "app.oam.dev/last-applied-configuration",
                                        "kubectl.kubernetes.io/last-applied-configuration"};

Value with_label(const Value& object, std::string_view key, std::string_view value) {
  return object.with_path({"metadata", "labels", key}, value);
}

/// The names in a list with commas; empty for an absent one.
std::vector<std::string_view> listed(const Value& list) {
  std::vector<std::string_view> out;
  for (std::string_view one : split(list.as_string(), ',')) out.push_back(trimmed(one));
  return out;
}

/// Members of `metadata.<field>` are those of `added` too; what is in both is as in `added`.
Value with_all(const Value& object, std::string_view field, const Value& added) {
  if (added.empty()) return object;
  json::ObjectBuilder out(object["metadata"][field]);
  for (auto [key, value] : added.members()) out.set(key, value);
  return object.with_path({"metadata", field}, out.build());
}

bool is_namespace(const Value& object) { return kube::kind(object) == "Namespace" && object["apiVersion"].as_string() == "v1"; }

Value at_reference_path(const Value& object, const std::string& path, const Value& workload) {
  const Value reference = json::object(
      {{"apiVersion", workload["apiVersion"]}, {"kind", workload["kind"]}, {"name", workload["metadata"]["name"]}});
  return object.with_path(split(path, '.'), reference);
}

}  // namespace

Value Contract::with_identity(const Value& object) const {
  Value out = with_label(object, "app.oam.dev/name", context_.app_name);
  out = with_label(out, "app.oam.dev/component", component_.name);
  if (!component_.replica_key.empty()) out = with_label(out, "app.oam.dev/replicaKey", component_.replica_key);
  return out;
}

Value Contract::with_application(const Value& object) const {
  Value labels = context_.app_labels.with("app.oam.dev/name", context_.app_name)
                     .with("app.oam.dev/namespace", context_.ns)
                     .with("app.oam.dev/appRevision", context_.app_revision)
                     .with("app.oam.dev/component", component_.name);
  for (std::string_view key : listed(context_.app_annotations["filter.oam.dev/label-keys"])) labels = labels.without(key);
  Value annotations = context_.app_annotations;
  for (const char* key : kOwnAnnotations) annotations = annotations.without(key);
  for (std::string_view key : listed(context_.app_annotations["filter.oam.dev/annotation-keys"]))
    annotations = annotations.without(key);
  return with_all(with_all(object, "labels", labels), "annotations", annotations);
}

Value Contract::in_namespace(const Value& object, bool is_control_plane_only) const {
  if (is_namespace(object)) return object;
  std::string_view ns = is_control_plane_only ? context_.ns : context_.target_namespace;
  if (ns.empty()) ns = kube::ns(object);
  if (ns.empty()) ns = context_.ns;
  return ns.empty() ? object : object.with_path({"metadata", "namespace"}, ns);
}

Value Contract::workload(const Value& object) const {
  Value out = with_identity(object);
  out = with_label(out, "app.oam.dev/resourceType", "WORKLOAD");
  out = with_label(out, "workload.oam.dev/type", revision_name(component_.type));
  if (context_.has_component_revisions)
    out = with_label(out, "app.oam.dev/revision", component_.name + "-" + component_revision(component_));
  if (kube::name(out).empty()) out = out.with_path({"metadata", "name"}, component_.name);
  return in_namespace(with_application(out), false);
}

Value Contract::other(const RenderedObject& one, const Definition* trait, const Value& workload) const {
  const std::string type = trait == nullptr ? kAuxiliaryWorkload : revision_name(one.trait);
  Value out = with_label(with_identity(one.object), "trait.oam.dev/type", type);
  out = with_label(out, "trait.oam.dev/resource", one.name);
  if (kube::name(out).empty()) out = out.with_path({"metadata", "name"}, generated_name(component_.name, type, out));
  out = in_namespace(out, one.is_control_plane_only);
  if (trait != nullptr && !trait->workload_ref_path.empty()) out = at_reference_path(out, trait->workload_ref_path, workload);
  if (trait != nullptr && trait->manages_workload) out = with_label(out, "trait.oam.dev/manage-workload", "true");
  // What is rendered after the workload is live carries neither this label nor what is the application's.
  if (one.stage == Stage::PostDispatch)
    return with_label(with_label(out, "app.oam.dev/namespace", context_.ns), "app.oam.dev/appRevision", context_.app_revision);
  return with_application(with_label(out, "app.oam.dev/resourceType", "TRAIT"));
}

}  // namespace slipway::delivery::application
