// The CRD cases of the corpus: pruning, defaulting, uniqueness of lists, metadata of embedded objects. Left out, with the
// reason:
// - objectmeta "invalid metadata type" and those with dropInvalidFields: values of a wrong type are findings of validate()
// here, nothing is
//   dropped silently.
// - objectmeta coerce:Test*: they decode into Go structs; schema_test.cc states what those say about nulls and unknown fields.
#include <gtest/gtest.h>

#include <algorithm>

#include "json/text.h"
#include "kube/go_literal_test.h"
#include "kube/schema.h"
#include "kube/schema_build.h"
#include "kube/schema_node.h"

namespace slipway::kube {
namespace {

Schema built(const json::Value& schema, bool is_resource) {
  auto arena = std::make_shared<SchemaArena>();
  SchemaBuilder builder(*arena);
  const SchemaNode* root = is_resource ? builder.build_resource(schema) : builder.build(schema);
  mark_defaults(*arena);
  return Schema(root_of(arena, root));
}

std::vector<std::string> string_list(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value& item : list.items()) out.push_back(item.str());
  std::ranges::sort(out);
  return out;
}

/// A Go structural schema as OpenAPI.
json::Value open_api(const json::Value& structural) {
  json::ObjectBuilder out;
  const json::Value& generic = structural["Generic"];
  if (generic.has("Type")) out.set("type", generic["Type"]);
  if (generic.has("Nullable")) out.set("nullable", generic["Nullable"]);
  const json::Value& extensions = structural["Extensions"];
  for (const auto& [go, key] :
       {std::pair("XListType", "x-kubernetes-list-type"), std::pair("XListMapKeys", "x-kubernetes-list-map-keys"),
        std::pair("XEmbeddedResource", "x-kubernetes-embedded-resource"),
        std::pair("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields")}) {
    if (extensions.has(go)) out.set(key, go_value(extensions[go]));
  }
  if (structural.has("Items")) out.set("items", open_api(structural["Items"]));
  if (structural.has("AdditionalProperties"))
    out.set("additionalProperties", open_api(structural["AdditionalProperties"]["Structural"]));
  if (structural.has("Properties")) {
    json::ObjectBuilder properties;
    for (const auto [name, property] : structural["Properties"].members()) properties.add(name, open_api(property));
    out.set("properties", properties.build());
  }
  return out.build();
}

/// The same schema, preserving everything: what is then still pruned is metadata.
json::Value preserving(const json::Value& schema) {
  json::Value out = schema.with("x-kubernetes-preserve-unknown-fields", true);
  if (schema.has("items")) out = out.with("items", preserving(schema["items"]));
  if (schema.has("additionalProperties")) out = out.with("additionalProperties", preserving(schema["additionalProperties"]));
  for (const auto [name, property] : schema["properties"].members())
    out = out.with_path({"properties", name}, preserving(property));
  return out;
}

TEST(SchemaCorpus, prunes_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/crd/pruning.json");
  Suite suite("crd/pruning");
  for (const json::Value& one : file["cases"].items()) {
    json::Value schema = one["schema"];
    if (one["isResourceRoot"].as_bool()) schema = schema.with("x-kubernetes-embedded-resource", true);
    const json::Value object = json::parse(one["json"].as_string()).value();
    std::vector<std::string> dropped;
    const json::Value pruned = built(schema, false).prune(object, &dropped);
    const bool holds =
        pruned == json::parse(one["expectedObject"].as_string()).value() && dropped == string_list(one["expectedPruned"]);
    suite.expect(holds, one["name"].str() + ": " + json::print(pruned));
  }
}

TEST(SchemaCorpus, fills_defaults_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/crd/defaulting.json");
  Suite suite("crd/defaulting");
  for (const json::Value& one : file["cases"].items()) {
    const json::Value filled = built(one["schema"], false).fill_defaults(json::parse(one["json"].as_string()).value());
    suite.expect(filled == json::parse(one["expected"].as_string()).value(), one["name"].str() + ": " + json::print(filled));
  }
}

TEST(SchemaCorpus, finds_repeated_items_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/crd/listtype_raw.json");
  Suite suite("crd/list-type");
  for (const json::Value& one : file["tables"]["TestValidateListSetsAndMaps#0"].items()) {
    std::vector<std::string> expected;
    for (const json::Value& error : one["errors"].items()) {
      // {"_call": "duplicate" | "invalid", "args": ["root", "array[1]"]}: the last step of the path is under root.
      const json::Value& args = error["args"];
      std::string path = args.item(0).str();
      for (std::size_t i = 1; i < args.size(); ++i) path += "." + args.item(i).str();
      expected.push_back(error["_call"].str() + " " + path);
    }
    std::vector<std::string> found;
    const json::Value object = json::object({{"root", go_value(one["obj"])}});
    const json::Value schema = json::object({{"properties", json::object({{"root", open_api(one["schema"])}})}});
    for (const Cause& cause : built(schema, false).validate(object)) {
      if (cause.reason == "FieldValueDuplicate") found.push_back("duplicate " + cause.field);
      if (cause.message.find("x-kubernetes-list-type: map") != std::string::npos) found.push_back("invalid " + cause.field);
    }
    std::ranges::sort(expected);
    std::ranges::sort(found);
    suite.expect(found == expected, one["name"].str() + fmt::format(": found {} of {}", found.size(), expected.size()));
  }
}

TEST(SchemaCorpus, prunes_metadata_of_embedded_objects_as_upstream) {
  SLIPWAY_CORPUS_OR_SKIP(file, "kube/crd/objectmeta_coerce_raw.json");
  Suite suite("crd/object-meta");
  for (const json::Value& one : file["tables"]["TestCoerce#0"].items()) {
    if (one["dropInvalidFields"].as_bool()) continue;
    json::Value schema = preserving(open_api(one["schema"]));
    const bool is_root = one["includeRoot"].as_bool();
    json::Value object = json::parse(one["json"].as_string()).value();
    // Without includeRoot the root is no resource: put it one level down, where nothing is implied.
    if (!is_root) {
      schema = json::object({{"type", "object"}, {"properties", json::object({{"at", schema}})}});
      object = json::object({{"at", object}});
    }
    std::vector<std::string> dropped;
    json::Value pruned = built(schema, true).prune(object, &dropped);
    if (!is_root) {
      pruned = pruned["at"];
      for (std::string& path : dropped) path = path.starts_with("at.") ? path.substr(3) : path;
    }
    const bool holds =
        pruned == json::parse(one["expected"].as_string()).value() && dropped == string_list(one["expectedUnknownFields"]);
    suite.expect(holds, one["name"].str() + ": " + json::print(pruned));
  }
}

}  // namespace
}  // namespace slipway::kube
