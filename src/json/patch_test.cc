#include "json/patch.h"

#include <gtest/gtest.h>

#include "base/corpus_test.h"
#include "json/pointer.h"
#include "json/text.h"

namespace slipway::json {
namespace {

Value value_of(std::string_view text) {
  auto value = parse(text);
  EXPECT_TRUE(value) << value.error().message;
  return *value;
}

std::string patched(std::string_view document, std::string_view patch) {
  auto result = apply_json_patch(value_of(document), value_of(patch));
  return result ? print(*result) : fmt::format("{}: {}", to_string(result.error().reason), result.error().message);
}

TEST(Pointer, reads_and_writes_parts) {
  EXPECT_EQ(*parse_pointer(""), std::vector<std::string>{});
  EXPECT_EQ(*parse_pointer("/"), std::vector<std::string>{""});
  EXPECT_EQ(*parse_pointer("/a~1b/m~0n/~01/0"), (std::vector<std::string>{"a/b", "m~n", "~1", "0"}));
  EXPECT_EQ(print_pointer(*parse_pointer("/a~1b/m~0n/")), "/a~1b/m~0n/");
  EXPECT_EQ(parse_pointer("a").error().message, "\"a\" is no JSON pointer: it must begin with \"/\"");
  EXPECT_EQ(parse_pointer("/a~2").error().message, "\"/a~2\" is no JSON pointer: \"~\" must be followed by 0 or 1");
  EXPECT_EQ(parse_pointer("/~").error().reason, Reason::BadRequest);
}

TEST(Pointer, finds_what_rfc_6901_says) {
  const Value doc = value_of(R"({"foo":["bar","baz"],"":0,"a/b":1,"m~n":8," ":7})");
  auto at = [&](std::string_view pointer) {
    const Value* found = get_at(doc, *parse_pointer(pointer));
    return found ? print(*found) : "nothing";
  };
  EXPECT_EQ(at(""), print(doc));
  EXPECT_EQ(at("/foo/0"), "\"bar\"");
  EXPECT_EQ(at("/"), "0");
  EXPECT_EQ(at("/a~1b"), "1");
  EXPECT_EQ(at("/m~0n"), "8");
  EXPECT_EQ(at("/foo/00"), "nothing");
  EXPECT_EQ(at("/foo/-"), "nothing");
  EXPECT_EQ(at("/foo/2"), "nothing");
  EXPECT_EQ(at("/foo/0/x"), "nothing");
}

TEST(JsonPatch, says_why_it_does_not_apply) {
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])"), "Invalid: testing value /a failed: test failed");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"remove","path":"/b"}])"),
            "Invalid: remove operation does not apply: doc is missing path: \"/b\"");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"replace","path":"/b","value":1}])"),
            "Invalid: replace operation does not apply: doc is missing key: /b: missing value");
  EXPECT_EQ(
      patched(R"({"a":1})", R"([{"op":"jump","path":"/b"}])"),
      "BadRequest: json patch: operation 0: unknown \"op\": \"jump\" (add, remove, replace, move, copy and test are known)");
  EXPECT_EQ(patched(R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])"),
            "Invalid: move operation does not apply: \"/a/b\" lies inside what is moved");
  EXPECT_EQ(patched("{}", "{}"), "BadRequest: json patch: must be an array of operations");
}

TEST(JsonPatch, tests_null_against_an_absent_member_as_the_api_server_does) {
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])"), R"({"a":1})");
}

TEST(JsonPatch, keeps_the_order_of_members) {
  EXPECT_EQ(patched(R"({"a":1,"b":2,"c":3})", R"([{"op":"replace","path":"/b","value":9},{"op":"add","path":"/d","value":4}])"),
            R"({"a":1,"b":9,"c":3,"d":4})");
}

