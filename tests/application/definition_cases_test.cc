// The built-in components, traits and policies against tests/definitions.yaml: what they make of their parameters, and what
// the user is told about a wrong one.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "delivery/application/render_test.h"
#include "delivery/application/template_run.h"
#include "delivery/workflow/builtin_texts.h"

namespace slipway::delivery::application {
namespace {

using testing::Library;

/// "component/webservice" → its cases.
const Value& table() {
  static const Value read = [] {
    std::ifstream in(SLIPWAY_SOURCE_DIR "/tests/definitions.yaml");
    return testing::yaml(std::string(std::istreambuf_iterator<char>(in), {}));
  }();
  return read;
}

Value at(const Value& root, std::string_view path) {
  Value found = root;
  for (const std::string_view key : split(path, '/')) {
    found =
        found.is_array() ? found.item(static_cast<std::size_t>(std::atoll(std::string(key).c_str()))) : found[std::string(key)];
  }
  return found;
}

/// A component with the trait, or of the type, that is tried.
Value component_of(std::string_view what, const Value& tried) {
  const std::string name(what.substr(what.find('/') + 1));
  if (what.starts_with("component/")) return json::object({{"name", "web"}, {"type", name}, {"properties", tried["given"]}});
  const Value on = tried.has("on") ? tried["on"] : testing::yaml("{type: webservice, properties: {image: nginx}}");
  const Value trait = json::object({{"type", name}, {"properties", tried["given"]}});
  return on.with("name", "web").with("traits", json::array({trait}));
}

/// Rendered, traits that come after dispatch with the workload as it was rendered.
testing::Outcome rendered_case(const Library& library, std::string_view what, const Value& tried) {
  const std::string component = json::print(component_of(what, tried));
  testing::Inputs inputs;
  for (const auto& [key, answer] : tried["answers"].members()) inputs.answers[std::string(key)] = answer;
  auto outcome = testing::render(library, component, inputs);
  if (!outcome || !std::holds_alternative<RenderedComponent>(*outcome)) return outcome;
  const auto& made = std::get<RenderedComponent>(*outcome);
  if (made.pending_traits.empty()) return outcome;
  inputs.live = json::object({{"output", made.workload}});
  return testing::render(library, component, inputs);
}

Value shown(const RenderedComponent& made) {
  Value outputs = Value::empty_object();
  for (const RenderedObject& one : made.others) outputs = outputs.with(one.name, one.object);
  return json::object({{"output", made.workload}, {"outputs", outputs}});
}

void check_rendering(const Library& library, std::string_view what, const Value& tried) {
  const auto outcome = rendered_case(library, what, tried);
  if (tried.has("wrong")) {
    EXPECT_TRUE(testing::error_of(outcome).contains(tried["wrong"].as_string())) << testing::error_of(outcome);
    return;
  }
  const Value made = shown(testing::rendered(outcome));
  for (const auto& [path, value] : tried["made"].members()) {
    EXPECT_EQ(at(made, path), value) << path << "\n" << json::print_yaml(made);
  }
}

void check_policy(const Library& library, std::string_view what, const Value& tried) {
  const DefinitionPtr definition = library.find(DefinitionKind::Policy, std::string(what.substr(what.find('/') + 1)));
  ASSERT_NE(definition, nullptr);
  const std::map<std::string, Value> answers;
  const auto made = run_template({"policy", *definition, tried["given"], {}, answers, cue::Limits::for_template()});
  const auto* wrong = std::get_if<RenderError>(&made);
  const std::string told = wrong == nullptr ? "" : to_string(*wrong);
  if (!tried.has("wrong")) {
    EXPECT_EQ(told, "");
  } else {
    EXPECT_TRUE(told.contains(tried["wrong"].as_string())) << told;
  }
}

TEST(DefinitionCases, make_what_the_table_says) {
  const Library library;
  for (const auto& [what, cases] : table().members()) {
    for (const Value& tried : cases.items()) {
      SCOPED_TRACE(fmt::format("{} {}", what, json::print(tried["given"])));
      what.starts_with("policy/") ? check_policy(library, what, tried) : check_rendering(library, what, tried);
    }
  }
}

TEST(DefinitionCases, are_two_and_a_wrong_one_for_each_definition) {
  for (const workflow::BuiltinText& one : workflow::builtin_texts()) {
    if (one.path.starts_with("package/") || one.path.starts_with("step/") || one.path.starts_with("view/")) continue;
    const Value& cases = table()[one.path.substr(0, one.path.size() - 4)];
    std::size_t wrong = 0;
    for (const Value& tried : cases.items()) wrong += tried.has("wrong");
    EXPECT_GE(wrong, 1U) << one.path;
    EXPECT_GE(cases.size() - wrong, 2U) << one.path;
  }
}

}  // namespace
}  // namespace slipway::delivery::application
