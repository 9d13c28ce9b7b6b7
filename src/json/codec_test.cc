#include "json/codec.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::json::sample {

enum class Trigger : std::uint8_t { AllSucceeded, AnyFailed };
codec::EnumNames describe_enum(Trigger) {
  return enum_names<Trigger>({{Trigger::AllSucceeded, "AllSucceeded"}, {Trigger::AnyFailed, "AnyFailed"}});
}

struct Retry {
  std::int64_t limit = 0;
  std::optional<Duration> pause;
  static void describe(auto& d) {
    d.doc("How a failed step is tried again.");
    d.field("limit", &Retry::limit, "Retries.").minimum(0).maximum(10);
    d.field("pause", &Retry::pause, "Pause between.");
  }
  bool operator==(const Retry&) const = default;
};

struct Step {
  std::string name;
  Trigger trigger = Trigger::AllSucceeded;
  std::optional<Retry> retry;
  std::vector<std::string> dependencies;
  Value job_template;
  std::vector<Step> nested;
  static void describe(auto& d) {
    d.field("name", &Step::name, "Name.").required().max_length(5).pattern("^[a-z]+$");
    d.field("trigger", &Step::trigger, "When.").with_default();
    d.field("retry", &Step::retry, "Again.");
    d.field("dependencies", &Step::dependencies, "Before.").max_items(2).list_type("set").items().min_length(1);
    d.field("jobTemplate", &Step::job_template, "The Job.").any_object();
    d.field("nested", &Step::nested, "Inside.");
  }
  bool operator==(const Step&) const = default;
};

struct Spec {
  std::map<std::string, Step> steps;
  std::int32_t parallelism = 4;
  bool suspend = false;
  double weight = 0;
  std::optional<Time> start;
  std::optional<Time> heartbeat;
  Value port;
  static void describe(auto& d) {
    d.field("steps", &Spec::steps, "Steps.").map_type("atomic");
    d.field("parallelism", &Spec::parallelism, "At once.").with_default();
    d.field("suspend", &Spec::suspend, "Hold.").always();
    d.field("weight", &Spec::weight, "Share.");
    d.field("start", &Spec::start, "Start.");
    d.field("heartbeat", &Spec::heartbeat, "Beat.").micro_time();
    d.field("port", &Spec::port, "Port.").int_or_string();
  }
  bool operator==(const Spec&) const = default;
};

}  // namespace slipway::json::sample

namespace slipway::json {
namespace {

using sample::Retry;
using sample::Spec;
using sample::Step;
using sample::Trigger;

Value json(std::string_view text) { return *parse(text); }

std::vector<std::string> errors(std::string_view text, DecodeOptions options = {}) {
  auto spec = decode<Spec>(json(text), "spec", options);
  std::vector<std::string> lines;
  if (spec) return lines;
  EXPECT_EQ(spec.error().reason, Reason::Invalid);
  for (const Cause& cause : spec.error().causes) lines.push_back(cause.field + ": " + cause.message);
  return lines;
}

TEST(Codec, reads_every_type_of_field) {
  const Value text = json(R"({"steps":{"build":{"name":"b","trigger":"AnyFailed","retry":{"limit":3,"pause":"1m30s"},
    "dependencies":["a","c"],"jobTemplate":{"spec":{"x":[1]}},"nested":[{"name":"n"}]}},"parallelism":2,"suspend":true,
    "weight":0.5,"start":"2026-01-02T03:04:05Z","heartbeat":"2026-01-02T03:04:05.000678Z","port":"http"})");
  auto spec = decode<Spec>(text);
  ASSERT_TRUE(spec) << spec.error().message;
  const Step& step = spec->steps.at("build");
  EXPECT_EQ(step.trigger, Trigger::AnyFailed);
  EXPECT_EQ(step.retry, (Retry{3, std::chrono::seconds(90)}));
  EXPECT_EQ(step.dependencies, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(step.nested.at(0).name, "n");
  EXPECT_TRUE(step.job_template.is_same(text["steps"]["build"]["jobTemplate"]));
  EXPECT_EQ(spec->parallelism, 2);
  EXPECT_EQ(spec->weight, 0.5);
  EXPECT_EQ(encode(*spec), text);
  EXPECT_EQ(*decode<Spec>(encode(*spec)), *spec);
}

TEST(Codec, leaves_out_what_a_fresh_struct_has) {
  EXPECT_EQ(print(encode(Spec{})), R"({"suspend":false})");
  Spec spec;
  spec.parallelism = 0;
  spec.steps["a"].retry.emplace();
  EXPECT_EQ(print(encode(spec)), R"({"steps":{"a":{"name":"","retry":{}}},"parallelism":0,"suspend":false})");
  EXPECT_EQ(*decode<Spec>(encode(spec)), spec);
}

TEST(Codec, takes_null_and_absent_as_the_fresh_value) {
  auto spec = decode<Spec>(json(R"({"steps":null,"parallelism":null,"start":null})"));
  ASSERT_TRUE(spec);
  EXPECT_EQ(*spec, Spec{});
}

