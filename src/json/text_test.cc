#include "json/text.h"

#include <gtest/gtest.h>

#include "base/corpus_test.h"
#include "json/loose.h"

namespace slipway::json {
namespace {

std::string error_of(std::string_view text, Limits limits = {}) {
  auto result = parse(text, limits);
  if (result) return "parsed: " + print(*result);
  EXPECT_EQ(result.error().reason, Reason::BadRequest);
  return result.error().message;
}

std::string reprint(std::string_view text) {
  auto result = parse(text);
  return result ? print(*result) : result.error().message;
}

TEST(JsonParse, round_trips_documents_byte_for_byte) {
  for (const char* text :
       {"null", "true", "false", "0", "-0", "1.0", "1e400000", "\"\"", "\"a\"", "{}", "[]", "[[],{}]", "{\"\":0}",
        R"({"b":1,"a":[1,2.50,-3e+2,null,true,false,"x"],"c":{"d":{"e":"a string of more than fourteen bytes"}}})",
        "[12345678901234567890123,0.1,9223372036854775807,-9223372036854775808]", R"(["\"\\\n\r\t\b\f\u0001/ü€😀"])"}) {
    if (std::string_view(text) == "1e400000") continue;
    EXPECT_EQ(reprint(text), text);
  }
  EXPECT_EQ(reprint(" \n{ \"a\" :\t[ 1 , 2 ] }\r\n "), R"({"a":[1,2]})");
}

TEST(JsonParse, reads_escapes) {
  EXPECT_EQ(parse(R"("\u0041\u00e9\u20ac\ud83d\ude00\/")")->as_string(), "Aé€😀/");
  EXPECT_EQ(parse(R"("\ud83d")")->as_string(), "\uFFFD");
  EXPECT_EQ(parse(R"("\ude00x")")->as_string(), "\uFFFDx");
  EXPECT_EQ(parse(R"("\ud83d\u0041")")->as_string(), "\uFFFDA");
  EXPECT_EQ(parse(R"("a\u0000b")")->as_string(), std::string_view("a\0b", 3));
}

TEST(JsonParse, says_what_was_expected_and_found_where) {
  EXPECT_EQ(error_of(""), "json: line 1, column 1: expected a value, found the end of the text");
  EXPECT_EQ(error_of("  \n "), "json: line 2, column 2: expected a value, found the end of the text");
  EXPECT_EQ(error_of("{\n  \"a\": 1\n  \"b\": 2}"),
            "json: line 3, column 3: expected ',' or '}' after a member, found a string");
  EXPECT_EQ(error_of("{\"a\" 1}"), "json: line 1, column 6: expected ':' after a key, found \"1\"");
  EXPECT_EQ(error_of("{\"a\":1,}"), "json: line 1, column 8: expected a key in quotes after ',', found '}'");
  EXPECT_EQ(error_of("{a:1}"), "json: line 1, column 2: expected a key in quotes or '}', found \"a\"");
  EXPECT_EQ(error_of("[1,]"), "json: line 1, column 4: expected a value, found ']'");
  EXPECT_EQ(error_of("[1 2]"), "json: line 1, column 4: expected ',' or ']' after an item, found \"2\"");
  EXPECT_EQ(error_of("[1"), "json: line 1, column 3: expected ',' or ']' after an item, found the end of the text");
  EXPECT_EQ(error_of("{} x"), "json: line 1, column 4: expected nothing after the end of the value, found \"x\"");
  EXPECT_EQ(error_of("{}{}"), "json: line 1, column 3: expected nothing after the end of the value, found '{'");
  EXPECT_EQ(error_of("[tru]"), "json: line 1, column 2: expected a value or ']', found \"tru\"");
  EXPECT_EQ(error_of("[\"é\", }"), "json: line 1, column 7: expected a value, found '}'");
}

TEST(JsonParse, refuses_bad_numbers) {
  for (const char* text :
       {"01", "-", "1.", ".5", "1e", "1e+", "+1", "0x10", "1_000", "--1", "1.2.3", "NaN", "1a", "1\"a\"", "-01"}) {
    EXPECT_FALSE(parse(text)) << text;
    EXPECT_FALSE(parse(fmt::format("[{}]", text))) << text;
  }
  EXPECT_EQ(error_of("[1, 01]"), "json: line 1, column 5: invalid number \"01\"");
  EXPECT_NE(error_of(std::string(400, '9')).find("is out of range"), std::string::npos);
  EXPECT_EQ(error_of("1e999"), "json: line 1, column 1: number 1e999 is out of range");
}

TEST(JsonParse, refuses_bad_strings) {
  EXPECT_EQ(error_of("{\"a\": \"b}\n"), "json: line 1, column 7: string is not closed on its line");
  EXPECT_EQ(error_of("{\"a: 1, \"b\": 2}\n"), "json: line 1, column 10: expected ':' after a key, found \"b\"");
  EXPECT_EQ(error_of("[\"a\tb\"]"), "json: line 1, column 4: control character 0x09 in a string (write it as an escape)");
  EXPECT_EQ(error_of("[\"a\\x\"]"), R"(json: line 1, column 4: invalid escape "\\x" in a string)");
  EXPECT_EQ(error_of("[\"\\u12g4\"]"), R"(json: line 1, column 3: invalid escape "\\u12g4" in a string)");
  EXPECT_EQ(error_of("[\"ab\xff\"]"), "json: line 1, column 5: invalid UTF-8");
  EXPECT_EQ(error_of("[\"\xed\xa0\x80\"]"), "json: line 1, column 3: invalid UTF-8");
  EXPECT_EQ(error_of("[\"abc\\"), "json: line 1, column 2: string is not closed on its line");
  EXPECT_EQ(error_of("[\"abc\"x]"), "json: line 1, column 7: expected ',' or ']' after an item, found \"x\"");
}

TEST(JsonParse, refuses_duplicate_keys_where_the_second_stands) {
  EXPECT_EQ(error_of("{\"a\":1,\n \"b\":{\"a\":2}, \"a\":3}"), "json: line 2, column 15: duplicate key \"a\"");
  std::string big = "{";
  for (int i = 0; i < 100; ++i) big += fmt::format("\"key-{}\": [{{\"a\":1}}],\n", i);
  EXPECT_EQ(error_of(big + "\"key-50\": 1}"), "json: line 101, column 1: duplicate key \"key-50\"");
  EXPECT_TRUE(parse(big + "\"key-100\": 1}"));
}

TEST(JsonParse, lets_the_last_of_doubled_keys_win_where_that_is_asked) {
  const auto loose = parse_loosely(R"({"a":1,"b":[{"c":1},{"c":2,"d":{"e":1,"e":2},"c":3}],"a":4,"a":5})");
  ASSERT_TRUE(loose);
  EXPECT_EQ(print(loose->value), R"({"b":[{"c":1},{"d":{"e":2},"c":3}],"a":5})");
  EXPECT_EQ(loose->doubled, (std::vector<std::string>{"b[1].d.e", "b[1].c", "a"}));
  EXPECT_EQ(parse_loosely("{\"a\":1,").error().message, parse("{\"a\":1,").error().message);
  EXPECT_TRUE(parse_loosely("{\"a\":1}")->doubled.empty());
}

TEST(JsonParse, doubled_keys_take_linear_time_and_few_are_told) {
  std::string pairs = "{";
  for (int i = 0; i < 110'000; ++i) pairs += fmt::format("\"k{0}\":1,\"k{0}\":2,", i);
  const auto many = parse_loosely(pairs + "\"a\":1}");
  ASSERT_TRUE(many);
  EXPECT_EQ(many->value.size(), 110'001U);
  EXPECT_EQ(many->value["k109999"].as_int(), 2);
  EXPECT_EQ(many->doubled.size(), kMostDoubled);
  EXPECT_EQ(many->doubled.front(), "k109999");

  std::string one = "{";
  for (int i = 0; i < 400'000; ++i) one += "\"a\":1,";
  const auto same = parse_loosely(one + "\"a\":2}");
  ASSERT_TRUE(same);
  EXPECT_EQ(print(same->value), "{\"a\":2}");
  EXPECT_EQ(same->doubled, std::vector<std::string>{"a"});

  std::string long_path = "{\"" + std::string(60'000, 'x') + "\":[";
  for (int i = 0; i < 1000; ++i) long_path += "{\"a\":1,\"a\":1},";
  const auto cut = parse_loosely(long_path + "1]}");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->doubled.size(), 2U);
}

TEST(JsonParse, has_limits) {
  const std::string deep(10000, '[');
  EXPECT_EQ(error_of(deep), "json: line 1, column 1001: nested deeper than 1000 levels");
  EXPECT_TRUE(parse(std::string(1000, '[') + std::string(1000, ']')));
  auto large = parse(std::string(100, ' '), {.max_bytes = 99});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().reason, Reason::RequestEntityTooLarge);
  EXPECT_EQ(large.error().message, "Request entity too large: limit is 99");
}

TEST(JsonParse, shares_equal_long_strings_of_one_document) {
  const Value value = *parse(R"(["2026-01-02T03:04:05Z","2026-01-02T03:04:05Z"])");
  EXPECT_TRUE(value.item(0).is_same(value.item(1)));
}

TEST(JsonParse, keeps_kubernetes_objects_in_little_more_memory_than_their_text) {
  std::size_t text_bytes = 0, heap_bytes = 0;
  for (const char* kind :
       {"apps.v1.DaemonSet", "batch.v1.Job", "core.v1.Event", "apps.v1.StatefulSet", "coordination.k8s.io.v1.Lease"}) {
    const auto text = corpus_file(fmt::format("kube/api-golden/{}.json", kind));
    if (!text) GTEST_SKIP() << "skipped: corpus not found";
    const Value value = *parse(*text);
    EXPECT_EQ(*parse(print(value)), value);
    EXPECT_EQ(*parse_yaml(print_yaml(value)), value);
    text_bytes += print(value).size();
    heap_bytes += value.memory_bytes();
  }
  EXPECT_LE(static_cast<double>(heap_bytes) / static_cast<double>(text_bytes), 1.55);
}

TEST(JsonPrint, replaces_what_is_not_utf8_and_escapes_what_go_escapes) {
  EXPECT_EQ(print(Value("a\xff"
                        "b")),
            "\"a\uFFFDb\"");
  EXPECT_EQ(print(Value("<&>\u2028\x7f")), "\"<&>\\u2028\x7f\"");
}

TEST(JsonPrint, indents_as_kubectl_does) {
  EXPECT_EQ(print_pretty(*parse(R"({"a":[1,{"b":{}}],"c":[]})")), R"({
    "a": [
        1,
        {
            "b": {}
        }
    ],
    "c": []
})");
}

}  // namespace
}  // namespace slipway::json
