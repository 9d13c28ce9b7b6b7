#include "cue/patch/patch.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::cue {
namespace {

std::string patched(const std::string& text) {
  auto program = compile({{"x.cue", text}}, {});
  if (!program) return describe(program.error());
  Cursor root = evaluate(*program);
  Cursor patch = root.field("patch");
  auto result = apply_patch(root.field("base"), patch, patch_strategy(patch));
  if (!result) return "error: " + result.error()[0].path + ": " + result.error()[0].message;
  auto text_of = result->to_json_text();
  return text_of ? *text_of : text_of.error()[0].path + ": " + text_of.error()[0].message;
}

TEST(Patch, adds_fields_and_conflicts_where_scalars_differ) {
  EXPECT_EQ(patched("base: {a: 1}\npatch: {b: {c: 2}}"), R"({"a":1,"b":{"c":2}})");
  EXPECT_EQ(patched("base: {a: {b: 1}}\npatch: {a: {b: 2}}"), "error: a.b: conflicting values 2 and 1");
}

TEST(Patch, unifies_lists_without_a_key_item_by_item) {
  EXPECT_EQ(patched("base: l: [{a: 1}]\npatch: l: [{b: 2}, {c: 3}]"), R"({"l":[{"a":1,"b":2},{"c":3}]})");
  EXPECT_EQ(patched("base: l: [1, 2]\npatch: l: [1]"), "error: l: incompatible list lengths (1 and 2)");
}

TEST(Patch, pairs_items_by_key_and_appends_the_others) {
  EXPECT_EQ(patched("base: l: [{n: \"a\", v: 1}, {n: \"b\"}]\npatch: {\n// +patchKey=n\nl: [{n: \"c\"}, {n: \"b\", w: 2}]\n}"),
            R"({"l":[{"n":"a","v":1},{"n":"b","w":2},{"n":"c"}]})");
}

TEST(Patch, finds_keys_below_items_and_hands_keys_down_to_inner_lists) {
  EXPECT_EQ(patched("base: l: [{m: n: \"a\"}, {m: n: \"b\"}]\npatch: {\n// +patchKey=m.n\nl: [{m: n: \"b\", x: 1}]\n}"),
            R"({"l":[{"m":{"n":"a"}},{"m":{"n":"b"},"x":1}]})");
  EXPECT_EQ(
      patched("base: l: [{n: \"a\", s: [{n: 1}, {n: 2}]}]\npatch: {\n// +patchKey=n\nl: [{n: \"a\", s: [{n: 2, x: 1}]}]\n}"),
      R"({"l":[{"n":"a","s":[{"n":1},{"n":2,"x":1}]}]})");
}

TEST(Patch, drops_items_without_the_key_once_another_has_it) {
  EXPECT_EQ(patched("base: l: [{n: \"a\"}]\npatch: {\n// +patchKey=n\nl: [{x: 1}, {n: \"a\", y: 2}]\n}"),
            R"({"l":[{"n":"a","y":2}]})");
  EXPECT_EQ(patched("base: l: [{n: \"a\"}]\npatch: {\n// +patchKey=n\nl: [{x: 1}]\n}"), R"({"l":[{"n":"a","x":1}]})");
}

TEST(Patch, leaves_items_alone_whose_key_is_only_a_default) {
  EXPECT_EQ(patched("base: l: [{n: \"a\"}]\npatch: {\n// +patchKey=n\nl: [{n: *\"b\" | string, x: 1}]\n}"),
            R"({"l":[{"n":"a","x":1}]})");
}

TEST(Patch, retain_keys_takes_the_place_of_what_is_there) {
  EXPECT_EQ(
      patched(
          "base: {s: 1, m: {a: 1}}\npatch: {\n// +patchStrategy=retainKeys\ns: 2\n// +patchStrategy=retainKeys\nm: {b: 2}\n}"),
      R"({"s":2,"m":{"b":2}})");
  EXPECT_EQ(
      patched("base: l: [{n: \"a\", v: 1}]\npatch: {\n// +patchKey=n\n// +patchStrategy=retainKeys\nl: [{n: \"a\", w: 2}]\n}"),
      R"({"l":[{"n":"a","w":2}]})");
}

TEST(Patch, replace_takes_the_place_of_a_list) {
  EXPECT_EQ(patched("base: l: [1, 2]\npatch: {\n// +patchStrategy=replace\nl: [3]\n}"), R"({"l":[3]})");
}

TEST(Patch, json_strategies_are_asked_for_above_the_patch_itself) {
  EXPECT_EQ(patched("base: {a: 1, b: [1]}\n// +patchStrategy=jsonMergePatch\npatch: {a: null, b: [2]}"), R"({"b":[2]})");
  EXPECT_EQ(patched("base: {a: 1}\n// +patchStrategy=jsonPatch\npatch: {operations: [{op: \"remove\", path: \"/a\"}]}"), "{}");
  // The comment above a shorthand is that of its innermost field.
  EXPECT_EQ(patched("base: {a: {b: 1}}\n// +patchStrategy=jsonMergePatch\npatch: a: {b: 2}"),
            "error: a.b: conflicting values 2 and 1");
}

TEST(Patch, open_lists_say_what_every_item_of_the_base_must_be) {
  EXPECT_EQ(patched("base: l: [{a: 1}, {a: 2}]\npatch: l: [...{b: 3}]"), R"({"l":[{"a":1,"b":3},{"a":2,"b":3}]})");
}

TEST(Patch, what_has_no_value_yet_is_told_on_use) {
  EXPECT_EQ(patched("p: {x?: int}\nbase: {a: 1}\npatch: {b: string}"), "b: incomplete value string");
  EXPECT_EQ(patched("p: {x?: int}\nbase: {a: 1}\npatch: {b: p.x}"), "b: cannot reference optional field: x");
}

TEST(Patch, of_a_patched_value_goes_on_from_there) {
  auto program = compile({{"x.cue", "base: l: [{n: \"a\"}]\npatch: {\n// +patchKey=n\nl: [{n: \"b\"}]\n}"}}, {});
  ASSERT_TRUE(program.has_value());
  Cursor root = evaluate(*program);
  Cursor once = *apply_patch(root.field("base"), root.field("patch"), PatchStrategy::Unify);
  Cursor twice = *apply_patch(once, root.field("patch"), PatchStrategy::Unify);
  EXPECT_EQ(*twice.to_json_text(), R"({"l":[{"n":"a"},{"n":"b"}]})");
}

TEST(Patch, conflicts_name_the_places_in_both_templates) {
  auto component = compile({{"component.cue", "output: {a: {\n\tb: 1\n}}"}});
  auto trait = compile({{"trait.cue", "\n\npatch: a: b: 2"}});
  ASSERT_TRUE(component.has_value() && trait.has_value());
  auto result = apply_patch(evaluate(*component).field("output"), evaluate(*trait).field("patch"), PatchStrategy::Unify);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(describe(result.error()), "a.b: conflicting values 2 and 1:\n    component.cue:2:2\n    trait.cue:3:11\n");
}

TEST(Patch, several_keys_are_gone_through_one_after_another_and_one_unknown_leaves_the_list_alone) {
  EXPECT_EQ(patched("base: l: [{n: \"a\", v: 1}, {n: \"b\", v: 2}]\npatch: {\n// +patchKey=n,v\nl: [{n: \"b\", u: 1}]\n}"),
            "error: l.0.n: conflicting values \"b\" and \"a\"");
}

TEST(Patch, needs_a_base) {
  EXPECT_EQ(patched("patch: {a: 1}"), "error: : nothing to patch");
  EXPECT_EQ(patched("base: {a: 1}"), R"({"a":1})");
}

TEST(Patch, follows_the_comments_of_what_a_field_refers_to) {
  EXPECT_EQ(patched("base: l: [{n: \"a\"}]\n// +patchKey=n\nadded: [{n: \"b\"}]\npatch: l: added"),
            R"({"l":[{"n":"a"},{"n":"b"}]})");
}

}  // namespace
}  // namespace slipway::cue
