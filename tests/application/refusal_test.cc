// What the API server says to whoever applies an Application with faults, and what becomes of two that claim one object.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

Value application(const std::string& name, const Value& spec) {
  return yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {namespace: team}}")
      .with_path({"metadata", "name"}, name)
      .with("spec", spec);
}

Value reference(const std::string& name) {
  return yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: team}").with("name", name);
}

class Refusal : public testing::Test {
 protected:
  static Plane& started(Plane& plane) {
    plane.make_namespace("team");
    return plane;
  }
  static const Value& condition(const Value& object, std::string_view type) {
    static const Value kNone;
    const auto all = object["status"]["conditions"].items();
    const auto found = std::ranges::find_if(all, [&](const Value& one) { return one["type"].as_string() == type; });
    return found == all.end() ? kNone : *found;
  }
};

constexpr const char* kWrong = "{components: [{name: web, type: webservice, properties: {image: 5}}]}";

TEST_F(Refusal, is_the_servers_where_admission_enforces) {
  Plane plane(&image(), {.on_fault = delivery::OnFault::Refuse});
  started(plane);
  EXPECT_EQ(
      plane.apply(application("a", yaml(kWrong)), "team"),
      "Application.core.oam.dev \"a\" is invalid: spec.components[0].properties.image: Invalid value: 5: must be string, but "
      "is 5");
  EXPECT_TRUE(plane.find(kHub, reference("a")).is_null());
}

TEST_F(Refusal, comes_for_a_name_that_the_server_makes_too) {
  Plane plane(&image(), {.on_fault = delivery::OnFault::Refuse});
  started(plane);
  const auto generated = [](std::string_view spec) {
    return application("", yaml(std::string(spec))).with("metadata", yaml("{generateName: web-, namespace: team}"));
  };
  const std::string refused = plane.apply(generated(kWrong), "team");
  EXPECT_TRUE(refused.contains("spec.components[0].properties.image: Invalid value: 5")) << refused;
  EXPECT_EQ(plane.apply(generated("{components: [{name: web, type: webservice, properties: {image: i}}]}"), "team"), "");
  EXPECT_TRUE(plane.warnings().empty()) << plane.warnings().front();
}

TEST_F(Refusal, is_a_warning_where_admission_warns) {
  Plane plane(&image());
  started(plane);
  EXPECT_EQ(plane.apply(application("a", yaml(kWrong)), "team"), "");
  EXPECT_EQ(plane.warnings(),
            std::vector<std::string>{"spec.components[0].properties.image: Invalid value: 5: must be string, but is 5"});
}

TEST_F(Refusal, is_a_condition_with_the_same_text_where_admission_warns) {
  const char* specs[] = {
      kWrong,
      "{components: [{name: web, type: webservice, properties: {imag: nginx}}]}",
      "{components: [{name: a, type: worker, properties: {image: a}, dependsOn: [b]}, {name: b, type: worker, properties: "
      "{image: a}, dependsOn: [a]}]}",
      "{components: [{name: web, type: webservce, properties: {image: a}}]}",
      "{components: [], workflow: {steps: [{type: suspend, properties: {duration: 5}}]}}",
  };
  for (const char* spec : specs) {
    Plane plane(&image());
    started(plane);
    EXPECT_EQ(plane.apply(application("a", yaml(spec)), "team"), "");
    const std::string told = fmt::format("{}", fmt::join(plane.warnings(), "; "));
    EXPECT_NE(told, "") << spec;
    plane.pass(std::chrono::seconds{3});
    const Value found = condition(plane.find(kHub, reference("a")), "Valid");
    EXPECT_EQ(found["status"].as_string(), "False") << spec;
    EXPECT_EQ(found["message"].as_string(), told) << spec;
    EXPECT_EQ(plane.apply(application("a", yaml("{components: [], workflow: {steps: [{type: suspend}]}}")), "team"), "");
    plane.pass(std::chrono::minutes{2});
    EXPECT_TRUE(condition(plane.find(kHub, reference("a")), "Valid").is_null()) << "once it is mended: " << spec;
  }
}

