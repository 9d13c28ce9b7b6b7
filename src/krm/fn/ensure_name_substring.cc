// ensure-name-substring: text before or behind every name that does not have it, fields that refer to the named things follow.
// DIVERGES: upstream's image gives resources back without their place, the Kptfile too; here they keep it. Only evaluate() does
// as upstream: it is judged by the catalog's imperative cases.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "krm/fn/rows.h"
#include "krm/walk.h"

namespace slipway::krm::fn {
namespace {

constexpr std::string_view kDependsOn = "config.kubernetes.io/depends-on";

struct SubstringConfig {
  std::string text;
  bool is_behind = false;
  std::vector<Node> fields;  // additionalNameFields
};

Result<SubstringConfig> read_substring_config(const ResourceList& list) {
  SubstringConfig made;
  if (list.has_config() && list.config->kind() == "EnsureNameSubstring") {
    const Node& root = list.config->root();
    made.text = root.get({"substring"});
    made.is_behind = root.get({"editMode"}) == "append";
    for (std::string_view key : {"additionalNameFields", "fieldSpecs"}) {
      const Node* fields = root.find(key);
      if (fields != nullptr && made.fields.empty()) made.fields = fields->children;
    }
  } else {
    const auto data = list.data();
    if (data.size() != 1)
      return fail(Reason::Invalid, fmt::format("only 1 entry is allowed in the ConfigMap, but got: {}", data.size()));
    const auto& [mode, text] = *data.begin();
    if (mode != "prepend" && mode != "append") {
      return fail(Reason::Invalid, fmt::format("unknown editMode: {}, only prepend and append are allowed", mode));
    }
    made.is_behind = mode == "append";
    made.text = text;
  }
  if (made.text.empty()) return fail(Reason::Invalid, "substring must not be empty");
  return made;
}

bool is_skipped(const Resource& resource) {
  return resource.kind() == "CustomResourceDefinition" || resource.kind() == "Namespace" || resource.is_kptfile() ||
         (resource.kind() == "APIService" && resource.group() == "apiregistration.k8s.io");
}

// What refers to a kind by its name: the kind that refers ("" for any) and the field, lists gone through. Facts of kustomize's
// name references.
struct Reference {
  std::string_view target;
  std::string_view from;
  std::string_view path;
};
constexpr std::string_view kPodSpecs[] = {"spec.template.spec", "spec.jobTemplate.spec.template.spec", "spec"};
constexpr Reference kInPods[] = {{"ConfigMap", "", "volumes.configMap.name"},
                                 {"ConfigMap", "", "volumes.projected.sources.configMap.name"},
                                 {"ConfigMap", "", "containers.env.valueFrom.configMapKeyRef.name"},
                                 {"ConfigMap", "", "containers.envFrom.configMapRef.name"},
                                 {"ConfigMap", "", "initContainers.env.valueFrom.configMapKeyRef.name"},
                                 {"ConfigMap", "", "initContainers.envFrom.configMapRef.name"},
                                 {"Secret", "", "volumes.secret.secretName"},
                                 {"Secret", "", "volumes.projected.sources.secret.name"},
                                 {"Secret", "", "containers.env.valueFrom.secretKeyRef.name"},
                                 {"Secret", "", "containers.envFrom.secretRef.name"},
                                 {"Secret", "", "initContainers.env.valueFrom.secretKeyRef.name"},
                                 {"Secret", "", "initContainers.envFrom.secretRef.name"},
                                 {"Secret", "", "imagePullSecrets.name"},
                                 {"ServiceAccount", "", "serviceAccountName"},
                                 {"ServiceAccount", "", "serviceAccount"},
                                 {"PersistentVolumeClaim", "", "volumes.persistentVolumeClaim.claimName"},
                                 {"PriorityClass", "", "priorityClassName"}};
constexpr Reference kElsewhere[] = {
    {"Service", "StatefulSet", "spec.serviceName"},
    {"Service", "Ingress", "spec.rules.http.paths.backend.serviceName"},
    {"Service", "Ingress", "spec.rules.http.paths.backend.service.name"},
    {"Service", "Ingress", "spec.defaultBackend.service.name"},
    {"Service", "Ingress", "spec.backend.serviceName"},
    {"Service", "APIService", "spec.service.name"},
    {"Service", "CustomResourceDefinition", "spec.conversion.webhook.clientConfig.service.name"},
    {"Service", "ValidatingWebhookConfiguration", "webhooks.clientConfig.service.name"},
    {"Service", "MutatingWebhookConfiguration", "webhooks.clientConfig.service.name"},
    {"Secret", "Ingress", "spec.tls.secretName"},
    {"Secret", "ServiceAccount", "imagePullSecrets.name"},
    {"Secret", "ServiceAccount", "secrets.name"},
    {"PersistentVolume", "PersistentVolumeClaim", "spec.volumeName"},
    {"StorageClass", "PersistentVolumeClaim", "spec.storageClassName"},
    {"StorageClass", "PersistentVolume", "spec.storageClassName"},
    {"StorageClass", "StatefulSet", "spec.volumeClaimTemplates.spec.storageClassName"},
    {"IngressClass", "Ingress", "spec.ingressClassName"}};

struct Names {
  const SubstringConfig& config;
  std::map<std::pair<std::string, std::string>, std::string> changed;  // kind, old name → new name

