#include "kube/field_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "json/text.h"

namespace slipway::kube {
namespace {

FieldSet set_of(std::string_view fields) { return FieldSet::from_fields_v1(json::parse(fields).value()).value(); }
std::string text(const FieldSet& set) { return json::print(set.to_fields_v1()); }

TEST(FieldSet, is_written_in_the_order_of_its_elements) {
  EXPECT_EQ(
      text(set_of(
          R"({"i:2":{},"v:true":{},"v:\"a\"":{},"v:2":{},"k:{\"p\":2}":{},"k:{\"n\":\"b\",\"m\":1}":{},"f:b":{},"f:a":{}})")),
      R"({"f:a":{},"f:b":{},"k:{\"m\":1,\"n\":\"b\"}":{},"k:{\"p\":2}":{},"v:2":{},"v:\"a\"":{},"v:true":{},"i:2":{}})");
}

TEST(FieldSet, tells_a_member_with_members_below_it_from_one_without) {
  const FieldSet set = set_of(R"({"f:a":{".":{},"f:b":{}},"f:c":{"f:d":{}},"f:e":{}})");
  EXPECT_EQ(set.size(), 4u);
  EXPECT_TRUE(set.has(FieldPath{PathElement::field("a")}));
  EXPECT_FALSE(set.has(FieldPath{PathElement::field("c")}));
  EXPECT_EQ(text(set), R"({"f:a":{".":{},"f:b":{}},"f:c":{"f:d":{}},"f:e":{}})");
  EXPECT_EQ(text(set.leaves()), R"({"f:a":{"f:b":{}},"f:c":{"f:d":{}},"f:e":{}})");
}

TEST(FieldSet, orders_names_by_all_their_bytes) {
  using std::string_view_literals::operator""sv;
  const std::vector<std::string_view> ordered{""sv,         "\0"sv,         "\0b"sv,       "a"sv,          "a\0"sv,
                                              "aaaaaaaa"sv, "aaaaaaaa\0"sv, "aaaaaaaaa"sv, "aaaaaaaaaa"sv, "aaaaaaaab"sv,
                                              "aaaaaaab"sv, "b"sv,          "\xc3\xa4"sv,  "\xff"sv};
  std::vector<FieldSet::Entry> entries;
  for (const std::string_view name : ordered) entries.push_back({PathElement::field(name), {}, true});
  entries.push_back({PathElement::index(1), {}, true});
  std::ranges::reverse(entries);
  std::vector<std::string_view> found;
  const FieldSet set = FieldSet::of(entries);
  for (const FieldSet::Entry& entry : set.entries()) {
    if (entry.element.kind() == PathElement::Kind::Field) found.push_back(entry.element.content().as_string());
  }
  EXPECT_EQ(found, ordered);
  EXPECT_EQ(set.entries().back().element.kind(), PathElement::Kind::Index);
}

TEST(FieldSet, drops_elements_of_later_versions_and_refuses_malformed_ones) {
  EXPECT_EQ(text(set_of(R"({"x:new":{"f:a":{}},"f:b":{}})")), R"({"f:b":{}})");
  EXPECT_FALSE(FieldSet::from_fields_v1(json::parse(R"({"f":{}})").value()));
  EXPECT_FALSE(FieldSet::from_fields_v1(json::parse(R"({"k:[]":{}})").value()));
  EXPECT_FALSE(FieldSet::from_fields_v1(json::parse(R"({"i:x":{}})").value()));
  EXPECT_FALSE(FieldSet::from_fields_v1(json::parse(R"({"f:a":1})").value()));
}

TEST(FieldSet, joins_keys_that_mean_the_same) {
  EXPECT_EQ(text(set_of(R"({"k:{\"a\":1,\"b\":2}":{"f:x":{}},"k:{ \"b\":2,\"a\":1.0}":{}})")),
            R"({"k:{\"a\":1,\"b\":2}":{".":{},"f:x":{}}})");
}

TEST(FieldSet, has_the_algebra_of_sets) {
  const FieldSet left = set_of(R"({"f:a":{".":{},"f:b":{}},"f:c":{}})");
  const FieldSet right = set_of(R"({"f:a":{},"f:c":{"f:d":{}}})");
  EXPECT_EQ(text(unite(left, right)), R"({"f:a":{".":{},"f:b":{}},"f:c":{".":{},"f:d":{}}})");
  EXPECT_EQ(text(intersect(left, right)), R"({"f:a":{}})");
  EXPECT_EQ(text(subtract(left, right)), R"({"f:a":{"f:b":{}},"f:c":{}})");
  EXPECT_EQ(text(subtract_subtrees(left, right)), R"({"f:c":{}})");
  EXPECT_TRUE(subtract(left, left).empty());
  EXPECT_TRUE(unite(left, intersect(left, right)).is_same(left));
}

TEST(FieldSet, finds_how_it_lies_to_a_written_one) {
  const json::Value written = json::parse(R"({"f:a":{".":{},"f:b":{}},"f:c":{"f:d":{}}})").value();
  auto found = [&](std::string_view set) {
    const Overlap o = overlap(written, set_of(set));
    return fmt::format("{}{}{}", o.touches ? "touches " : "", o.covers ? "covers " : "", o.has_below ? "below" : "");
  };
  EXPECT_EQ(found(R"({"f:a":{"f:b":{}}})"), "touches covers ");
  EXPECT_EQ(found(R"({"f:a":{}})"), "touches covers below");
  EXPECT_EQ(found(R"({"f:c":{}})"), "below");
  EXPECT_EQ(found(R"({"f:x":{}})"), "");
  EXPECT_EQ(found(R"({"f:a":{"f:b":{},"f:z":{}}})"), "touches ");
}

TEST(FieldSet, prints_paths_as_messages_show_them) {
  std::string out;
  set_of(
      R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:name":{}}},"f:tags":{"v:\"x\"":{}},"f:list":{"i:3":{}}}})")
      .for_each([&](const FieldPath& path) { out += to_string(path) + "\n"; });
  EXPECT_EQ(out, ".spec.list[3]\n.spec.ports[port=80,protocol=\"TCP\"].name\n.spec.tags[=\"x\"]\n");
}

}  // namespace
}  // namespace slipway::kube