TEST(Codec, collects_all_errors_with_their_paths) {
  EXPECT_EQ(
      errors(R"({"steps":{"build":{"name":"toolong","trigger":"Never","retry":{"limit":-1,"pause":"soon"},"dependencies":["",1],
                      "jobTemplate":[]}, "test":{}},"parallelism":3000000000,"suspend":"yes","weight":"w","start":"today","port":1.5})"),
      (std::vector<std::string>{
          "spec.steps[build].name: Too long: may not be more than 5 bytes",
          "spec.steps[build].trigger: Unsupported value: \"Never\": supported values: \"AllSucceeded\", \"AnyFailed\"",
          "spec.steps[build].retry.limit: Invalid value: -1: must be greater than or equal to 0",
          "spec.steps[build].retry.pause: Invalid value: \"soon\": must be a duration as in 1h30m or 10s",
          "spec.steps[build].dependencies[0]: Invalid value: \"\": must be at least 1 characters long",
          "spec.steps[build].dependencies[1]: Invalid value: 1: must be of type string",
          "spec.steps[build].jobTemplate: Invalid value: []: must be of type object",
          "spec.steps[test].name: Required value",
          "spec.parallelism: Invalid value: 3000000000: must be between -2147483648 and 2147483647",
          "spec.suspend: Invalid value: \"yes\": must be of type boolean",
          "spec.weight: Invalid value: \"w\": must be of type number",
          "spec.start: Invalid value: \"today\": must be a date and time as in 2026-01-02T03:04:05Z",
          "spec.port: Invalid value: 1.5: must be of type integer or string",
      }));
}

TEST(Codec, reports_unknown_fields_unless_told_otherwise) {
  const char* text = R"({"stepz":{},"steps":{"a":{"name":"a","retry":{"limits":1}}}})";
  EXPECT_EQ(errors(text), (std::vector<std::string>{"spec.steps[a].retry.limits: unknown field \"spec.steps[a].retry.limits\"",
                                                    "spec.stepz: unknown field \"spec.stepz\""}));
  EXPECT_TRUE(errors(text, {.allow_unknown = true}).empty());
  auto spec = decode<Spec>(json(R"({"x":1})"), "spec");
  EXPECT_EQ(spec.error().message, "unknown field \"spec.x\"");
}

TEST(Codec, takes_whole_numbers_however_they_are_written) {
  EXPECT_EQ(decode<Retry>(json(R"({"limit":3.0})"))->limit, 3);
  EXPECT_EQ(decode<Retry>(json(R"({"limit":3.5})"), "r").error().message,
            "r.limit: Invalid value: 3.5: must be of type integer");
  EXPECT_EQ(decode<Retry>(json(R"({"limit":9223372036854775808})")).error().message,
            "limit: Invalid value: 9223372036854775808: must fit in 64 bits");
}

TEST(Codec, reports_at_most_a_hundred_errors) {
  std::string text = "{";
  for (int i = 0; i < 300; ++i) text += fmt::format("{}\"x{}\":1", i ? "," : "", i);
  EXPECT_EQ(errors(text + "}").size(), 100u);
}

TEST(Codec, names_enum_values) { EXPECT_EQ(enum_name(Trigger::AnyFailed), "AnyFailed"); }

const Description& member(const Description& of, std::string_view name) {
  for (const Description& field : of.fields) {
    if (field.name == name) return field;
  }
  static const Description none;
  ADD_FAILURE() << "no field " << name;
  return none;
}

TEST(Describe, gives_types_formats_rules_and_defaults) {
  const Description spec = describe<Spec>();
  EXPECT_EQ(spec.type, "object");
  EXPECT_EQ(spec.fields.size(), 7u);
  const Description& steps = member(spec, "steps");
  EXPECT_EQ(steps.type, "object");
  EXPECT_EQ(steps.rules.map_type, "atomic");
  EXPECT_EQ(steps.doc, "Steps.");
  const Description& step = steps.element.at(0);
  EXPECT_TRUE(member(step, "name").rules.required);
  EXPECT_EQ(member(step, "name").rules.pattern, "^[a-z]+$");
  EXPECT_EQ(member(step, "trigger").enum_values, (std::vector<std::string>{"AllSucceeded", "AnyFailed"}));
  EXPECT_EQ(member(step, "trigger").default_value, Value("AllSucceeded"));
  EXPECT_EQ(member(step, "retry").type_doc, "How a failed step is tried again.");
  EXPECT_EQ(member(member(step, "retry"), "limit").rules.maximum, 10);
  EXPECT_EQ(member(member(step, "retry"), "pause").format, "duration");
  EXPECT_EQ(member(step, "dependencies").rules.list_type, "set");
  EXPECT_EQ(member(step, "dependencies").element.at(0).rules.min_length, 1u);
  EXPECT_TRUE(member(step, "jobTemplate").preserve_unknown);
  EXPECT_EQ(member(step, "jobTemplate").type, "object");
  EXPECT_TRUE(member(step, "nested").element.at(0).preserve_unknown) << "cut off where it contains itself";
  EXPECT_EQ(member(spec, "parallelism").format, "int32");
  EXPECT_EQ(member(spec, "parallelism").default_value, Value(4));
  EXPECT_EQ(member(spec, "start").format, "date-time");
  EXPECT_FALSE(member(spec, "start").default_value);
  EXPECT_EQ(member(spec, "port").type, "");
  EXPECT_TRUE(member(spec, "port").rules.int_or_string);
}

}  // namespace
}  // namespace slipway::json