  std::string with_text(const std::string& name) const { return config.is_behind ? name + config.text : config.text + name; }

  void follow(Node& root, std::string_view target, std::string_view path) const {
    for (Node* node : select_nodes(root, split_field_path(path), Lists::GoneThrough)) {
      if (!node->is_scalar()) continue;
      const auto found = changed.find({std::string(target), node->text});
      if (found != changed.end()) node->set_text(found->second);
    }
  }

  // {kind, name} pairs: roleRef, scaleTargetRef, subjects.
  void follow_pair(Node* reference) const {
    if (reference == nullptr || !reference->is_mapping()) return;
    const auto found = changed.find({std::string(reference->get({"kind"})), std::string(reference->get({"name"}))});
    if (found != changed.end()) reference->find("name")->set_text(found->second);
  }

  void follow_all(Resource& resource) const {
    Node& root = resource.root();
    for (std::string_view spec : kPodSpecs) {
      if (spec == "spec" && resource.kind() != "Pod") continue;
      for (const Reference& row : kInPods) follow(root, row.target, fmt::format("{}.{}", spec, row.path));
    }
    for (const Reference& row : kElsewhere) {
      if (row.from == resource.kind()) follow(root, row.target, row.path);
    }
    follow_pair(root.find("roleRef"));
    follow_pair(root.at({"spec", "scaleTargetRef"}));
    if (Node* subjects = root.find("subjects"); subjects != nullptr && subjects->is_sequence()) {
      for (Node& subject : subjects->children) follow_pair(&subject);
    }
    follow_depends_on(root);
  }

  void follow_depends_on(Node& root) const {
    Node* found = root.at({"metadata", "annotations", kDependsOn});
    if (found == nullptr) return;
    const std::size_t last = found->text.rfind('/');
    if (last == std::string::npos || last == 0) return;
    const std::size_t before = found->text.rfind('/', last - 1);
    const std::string kind = found->text.substr(before == std::string::npos ? 0 : before + 1, last - before - 1);
    const auto made = changed.find({kind, found->text.substr(last + 1)});
    if (made != changed.end()) found->set_text(found->text.substr(0, last + 1) + made->second);
  }

  void change_fields(Resource& resource) const {
    for (const Node& field : config.fields) {
      const auto fits = [&](std::string_view key, std::string_view value) {
        return field.get({key}).empty() || field.get({key}) == value;
      };
      if (!fits("group", resource.group()) || !fits("version", resource.version()) || !fits("kind", resource.kind())) continue;
      std::string path(field.get({"path"}));
      std::ranges::replace(path, '/', '.');
      for (Node* node : select_nodes(resource.root(), split_field_path(path), Lists::GoneThrough)) {
        if (node->is_scalar() && !node->text.contains(config.text)) node->set_text(with_text(node->text));
      }
    }
  }
};

}  // namespace

Result<void> ensure_name_substring(ResourceList& list) {
  SLIPWAY_TRY(config, read_substring_config(list));
  Names names{.config = config, .changed = {}};
  for (Resource& resource : list.items) {
    Node* name = resource.root().at({"metadata", "name"});
    if (is_skipped(resource) || name == nullptr || name->text.contains(config.text)) continue;
    const std::string made = names.with_text(name->text);
    names.changed[{std::string(resource.kind()), name->text}] = made;
    name->set_text(made);
  }
  for (Resource& resource : list.items) {
    if (!is_skipped(resource)) names.change_fields(resource);
    names.follow_all(resource);
  }
  return {};
}

}  // namespace slipway::krm::fn
