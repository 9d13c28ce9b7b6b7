#include "kube/typed_merge.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/typed_shape.h"

namespace slipway::kube::typed {
namespace {

using json::Value;

/// {list: items by key name, set: strings}
class TypedMerge : public testing::Test {
 protected:
  TypedMerge() {
    text_.type = SchemaNode::Type::String;
    item_.type = SchemaNode::Type::Object;
    item_.properties = {{"name", &text_}, {"v", &text_}};
    item_.sort_properties();
    list_.type = SchemaNode::Type::Array;
    list_.list_type = SchemaNode::ListType::Map;
    list_.list_map_keys = {"name"};
    list_.items = &item_;
    set_.type = SchemaNode::Type::Array;
    set_.list_type = SchemaNode::ListType::Set;
    set_.items = &text_;
    root_.type = SchemaNode::Type::Object;
    root_.properties = {{"list", &list_}, {"set", &set_}};
    root_.sort_properties();
  }
  /// A list of `count` items; every `repeat`th has the key of the one before.
  static Value long_list(int count, int repeat, std::string_view value) {
    json::ArrayBuilder items;
    for (int i = 0; i < count; ++i) {
      const int key = repeat != 0 && i % repeat == repeat - 1 ? i - 1 : i;
      items.add(json::object({{"name", fmt::format("item-number-{}", key)}, {"v", value}}));
    }
    return json::object({{"list", items.build()}});
  }
  std::string merged(std::string_view live, std::string_view config) const {
    return json::print(merge(&root_, yaml(live), yaml(config)));
  }

  SchemaNode text_, item_, list_, set_, root_;
};

TEST_F(TypedMerge, shares_what_a_configuration_does_not_change) {
  const Value live = yaml("{list: [{name: a, v: x}, {name: b, v: x}], set: [p]}");
  EXPECT_TRUE(merge(&root_, live, yaml("{set: [p], list: [{name: b}]}")).is_same(live));
  const Value changed = merge(&root_, live, yaml("{list: [{name: b, v: z}]}"));
  EXPECT_TRUE(changed["list"].item(0).is_same(live["list"].item(0)));
  EXPECT_TRUE(changed["set"].is_same(live["set"]));
  EXPECT_EQ(changed["list"].item(1), yaml("{name: b, v: z}"));
}

TEST_F(TypedMerge, replaces_live_items_with_equal_keys_by_the_configured_one) {
  EXPECT_EQ(merged("{list: [{name: a, v: x}, {name: a, v: w}, {name: b}]}", "{list: [{name: a}]}"),
            R"({"list":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(merged("{list: [{name: a, v: x}, {name: a, v: w}, {name: b}]}", "{list: [{name: b, v: q}]}"),
            R"({"list":[{"name":"a","v":"x"},{"name":"a","v":"w"},{"name":"b","v":"q"}]})");
}

TEST_F(TypedMerge, keeps_a_live_container_under_null_and_replaces_a_leaf) {
  EXPECT_EQ(merged("{list: [{name: a, v: x}], set: [p]}", "{list: null, set: []}"),
            R"({"list":[{"name":"a","v":"x"}],"set":["p"]})");
  EXPECT_EQ(merged("{list: [{name: a, v: x}]}", "{list: [{name: a, v: null}]}"), R"({"list":[{"name":"a","v":null}]})");
}

TEST_F(TypedMerge, finds_the_items_of_long_lists_as_those_of_short_ones) {
  const Value live = long_list(500, 0, "x");
  EXPECT_EQ(merge(&root_, live, long_list(500, 0, "z")), long_list(500, 0, "z"));
  const Difference difference = compare(&root_, live, long_list(499, 0, "x"));
  EXPECT_EQ(difference.removed.size(), 3u);  // the item, its key and its value
  EXPECT_TRUE(difference.added.empty());
  EXPECT_EQ(mismatches(&root_, long_list(400, 2, "x"), Duplicates::Refused).size(), 200u);
  EXPECT_EQ(fields_of(&root_, long_list(400, 2, "x")).size(), 200u);
}

TEST_F(TypedMerge, compares_a_long_list_of_repeated_items_in_good_time) {
  const Difference difference = compare(&root_, long_list(20'000, 2, "x"), long_list(20'000, 2, "z"));
  EXPECT_EQ(difference.modified.size(), 10'000u);
}

}  // namespace
}  // namespace slipway::kube::typed
