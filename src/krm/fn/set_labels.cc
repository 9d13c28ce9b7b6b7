// set-labels: metadata.labels of everything, selectors and the templates that they choose. Selectors of workloads cannot be
// changed in a cluster: the label that is added there makes an existing workload be refused.
#include <fmt/format.h>

#include <initializer_list>

#include "krm/fn/rows.h"

namespace slipway::krm::fn {
namespace {

enum class Missing : bool { Left, Made };
using Labels = std::map<std::string, std::string>;

struct Setter {
  const Labels& labels;
  std::size_t count = 0;

  void set(Node& owner, std::initializer_list<std::string_view> path, Missing missing) {
    for (const auto& [key, text] : labels) {
      ++count;
      Node* found = owner.at(path);
      Node* label = found == nullptr ? nullptr : found->find(key);
      if (label == nullptr && missing == Missing::Left) continue;
      if (label != nullptr && label->is_scalar()) {
        if (label->text != text) label->set_text(text);
      } else {
        owner.mapping_at(path).set(key, Node::string(text));
      }
    }
  }

  void set_all(Node* list, std::initializer_list<std::string_view> path) {
    if (list == nullptr || !list->is_sequence()) return;
    for (Node& item : list->children) set(item, path, Missing::Left);
  }

  void pod(Node* template_node) {
    if (template_node == nullptr || !template_node->is_mapping()) return;
    set(*template_node, {"metadata", "labels"}, Missing::Made);
    Node* spec = template_node->find("spec");
    if (spec == nullptr) return;
    set_all(spec->find("topologySpreadConstraints"), {"labelSelector", "matchLabels"});
    for (std::string_view affinity : {"podAffinity", "podAntiAffinity"}) {
      set_all(spec->at({"affinity", affinity, "preferredDuringSchedulingIgnoredDuringExecution"}),
              {"podAffinityTerm", "labelSelector", "matchLabels"});
      set_all(spec->at({"affinity", affinity, "requiredDuringSchedulingIgnoredDuringExecution"}),
              {"labelSelector", "matchLabels"});
    }
  }

  void selectors(Resource& resource) {
    const std::string_view kind = resource.kind();
    Node& root = resource.root();
    if (resource.api_version() == "v1" && (kind == "Service" || kind == "ReplicationController")) {
      set(root, {"spec", "selector"}, Missing::Made);
    }
    if (is_workload(resource)) set(root, {"spec", "selector", "matchLabels"}, Missing::Made);
    if ((resource.group() == "batch" && kind == "Job") || (resource.group() == "policy" && kind == "PodDisruptionBudget")) {
      set(root, {"spec", "selector", "matchLabels"}, Missing::Left);
    }
    if (resource.group() == "networking.k8s.io" && kind == "NetworkPolicy")
      set(root, {"spec", "podSelector", "matchLabels"}, Missing::Left);
  }

  static bool is_workload(const Resource& resource) {
    const std::string_view kind = resource.kind();
    return kind == "Deployment" || kind == "ReplicaSet" || kind == "DaemonSet" ||
           (kind == "StatefulSet" && resource.group() == "apps");
  }

  void templates(Resource& resource) {
    Node* spec = resource.root().find("spec");
    if (spec == nullptr || !spec->is_mapping()) return;
    const std::string_view kind = resource.kind();
    const bool is_job = kind == "Job" && resource.group() == "batch";
    const bool is_old = kind == "ReplicationController" && resource.api_version() == "v1";
    if (is_workload(resource) || is_job || is_old) pod(spec->find("template"));
    if (Node* job = spec->find("jobTemplate"); job != nullptr && kind == "CronJob" && resource.group() == "batch") {
      set(*job, {"metadata", "labels"}, Missing::Made);
      if (Node* inner = job->find("spec")) {
        set(*inner, {"selector", "matchLabels"}, Missing::Left);
        pod(inner->find("template"));
      }
    }
    Node* claims = spec->find("volumeClaimTemplates");
    if (claims != nullptr && kind == "StatefulSet" && resource.group() == "apps") {
      for (Node& claim : claims->children) {
        set(claim, {"metadata", "labels"}, Missing::Made);
        set(claim, {"selector", "matchLabels"}, Missing::Left);
      }
    }
    if (kind == "NetworkPolicy") rules(*spec);
  }

  void rules(Node& spec) {
    const std::pair<std::string_view, std::string_view> kDirections[] = {{"ingress", "from"}, {"egress", "to"}};
    for (const auto& [direction, peers] : kDirections) {
      Node* all = spec.find(direction);
      if (all == nullptr) continue;
      for (Node& rule : all->children) set_all(rule.find(peers), {"podSelector", "matchLabels"});
    }
  }
};

}  // namespace

Result<void> set_labels(ResourceList& list) {
  Labels labels = list.data();
  if (list.has_config() && list.config->kind() == "SetLabels") {
    labels.clear();
    if (const Node* given = list.config->root().find("labels")) {
      for (std::size_t i = 0; i < given->pairs(); ++i) labels[given->key(i).text] = given->value(i).text;
    }
  }
  std::vector<Resource*> resources;
  for (Resource& resource : list.items) {
    if (!resource.is_local_config()) resources.push_back(&resource);
  }
  if (resources.empty()) {
    list.results.push_back(FunctionResult::info("no input resources"));
    return {};
  }
  if (labels.empty()) {
    list.results.push_back(FunctionResult::warning("no `labels` arguments are given in FunctionConfig"));
    return {};
  }
  Setter setter{.labels = labels};
  for (Resource* resource : resources) {
    setter.set(resource->root(), {"metadata", "labels"}, Missing::Made);
    setter.selectors(*resource);
    setter.templates(*resource);
  }
  list.results.push_back(FunctionResult::info(fmt::format("set {} labels in total", setter.count)));
  return {};
}

}  // namespace slipway::krm::fn
