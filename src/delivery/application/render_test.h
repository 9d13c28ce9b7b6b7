// What the tests of rendering share: definitions as a fresh installation has them, those that a test brings, and components
// written as YAML.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "delivery/application/render.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::application::testing {

inline Value yaml(const std::string& text) {
  auto value = json::parse_yaml(text);
  EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message) << "\n" << text;
  return value ? *value : Value();
}

class Library {
 public:
  /// With the built-in definitions, read once.
  Library() : by_name_(builtins()) {}

  void add(const Value& object) { add_to(by_name_, object); }

  /// A definition by its template and further fields of its spec.
  void add(DefinitionKind kind, const std::string& name, const std::string& text, const Value& spec = json::object({})) {
    add(json::object({{"kind", kind_of(kind)},
                      {"metadata", json::object({{"name", name}})},
                      {"spec", spec.with_path({"schematic", "cue", "template"}, text)}}));
  }

  DefinitionPtr find(DefinitionKind kind, const std::string& name) const {
    auto found = by_name_.find(name.substr(0, name.find('@')) + "/" + std::string(kind_of(kind)));
    return found == by_name_.end() ? nullptr : found->second;
  }

  ComponentTemplates templates_of(const ComponentSpec& component) const {
    ComponentTemplates out{find(DefinitionKind::Component, component.type), {}};
    for (const TraitSpec& one : component.traits) out.traits.push_back(find(DefinitionKind::Trait, one.type));
    return out;
  }

 private:
  using Definitions = std::map<std::string, DefinitionPtr>;

  static void add_to(Definitions& definitions, const Value& object) {
    workflow::Templates templates;
    auto read = read_definition(object, templates);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    definitions[(*read)->name + "/" + std::string(kind_of((*read)->kind))] = *read;
  }

  static const Definitions& builtins() {
    static const Definitions made = [] {
      Definitions out;
      for (const Value& one : builtin_definitions()) add_to(out, one);
      return out;
    }();
    return made;
  }

  Definitions by_name_;
};

inline RenderContext shop() {
  RenderContext out;
  out.app_name = "shop";
  out.ns = "prod";
  out.app_revision = "shop-v3";
  out.app_revision_number = 3;
  out.cluster_version = json::object({{"major", "1"}, {"minor", 33}, {"gitVersion", "v1.33.4"}, {"platform", "linux/amd64"}});
  return out;
}

using Outcome = std::expected<Rendering, RenderError>;

struct Inputs {
  RenderContext context = shop();
  std::map<std::string, Value> answers{};
  Value patch{};
  Value live{};
};

inline Outcome render(const Library& library, const std::string& component, const Inputs& inputs = {}) {
  auto spec = read_component(yaml(component), "component");
  EXPECT_TRUE(spec.has_value()) << (spec ? "" : spec.error().message);
  if (!spec) return std::unexpected(RenderError{});
  return render_component(*spec, library.templates_of(*spec), inputs.context, inputs.answers, inputs.patch, inputs.live);
}

inline RenderedComponent rendered(const Outcome& outcome) {
  EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : to_string(outcome.error()));
  if (!outcome) return {};
  const auto* made = std::get_if<RenderedComponent>(&*outcome);
  EXPECT_NE(made, nullptr) << "it asks for a call";
  return made == nullptr ? RenderedComponent() : *made;
}

/// "component web, trait scaler: …", or that there was no error.
inline std::string error_of(const Outcome& outcome) { return outcome ? "no error" : to_string(outcome.error()); }

}  // namespace slipway::delivery::application::testing
