#include "cel/rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::cel {
namespace {

json::Value yaml(std::string_view text) { return *json::parse_yaml(text); }

std::string joined(const std::vector<Cause>& causes) {
  std::string out;
  for (const Cause& cause : causes) out += (out.empty() ? "" : "\n") + cause.field + ": " + cause.message;
  return out;
}

/// What the compiler says of a schema.
std::string judged(const json::Value& schema) {
  std::vector<Cause> causes;
  SchemaRules::compile(schema, "schema", causes);
  return joined(causes);
}

std::string validated(const json::Value& schema, const json::Value& object, const json::Value& old = {}) {
  std::vector<Cause> causes;
  const auto rules = SchemaRules::compile(schema, "schema", causes);
  EXPECT_EQ(joined(causes), "");
  if (rules != nullptr) rules->validate(object, old, causes);
  return joined(causes);
}

/// A schema whose spec has these properties and this one rule.
json::Value with_rule(std::string_view properties, std::string_view rule, std::string_view more = "{}") {
  json::Value one = yaml(more).with("rule", rule);
  const json::Value spec =
      json::object({{"type", "object"}, {"properties", yaml(properties)}, {"x-kubernetes-validations", json::array({one})}});
  return json::object({{"type", "object"}, {"properties", json::object({{"spec", spec}})}});
}

json::Value spec(std::string_view text) { return json::object({{"spec", yaml(text)}}); }

constexpr std::string_view kSizes =
    "{min: {type: integer}, max: {type: integer}, port: {x-kubernetes-int-or-string: true}, a-b: {type: string}}";

TEST(Rules, a_broken_rule_is_invalid_with_its_message) {
  EXPECT_EQ(validated(with_rule(kSizes, "self.min <= self.max", "{message: min is above max}"), spec("{min: 3, max: 2}")),
            "spec: Invalid value: \"object\": min is above max");
  EXPECT_EQ(validated(with_rule(kSizes, "self.min <= self.max"), spec("{min: 3, max: 2}")),
            "spec: Invalid value: \"object\": failed rule: self.min <= self.max");
  EXPECT_EQ(validated(with_rule(kSizes, "self.min <= self.max"), spec("{min: 2, max: 2}")), "");
}

TEST(Rules, an_optional_may_be_compared_with_null) {
  const json::Value schema = with_rule(kSizes, "self.?min == null || self.min > 1");
  EXPECT_EQ(judged(schema), "");
  EXPECT_EQ(validated(schema, spec("{min: 2}")), "");
}

TEST(Rules, a_field_that_is_null_is_absent) {
  const json::Value schema =
      with_rule("{a: {type: string, nullable: true}, b: {x-kubernetes-int-or-string: true, nullable: true}}",
                "!has(self.a) && !has(self.b)");
  EXPECT_EQ(validated(schema, spec("{a: null, b: null}")), "");
  EXPECT_NE(validated(schema, spec("{a: null, b: 1}")), "");
  const json::Value read = with_rule("{b: {x-kubernetes-int-or-string: true, nullable: true}}", "type(self.b) == int");
  EXPECT_NE(validated(read, spec("{b: null}")).find("no such key: b"), std::string::npos);
}

TEST(Rules, a_reserved_word_may_name_a_field) {
  const json::Value schema = with_rule("{namespace: {type: string}, in: {type: string}}",
                                       "self.namespace == self.__namespace__ && has(self.namespace) && self.__in__ == 'x'");
  EXPECT_EQ(validated(schema, spec("{namespace: a, in: x}")), "");
}

TEST(Rules, an_embedded_resource_has_the_metadata_that_it_declares_in_full) {
  const auto schema = [](std::string_view metadata) {
    return with_rule(
        fmt::format("{{pod: {{type: object, x-kubernetes-embedded-resource: true, properties: {{apiVersion: {{type: "
                    "string}}, kind: {{type: string}}, metadata: {{type: object, properties: {{namespace: {{type: "
                    "string}}{}}}}}}}}}}}",
                    metadata),
        "self.pod.metadata.namespace == 'a'");
  };
  EXPECT_EQ(
      validated(schema(", name: {type: string}, generateName: {type: string}"), spec("{pod: {metadata: {namespace: a}}}")), "");
  EXPECT_NE(judged(schema("")).find("undefined field 'namespace'"), std::string::npos);
}

TEST(Rules, literals_may_mix_types_only_where_they_are_formatted) {
  EXPECT_EQ(judged(with_rule(kSizes, "'%s %d'.format(['a', 1]) == 'a 1'")), "");
  EXPECT_NE(judged(with_rule(kSizes, "size(['a', 1]) == 2")).find("expected type 'string' but found 'int'"), std::string::npos);
}

TEST(Rules, functions_are_those_of_kubernetes) {
  const auto holds = [](std::string_view rule) { return validated(with_rule(kSizes, rule), spec("{}")); };
  EXPECT_EQ(holds("duration('1h0m3s4ms').getMilliseconds() == 3603004"), "");
  EXPECT_EQ(holds("timestamp('2000-01-01T00:00:01.002Z').getMilliseconds() == 2"), "");
  EXPECT_EQ(holds("'%e %.1e'.format([3.14, 0.00000015]) == '3.140000×10⁰⁰ 1.5×10⁻⁰⁷'"), "");
}

TEST(Rules, constants_of_times_are_judged_with_the_rule) {
  EXPECT_NE(judged(with_rule(kSizes, "duration('1d') > duration('1s')")).find("<input>:1:10: invalid duration argument"),
            std::string::npos);
  EXPECT_NE(
      judged(with_rule(kSizes, "timestamp(-62135596801) < timestamp(0)")).find("<input>:1:11: invalid timestamp argument"),
      std::string::npos);
  EXPECT_NE(judged(with_rule(kSizes, "timestamp('2000') > timestamp(0)")).find("<input>:1:11: invalid timestamp argument"),
            std::string::npos);
}

TEST(Rules, below_an_unchanged_list_without_keys_faults_are_kept) {
  const json::Value schema = with_rule(
      "{list: {type: array, x-kubernetes-list-type: atomic, items: {type: object, properties: {bar: {type: string, "
      "x-kubernetes-validations: [{rule: self == 'baz'}]}}}}, n: {type: integer}}",
      "true");
  const json::Value old = spec("{list: [{bar: bar}], n: 1}");
  EXPECT_EQ(validated(schema, spec("{list: [{bar: bar}], n: 2}"), old), "");
  EXPECT_EQ(validated(schema, spec("{list: [{bar: bar}, {bar: baz}], n: 1}"), old),
            "spec.list[0].bar: Invalid value: \"string\": failed rule: self == 'baz'");
}

TEST(Rules, reason_and_field_path_steer_the_cause) {
  EXPECT_EQ(
      validated(with_rule(kSizes, "has(self.max)", "{message: say how much, reason: FieldValueRequired, fieldPath: .max}"),
                spec("{min: 3}")),
      "spec.max: Required value: say how much");
  EXPECT_EQ(validated(with_rule(kSizes, "self.min < 3", "{message: too big, reason: FieldValueForbidden}"), spec("{min: 3}")),
            "spec: Forbidden: too big");
  EXPECT_EQ(judged(with_rule(kSizes, "true", "{fieldPath: .nothing}")),
            "schema.properties[spec].x-kubernetes-validations[0].fieldPath: Invalid value: \".nothing\": fieldPath must be a "
            "valid path");
}

TEST(Rules, a_message_expression_speaks_unless_it_fails_or_has_lines) {
  const auto say = [&](std::string_view expression) {
    return validated(
        with_rule(kSizes, "self.min < 3", json::print(json::object({{"message", "plain"}, {"messageExpression", expression}}))),
        spec("{min: 3}"));
  };
  EXPECT_EQ(say("'min is ' + string(self.min)"), "spec: Invalid value: \"object\": min is 3");
  EXPECT_EQ(say("string(self.max)"), "spec: Invalid value: \"object\": plain");
  EXPECT_EQ(say("'a\\nb'"), "spec: Invalid value: \"object\": plain");
  EXPECT_EQ(say("''"), "spec: Invalid value: \"object\": plain");
}

TEST(Rules, an_unknown_field_does_not_compile) {
  EXPECT_EQ(judged(with_rule(kSizes, "self.nothing == 1")),
            "schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: "
            "apiextensions.ValidationRule{Rule:\"self.nothing == 1\", "
            "Message:\"\", MessageExpression:\"\", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:\"\", "
            "OptionalOldSelf:(*bool)(nil)}: compilation failed: ERROR: <input>:1:5: undefined field 'nothing'\n | self.nothing "
            "== 1\n | ....^");
}

TEST(Rules, types_are_checked_against_the_schema) {
  const auto fault = [&](std::string_view rule) {
    const std::string all = judged(with_rule(kSizes, rule));
    const auto begin = all.find("bool)(nil)}: ");
    return begin == std::string::npos ? all : all.substr(begin + 13, all.find('\n', begin) - begin - 13);
  };
  EXPECT_EQ(fault("self.min == 'a'"),
            "compilation failed: ERROR: <input>:1:10: found no matching overload for '_==_' applied to '(int, string)'");
  EXPECT_EQ(fault("self.min"), "cel expression must evaluate to a bool");
  EXPECT_EQ(fault("other.min == 1"),
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'other' (in container '')");
  EXPECT_EQ(fault("self.exists(k, true)"),
            "compilation failed: ERROR: <input>:1:1: expression of type 'object' cannot be range of a comprehension (must be "
            "list, map, or dynamic)");
  EXPECT_EQ(fault("self.a__dash__b.startsWith('x') && self.port == 'http'"), "");
  EXPECT_EQ(fault("has(self.metadata)"), "compilation failed: ERROR: <input>:1:9: undefined field 'metadata'");
}

TEST(Rules, int_or_string_is_judged_when_it_runs) {
  const json::Value schema = with_rule(kSizes, "type(self.port) == int ? self.port < 100 : self.port.matches('^[a-z]+$')");
  EXPECT_EQ(validated(schema, spec("{port: 80}")), "");
  EXPECT_EQ(validated(schema, spec("{port: http}")), "");
  EXPECT_NE(validated(schema, spec("{port: '80'}")), "");
  EXPECT_EQ(validated(with_rule(kSizes, "self.port < 100"), spec("{port: http}")),
            "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function "
            "or macro "
            "signature for rule: self.port < 100");
}

TEST(Rules, an_absent_field_is_no_such_key) {
  EXPECT_EQ(validated(with_rule(kSizes, "self.min < 3"), spec("{}")),
            "spec: Invalid value: \"object\": no such key: min evaluating rule: self.min < 3");
  EXPECT_EQ(validated(with_rule(kSizes, "!has(self.min) || self.min < 3"), spec("{}")), "");
}

TEST(Rules, transition_rules_run_on_updates_only) {
  const json::Value schema = with_rule(kSizes, "self.min >= oldSelf.min", "{message: min may not shrink}");
  EXPECT_EQ(validated(schema, spec("{min: 1}")), "");
  EXPECT_EQ(validated(schema, spec("{min: 1}"), spec("{min: 2}")), "spec: Invalid value: \"object\": min may not shrink");
  EXPECT_EQ(validated(schema, spec("{min: 3}"), spec("{min: 2}")), "");
  const json::Value optional = with_rule(kSizes, "oldSelf.hasValue() || self.min == 0", "{optionalOldSelf: true}");
  EXPECT_NE(validated(optional, spec("{min: 1}")), "");
  EXPECT_EQ(validated(optional, spec("{min: 1}"), spec("{min: 2}")), "");
}

TEST(Rules, items_correlate_only_by_their_keys) {
  const auto schema = [](std::string_view list) {
    return json::object({{"type", "object"}, {"properties", json::object({{"list", yaml(list)}})}});
  };
  const std::string items =
      "items: {type: object, properties: {k: {type: string}, v: {type: integer}}, x-kubernetes-validations: [{rule: self.v >= "
      "oldSelf.v}]}}";
  EXPECT_TRUE(judged(schema("{type: array, " + items))
                  .ends_with("\"self.v >= oldSelf.v\": oldSelf cannot be used on the uncorrelatable portion of "
                             "the schema within schema.properties[list]"));
  const json::Value keyed = schema("{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], " + items);
  EXPECT_EQ(validated(keyed, yaml("{list: [{k: b, v: 1}, {k: a, v: 0}]}"), yaml("{list: [{k: a, v: 5}]}")),
            "list[1]: Invalid value: \"object\": failed rule: self.v >= oldSelf.v");
}

TEST(Rules, lists_with_keys_are_equal_in_any_order) {
  const json::Value schema = with_rule(
      "{a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: "
      "{type: string}}}},"
      " b: {type: array, x-kubernetes-list-type: set, items: {type: string}}, c: {type: array, items: {type: string}}}",
      "self.a == oldSelf.a && self.b == oldSelf.b && self.c == oldSelf.c");
  const json::Value old = spec("{a: [{k: x}, {k: y}], b: [x, y], c: [x, y]}");
  EXPECT_EQ(validated(schema, spec("{a: [{k: y}, {k: x}], b: [y, x], c: [x, y]}"), old), "");
  EXPECT_NE(validated(schema, spec("{a: [{k: y}, {k: x}], b: [y, x], c: [y, x]}"), old), "");
}

TEST(Rules, what_did_not_change_may_stay_broken) {
  const json::Value schema = with_rule(kSizes, "self.min < 3");
  EXPECT_EQ(validated(schema, spec("{min: 9}"), spec("{min: 9}")), "");
  EXPECT_NE(validated(schema, spec("{min: 8}"), spec("{min: 9}")), "");
}

TEST(Rules, the_root_knows_its_name_and_kind) {
  const json::Value schema =
      yaml("{type: object, x-kubernetes-validations: [{rule: \"self.metadata.name.startsWith('a') && self.kind == 'K'\"}]}");
  EXPECT_EQ(validated(schema, yaml("{kind: K, metadata: {name: ab}}")), "");
  EXPECT_TRUE(
      validated(schema, yaml("{kind: K, metadata: {name: b}}")).starts_with("<nil>: Invalid value: \"object\": failed rule: "));
}

TEST(Rules, a_rule_that_costs_too_much_is_refused_and_ends_all) {
  json::ArrayBuilder items;
  for (int i = 0; i < 200; ++i) items.add(i);
  const json::Value schema = with_rule("{list: {type: array, items: {type: integer}}}",
                                       "self.list.all(a, self.list.all(b, self.list.all(c, a + b + c >= 0)))", "{message: m}");
  EXPECT_EQ(
      validated(schema, json::object({{"spec", json::object({{"list", items.build()}})}})),
      "spec: Invalid value: \"object\": no further validation rules will be run due to call cost exceeds limit for rule: m");
}

TEST(Rules, formats_give_times_durations_and_bytes) {
  const json::Value schema = with_rule(
      "{at: {type: string, format: date-time}, day: {type: string, format: date}, for: {type: string, format: duration}, "
      "raw: {type: string, format: byte}, ratio: {type: number}}",
      "self.at.getFullYear() == 2024 && self.day < self.at && self.__for__ == duration('90s') && self.raw == b'hi' && "
      "self.ratio == 2.0");
  EXPECT_EQ(validated(schema, spec("{at: '2024-05-06T07:08:09.5Z', day: '2024-05-05', for: 1m30s, raw: aGk=, ratio: 2}")), "");
}

TEST(Rules, depth_and_texts_are_limited) {
  EXPECT_NE(judged(with_rule(kSizes, std::string(5000, '(') + "true" + std::string(5000, ')'))).find("recursion limit"),
            std::string::npos);
  EXPECT_EQ(judged(with_rule(kSizes, " ")),
            "schema.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified");
}

/// What is said of the costs of a rule about `tags`, a list of texts with these limits.
std::string costs(std::string_view item_limit, std::string_view list_limit, std::string_view rule) {
  std::vector<Cause> causes;
  const std::string tags = fmt::format("{{tags: {{type: array, {} items: {{type: string, {}}}}}}}", list_limit, item_limit);
  SchemaRules::compile(with_rule(tags, rule), "schema", causes, true, SchemaRules::Costs::Estimated);
  return joined(causes);
}

TEST(RuleCosts, the_largest_list_that_upstream_takes_is_the_largest_here) {
  struct Row {
    int max_length;
    int most;
  };
  // As measured with k8s.io/apiextensions-apiserver v0.36.3.
  for (const auto& [max_length, most] :
       std::initializer_list<Row>{{16, 909'090}, {63, 333'333}, {253, 94'339}, {1024, 24'154}}) {
    const std::string length = fmt::format("maxLength: {}", max_length);
    const char* const rule = "self.tags.all(x, x.contains('gpu'))";
    EXPECT_EQ(costs(length, fmt::format("maxItems: {},", most), rule), "");
    EXPECT_NE(costs(length, fmt::format("maxItems: {},", most + 1), rule), "");
  }
}

TEST(RuleCosts, a_rule_over_a_list_without_limits_is_too_dear_in_three_ways) {
  const std::string hint =
      " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
      "declared)";
  const std::string rule = "schema.properties[spec].x-kubernetes-validations[0].rule: ";
  EXPECT_EQ(costs("", "", "self.tags.all(x, x.contains('gpu'))"),
            rule + "Forbidden: estimated rule cost exceeds budget by factor of more than 100x" + hint + "\n" + rule +
                "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema\n" +
                "schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds "
                "budget by factor of more than 100x" +
                hint);
  EXPECT_EQ(costs("maxLength: 16", "maxItems: 1000000,", "self.tags.all(x, x.contains('gpu'))"),
            rule + "Forbidden: estimated rule cost exceeds budget by factor of 1.100000x" + hint);
  EXPECT_EQ(costs("maxLength: 16", "maxItems: 2000000,", "self.tags.all(x, x.contains('gpu'))"),
            rule + "Forbidden: estimated rule cost exceeds budget by factor of 2.2x" + hint);
}

TEST(RuleCosts, a_rule_below_lists_counts_as_often_as_they_can_have_items) {
  const auto said = [](std::string_view outer) {
    std::vector<Cause> causes;
    const json::Value schema = yaml(fmt::format(
        "{{type: object, properties: {{spec: {{type: array, {} items: {{type: object, additionalProperties: {{type: string, "
        "maxLength: 100, x-kubernetes-validations: [{{rule: \"self.matches('^[a-z]+$')\"}}]}}, maxProperties: 100}}}}}}}}",
        outer));
    SchemaRules::compile(schema, "schema", causes, true, SchemaRules::Costs::Estimated);
    return joined(causes);
  };
  EXPECT_EQ(said("maxItems: 1000,"), "");
  EXPECT_NE(said("maxItems: 2000,").find("estimated rule cost exceeds budget by factor of 1.7x"), std::string::npos);
  EXPECT_NE(said("").find("estimated rule cost exceeds budget by factor of 8.7x"), std::string::npos);
}

TEST(RuleCosts, a_message_made_of_what_has_no_known_length_is_too_dear) {
  std::vector<Cause> causes;
  SchemaRules::compile(with_rule(kSizes, "self.min <= self.max", "{messageExpression: \"'above ' + string(self.max)\"}"),
                       "schema", causes, true, SchemaRules::Costs::Estimated);
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes[0].field, "schema.properties[spec].x-kubernetes-validations[0].messageExpression");
  EXPECT_TRUE(causes[0].message.contains("estimated messageExpression cost exceeds budget by factor of more than 100x"))
      << causes[0].message;
}

TEST(RuleCosts, functions_cost_what_their_texts_and_lists_are_long) {
  struct Row {
    std::string_view rule;
    std::string_view said;  // as far as it matters
  };
  // 2,500 characters are 10,000 bytes; 1,000 items.
  for (const auto& [rule, said] : std::initializer_list<Row>{
           {"self.tags.all(x, x.startsWith('a') && x.lowerAscii() == 'b')", ""},
           {"self.tags.all(x, x.replace('a', 'bc') != x.replace('d', ''))", ""},
           {"self.tags.map(x, x.upperAscii()).filter(y, size(y) > 3).size() > 0", ""},
           {"self.tags.all(x, self.tags.exists(y, x == y))", "more than 100x"},
           {"self.tags.all(x, x in self.tags)", ""},
           {"self.tags.all(x, self.tags.exists_one(y, y.size() == x.size()))", ""},
           {"self.tags.all(x, self.tags.all(y, ['a', 'b'].exists(z, z == 'c')))", "2.6x"},
           {"self.tags.all(x, x.matches(self.tags[0]))", "more than 100x"},
           {"self.tags.join(',').contains('abcdefghijk')", ""},
           {"self.tags.join(',').contains(self.tags.join(';'))", "more than 100x"},
           {"has(self.tags) ? self.tags.all(x, x.split(',').all(y, y.contains('a'))) : true", "4.2x"},
       }) {
    const std::string found = costs("maxLength: 2500", "maxItems: 1000,", rule);
    EXPECT_EQ(found.empty(), said.empty()) << rule << "\n" << found;
    EXPECT_TRUE(found.contains(said)) << rule << "\n" << found;
  }
}

}  // namespace
}  // namespace slipway::cel
