// The strategic merge patch cases of the corpus: every patch is created (two and three ways) and applied, over the schema that
// stands beside them as OpenAPI.
#include <gtest/gtest.h>

#include <map>

#include "json/text.h"
#include "kube/go_literal_test.h"
#include "kube/strategic_merge.h"
#include "kube/strategic_merge_parts.h"

namespace slipway::kube {
namespace {

using json::Value;

/// The named types of an OpenAPI v2 document; a field may refer to a type and carry facts of its own.
class SwaggerTypes {
 public:
  explicit SwaggerTypes(const Value& swagger) : definitions_(swagger["definitions"]) {
    for (const auto [name, type] : definitions_.members()) nodes_[std::string(name)] = arena_.add();
    for (const auto [name, type] : definitions_.members()) fill(*nodes_[std::string(name)], type);
    for (const auto& [node, target] : copies_) copy_structure(*node, *target);
  }
  const SchemaNode* type(const std::string& name) { return nodes_.at(name); }

 private:
  static void copy_structure(SchemaNode& node, const SchemaNode& from) {
    node.type = from.type;
    node.properties = from.properties;
    node.items = from.items;
    node.additional_properties = from.additional_properties;
  }

  SchemaNode* node_of(const Value& schema) {
    SchemaNode* node = arena_.add();
    if (schema.has("$ref")) {
      const std::string path = schema["$ref"].str();
      SchemaNode* target = nodes_.at(path.substr(path.rfind('/') + 1));
      // A list of that type, where the document, made for pointers, says only the type.
      if (schema.has("x-kubernetes-patch-merge-key")) {
        node->items = target;
      } else {
        copies_.emplace_back(node, target);
      }
    }
    fill(*node, schema);
    return node;
  }

  void fill(SchemaNode& node, const Value& schema) {
    const std::string_view strategy = schema["x-kubernetes-patch-strategy"].as_string();
    node.patch_merges = strategy.find("merge") != std::string_view::npos;
    node.patch_replaces = strategy == "replace";
    node.patch_retains_keys = strategy.find("retainKeys") != std::string_view::npos;
    node.patch_merge_key = schema["x-kubernetes-patch-merge-key"].str();
    if (schema["items"].is_object()) node.items = node_of(schema["items"]);
    if (schema["additionalProperties"].is_object()) node.additional_properties = node_of(schema["additionalProperties"]);
    for (const auto [name, property] : schema["properties"].members())
      node.properties.push_back({std::string(name), node_of(property)});
    node.sort_properties();
  }

  Value definitions_;
  SchemaArena arena_;
  std::map<std::string, SchemaNode*> nodes_;
  std::vector<std::pair<SchemaNode*, const SchemaNode*>> copies_;
};

std::string text(const Result<Value>& result) { return result ? json::print(*result) : "error: " + result.error().message; }

/// The value with merging lists sorted by key, as order does not count in some expectations.
Value sorted(const SchemaNode* node, const Value& value) {
  json::ObjectBuilder out;
  for (const auto [key, member] : value.members()) {
    const strategic::Field field = strategic::field_of(node, key);
    if (member.is_object()) {
      out.add(key, sorted(field.node, member));
      continue;
    }
    if (!member.is_array() || !field.merges) {
      out.add(key, member);
      continue;
    }
    strategic::Items items = strategic::items_of(member);
    for (Value& item : items) {
      if (item.is_object()) item = sorted(field.items(), item);
    }
    items = strategic::sorted_by(
        items, [&](const Value& item) { return strategic::go_text(item.is_object() ? item[field.merge_key] : item); });
    out.add(key, json::array(std::span<const Value>(items)));
  }
  return out.build();
}

class StrategicMergeCorpus : public testing::Test {
 protected:
  void SetUp() override {
    file_ = corpus_value("kube/patch/strategic_merge.json");
    if (file_.is_null()) GTEST_SKIP() << "skipped: corpus not found";
    types_ = std::make_unique<SwaggerTypes>(corpus_value("kube/patch/swagger-merge-item.json"));
    node_ = types_->type("mergeItem");
  }

