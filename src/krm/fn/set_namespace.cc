// set-namespace: the namespace of what lives in one, the name of Namespaces, and what in cluster-scoped kinds names a
// namespace.
#include <fmt/format.h>

#include <functional>
#include <set>

#include "krm/fn/rows.h"
#include "krm/walk.h"

namespace slipway::krm::fn {
namespace {

constexpr std::string_view kContextName = "kptfile.kpt.dev";
constexpr std::string_view kOrigin = "internal.kpt.dev/upstream-identifier";
constexpr std::string_view kDependsOnAnnotation = "config.kubernetes.io/depends-on";

struct NamespaceConfig {
  std::string to;
  std::string matcher;
};

Result<NamespaceConfig> read_namespace_config(const ResourceList& list) {
  const auto invalid = [](std::string message) { return fail(Reason::Invalid, std::move(message)); };
  if (!list.has_config())
    return invalid("FunctionConfig is missing. Expect `ConfigMap.v1` or `SetNamespace.v1alpha1.fn.kpt.dev`");
  const Resource& config = *list.config;
  if (config.kind() == "ConfigMap" && config.api_version() == "v1") {
    auto data = list.data();
    if (!data["namespace"].empty()) return NamespaceConfig{data["namespace"], data["namespaceMatcher"]};
    if (!data["name"].empty() && config.name() == kContextName) return NamespaceConfig{data["name"], data["namespaceMatcher"]};
    return invalid(config.name() == kContextName ? "`data.name` should not be empty" : "`data.namespace` should not be empty");
  }
  if (config.kind() == "SetNamespace" && config.api_version() == "fn.kpt.dev/v1alpha1") {
    const std::string to(config.root().get({"namespace"}));
    if (to.empty()) return invalid("`namespace` should not be empty");
    return NamespaceConfig{to, std::string(config.root().get({"namespaceMatcher"}))};
  }
  return invalid(
      fmt::format("unknown functionConfig Kind={} ApiVersion={}, expect `ConfigMap.v1` or `SetNamespace.v1alpha1.fn.kpt.dev`",
                  config.kind(), config.api_version()));
}

Scope scope(const Resource& resource) {
  const Scope known = scope_of(resource.api_version(), resource.kind());
  if (known != Scope::Unknown) return known;
  return resource.namespace_name().empty() ? Scope::Unknown : Scope::Namespaced;
}

// The parts of "group|kind|namespace|name".
std::string origin_part(const Resource& resource, std::size_t index) {
  std::string_view text = resource.annotation(kOrigin);
  for (; index > 0 && !text.empty(); --index) {
    const std::size_t bar = text.find('|');
    text = bar == std::string_view::npos ? std::string_view() : text.substr(bar + 1);
  }
  return std::string(text.substr(0, text.find('|')));
}

struct Change {
  const NamespaceConfig& config;
  std::size_t count = 0;
  std::set<std::string> from = {};

  // `made`: whether the field may be added.
  void set(Node& parent, std::string_view field, const std::string& origin, bool made) {
    const Node* found = parent.find(field);
    if (found == nullptr && !made) return;
    std::string now(parent.get({field}));
    if (now.empty()) now = "default";
    if (now == config.to) return;
    if (!config.matcher.empty() && config.matcher != now && config.matcher != origin) return;
    from.insert(now);
    ++count;
    if (Node* value = parent.find(field); value != nullptr && value->is_scalar()) {
      value->set_text(config.to);
    } else {
      parent.set(field, Node::string(config.to));
    }
  }
};

void change_cluster_kind(Resource& resource, Change& change) {
  Node& root = resource.root();
  const std::string_view kind = resource.kind();
  if (kind == "Namespace" && resource.api_version() == "v1") {
    change.set(root.mapping_at("metadata"), "name", origin_part(resource, 3), false);
  } else if (kind == "CustomResourceDefinition") {
    if (Node* service = root.at({"spec", "conversion", "webhook", "clientConfig", "service"}))
      change.set(*service, "namespace", "", true);
  } else if (kind == "APIService") {
    if (Node* service = root.at({"spec", "service"}); service != nullptr && service->is_mapping()) {
      change.set(*service, "namespace", "", true);
    }
  } else if (kind == "ClusterRoleBinding") {
    if (Node* subjects = root.find("subjects")) {
      for (Node& subject : subjects->children) change.set(subject, "namespace", "", false);
    }
  }
}

std::string joined(const std::set<std::string>& names) {
  std::string made = "[";
  for (const std::string& name : names) made += (made.size() > 1 ? " " : "") + name;
  return made + "]";
}

// "group/namespaces/ns/Kind/name"
std::string reference(const Resource& resource) {
  const std::string ns(resource.namespace_name().empty() ? "default" : resource.namespace_name());
  return fmt::format("{}/namespaces/{}/{}/{}", resource.group(), ns, resource.kind(), resource.name());
}

void change_depends_on(std::vector<Resource*>& resources, const std::set<std::string>& known, Change& change) {
  for (Resource* resource : resources) {
    Node* found = resource->root().at({"metadata", "annotations", kDependsOnAnnotation});
    if (found == nullptr || !known.contains(found->text)) continue;
    const std::size_t begin = found->text.find("/namespaces/") + 12;
    const std::size_t end = found->text.find('/', begin);
    const std::string now = found->text.substr(begin, end - begin);
    if (now == change.config.to || (!change.config.matcher.empty() && change.config.matcher != now)) continue;
    change.from.insert(now);
    ++change.count;
    found->set_text(found->text.substr(0, begin) + change.config.to + found->text.substr(end));
  }
}

}  // namespace

Result<void> set_namespace(ResourceList& list) {
  SLIPWAY_TRY(config, read_namespace_config(list));
  std::vector<Resource*> resources;
  std::set<std::string> origins;
  std::set<std::string> known;
  for (Resource& resource : list.items) {
    if (resource.is_local_config()) continue;
    resources.push_back(&resource);
    if (scope(resource) != Scope::Namespaced) continue;
    known.insert(reference(resource));
    if (!resource.annotation(kOrigin).empty()) origins.insert(origin_part(resource, 2));
  }
  if (config.matcher.empty() && origins.size() > 1) {
    return fail(Reason::Invalid,
                fmt::format("unable to use origin `namespace` to match. expect a single upstream namespace, found {}. "
                            "please switch to use `namespaceMatcher`to specify the namespace value you want to change",
                            joined(origins)));
  }
  Change change{.config = config};
  for (Resource* resource : resources) {
    if (scope(*resource) == Scope::Cluster) change_cluster_kind(*resource, change);
  }
  for (Resource* resource : resources) {
    if (scope(*resource) != Scope::Namespaced) continue;
    change.set(resource->root().mapping_at("metadata"), "namespace", origin_part(*resource, 2), true);
  }
  list.results.push_back(FunctionResult::info(
      change.count == 0
          ? fmt::format("all matching namespaces are already \"{}\". no value changed", config.to)
          : fmt::format("namespace {} updated to \"{}\", {} value(s) changed", joined(change.from), config.to, change.count)));
  Change references{.config = config};
  change_depends_on(resources, known, references);
  list.results.push_back(FunctionResult::info(
      references.count == 0 ? std::string("all `depends-on` annotations are up-to-date. no `namespace` changed")
                            : fmt::format("`depends-on` annotation namespace {} updated to \"{}\", {} value(s) changed",
                                          joined(references.from), config.to, references.count)));
  return {};
}

}  // namespace slipway::krm::fn
