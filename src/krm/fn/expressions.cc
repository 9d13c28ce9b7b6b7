// cel-validate, cue-validate and cue-mutate: rules that the package's author writes in an expression language, in place of
// programs.
//   CELValidate {validations: [{expression, message, severity, kinds: [Deployment]}]}, or a ConfigMap whose data are
//   expressions by name; `object` is the resource, `objects` are all. CUE {source}, or a ConfigMap with data.source: its field
//   `object` is unified with each resource.
#include <fmt/format.h>

#include <algorithm>

#include "cel/program.h"
#include "cue/cue.h"
#include "cue/std/packages.h"
#include "krm/fn/rows.h"

namespace slipway::krm::fn {
namespace {

constexpr std::uint64_t kMostCost = 10'000'000;

struct Rule {
  std::shared_ptr<const cel::Program> program;
  std::string name;
  std::string message;
  std::string severity = "error";
  std::vector<std::string> kinds;
};

Result<Rule> compile(std::string name, const std::string& text) {
  const auto dyn = cel::type_of(cel::Kind::Dyn);
  auto program = cel::Program::compile(text, {.variables = {{"object", dyn}, {"objects", dyn}}, .is_kubernetes = true});
  if (!program) return fail(Reason::Invalid, fmt::format("{}: {}", name, program.error()));
  Rule made;
  made.program = *program;
  made.message = fmt::format("failed rule: {}", text);
  made.name = std::move(name);
  return made;
}

Result<std::vector<Rule>> read_rules(const ResourceList& list) {
  std::vector<Rule> made;
  if (!list.has_config()) return fail(Reason::Invalid, "cel-validate: a functionConfig is required");
  const Node* validations = list.config->root().find("validations");
  if (validations == nullptr) validations = list.config->root().at({"spec", "validations"});
  for (std::size_t i = 0; validations != nullptr && i < validations->children.size(); ++i) {
    const Node& given = validations->children[i];
    SLIPWAY_TRY(rule, compile(fmt::format("validations[{}]", i), std::string(given.get({"expression"}))));
    if (!given.get({"message"}).empty()) rule.message = given.get({"message"});
    if (!given.get({"severity"}).empty()) rule.severity = given.get({"severity"});
    if (const Node* kinds = given.find("kinds")) {
      for (const Node& kind : kinds->children) rule.kinds.push_back(kind.text);
    }
    made.push_back(std::move(rule));
  }
  if (validations == nullptr) {
    for (const auto& [name, text] : list.data()) {
      SLIPWAY_TRY(rule, compile(name, text));
      made.push_back(std::move(rule));
    }
  }
  if (made.empty()) return fail(Reason::Invalid, "cel-validate: the functionConfig has no rules: give validations, or data");
  return made;
}

Result<cue::Program> read_cue(const ResourceList& list) {
  std::string source = list.data()["source"];
  if (source.empty() && list.has_config()) source = list.config->root().get({"source"});
  if (source.empty()) return fail(Reason::Invalid, "the functionConfig must give the text in `source`");
  auto program = cue::compile({{.name = "source.cue", .text = source}});
  if (!program) return fail(Reason::Invalid, cue::describe(program.error()));
  return std::move(*program);
}

Node& follow(Node& node, const json::Value& value);

void follow_object(Node& node, const json::Value& value) {
  for (std::size_t i = 0; i < node.pairs();) {
    if (value.has(node.key(i).text)) {
      ++i;
    } else {
      node.erase(std::string(node.key(i).text));
    }
  }
  for (auto [key, member] : value.members()) {
    Node* found = node.find(key);
    if (found != nullptr) {
      follow(*found, member);
    } else {
      node.set(key, Node::from(member));
    }
  }
}

// Brings a tree to a value; what is equal keeps its text and its comments.
Node& follow(Node& node, const json::Value& value) {
  if (value.is_object() && node.is_mapping()) {
    follow_object(node, value);
  } else if (value.is_array() && node.is_sequence()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i < node.children.size()) {
        follow(node.children[i], value.item(i));
      } else {
        node.children.push_back(Node::from(value.item(i)));
      }
    }
    node.children.resize(value.size());
  } else if (!(value_or_null(node) == value)) {
    Node made = Node::from(value);
    made.head = node.head;
    made.line = node.line;
    made.foot = node.foot;
    if (made.is_scalar() && made.is_string && node.is_scalar() && made.style == Node::Style::Plain) made.style = node.style;
    node = std::move(made);
  }
  return node;
}

}  // namespace

Result<void> cel_validate(ResourceList& list) {
  SLIPWAY_TRY(rules, read_rules(list));
  json::ArrayBuilder all;
  std::vector<json::Value> values;
  for (const Resource& resource : list.items) {
    SLIPWAY_TRY(value, to_value(resource.root()));
    all.add(value);
    values.push_back(value);
  }
  const json::Value objects = all.build();
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Resource& resource = list.items[i];
    if (resource.is_kptfile() || resource.is_local_config() || resource.path == list.config->path) continue;
    for (const Rule& rule : rules) {
      if (!rule.kinds.empty() && std::ranges::find(rule.kinds, resource.kind()) == rule.kinds.end()) continue;
      cel::Budget budget(kMostCost);
      const cel::Value verdict = rule.program->run(
          {{"object", cel::from_json(values[i], nullptr)}, {"objects", cel::from_json(objects, nullptr)}}, budget);
      if (verdict.is_true()) continue;
      FunctionResult made;
      made.severity = rule.severity;
      made.message = verdict.is_false()
                         ? rule.message
                         : fmt::format("{}: {}", rule.name, verdict.is_error() ? std::string(verdict.text()) : "is no bool");
      if (!verdict.is_false()) made.severity = "error";
      list.results.push_back(std::move(made).at(resource));
    }
  }
  return {};
}

Result<void> cue_validate(ResourceList& list) {
  SLIPWAY_TRY(program, read_cue(list));
  for (const Resource& resource : list.items) {
    if (resource.is_kptfile() || resource.is_local_config() || resource.path == list.config->path) continue;
    SLIPWAY_TRY(value, to_value(resource.root()));
    const cue::Hole hole{.name = "object", .value = value};
    const cue::Cursor root = cue::evaluate(program, std::span(&hole, 1), cue::Limits::for_template());
    for (const cue::Error& error : root.lookup("object").validate(cue::Demand::Concrete)) {
      std::string path = error.path.starts_with("object.") ? error.path.substr(7) : error.path;
      list.results.push_back(FunctionResult::error(error.message).at(resource).field(std::move(path)));
    }
  }
  return {};
}

Result<void> cue_mutate(ResourceList& list) {
  SLIPWAY_TRY(program, read_cue(list));
  for (Resource& resource : list.items) {
    if (resource.is_kptfile() || resource.is_local_config() || resource.path == list.config->path) continue;
    SLIPWAY_TRY(value, to_value(resource.root()));
    const cue::Hole hole{.name = "object", .value = value};
    const cue::Cursor root = cue::evaluate(program, std::span(&hole, 1), cue::Limits::for_template());
    auto made = root.lookup("object").to_json();
    if (!made) {
      return fail(Reason::Invalid, fmt::format("{} {}: {}", resource.kind(), resource.name(), cue::describe(made.error())));
    }
    follow(resource.root(), *made);
  }
  return {};
}

}  // namespace slipway::krm::fn