  Value file_;
  std::unique_ptr<SwaggerTypes> types_;
  const SchemaNode* node_ = nullptr;
};

/// Both empty, or equal.
bool is_equal(const Result<Value>& found, const Value& expected) {
  if (!found) return false;
  return *found == expected || (found->empty() && expected.empty());
}

TEST_F(StrategicMergeCorpus, creates_and_applies_patches_two_and_three_ways) {
  Suite suite("patch/strategic_merge");
  for (const char* group : {"create", "raw", "replaceRawExtension"}) {
    for (const Value& one : file_[group].items()) {
      const Value& original = one["original"];
      const auto two = create_strategic_merge(node_, original, one["modified"]);
      const auto three = create_three_way_strategic_merge(node_, original, one["modified"], one["current"]);
      const auto two_result =
          apply_strategic_merge(node_, original, one["twoWay"].is_null() ? Value::empty_object() : one["twoWay"]);
      const auto three_result =
          apply_strategic_merge(node_, one["current"], one["threeWay"].is_null() ? Value::empty_object() : one["threeWay"]);
      const Value& two_expected = one.has("twoWayResult") ? one["twoWayResult"] : one["modified"];
      const std::string name = std::string(group) + "/" + one["description"].str();
      std::string story;
      if (!is_equal(two, one["twoWay"])) story += "\n two-way " + text(two) + "\n  expected " + json::print(one["twoWay"]);
      if (!is_equal(three, one["threeWay"]))
        story += "\n three-way " + text(three) + "\n  expected " + json::print(one["threeWay"]);
      if (!is_equal(two_result, two_expected))
        story += "\n two-way result " + text(two_result) + "\n  expected " + json::print(two_expected);
      if (!is_equal(three_result, one["result"]))
        story += "\n three-way result " + text(three_result) + "\n  expected " + json::print(one["result"]);
      suite.expect(story.empty(), name + story);
    }
  }
}

TEST_F(StrategicMergeCorpus, applies_patches_that_are_given) {
  Suite suite("patch/strategic_merge-given");
  for (const char* group : {"custom", "customRaw"}) {
    for (const Value& one : file_[group].items()) {
      const auto found = apply_strategic_merge(node_, one["original"], one["twoWay"]);
      const std::string_view fault = one["expectedError"].as_string();
      const bool holds =
          fault.empty() ? is_equal(found, one["modified"]) : !found && found.error().message.find(fault) != std::string::npos;
      suite.expect(holds, std::string(group) + "/" + one["description"].str() + "\n " + text(found) + "\n  expected " +
                              (fault.empty() ? json::print(one["modified"]) : std::string(fault)));
    }
  }
}

TEST_F(StrategicMergeCorpus, knows_which_lists_have_keys) {
  Suite suite("patch/strategic_merge-lists");
  for (const Value& one : file_["sortMergeLists"].items()) {
    const Value found = sorted(node_, one["original"]);
    suite.expect(found == one["sorted"], one["description"].str() + ": " + json::print(found));
  }
}

TEST_F(StrategicMergeCorpus, keeps_numbers_exact) {
  Suite suite("patch/strategic_merge-numbers");
  SwaggerTypes types(corpus_value("kube/patch/swagger-precision-item.json"));
  const SchemaNode* node = types.type("precisionItem");
  for (const auto [name, one] : file_["numbers"].members()) {
    const auto value = [&](const char* key) { return json::parse(one[key].as_string()).value(); };
    const auto patch = create_strategic_merge(node, value("Old"), value("New"));
    const auto result = apply_strategic_merge(node, value("Old"), value("ExpectedPatch"));
    suite.expect(is_equal(patch, value("ExpectedPatch")) && is_equal(result, value("ExpectedResult")) &&
                     json::print(*result).size() == one["ExpectedResult"].as_string().size(),
                 std::string(name) + " " + text(patch) + " " + text(result));
  }
}

}  // namespace
}  // namespace slipway::kube
