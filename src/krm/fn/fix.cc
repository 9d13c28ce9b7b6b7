// fix: Kptfiles of v1alpha1 and v1alpha2 become v1. Setters of the old OpenAPI section become a file setters.yaml with the
// function apply-setters, and comments {"$kpt-set":"name"} or {"$openapi":"name"} become "kpt-set: ${name}".
#include <fmt/format.h>

#include <algorithm>

#include "json/text.h"
#include "krm/fn/rows.h"
#include "krm/walk.h"

namespace slipway::krm::fn {
namespace {

constexpr std::string_view kVersion = "kpt.dev/v1";
constexpr std::string_view kApplySetters = "gcr.io/kpt-fn/apply-setters:v0.2";
constexpr std::string_view kSetterPrefix = "io.k8s.cli.setters.";
constexpr std::string_view kSubstitutionPrefix = "io.k8s.cli.substitutions.";

std::string in_package(const Resource& kptfile, std::string_view file) {
  return kptfile.package.empty() ? std::string(file) : fmt::format("{}/{}", kptfile.package, file);
}

FunctionResult told(std::string message, std::string path) {
  FunctionResult made;
  made.message = std::move(message);
  made.file_path = std::move(path);
  return made;
}

struct SetterNodes {
  std::map<std::string, std::string> values;
  std::map<std::string, std::string> patterns;  // of substitutions, with ${name}
};

SetterNodes read_setters(const Node& kptfile) {
  SetterNodes made;
  const Node* definitions = kptfile.at({"openAPI", "definitions"});
  for (std::size_t i = 0; definitions != nullptr && i < definitions->pairs(); ++i) {
    const std::string& name = definitions->key(i).text;
    const Node& definition = definitions->value(i);
    if (name.starts_with(kSetterPrefix)) {
      const Node* setter = definition.at({"x-k8s-cli", "setter"});
      if (setter == nullptr) continue;
      std::string value(setter->get({"value"}));
      if (const Node* values = setter->find("listValues"); values != nullptr && values->is_sequence()) {
        Node list = *values;
        list.is_flow = false;
        value = write_node(list, false);
      }
      made.values[name.substr(kSetterPrefix.size())] = value;
    } else if (name.starts_with(kSubstitutionPrefix)) {
      const Node* substitution = definition.at({"x-k8s-cli", "substitution"});
      if (substitution != nullptr) made.patterns[name.substr(kSubstitutionPrefix.size())] = substitution->get({"pattern"});
    }
  }
  return made;
}

// The name in {"$kpt-set":"name"} and its like; empty when the comment is none.
std::string referred(std::string_view comment) {
  while (comment.starts_with('#') || comment.starts_with(' ')) comment.remove_prefix(1);
  if (!comment.starts_with('{')) return "";
  auto value = json::parse(comment);
  if (!value) return "";
  for (std::string_view key : {"$kpt-set", "$openapi"}) {
    if ((*value)[key].is_string()) return (*value)[key].str();
  }
  constexpr std::string_view kRef = "#/definitions/";
  std::string_view ref = (*value)["$ref"].as_string();
  if (!ref.starts_with(kRef)) return "";
  ref.remove_prefix(kRef.size());
  for (std::string_view prefix : {kSetterPrefix, kSubstitutionPrefix}) {
    if (ref.starts_with(prefix)) return std::string(ref.substr(prefix.size()));
  }
  return "";
}

void fix_comment(std::string& comment, const SetterNodes& setters) {
  const std::string name = referred(comment);
  if (name.empty()) return;
  const auto pattern = setters.patterns.find(name);
  if (pattern != setters.patterns.end()) {
    comment = "# kpt-set: " + pattern->second;
  } else if (setters.values.contains(name)) {
    comment = fmt::format("# kpt-set: ${{{}}}", name);
  }
}

void copy(const Node* from, Node& to, std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  for (const auto& [old_name, name] : fields) {
    const Node* found = from == nullptr ? nullptr : from->find(old_name);
    if (found != nullptr && !found->is_null()) to.set(name, *found);
  }
}

Node migrated(const Node& old) {
  Node made = Node::mapping();
  made.set("apiVersion", Node::string(kVersion));
  made.set("kind", Node::string("Kptfile"));
  if (const Node* metadata = old.find("metadata")) made.set("metadata", *metadata);
  if (const Node* upstream = old.find("upstream")) {
    const Node* git = upstream->find("git");
    Node& to = made.mapping_at("upstream");
    copy(upstream, to, {{"type", "type"}});
    copy(git, to.mapping_at("git"), {{"repo", "repo"}, {"directory", "directory"}, {"ref", "ref"}});
    to.set("updateStrategy", Node::string("resource-merge"));
    Node& lock = made.mapping_at("upstreamLock");
    copy(upstream, lock, {{"type", "type"}});
    copy(git, lock.mapping_at("git"), {{"repo", "repo"}, {"directory", "directory"}, {"ref", "ref"}, {"commit", "commit"}});
  }
  if (const Node* about = old.find("packageMetadata")) {
    Node& info = made.mapping_at("info");
    copy(about, info, {{"url", "site"}});
    if (!about->get({"email"}).empty()) {
      Node emails = Node::sequence();
      emails.children.push_back(*about->find("email"));
      info.set("emails", std::move(emails));
    }
    copy(about, info, {{"license", "license"}, {"shortDescription", "description"}, {"tags", "keywords"}, {"man", "man"}});
  }
  return made;
}

void fix_old(ResourceList& list, Resource& kptfile, const SetterNodes& setters) {
  const Node old = kptfile.root();
  Node made = migrated(old);
  const auto tell = [&](std::string message) { list.results.push_back(told(std::move(message), kptfile.path)); };
  if (old.find("packageMetadata") != nullptr) tell("Transformed \"packageMetadata\" to \"info\"");
  if (old.find("upstream") != nullptr) tell("Transformed \"upstream\" to \"upstream\" and \"upstreamLock\"");
  Node& pipeline = made.mapping_at("pipeline");
  if (!setters.values.empty()) {
    Node function = Node::mapping();
    function.set("image", Node::string(kApplySetters));
    function.set("configPath", Node::string("setters.yaml"));
    Node mutators = Node::sequence();
    mutators.children.push_back(std::move(function));
    pipeline.set("mutators", std::move(mutators));
    tell("Transformed \"openAPI\" definitions to \"apply-setters\" function");
  }
  if (const Node* inventory = old.find("inventory")) made.set("inventory", *inventory);
  kptfile.tree.root = std::move(made);
}

Resource setters_file(const Resource& kptfile, const std::map<std::string, std::string>& values) {
  Resource made;
  Node& root = made.tree.root = Node::mapping();
  root.set("apiVersion", Node::string("v1"));
  root.set("kind", Node::string("ConfigMap"));
  root.mapping_at("metadata").set("name", Node::string("setters"));
  Node& data = root.mapping_at("data");
  for (const auto& [name, value] : values) {
    std::string text = value;
    if (auto parsed = text.starts_with('[') ? read_one_yaml(text) : fail(Reason::BadRequest, "");
        parsed && parsed->root.is_sequence()) {
      parsed->root.is_flow = false;
      text = write_node(parsed->root, false);
    }
    data.set(name, Node::string(text));
  }
  made.path = in_package(kptfile, "setters.yaml");
  made.package = kptfile.package;
  return made;
}

// v1alpha2 is v1 but for the version; setters given in place move to a file.
void fix_alpha2(ResourceList& list, Resource& kptfile, std::vector<Resource>& added) {
  kptfile.root().find("apiVersion")->set_text(kVersion);
  list.results.push_back(told(fmt::format("Updated apiVersion to {}", kVersion), kptfile.path));
  Node* mutators = kptfile.root().at({"pipeline", "mutators"});
  for (std::size_t i = 0; mutators != nullptr && i < mutators->children.size(); ++i) {
    Node& function = mutators->children[i];
    const Node* map = function.find("configMap");
    if (function_name(function.get({"image"})) != "apply-setters" || map == nullptr || map->pairs() == 0) continue;
    std::map<std::string, std::string> values;
    for (std::size_t k = 0; k < map->pairs(); ++k) values[map->key(k).text] = map->value(k).text;
    added.push_back(setters_file(kptfile, values));
    function.erase("configMap");
    function.set("configPath", Node::string("setters.yaml"));
    list.results.push_back(told("Moved setters from configMap to configPath", added.back().path));
  }
}

}  // namespace

Result<void> fix(ResourceList& list) {
  std::map<std::string, SetterNodes> setters;  // by package
  bool has_kptfile = false;
  for (const Resource& resource : list.items) {
    if (resource.kind() != kKptfile) continue;
    has_kptfile = true;
    setters[resource.package] = read_setters(resource.root());
  }
  if (!has_kptfile)
    return fail(Reason::Invalid, "Kptfile not found in directory tree, make sure you specify '--include-meta-resources' flag");
  std::vector<Resource> added;
  for (Resource& resource : list.items) {
    const SetterNodes& known = setters[resource.package];
    if (resource.kind() == kKptfile) {
      if (resource.api_version() == kVersion) {
        list.results.push_back(
            told(fmt::format("This package is already fixed as it is on latest apiVersion {}", kVersion), resource.path));
      } else if (resource.version() == "v1alpha2") {
        fix_alpha2(list, resource, added);
      } else {
        fix_old(list, resource, known);
        if (!known.values.empty()) added.push_back(setters_file(resource, known.values));
      }
      continue;
    }
    const Visitor visitor{.list = [&](Node& key, Node& value, const std::string&) -> Result<void> {
                            fix_comment(value.is_flow && !value.line.empty() ? value.line : key.line, known);
                            return {};
                          },
                          .scalar = [&](Node& node, const std::string&) -> Result<void> {
                            fix_comment(node.line, known);
                            return {};
                          }};
    SLIPWAY_TRY_VOID(walk(resource.root(), visitor));
  }
  for (Resource& resource : added) list.items.push_back(std::move(resource));
  return {};
}

}  // namespace slipway::krm::fn
