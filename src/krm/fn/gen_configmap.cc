// gen-configmap: a ConfigMap out of a list of {type: literal|gotmpl, key, value}; templates may name params as {{.name}}.
#include <fmt/format.h>

#include "krm/fn/rows.h"

namespace slipway::krm::fn {
namespace {

Result<std::string> filled(std::string_view text, const Node* params) {
  std::string made;
  while (true) {
    const std::size_t begin = text.find("{{");
    made += text.substr(0, begin);
    if (begin == std::string_view::npos) return made;
    const std::size_t end = text.find("}}", begin);
    if (end == std::string_view::npos) return fail(Reason::Invalid, "gen-configmap: a template ends within {{");
    std::string_view name = text.substr(begin + 2, end - begin - 2);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const Node* value = params != nullptr && name.starts_with('.') ? params->find(name.substr(1)) : nullptr;
    if (value == nullptr) {
      return fail(Reason::NotImplemented,
                  fmt::format("gen-configmap: {{{{{}}}}} is no param; templates only name params, as {{{{.name}}}}", name));
    }
    made += value->text;
    text.remove_prefix(end + 2);
  }
}

Result<Node> read_data(const Node& config) {
  Node made = Node::mapping();
  const Node* params = config.find("params");
  const Node* data = config.find("data");
  if (data == nullptr) return made;
  if (data->is_mapping()) {
    for (std::size_t i = 0; i < data->pairs(); ++i) made.set(data->key(i).text, Node::string(data->value(i).text));
    return made;
  }
  for (const Node& entry : data->children) {
    const std::string type(entry.get({"type"}).empty() ? "literal" : entry.get({"type"}));
    const std::string key(entry.get({"key"}));
    if (key.empty()) return fail(Reason::Invalid, "gen-configmap: data entries need a key");
    if (type != "literal" && type != "gotmpl") {
      return fail(Reason::NotImplemented,
                  fmt::format("gen-configmap: type {:?} of {} is not built in: use literal or gotmpl", type, key));
    }
    std::string value(entry.get({"value"}));
    if (type == "gotmpl") {
      SLIPWAY_TRY(text, filled(value, params));
      value = text;
    }
    made.set(key, Node::string(value));
  }
  return made;
}

}  // namespace

Result<void> gen_configmap(ResourceList& list) {
  if (!list.has_config()) return fail(Reason::Invalid, "gen-configmap: a functionConfig is required");
  const Node& config = list.config->root();
  SLIPWAY_TRY(data, read_data(config));
  Node metadata = Node::mapping();
  if (const Node* given = config.find("configMapMetadata")) metadata = *given;
  if (metadata.get({"name"}).empty()) metadata.set("name", Node::string(list.config->name()));
  Resource made;
  made.package = list.config->package;
  Node& root = made.tree.root = Node::mapping();
  root.set("apiVersion", Node::string("v1"));
  root.set("kind", Node::string("ConfigMap"));
  root.set("metadata", std::move(metadata));
  root.set("data", data);
  for (Resource& resource : list.items) {
    const bool is_same = resource.api_version() == "v1" && resource.kind() == "ConfigMap" && resource.name() == made.name() &&
                         resource.namespace_name() == made.namespace_name();
    if (!is_same) continue;
    resource.root().set("data", std::move(data));
    return {};
  }
  list.items.push_back(std::move(made));
  return {};
}

}  // namespace slipway::krm::fn
