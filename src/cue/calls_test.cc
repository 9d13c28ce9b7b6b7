#include <gtest/gtest.h>

#include "cue/cue.h"

namespace slipway::cue {
namespace {

Cursor evaluated(const char* text, const Packages& packages = {}) {
  auto program = compile({{"x.cue", text}}, packages, {});
  EXPECT_TRUE(program.has_value()) << (program ? "" : describe(program.error()));
  return evaluate(*program);
}

std::vector<std::string> paths(const Cursor& root) {
  std::vector<std::string> out;
  for (const Call& one : calls(root)) out.push_back(one.path);
  return out;
}

TEST(Calls, are_found_in_order_wherever_they_stand) {
  Cursor root = evaluated(
      "b: {#do: \"x\", #provider: \"p\", $params: {n: 1}}\na: [{#do: \"y\"}]\n_h: {c: {#do: \"z\"}}\nnone: {#do: string}");
  EXPECT_EQ(paths(root), (std::vector<std::string>{"b", "a.0", "_h.c"}));
  Call first = calls(root)[0];
  EXPECT_EQ(first.provider, "p");
  EXPECT_EQ(first.function, "x");
  EXPECT_EQ(first.value.lookup("$params.n").as_int(), 1);
}

TEST(Calls, of_imported_packages_are_calls_of_the_program) {
  Packages packages = {
      {"vela/kube",
       {{"kube.cue", "package kube\n#Read: {#do: \"read\", #provider: \"kube\", $params: {name: string}, $returns?: {...}}"}}}};
  Cursor root = evaluated("import \"vela/kube\"\nread: kube.#Read & {$params: name: \"a\"}", packages);
  ASSERT_EQ(paths(root), (std::vector<std::string>{"read"}));
  EXPECT_EQ(calls(root)[0].provider, "kube");
}

TEST(Calls, appear_once_what_they_depend_on_is_filled) {
  Cursor root =
      evaluated("a: {#do: \"x\", $returns?: {...}}\nif a.$returns != _|_ {\n\tb: {#do: \"y\", $params: a.$returns.v}\n}");
  EXPECT_EQ(paths(root), (std::vector<std::string>{"a"}));
  Cursor next = fill(root, {{"a.$returns", json::object({{"v", 7}})}});
  EXPECT_EQ(paths(next), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(next.lookup("b.$params").as_int(), 7);
  EXPECT_EQ(paths(root), (std::vector<std::string>{"a"}));
}

TEST(Calls, come_in_the_order_they_are_written) {
  EXPECT_EQ(paths(evaluated("z: #do: \"x\"\nif on {m: #do: \"x\"}\na: #do: \"x\"\nif on {b: #do: \"x\"}\non: true")),
            (std::vector<std::string>{"z", "m", "a", "b"}));
}

TEST(Calls, of_fields_that_only_name_something_are_theirs) {
  Packages packages = {
      {"vela/op", {{"op.cue", "package op\n#Load: {#do: \"load\", value?: {...}}\n#All: {load: #Load, \"1 x\": #Load}"}}}};
  Cursor root = evaluated("import \"vela/op\"\none: op.#Load\nall: op.#All", packages);
  EXPECT_EQ(paths(root), (std::vector<std::string>{"one", "all.load", "all.\"1 x\""}));
  Cursor filled = fill(root, {{"all.load.value.a", 1}, {"all.\"1 x\".value.a", 2}});
  EXPECT_EQ(filled.lookup("all.load.value.a").as_int(), 1);
  EXPECT_EQ(filled.lookup("all.\"1 x\".value.a").as_int(), 2);
  EXPECT_FALSE(filled.lookup("one.value").exists());
}

TEST(Fill, takes_quoted_numbers_for_names) {
  EXPECT_EQ(fill(evaluated("s: \"0\": n: int\nl: [{n: int}]"), {{"s.\"0\".n", 1}, {"l.0.n", 2}}).lookup("s.\"0\".n").as_int(),
            1);
}

TEST(Fill, reaches_hidden_fields_definitions_and_list_items) {
  Cursor root = evaluated("_h: x: int\n#d: y: int\nl: [{z: int}, {z: int}]\ns: _h.x + #d.y + l[1].z");
  Cursor filled = fill(root, {{"_h.x", 1}, {"#d.y", 2}, {"l.1.z", 3}});
  EXPECT_EQ(filled.lookup("s").as_int(), 6);
}

TEST(Fill, keeps_what_was_filled_before) {
  Cursor root = evaluated("a: int\nb: int\nc: a + b");
  EXPECT_EQ(fill(fill(root, {{"a", 1}}), {{"b", 2}}).lookup("c").as_int(), 3);
}

TEST(Fill, conflicts_with_what_is_there) { EXPECT_EQ(fill(evaluated("a: 1"), {{"a", 2}}).validate().size(), 1u); }

}  // namespace
}  // namespace slipway::cue
