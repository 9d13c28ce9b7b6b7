#include "delivery/application/revision.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/application/compressed.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

TEST(RevisionPacker, packs_the_whole_content_whatever_was_packed_before) {
  RevisionPacker packer;
  const std::pair<const char*, const char*> contents[] = {
      {R"({"application":{"spec":{"components":[]}}})", R"({"componentDefinitions":{"web":{"spec":{"a":1}}}})"},
      {R"({"application":{"spec":{"components":[1,2]}}})", R"({"componentDefinitions":{"web":{"spec":{"a":1}}}})"},
      {R"({"application":{"spec":{}}})", R"({"componentDefinitions":{"web":{"spec":{"a":2}}},"policies":{"p":{}}})"},
      {R"({"application":{"spec":{}}})", "{}"}};
  for (const auto& [first, rest] : contents) {
    const Value content = *json::parse(rest);
    const RevisionPacker::Rest& packed = packer.rest(rest, [&] { return content; });
    EXPECT_EQ(packed.text_bytes, std::string(rest).size());
    const std::string data = RevisionPacker::join(*json::parse(first), packed);
    Value whole = *json::parse(first);
    for (const auto& [name, value] : content.members()) whole = whole.with(name, value);
    EXPECT_EQ(uncompressed(json::object({{"compression", json::object({{"type", "gzip"}, {"data", data}})}})), whole);
    EXPECT_TRUE(data.ends_with(packed.data));
  }
}

TEST(RevisionPacker, makes_the_rest_once_for_each_key) {
  RevisionPacker packer;
  int made = 0;
  const auto make = [&] {
    ++made;
    return json::object({{"componentDefinitions", json::object({})}});
  };
  packer.rest("a", make);
  packer.rest("a", make);
  EXPECT_EQ(made, 1);
  packer.rest("b", make);
  EXPECT_EQ(made, 2);
}

Value definition(const char* kind, const std::string& name, const Value& spec, const Value& annotations = {}) {
  return json::object({{"apiVersion", kApiVersion},
                       {"kind", kind},
                       {"metadata", json::object({{"name", name}, {"namespace", "vela-system"}, {"annotations", annotations}})},
                       {"spec", spec}});
}

Value with_template(const std::string& text) {
  return json::object({{"schematic", json::object({{"cue", json::object({{"template", text}})}})}});
}

/// Something of everything that a revision may hold. `text` is put into a template, which makes the whole large or small.
Parsed everything(DefinitionStore& store, const std::string& text) {
  const auto read = [&](const Value& object) { return store.read(object).value(); };
  const Value waits = json::object({{kWaitsForKinds, "the operator"}});
  Parsed parsed;
  parsed.components["web"] =
      read(definition("ComponentDefinition", "web", with_template("output: note: \"" + text + "\""), waits));
  parsed.components["web@v1"] = read(definition("ComponentDefinition", "web", with_template("output: {}")));
  parsed.traits["scaler"] = read(definition("TraitDefinition", "scaler", with_template("patch: {}")));
  parsed.policies["own"] = read(definition("PolicyDefinition", "own", with_template("output: {}")));
  parsed.step_types["look"] = read(definition("WorkflowStepDefinition", "look", with_template("x: 1")));
  parsed.global_policies = {read(definition("PolicyDefinition", "all", with_template("output: {a: 1}")))};
  parsed.shared_policies["p"] = *json::parse(R"({"apiVersion":"a","kind":"Policy","type":"own","properties":{"n":1}})");
  parsed.shared_workflow = *json::parse(R"({"apiVersion":"a","kind":"Workflow","metadata":{"name":"w"},"steps":[]})");
  parsed.referred = *json::parse(R"([{"kind":"ConfigMap"}])");
  return parsed;
}

Value digests(const std::map<DefinitionKind, std::map<std::string, Result<DefinitionPtr>>>& definitions) {
  json::ObjectBuilder out;
  for (const auto& [kind, all] : definitions) {
    for (const auto& [type, one] : all) {
      const DefinitionPtr& read = one.value();
      out.set(fmt::format("{} {}", kind_of(kind), type),
              read->digest + std::string(kube::annotation(read->object, kWaitsForKinds)));
    }
  }
  return out.build();
}

const Value kShop = *json::parse(R"({"metadata":{"name":"shop","namespace":"default","uid":"u"}})");

TEST(Revision, what_was_made_says_what_reading_it_says) {
  for (const std::string& text : {std::string("short"), std::string(9'000, 'x')}) {
    DefinitionStore store;
    DefinitionStore after_restart;
    RevisionPacker packer;
    const Parsed parsed = everything(store, text);
    const Value spec = *json::parse(R"({"components":[{"name":"a","type":"web"}]})");
    const Value revision = make_revision(kShop, spec, parsed, 1, "hash", packer);
    EXPECT_EQ(revision["spec"].has("compression"), text.size() > 4096);
    const auto made = freeze(spec, parsed);
    const auto read = read_revision(revision, after_restart);
    EXPECT_EQ(made->spec, read->spec);
    EXPECT_EQ(made->policies, read->policies);
    EXPECT_EQ(made->workflow, read->workflow);
    EXPECT_EQ(made->referred, read->referred);
    EXPECT_EQ(digests(made->definitions), digests(read->definitions));
    ASSERT_EQ(read->global_policies.size(), 1U);
    EXPECT_EQ(made->global_policies[0]->digest, read->global_policies[0]->digest);
  }
}

TEST(Revision, has_its_own_rest_whatever_was_packed_before) {
  DefinitionStore store;
  RevisionPacker shared;
  const Parsed base = everything(store, std::string(9'000, 'x'));
  std::vector<Parsed> all(7, base);
  all[1].shared_policies["p"] = all[1].shared_policies["p"].with("properties", json::object({{"n", 2}}));
  all[2].shared_workflow = all[2].shared_workflow.with("mode", json::object({{"steps", "DAG"}}));
  all[3].referred = Value();
  all[4].global_policies.clear();
  all[5].policies["global policy"] = base.global_policies[0];
  all[6].components.erase("web@v1");
  for (const Parsed& parsed : all) {
    RevisionPacker fresh;
    EXPECT_EQ(make_revision(kShop, json::object({}), parsed, 1, "hash", shared),
              make_revision(kShop, json::object({}), parsed, 1, "hash", fresh));
  }
}

}  // namespace
}  // namespace slipway::delivery::application
