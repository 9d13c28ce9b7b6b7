// Behaviour of the standard packages, the legacy switch, tags and data that the corpus does not fix.
#include <gtest/gtest.h>

#include "base/memory_files.h"
#include "cue/cue.h"
#include "cue/load/command.h"

namespace slipway::cue {
namespace {

std::string exported(const std::string& text, CompileOptions options = {}) {
  auto program = compile({{"x.cue", text}}, {}, options);
  if (!program) return describe(program.error());
  auto out = evaluate(*program).to_json_text();
  return out ? *out : describe(out.error());
}

TEST(Std, old_templates_may_add_and_multiply_lists_and_refer_to_a_field_named_error) {
  std::string text = "a: [1] + [2, 3]\nb: 2 * [0]\nerror: \"x\"\nc: error";
  EXPECT_EQ(exported(text, {.open_names = {}, .is_legacy = true}), "{\"a\":[1,2,3],\"b\":[0,0],\"error\":\"x\",\"c\":\"x\"}");
  EXPECT_NE(exported(text).find("superseded by list.Concat"), std::string::npos);
}

TEST(Std, a_missing_function_and_a_package_that_is_not_offered_are_errors) {
  EXPECT_NE(exported("import \"strings\"\na: strings.Nothing(1)").find("package \"strings\" has no \"Nothing\""),
            std::string::npos);
  EXPECT_NE(exported("import \"tool/exec\"\na: exec.Run").find("package \"tool/exec\" is not supported"), std::string::npos);
}

TEST(Std, marshalled_texts_have_their_fields_in_the_order_they_are_shown_in) {
  const std::string m = "m: {role: \"u\", if role == \"u\" {content: \"c\"}, sub: [{b: 1, if true {a: 2}}]}\n";
  EXPECT_EQ(exported("import \"encoding/json\"\n" + m + "out: json.Marshal(m)", {.expressions = {}}),
            R"({"m":{"role":"u","sub":[{"b":1,"a":2}],"content":"c"},)"
            R"("out":"{\"content\":\"c\",\"role\":\"u\",\"sub\":[{\"b\":1,\"a\":2}]}"})");
  EXPECT_NE(exported("import \"encoding/yaml\"\n" + m + "out: yaml.Marshal(m)").find("content: c\\nrole: u\\nsub:"),
            std::string::npos);
}

TEST(Std, numbers_beyond_64_bits_stay_exact_in_bits_and_strconv) {
  EXPECT_EQ(exported("import \"math/bits\"\na: bits.Lsh(1, 100)\nb: bits.And(-1, 0xFFFFFFFFFFFFFFFFFFFF)"),
            "{\"a\":1267650600228229401496703205376,\"b\":1208925819614629174706175}");
  EXPECT_EQ(exported("import \"strconv\"\na: strconv.FormatInt(0x1_0000_0000_0000_0000, 16)"), "{\"a\":\"10000000000000000\"}");
}

TEST(Std, powers_logarithms_and_roots_have_34_digits) {
  EXPECT_EQ(exported("import \"math\"\na: math.Exp(1)\nb: math.Log(10)\nc: math.Cbrt(2)\nd: math.Pow(2, 0.5)"),
            "{\"a\":2.718281828459045235360287471352662,\"b\":2.302585092994045684017991454684364,"
            "\"c\":1.259921049894873164767210607278228,\"d\":1.414213562373095048801688724209698}");
  EXPECT_EQ(exported("import \"math\"\na: math.Log2(8)\nb: math.Log10(0.001)\nc: math.Cbrt(-27)\nd: math.Exp2(10)"),
            "{\"a\":3,\"b\":-3,\"c\":-3,\"d\":1024}");
  EXPECT_NE(exported("import \"math\"\na: math.Sin(1e400)").find("value was rounded up"), std::string::npos);
}

TEST(Std, times_follow_layouts_of_days_of_the_year_and_short_zones) {
  EXPECT_EQ(exported("import \"time\"\na: time.FormatString(\"2006 __2 Z07 Month\", \"2020-02-29T01:02:03+05:00\")\n"
                     "b: time.Parse(\"2006 002\", \"2020 060\")"),
            "{\"a\":\"2020  60 +05 Month\",\"b\":\"2020-02-29T00:00:00Z\"}");
}

TEST(Std, a_float_is_no_int_and_an_int_of_64_bits_has_its_limits) {
  EXPECT_NE(exported("import \"time\"\na: time.Unix(1e9, 0)").find("cannot use 1E+9 (type float) as int in argument 1"),
            std::string::npos);
  EXPECT_NE(
      exported("import \"strings\"\na: strings.Repeat(\"a\", 0x1_0000_0000_0000_0000)").find("overflows int64 in argument 1"),
      std::string::npos);
  EXPECT_NE(exported("a: close(string)").find("cannot use string (type string) as struct in argument 1 to close"),
            std::string::npos);
  EXPECT_NE(exported("a: matchN(1, 1, [int])").find("matchN is a validator and should not be used as a function"),
            std::string::npos);
}

TEST(Std, json_is_laid_out_anew_word_for_word) {
  EXPECT_EQ(exported("import \"encoding/json\"\na: json.Compact(\"{ \\\"a\\\": [1.50, {} ], \\\"a\\\": 2 }\")"),
            "{\"a\":\"{\\\"a\\\":[1.50,{}],\\\"a\\\":2}\"}");
  EXPECT_EQ(exported("import \"encoding/json\"\na: json.Indent(\"[1,[]]\", \"\", \" \")"), "{\"a\":\"[\\n 1,\\n []\\n]\"}");
  EXPECT_NE(exported("import \"encoding/json\"\na: json.Compact(\"[1\")").find("unexpected end of JSON input"),
            std::string::npos);
  EXPECT_EQ(exported("import \"regexp\"\na: regexp.FindNamedSubmatch(\"(?<n>b)\", \"abc\")"), "{\"a\":{\"n\":\"b\"}}");
}

TEST(Std, results_have_the_digits_of_upstream) {
  EXPECT_EQ(exported("import \"math\"\na: math.Sqrt(10000)\nb: math.Pow(2, -1)\nc: math.Copysign(1.0, -2)\nd: math.Dim(3, 1)"),
            "{\"a\":1E+2,\"b\":0.5000000000000000000000000000000000,\"c\":-1,\"d\":2}");
  EXPECT_EQ(exported("a: 100 / 10\nb: 1.5e1 * 2\nc: \"\\(3 - 1e0)\"\nd: 4 / 2"), "{\"a\":10,\"b\":30,\"c\":\"2\",\"d\":2.0}");
  EXPECT_EQ(exported("import \"regexp\"\na: regexp.FindNamedSubmatch(\"a\", \"a\")"), "{\"a\":{}}");
}

TEST(Std, letters_of_every_script_have_their_cases) {
  EXPECT_EQ(exported("import \"strings\"\na: strings.ToUpper(\"\\u01C6\\u0250\")\nb: strings.ToTitle(\"\\u01C6\")"),
            "{\"a\":\"\u01C4\u2C6F\",\"b\":\"\u01C5\"}");
}

TEST(Std, a_verdict_that_may_change_is_no_when_it_is_asked_for_now) {
  EXPECT_EQ(exported("import \"list\"\na: list.MinItems([...int], 3)\nb: list.Contains([1], 1.0)"),
            "{\"a\":false,\"b\":false}");
}

TEST(Std, yaml_round_trips_texts_that_look_like_something_else) {
  EXPECT_EQ(exported("import \"encoding/yaml\"\n_x: {a: \"yes\", b: \"1\", c: \"x\\ny\", d: \"a: b\", e: []}\n"
                     "back: yaml.Unmarshal(yaml.Marshal(_x))"),
            "{\"back\":{\"a\":\"yes\",\"b\":\"1\",\"c\":\"x\\ny\",\"d\":\"a: b\",\"e\":[]}}");
}

TEST(Std, tags_are_injected_and_unknown_ones_refused) {
  MemoryFiles files;
  ASSERT_TRUE(files.make_folders("/w").has_value());
  ASSERT_TRUE(
      files.write("/w/x.cue", "package x\nenv: string @tag(env,short=prod|dev)\nn: int @tag(n,type=int)\n", 0644).has_value());
  auto outcome = load::run_command(files, {{"export", "-t", "prod", "-t", "n=3"}, "/w", ""});
  EXPECT_EQ(outcome.output, "{\n    \"env\": \"prod\",\n    \"n\": 3\n}\n");
  EXPECT_EQ(load::run_command(files, {{"eval", "-t", "other=1"}, "/w", ""}).errors, "no tag for \"other\"\n");
}

TEST(Std, errors_may_be_told_as_json) {
  MemoryFiles files;
  ASSERT_TRUE(files.make_folders("/w").has_value());
  ASSERT_TRUE(files.write("/w/x.cue", "a: 1\na: 2\n", 0644).has_value());
  auto outcome = load::run_command(files, {{"vet", "--errors=json", "x.cue"}, "/w", ""});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(
      outcome.errors,
      "[{\"code\":\"eval\",\"path\":\"a\",\"message\":\"conflicting values 2 and 1\",\"positions\":[{\"file\":\"./x.cue\","
      "\"line\":1,\"column\":4},{\"file\":\"./x.cue\",\"line\":2,\"column\":4}]}]\n");
}

TEST(Std, a_field_that_is_not_allowed_comes_with_the_one_that_may_have_been_meant) {
  auto program = compile({{"x.cue", "#D: {name: string, port?: int}\na: #D & {nam: \"x\"}"}});
  ASSERT_TRUE(program.has_value());
  Errors errors = evaluate(*program).validate();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].hint, "did you mean \"name\"?");
}

TEST(Std, an_item_that_is_wrong_is_no_item_that_is_not_there) {
  EXPECT_NE(exported("import \"list\"\nx: list.Contains([1 & \"a\"], 2)").find("conflicting values"), std::string::npos);
  EXPECT_EQ(exported("import \"list\"\nx: list.Contains([int, 2], 2)"), "{\"x\":true}");
}

}  // namespace
}  // namespace slipway::cue
