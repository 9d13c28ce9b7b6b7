// Overrides and replication: components before, properties of the policy, components after.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/application/policy.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::application {
namespace {

std::vector<ComponentSpec> components(std::string_view text) {
  std::vector<ComponentSpec> made;
  const Value list = yaml(text);
  for (const Value& one : list.items()) {
    ComponentSpec component;
    component.name = one["name"].str();
    component.type = one["type"].str();
    component.properties = one["properties"];
    component.external_revision = one["externalRevision"].str();
    component.replica_key = one["replicaKey"].str();
    for (const Value& name : one["dependsOn"].items()) component.depends_on.push_back(name.str());
    for (const Value& trait : one["traits"].items()) {
      component.traits.push_back({.type = trait["type"].str(), .properties = trait["properties"]});
    }
    made.push_back(std::move(component));
  }
  return made;
}

/// In the form that `components` reads, without what is empty.
Value shown(const std::vector<ComponentSpec>& all) {
  json::ArrayBuilder list;
  for (const ComponentSpec& one : all) {
    Value shown = json::object({{"name", one.name}, {"type", one.type}});
    if (!one.properties.is_null()) shown = shown.with("properties", one.properties);
    if (!one.external_revision.empty()) shown = shown.with("externalRevision", one.external_revision);
    if (!one.replica_key.empty()) shown = shown.with("replicaKey", one.replica_key);
    if (!one.depends_on.empty()) shown = shown.with("dependsOn", json::array(one.depends_on));
    json::ArrayBuilder traits;
    for (const TraitSpec& trait : one.traits) {
      Value made = json::object({{"type", trait.type}});
      traits.add(trait.properties.is_null() ? made : made.with("properties", trait.properties));
    }
    if (!traits.empty()) shown = shown.with("traits", traits.build());
    list.add(shown);
  }
  return list.build();
}

struct Row {
  const char* rule;
  const char* before;
  const char* properties;
  const char* after;
};

PolicySpec policy(const char* type, const char* properties) {
  return {.name = "p", .type = type, .properties = yaml(properties)};
}

constexpr Row kOverrides[] = {
    {"a patch without name and type changes all components", "[{name: a, type: x}, {name: b, type: w, properties: {k: 1}}]",
     "components: [{properties: {k: 2}}]", "[{name: a, type: x, properties: {k: 2}}, {name: b, type: w, properties: {k: 2}}]"},
    {"a patch with a type only changes all of the type", "[{name: a, type: x}, {name: b, type: w}, {name: c, type: x}]",
     "components: [{type: x, properties: {k: 2}}]",
     "[{name: a, type: x, properties: {k: 2}}, {name: b, type: w}, {name: c, type: x, properties: {k: 2}}]"},
    {"a name is found anywhere in a component's name", "[{name: web, type: x}, {name: my-web-2, type: x}, {name: db, type: x}]",
     "components: [{name: web, properties: {k: 1}}]",
     "[{name: web, type: x, properties: {k: 1}}, {name: my-web-2, type: x, properties: {k: 1}}, {name: db, type: x}]"},
    {"a star in a name stands for any text", "[{name: web-eu-1, type: x}, {name: web-us-1, type: x}]",
     "components: [{name: web-*eu, properties: {k: 1}}]",
     "[{name: web-eu-1, type: x, properties: {k: 1}}, {name: web-us-1, type: x}]"},
    {"a name may be anchored as a regular expression", "[{name: web, type: x}, {name: my-web-2, type: x}]",
     "components: [{name: ^web$, properties: {k: 1}}]",
     "[{name: web, type: x, properties: {k: 1}}, {name: my-web-2, type: x}]"},
    {"a component of another type is replaced and keeps its name",
     "[{name: web-1, type: x, properties: {k: 1}, dependsOn: [db], traits: [{type: t}]}]",
     "components: [{name: web, type: w, properties: {l: 2}, traits: [{type: u}, {type: v, disable: true}]}]",
     "[{name: web-1, type: w, properties: {l: 2}, traits: [{type: u}]}]"},
    {"a component of the same type is merged", "[{name: web, type: x, properties: {k: 1}, dependsOn: [db]}]",
     "components: [{name: web, type: x, properties: {l: 2}}]",
     "[{name: web, type: x, properties: {k: 1, l: 2}, dependsOn: [db]}]"},
    {"maps are merged deeply", "[{name: a, type: x, properties: {m: {k: 1, deep: {a: 1}}}}]",
     "components: [{properties: {m: {l: 2, deep: {a: 3}}}}]",
     "[{name: a, type: x, properties: {m: {k: 1, l: 2, deep: {a: 3}}}}]"},
    {"lists are replaced", "[{name: a, type: x, properties: {l: [1, 2], m: {k: 1}}}]",
     "components: [{properties: {l: [3], m: [4]}}]", "[{name: a, type: x, properties: {l: [3], m: [4]}}]"},
    {"false, 0, the empty text and null replace", "[{name: a, type: x, properties: {b: true, i: 1, s: text, z: 1, l: [1]}}]",
     "components: [{properties: {b: false, i: 0, s: '', z: null, l: []}}]",
     "[{name: a, type: x, properties: {b: false, i: 0, s: '', z: null, l: []}}]"},
    {"a map over a list with items is ignored, over another value it replaces",
     "[{name: a, type: x, properties: {l: [1], empty: [], s: text}}]",
     "components: [{properties: {l: {k: 1}, empty: {k: 1}, s: {k: 1}}}]",
     "[{name: a, type: x, properties: {l: [1], empty: {k: 1}, s: {k: 1}}}]"},
    {"traits are matched by type: merged or added", "[{name: a, type: x, traits: [{type: t, properties: {k: 1}}, {type: u}]}]",
     "components: [{traits: [{type: t, properties: {l: 2}}, {type: v, properties: {m: 3}}]}]",
     "[{name: a, type: x, traits: [{type: t, properties: {k: 1, l: 2}}, {type: u}, {type: v, properties: {m: 3}}]}]"},
    {"a disabled trait is dropped, one that is not there stays away",
     "[{name: a, type: x, traits: [{type: t}, {type: u}, {type: t}]}]",
     "components: [{traits: [{type: t, disable: true}, {type: v, disable: true}]}]",
     "[{name: a, type: x, traits: [{type: u}]}]"},
    {"several traits of a type become one, the last changed, where the patch names the type",
     "[{name: a, type: x, traits: [{type: t, properties: {k: 1}}, {type: u}, {type: t, properties: {k: 2}}, {type: u}]}]",
     "components: [{traits: [{type: t, properties: {l: 1}}]}]",
     "[{name: a, type: x, traits: [{type: t, properties: {k: 2, l: 1}}, {type: u}, {type: u}]}]"},
    {"a name without a match adds a component", "[{name: a, type: x}]",
     "components: [{name: b, type: w, properties: {k: 1}, traits: [{type: t}], externalRevision: r1}]",
     "[{name: a, type: x}, {name: b, type: w, properties: {k: 1}, externalRevision: r1, traits: [{type: t}]}]"},
    {"a pattern without a match adds nothing", "[{name: a, type: x}]", "components: [{name: b-*, type: w}]",
     "[{name: a, type: x}]"},
    {"the external revision is replaced", "[{name: a, type: x, externalRevision: r1}, {name: b, type: x}]",
     "components: [{name: a, externalRevision: r2}]", "[{name: a, type: x, externalRevision: r2}, {name: b, type: x}]"},
    {"patches work in order, later ones on what earlier ones added", "[{name: a, type: x}]",
     "components: [{name: b, type: w}, {properties: {k: 1}}]",
     "[{name: a, type: x, properties: {k: 1}}, {name: b, type: w, properties: {k: 1}}]"},
    {"a selector keeps only what it names, in the order of the components",
     "[{name: a, type: x}, {name: b, type: x}, {name: c, type: x}]", "selector: [c, a, z]",
     "[{name: a, type: x}, {name: c, type: x}]"},
    {"a selector speaks of added components too", "[{name: a, type: x}]", "{components: [{name: b, type: w}], selector: [b]}",
     "[{name: b, type: w}]"},
};

TEST(Override, follows_its_rules) {
  for (const Row& row : kOverrides) {
    auto after = override_components(components(row.before), policy("override", row.properties));
    ASSERT_TRUE(after) << row.rule << ": " << after.error().message;
    EXPECT_EQ(shown(*after), yaml(row.after)) << row.rule;
  }
}

TEST(Override, refuses_what_it_does_not_know) {
  const std::pair<const char*, const char*> rows[] = {
      {"component: []", R"(override policy p: unknown field "properties.component")"},
      {"components: [{propertys: {}}]", R"(override policy p: unknown field "properties.components[0].propertys")"},
      {"components: [{traits: [{type: t, disabled: true}]}]",
       R"(override policy p: unknown field "properties.components[0].traits[0].disabled")"},
      {"components: [{name: 'a(b'}]", "override policy p: name a(b is no pattern: missing ): a(b"},
  };
  for (const auto& [properties, message] : rows) {
    const auto after = override_components({}, policy("override", properties));
    ASSERT_FALSE(after) << properties;
    EXPECT_EQ(after.error().reason, Reason::Invalid);
    EXPECT_EQ(after.error().message, message);
  }
}

constexpr Row kReplications[] = {
    {"selected components are copied behind the others, once per key", "[{name: a, type: x}, {name: b, type: x}]",
     "{keys: [k1, k2], selector: [a]}",
     "[{name: b, type: x}, {name: a, type: x, replicaKey: k1}, {name: a, type: x, replicaKey: k2}]"},
    {"copies of another policy stay", "[{name: a, type: x, replicaKey: k1}, {name: a, type: x, replicaKey: k2}]",
     "{keys: [k3], selector: [a]}",
     "[{name: a, type: x, replicaKey: k1}, {name: a, type: x, replicaKey: k2}, {name: a, type: x, replicaKey: k3}]"},
    {"without keys selected components go", "[{name: a, type: x}, {name: b, type: x}]", "{selector: [a]}",
     "[{name: b, type: x}]"},
    {"without properties nothing is copied", "[{name: a, type: x}]", "null", "[{name: a, type: x}]"},
};

TEST(Replication, follows_its_rules) {
  for (const Row& row : kReplications) {
    auto after = replicate_components(components(row.before), policy("replication", row.properties));
    ASSERT_TRUE(after) << row.rule << ": " << after.error().message;
    EXPECT_EQ(shown(*after), yaml(row.after)) << row.rule;
  }
}

TEST(Replication, refuses_unknown_fields_and_a_selector_without_a_match) {
  const auto unknown = replicate_components(components("[{name: a}]"), policy("replication", "{key: [k1], selector: [a]}"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, R"(replication policy p: unknown field "properties.key")");
  const auto unselected = replicate_components(components("[{name: a}]"), policy("replication", "{keys: [k1], selector: [b]}"));
  ASSERT_FALSE(unselected);
  EXPECT_EQ(unselected.error().message, "replication policy p: no component is selected");
}

Value numbered(const char* prefix, int count) {
  json::ObjectBuilder object;
  for (int i = 0; i < count; ++i) object.add(fmt::format("{}{}", prefix, i), i);
  return object.build();
}

PolicySpec override_with(std::vector<Value> patches) {
  return {.name = "p", .type = "override", .properties = json::object({{"components", json::array(patches)}})};
}

std::string fault_of_override(const std::vector<ComponentSpec>& before, const PolicySpec& policy) {
  const auto changed = override_components(before, policy);
  return changed ? "" : changed.error().message;
}

TEST(Override, merges_many_properties_in_one_pass) {
  std::vector<ComponentSpec> before = components("[{name: web, type: t}]");
  before[0].properties = numbered("a", 100'000);
  const auto changed = override_components(before, override_with({json::object({{"properties", numbered("b", 100'000)}})}));
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed->front().properties.size(), 200'000U);
  EXPECT_EQ(changed->front().properties["b99999"].as_int(), 99'999);
}

TEST(Override, refuses_a_policy_that_merges_too_much) {
  std::vector<ComponentSpec> before;
  for (int i = 0; i < 100; ++i) before.push_back(components(fmt::format("[{{name: c{}, type: t}}]", i)).front());
  std::vector<Value> patches;
  for (const char* prefix : {"a", "b", "c"}) patches.push_back(json::object({{"properties", numbered(prefix, 5000)}}));
  EXPECT_EQ(fault_of_override(before, override_with(patches)),
            "override policy p: it merges more than 2000000 members; change fewer components, or fewer of their properties");
  patches.pop_back();
  EXPECT_EQ(fault_of_override(before, override_with(patches)), "");
}

TEST(Override, bounds_the_number_and_the_size_of_its_patterns) {
  const std::vector<ComponentSpec> web = components("[{name: web, type: t}]");
  const auto named = [](const std::string& name) { return json::object({{"name", name}, {"properties", json::object({})}}); };
  EXPECT_EQ(fault_of_override(web, override_with(std::vector<Value>(kMaxOverridePatches, named("w*b")))), "");
  EXPECT_EQ(fault_of_override(web, override_with(std::vector<Value>(kMaxOverridePatches + 1, named("w*b")))),
            "override policy p: 501 components are too many: at most 500");
  EXPECT_TRUE(fault_of_override(web, override_with({named("(xI.{200}){4}")})).contains("is no pattern: ")) << "it compiles";
  EXPECT_TRUE(fault_of_override(web, override_with({named(std::string(300, '.'))})).ends_with("longer than 256 bytes"));
}

TEST(Replication, makes_at_most_ten_thousand_copies) {
  std::vector<ComponentSpec> before;
  std::vector<std::string> names;
  std::vector<std::string> keys;
  for (int i = 0; i < 200; ++i) {
    before.push_back(components(fmt::format("[{{name: c{}, type: t}}]", i)).front());
    names.push_back(before.back().name);
  }
  for (int i = 0; i < 51; ++i) keys.push_back(fmt::format("k{}", i));
  const auto copies = replicate_components(
      before, {.name = "r",
               .type = "replication",
               .properties = json::object({{"keys", json::array(keys)}, {"selector", json::array(names)}})});
  ASSERT_FALSE(copies);
  EXPECT_EQ(copies.error().message, "replication policy r: 200 components with 51 keys are more than 10000 copies");
}

}  // namespace
}  // namespace slipway::delivery::application
