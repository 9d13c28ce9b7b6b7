// set-annotations: metadata of everything, the pod templates in it, and the fields that the configuration names besides.
#include <algorithm>

#include "krm/fn/rows.h"
#include "krm/walk.h"

namespace slipway::krm::fn {
namespace {

using Annotations = std::map<std::string, std::string>;

void set_in(Node& owner, const Annotations& annotations) {
  for (const auto& [key, text] : annotations) {
    Node* found = owner.find(key);
    if (found != nullptr && found->is_scalar()) {
      if (found->text != text) found->set_text(text);
    } else {
      owner.set(key, Node::string(text));
    }
  }
}

struct Row {
  std::string_view group;
  std::string_view kind;
  std::string_view path;
};
// Where templates carry metadata of their own.
constexpr Row kTemplates[] = {
    {"", "ReplicationController", "spec.template"}, {"apps", "Deployment", "spec.template"},
    {"apps", "ReplicaSet", "spec.template"},        {"apps", "DaemonSet", "spec.template"},
    {"apps", "StatefulSet", "spec.template"},       {"batch", "Job", "spec.template"},
    {"batch", "CronJob", "spec.jobTemplate"},       {"batch", "CronJob", "spec.jobTemplate.spec.template"}};

std::string dotted(std::string_view path) {
  std::string made(path);
  std::ranges::replace(made, '/', '.');
  return made;
}

bool is_meant(const Node& field, const Resource& resource) {
  const auto fits = [&](std::string_view key, std::string_view value) {
    const std::string_view wanted = field.get({key});
    return wanted.empty() || wanted == value;
  };
  return fits("group", resource.group()) && fits("version", resource.version()) && fits("kind", resource.kind());
}

void set_additional(Node& field, Resource& resource, const Annotations& annotations) {
  if (!is_meant(field, resource)) return;
  const auto path = split_field_path(dotted(field.get({"path"})));
  auto found = select_nodes(resource.root(), path, Lists::GoneThrough);
  if (found.empty() && field.get({"create"}) == "true") {
    Node* here = &resource.root();
    for (const std::string& part : path) here = &here->mapping_at(part);
    found.push_back(here);
  }
  for (Node* node : found) set_in(*node, annotations);
}

}  // namespace

Result<void> set_annotations(ResourceList& list) {
  Annotations annotations = list.data();
  Node* additional = nullptr;
  if (list.has_config() && list.config->kind() == "SetAnnotations") {
    annotations.clear();
    if (const Node* given = list.config->root().find("annotations")) {
      for (std::size_t i = 0; i < given->pairs(); ++i) annotations[given->key(i).text] = given->value(i).text;
    }
    additional = list.config->root().find("additionalAnnotationFields");
  }
  if (annotations.empty()) return fail(Reason::Invalid, "input annotation list cannot be empty");
  for (Resource& resource : list.items) {
    if (resource.is_local_config()) continue;
    set_in(resource.root().mapping_at({"metadata", "annotations"}), annotations);
    for (const Row& row : kTemplates) {
      if (row.kind != resource.kind() || row.group != resource.group()) continue;
      for (Node* found : select_nodes(resource.root(), split_field_path(row.path), Lists::Named)) {
        if (found->is_mapping()) set_in(found->mapping_at({"metadata", "annotations"}), annotations);
      }
    }
    if (additional == nullptr) continue;
    for (Node& field : additional->children) set_additional(field, resource, annotations);
  }
  return {};
}

Result<void> delete_annotations(ResourceList& list) {
  auto data = list.data();
  std::string keys = data["annotationKeys"];
  if (keys.empty()) return fail(Reason::Invalid, "failed to configure function: `annotationKeys` must not be empty");
  std::size_t count = 0;
  for (std::size_t at = 0; at <= keys.size();) {
    const std::size_t comma = std::min(keys.find(',', at), keys.size());
    std::string key = keys.substr(at, comma - at);
    std::erase(key, ' ');
    at = comma + 1;
    if (key.empty()) continue;
    for (Resource& resource : list.items) {
      Node* metadata = resource.root().find("metadata");
      Node* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
      if (annotations == nullptr || !annotations->erase(key)) continue;
      ++count;
      if (annotations->children.empty()) metadata->erase("annotations");
      list.results.push_back(
          FunctionResult::info("Annotation: [" + key + "] removed from resource: [" + std::string(resource.name()) + "]")
              .in_file(resource));
    }
  }
  if (count == 0)
    list.results.push_back(FunctionResult::warning("None of the resources had the provided annotations to delete"));
  return {};
}

}  // namespace slipway::krm::fn