TEST_F(Refusal, uses_definitions_that_were_applied_before) {
  Plane plane(&image(), {.on_fault = delivery::OnFault::Refuse});
  started(plane);
  const Value spec = yaml("{components: [{name: c, type: own, properties: {text: a}}]}");
  EXPECT_TRUE(plane.apply(application("a", spec), "team").contains("ComponentDefinition.core.oam.dev \"own\" not found"));
  EXPECT_EQ(
      plane.apply(yaml(R"y({apiVersion: core.oam.dev/v1beta1, kind: ComponentDefinition, metadata: {name: own, namespace: team},
      spec: {workload: {type: autodetects.core.oam.dev}, schematic: {cue: {template: "
      output: {apiVersion: \"v1\", kind: \"ConfigMap\", data: text: parameter.text}\nparameter: text: string\n"}}}})y"),
                  "team"),
      "");
  EXPECT_EQ(plane.apply(application("a", spec), "team"), "");
  EXPECT_EQ(plane.apply(application("b", yaml("{components: [{name: c, type: own}]}")), "team"),
            "Application.core.oam.dev \"b\" is invalid: spec.components[0].properties.text: Required value: string");
}

/// A text that does not compress.
std::string noise(std::size_t size) {
  std::string text;
  std::uint64_t state = 1;
  while (text.size() < size) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    text += static_cast<char>('a' + (state >> 33) % 26);
  }
  return text;
}

TEST_F(Refusal, says_the_limit_that_a_parameter_is_beyond) {
  const Value spec =
      yaml("{components: [{name: c, type: k8s-objects}]}")
          .with(
              "components",
              json::array({json::object(
                  {{"name", "c"},
                   {"type", "k8s-objects"},
                   {"properties", json::object({{"objects", json::array({json::object({{"text", noise(1'200'000)}})})}})}})}));
  Plane enforcing(&image(), {.on_fault = delivery::OnFault::Refuse});
  started(enforcing);
  EXPECT_EQ(
      enforcing.apply(application("a", spec), "team"),
      "Application.core.oam.dev \"a\" is invalid: spec.components[0].properties: Too long: may not be more than 1048576 bytes");
  Plane warning(&image());
  started(warning);
  EXPECT_EQ(warning.apply(application("a", spec), "team"), "");
  EXPECT_EQ(
      warning.apply(application("b", yaml("{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: "
                                          "v1, kind: ConfigMap, metadata: {name: of-b}}]}}]}")),
                    "team"),
      "");
  warning.pass(std::chrono::minutes{1});
  const Value large = warning.find(kHub, reference("a"));
  EXPECT_TRUE(condition(large, "Parsed")["message"].as_string().contains(
      "spec.components[0].properties: Too long: may not be more than 1048576 bytes"))
      << json::print(large["status"]);
  EXPECT_EQ(warning.find(kHub, reference("b"))["status"]["status"].as_string(), "running") << "other applications are unharmed";
}

TEST_F(Refusal, of_an_object_that_another_application_has_names_the_owner) {
  Plane plane(&image(), {.on_fault = delivery::OnFault::Refuse});
  started(plane);
  const Value spec = yaml(
      "{components: [{name: c, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "
      "claimed}, data: {a: b}}]}}]}");
  ASSERT_EQ(plane.apply(application("first", spec), "team"), "");
  plane.pass(std::chrono::minutes{1});
  ASSERT_EQ(plane.find(kHub, reference("first"))["status"]["status"].as_string(), "running");
  ASSERT_EQ(plane.apply(application("second", spec), "team"), "");
  plane.pass(std::chrono::minutes{30});
  const Value& status = plane.find(kHub, reference("second"))["status"];
  const Value& step = status["workflow"]["steps"].item(0);
  EXPECT_EQ(status["status"].as_string(), "workflowFailed") << json::print(status);
  EXPECT_EQ(step["phase"].as_string(), "failed");
  EXPECT_TRUE(step["message"].as_string().contains("claimed")) << step["message"].as_string();
  EXPECT_TRUE(step["message"].as_string().contains("team/first")) << step["message"].as_string();
  const Value object = plane.find(kHub, yaml("{apiVersion: v1, kind: ConfigMap, namespace: team, name: claimed}"));
  EXPECT_EQ(kube::label(object, "app.oam.dev/name"), "first");
  EXPECT_EQ(plane.find(kHub, reference("first"))["status"]["status"].as_string(), "running");
}

}  // namespace
}  // namespace slipway::oracle_test
