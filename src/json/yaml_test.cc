#include <gtest/gtest.h>

#include "json/text.h"
#include "json/yaml_nodes.h"
#include "json/yaml_place.h"

namespace slipway::json {
namespace {

std::string read(std::string_view text, Limits limits = {}) {
  auto value = parse_yaml(text, limits);
  return value ? print(*value) : value.error().message;
}

TEST(Yaml, the_text_of_an_absent_value_is_empty) {
  EXPECT_EQ(read(std::string_view()), "null");
  EXPECT_EQ(read(Value()["absent"].as_string()), "null");
  EXPECT_TRUE(parse_yaml_all(std::string_view())->empty());
  EXPECT_TRUE(parse_yaml_nodes(std::string_view()).has_value());
  EXPECT_EQ(yaml_line(std::string_view(), 1, "spec"), 1U);
}

TEST(Yaml, resolves_plain_scalars_by_yaml_1_1_as_go_does) {
  const std::pair<const char*, const char*> rows[] = {
      {"yes", "true"},
      {"On", "true"},
      {"y", "true"},
      {"TRUE", "true"},
      {"no", "false"},
      {"OFF", "false"},
      {"n", "false"},
      {"yEs", "\"yEs\""},
      {"~", "null"},
      {"Null", "null"},
      {"nULL", "\"nULL\""},
      {"", "null"},
      {"12", "12"},
      {"+12", "12"},
      {"-12", "-12"},
      {"010", "8"},
      {"0o10", "8"},
      {"0x1F", "31"},
      {"-0x1f", "-31"},
      {"0b101", "5"},
      {"1_000", "1000"},
      {"08", "8"},
      {"0", "0"},
      {"1.50", "1.50"},
      {".5", "0.5"},
      {"1.", "1"},
      {"+1.5", "1.5"},
      {"1e3", "1e3"},
      {"1e", "\"1e\""},
      {"1:30", "\"1:30\""},
      {"0x", "\"0x\""},
      {"18446744073709551615", "18446744073709551615"},
      {"1.2.3", "\"1.2.3\""},
      {"2026-01-02", "\"2026-01-02\""},
      {"_1", "\"_1\""},
      {"'yes'", "\"yes\""},
      {"\"12\"", "\"12\""},
      {"!!str 12", "\"12\""},
      {"!!int \"12\"", "12"},
      {"!!float 12", "12"},
      {"!!bool \"yes\"", "true"},
      {"!!binary aGVsbG8=", "\"hello\""},
      {"!custom 12", "\"12\""},
      {"-", "[null]"},
      {"v1", "\"v1\""},
      {"1e999", "\"1e999\""},
      {"=", "\"=\""},
      {"100m", "\"100m\""},
      {"9223372036854775808", "9223372036854775808"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(read(text), expected) << text;
}

TEST(Yaml, reads_nested_blocks_and_flow) {
  EXPECT_EQ(read("a:\n- b: 1\n  c: [x, {u: z}]\n- |\n  two\n  lines\n- >-\n  one\n  line\n"),
            R"({"a":[{"b":1,"c":["x",{"u":"z"}]},"two\nlines\n","one line"]})");
}

TEST(Yaml, turns_keys_into_strings) {
  EXPECT_EQ(read("{1: a, 1.5: b, yes: c, 0x10: d, .inf: e}"), R"({"1":"a","1.5":"b","true":"c","16":"d",".inf":"e"})");
  EXPECT_EQ(read("~: a"), "yaml: line 1, column 1: null cannot be a key");
  EXPECT_EQ(read("? [a]\n: b"), "yaml: line 1, column 3: a mapping or sequence cannot be a key");
}

TEST(Yaml, shares_anchors_and_merges_maps) {
  const Value value =
      *parse_yaml("base: &b {x: 1, u: 2}\nother: &o {u: 3, z: 4}\nuse: *b\none: {u: 9, <<: *b}\nboth:\n  <<: [*b, *o]\n");
  EXPECT_TRUE(value["use"].is_same(value["base"]));
  EXPECT_EQ(value["one"], *parse(R"({"x":1,"u":9})"));
  EXPECT_EQ(value["both"], *parse(R"({"x":1,"u":2,"z":4})"));
  EXPECT_EQ(read("a: {<<: 1}"), "yaml: line 1, column 9: map merge requires map or sequence of maps as the value");
  EXPECT_EQ(read("a: *b"), "yaml: line 1, column 4: unknown anchor 'b' referenced");
  EXPECT_EQ(read("a: &a [*a]"), "yaml: line 1, column 8: anchor 'a' value contains itself");
}

TEST(Yaml, counts_what_aliases_expand_to) {
  std::string bomb = "a0: &a0 [lol, lol, lol, lol]\n";
  for (int i = 1; i < 30; ++i) bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  EXPECT_NE(read(bomb).find("aliases expand to more than 3145728 bytes"), std::string::npos);
  std::string deep = "a0: &a0 [x]\n";
  for (int i = 1; i < 1200; ++i) deep += fmt::format("a{0}: &a{0} [*a{1}]\n", i, i - 1);
  EXPECT_NE(read(deep).find("nested deeper than 1000 levels"), std::string::npos);
}

TEST(Yaml, says_where_it_is_wrong) {
  EXPECT_EQ(read("a: 1\nb:\n  c: 2\n c: 3\n"),
            "yaml: line 4, column 2: did not find expected key while parsing a block mapping");
  EXPECT_EQ(read("a: 1\nb: 2\na: 3\n"), "yaml: line 3, column 1: duplicate key \"a\"");
  EXPECT_EQ(read("1: a\n\"1\": b\n"), "yaml: line 2, column 1: duplicate key \"1\"");
  EXPECT_EQ(read("a: [1, 2"), "yaml: line 2, column 1: did not find expected ',' or ']' while parsing a flow sequence");
  EXPECT_EQ(read("a:\n\tb: 1"),
            "yaml: line 2, column 1: found character that cannot start any token while scanning for the next token");
  EXPECT_EQ(read("a: .nan"), "yaml: line 1, column 4: infinity and NaN have no JSON form");
  EXPECT_EQ(read("a: !!int x"), "yaml: line 1, column 4: cannot decode `x` as a !!int");
  EXPECT_EQ(read("a: b\nc: \xff"), "yaml: line 2, column 4: invalid leading UTF-8 octet");
  EXPECT_EQ(read(std::string(2000, '[')), "json: line 1, column 1001: nested deeper than 1000 levels");
  EXPECT_EQ(read("a: " + std::string(2000, '[')), "yaml: line 1, column 1003: nested deeper than 1000 levels");
  EXPECT_EQ(read("a: 1", {.max_bytes = 3}), "Request entity too large: limit is 3");
}

TEST(Yaml, reads_json_as_json) {
  EXPECT_EQ(read(" {\"a\": \"\\ud83d\\ude00\", \"n\": 12345678901234567890.0}"), R"({"a":"😀","n":12345678901234567890.0})");
  EXPECT_EQ(read("{\"a\": 1 \"b\": 2}"), "json: line 1, column 9: expected ',' or '}' after a member, found a string");
  EXPECT_EQ(read("{a: b}"), R"({"a":"b"})");
}

TEST(Yaml, splits_documents_and_leaves_out_empty_ones) {
  auto all = parse_yaml_all("# comment\n---\na: 1\n---\n# nothing\n---\n\n- b\n...\n---\nc\n");
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ(print((*all)[0].value), R"({"a":1})");
  EXPECT_EQ((*all)[0].line, 3u);
  EXPECT_EQ(print((*all)[1].value), R"(["b"])");
  EXPECT_EQ((*all)[1].line, 8u);
  EXPECT_EQ(print((*all)[2].value), R"("c")");
  EXPECT_TRUE(parse_yaml_all("")->empty());
  EXPECT_TRUE(parse_yaml_all("---\n---\n")->empty());
  EXPECT_EQ(parse_yaml_all("{\"a\":1}\n---\n{\"b\":2}\n")->size(), 2u);
  EXPECT_EQ(read("a: 1\n---\nb: 2\n"), "yaml: line 3, column 1: expected one document, found another");
  EXPECT_EQ(read(""), "null");
}

TEST(YamlPrint, looks_like_kubectl) {
  const Value value = *parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{},"finalizers":[],
    "creationTimestamp":"2026-01-02T03:04:05Z","annotations":{"a/b":"true","n":"12","e":"","sp":" x","c":"a: b","h":"#x","oct":"0o7",
    "t":"12:30","y":"y","d":"-","q":"it's","star":"*x","nl":"tab\tx"}},
    "spec":{"containers":[{"name":"main","args":["-c","line one\nline two\n","no end\nhere"],"x":1.50,"b":false,"z":null},[1,[2]]]}})");
  const char* expected = R"(apiVersion: v1
kind: Pod
metadata:
  name: a
  labels: {}
  finalizers: []
  creationTimestamp: "2026-01-02T03:04:05Z"
  annotations:
    a/b: "true"
    "n": "12"
    e: ""
    sp: ' x'
    c: 'a: b'
    h: '#x'
    oct: "0o7"
    t: "12:30"
    "y": "y"
    d: '-'
    q: it's
    star: '*x'
    nl: "tab\tx"
spec:
  containers:
  - name: main
    args:
    - -c
    - |
      line one
      line two
    - |-
      no end
      here
    x: 1.50
    b: false
    z: null
  - - 1
    - - 2
)";
  EXPECT_EQ(print_yaml(value), expected);
  EXPECT_EQ(*parse_yaml(print_yaml(value)), value);
}