TEST(JsonPatch, has_limits) {
  ArrayBuilder many;
  for (std::size_t i = 0; i <= kMostPatchOperations; ++i) many.add(value_of(R"({"op":"test","path":"","value":{}})"));
  EXPECT_EQ(apply_json_patch(value_of("{}"), many.build()).error().reason, Reason::RequestEntityTooLarge);

  // Doubling: what is copied is counted, not what is stored.
  ArrayBuilder doubling;
  for (int i = 0; i < 40; ++i) doubling.add(value_of(R"({"op":"copy","from":"/a","path":"/a/-"})"));
  EXPECT_EQ(apply_json_patch(value_of(R"({"a":["some text"]})"), doubling.build()).error().reason,
            Reason::RequestEntityTooLarge);

  Value deep = 1;
  for (int i = 0; i < 600; ++i) deep = object({{"a", deep}});
  std::string inside;
  for (int i = 0; i < 600; ++i) inside += "/a";
  const Value replace = array({object({{"op", "replace"}, {"path", inside}, {"value", deep}})});
  EXPECT_EQ(apply_json_patch(deep, replace).error().message, "json patch: the result is nested deeper than 1000 levels");

  ArrayBuilder nesting;
  for (int i = 0; i < 2000; ++i) {
    nesting.add(value_of(R"({"op":"add","path":"/b","value":{}})"));
    nesting.add(value_of(R"({"op":"move","from":"/a","path":"/b/a"})"));
    nesting.add(value_of(R"({"op":"move","from":"/b","path":"/a"})"));
  }
  EXPECT_EQ(apply_json_patch(value_of(R"({"a":1})"), nesting.build()).error().reason, Reason::RequestEntityTooLarge);
}

// The objects of a JSON array, each as its text: some cases hold repeated keys, which the reader refuses.
std::vector<std::string> elements(const std::string& text) {
  std::vector<std::string> found;
  std::size_t depth = 0, start = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && text[i] == '{' && depth++ == 0) {
      start = i;
    } else if (!in_string && text[i] == '}' && --depth == 0) {
      found.push_back(text.substr(start, i + 1 - start));
    }
  }
  return found;
}

bool case_holds(const std::string& text) {
  auto one = parse(text);
  if (!one)
    return one.error().message.find("duplicate key \"op\"") != std::string::npos && text.find("two 'op'") != std::string::npos;
  auto result = apply_json_patch((*one)["doc"], (*one)["patch"]);
  if (one->has("error")) return !result;
  return result && (!one->has("expected") || *result == (*one)["expected"]);
}

TEST(JsonPatch, passes_the_conformance_cases) {
  std::size_t passed = 0, total = 0;
  for (const char* name : {"kube/patch/rfc6902_tests.json", "kube/patch/rfc6902_spec_tests.json"}) {
    const auto text = corpus_file(name);
    if (!text) GTEST_SKIP() << "skipped: corpus not found";
    for (const std::string& one : elements(*text)) {
      ++total;
      const bool holds = case_holds(one);
      passed += holds;
      EXPECT_TRUE(holds) << one;
    }
  }
  fmt::print("json-patch {}/{}\n", passed, total);
  EXPECT_EQ(total, 112u);
}

TEST(MergePatch, does_what_rfc_7386_lists) {
  const char* rows[][3] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [target, patch, result] : rows) {
    EXPECT_EQ(print(apply_merge_patch(value_of(target), value_of(patch))), result) << target << " + " << patch;
  }
}

TEST(MergePatch, made_from_two_documents_leads_from_one_to_the_other) {
  const char* documents[] = {"{}", R"({"a":1,"b":{"c":[1,2],"d":{"e":"x"}}})", R"({"b":{"c":[1],"f":true}})",
                             R"({"a":{"b":2}})", "3"};
  for (const char* from : documents) {
    for (const char* to : documents) {
      const Value patch = create_merge_patch(value_of(from), value_of(to));
      EXPECT_EQ(apply_merge_patch(value_of(from), patch), value_of(to)) << from << " -> " << to << ": " << print(patch);
    }
  }
  EXPECT_EQ(print(create_merge_patch(value_of(R"({"a":1,"b":{"c":2,"d":3}})"), value_of(R"({"b":{"c":4,"d":3}})"))),
            R"({"a":null,"b":{"c":4}})");
  EXPECT_EQ(create_merge_patch(value_of(R"({"a":[1]})"), value_of(R"({"a":[1]})")), Value::empty_object());
}

TEST(MergePatch, passes_the_three_way_cases) {
  const auto text = corpus_file("kube/patch/json_merge_threeway.json");
  if (!text) GTEST_SKIP() << "skipped: corpus not found";
  const Value suite = value_of(*text);
  std::size_t passed = 0;
  for (const Value& one : suite["createThreeWay"].items()) {
    auto side = [&](std::string_view name) { return one.has(name) ? one[name] : Value::empty_object(); };
    const Value patch = create_three_way_merge_patch(side("original"), side("modified"), side("current"));
    const bool holds = patch == side("threeWay") && apply_merge_patch(side("current"), patch) == side("result");
    passed += holds;
    EXPECT_TRUE(holds) << print(one) << "\nmade " << print(patch);
  }
  fmt::print("json-merge-three-way {}/{}\n", passed, suite["createThreeWay"].size());
  EXPECT_GT(passed, 0u);
}

}  // namespace
}  // namespace slipway::json