TEST(Yaml, many_merged_maps_take_linear_time) {
  std::string text = "a: &a {b: c, d: e}\ne:\n  d: own\n";
  for (int i = 0; i < 100'000; ++i) text += "  <<: " + (i % 2 == 0 ? "*a\n" : "{k" + std::to_string(i) + ": v, b: late}\n");
  const auto value = parse_yaml(text);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ((*value)["e"].size(), 50'002U);
  EXPECT_EQ((*value)["e"]["d"].as_string(), "own");
  EXPECT_EQ((*value)["e"]["b"].as_string(), "c");
  EXPECT_EQ((*value)["e"]["k99999"].as_string(), "v");
}

TEST(YamlPrint, reads_back_whatever_the_text) {
  for (std::string_view text :
       {"",      " ", "\n",     "\n\n",    " a\n b", "a\n\n", "a \nb", "\ta",    "a\tb\nc", "- a", "? x",   "<<",   "=",
        "null",  "~", "1e3",    "%a",      "@a",     "`a`",   "a #b",  "#",      "a:",      ":a",  "[a",    "a]",   "{",
        "\"a\"", "'", "\u0085", "\u2028x", "\uFEFF", "\x01",  "é\nü",  "a\r\nb", "...",     "---", "--- a", "\n a", "x\n\ty"}) {
    const Value value = object({{"k", text}, {"list", array({Value(text)})}});
    const std::string printed = print_yaml(value);
    auto back = parse_yaml(printed);
    ASSERT_TRUE(back) << print(value) << "\n" << printed << back.error().message;
    EXPECT_EQ(*back, value) << printed;
  }
  EXPECT_EQ(print_yaml(Value(5)), "5\n");
  EXPECT_EQ(print_yaml(Value::empty_object()), "{}\n");
}

}  // namespace
}  // namespace slipway::json
