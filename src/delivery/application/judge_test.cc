#include <fmt/format.h>

#include "delivery/application/render_test.h"
#include "delivery/application/verdicts.h"

namespace slipway::delivery::application {
namespace {

using testing::yaml;

DefinitionPtr with_status(const std::string& health, const std::string& message = "", const std::string& details = "",
                          const char* kind = "ComponentDefinition") {
  workflow::Templates templates;
  json::ObjectBuilder status;
  if (!health.empty()) status.add("healthPolicy", health);
  if (!message.empty()) status.add("customStatus", message);
  if (!details.empty()) status.add("details", details);
  auto read = read_definition(json::object({{"kind", kind},
                                            {"metadata", json::object({{"name", "tried"}})},
                                            {"spec", json::object({{"status", status.build()}})}}),
                              templates);
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
  return read ? *read : nullptr;
}

HealthVerdict judged(const DefinitionPtr& definition, const Value& output, const Value& outputs = {}) {
  const Value context = yaml("{name: web, appName: shop, appRevision: shop-v1}");
  return judge(*definition, context, yaml("{wanted: 2}"), output, outputs);
}

TEST(Judge, without_a_policy_what_is_there_is_healthy) {
  EXPECT_TRUE(judged(with_status(""), yaml("{kind: X}")).is_healthy);
  EXPECT_TRUE(judged(with_status(""), {}, yaml("{s: {kind: X}}")).is_healthy);
  EXPECT_FALSE(judged(with_status(""), {}).is_healthy);
  EXPECT_TRUE(judged(with_status("", "", "", "TraitDefinition"), {}).is_healthy);
}

TEST(Judge, a_policy_sees_live_objects_and_parameters) {
  auto definition = with_status("isHealth: context.output.ready == parameter.wanted && context.parameter.wanted == 2",
                                R"CUE(message: "\(context.name): \(context.outputs.s.ip) \(context.status.healthy)")CUE");
  HealthVerdict verdict = judged(definition, yaml("{ready: 2}"), yaml("{s: {ip: a}}"));
  EXPECT_TRUE(verdict.is_healthy);
  EXPECT_EQ(verdict.message, "web: a true");
  EXPECT_FALSE(judged(definition, yaml("{ready: 1}")).is_healthy);
}

TEST(Judge, what_cannot_be_evaluated_is_unhealthy_and_says_nothing) {
  auto definition = with_status("isHealth: context.output.ready == 2", R"CUE(message: "\(context.output.ready)")CUE");
  HealthVerdict verdict = judged(definition, yaml("{kind: X}"));
  EXPECT_FALSE(verdict.is_healthy);
  EXPECT_EQ(verdict.message, "");
  EXPECT_FALSE(judged(with_status("isHealth: 1"), yaml("{kind: X}")).is_healthy);
  EXPECT_FALSE(judged(with_status("isHealth: true\nisHealth: false"), yaml("{kind: X}")).is_healthy);
}

TEST(Judge, a_policy_beyond_its_budget_says_so) {
  const auto definition = with_status(R"(
import "list"

_l: list.Range(0, 100, 1)
isHealth: len([for a in _l for b in _l for c in _l for d in _l {a + b + c + d}]) > 0)",
                                      "message: \"all is well\"");
  const HealthVerdict verdict = judged(definition, yaml("{kind: X}"));
  EXPECT_FALSE(verdict.is_healthy);
  EXPECT_TRUE(verdict.fault.starts_with("healthPolicy: evaluation takes too ")) << verdict.fault;
  EXPECT_EQ(verdict.message, verdict.fault + "; all is well");
}

TEST(Judge, what_secrets_hold_is_not_shown) {
  auto definition = with_status(
      "", R"CUE(message: "\(context.output.data.word) of \(context.outputs.s.data.word) in \(context.output.kind)")CUE",
      "word: context.outputs.s.data.word");
  HealthVerdict verdict = judged(definition, yaml("{apiVersion: v1, kind: Secret, data: {word: c2VzYW1l}}"),
                                 yaml("{s: {apiVersion: v1, kind: Secret, data: {word: b3BlbmVk}}}"));
  EXPECT_EQ(verdict.message, "(secret) of (secret) in Secret");
  EXPECT_EQ(verdict.details["word"], "(secret)");
  verdict = judged(definition, yaml("{apiVersion: v1, kind: ConfigMap, data: {word: plain}}"),
                   yaml("{s: {apiVersion: v1, kind: ConfigMap, data: {word: other}}}"));
  EXPECT_EQ(verdict.message, "plain of other in ConfigMap");
}

TEST(Judge, details_are_texts_without_private_ones) {
  auto definition = with_status("isHealth: context.status.details.$ready == 1", R"(message: context.status.details.text)", R"(
text:     "x"
count:    3
list:     ["a", 1]
struct:   {a: 1, b: "c"}
open:     string
$ready:   context.output.ready
local:    1 @local()
private:  1 @private()
nameOfThirtyTwoCharactersIsTooLong: 1
_hidden:  1
)");
  HealthVerdict verdict = judged(definition, yaml("{ready: 1}"));
  const std::map<std::string, std::string> expected = {
      {"text", "x"}, {"count", "3"}, {"list", "[\"a\", 1]"}, {"struct", "{\n\ta: 1\n\tb: \"c\"\n}"}, {"open", "_|_"}};
  EXPECT_EQ(verdict.details, expected);
  EXPECT_TRUE(verdict.is_healthy);
  EXPECT_EQ(verdict.message, "x");
}

TEST(Judge, builtin_workloads_say_how_many_are_ready) {
  testing::Library library;
  const Value ready = yaml(R"({metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3,
    readyReplicas: 3, updatedReplicas: 3}})");
  for (const char* type : {"webservice", "worker"}) {
    auto definition = library.find(DefinitionKind::Component, type);
    HealthVerdict verdict = judged(definition, ready);
    EXPECT_TRUE(verdict.is_healthy) << type;
    EXPECT_EQ(verdict.message, "Ready:3/3") << type;
    verdict = judged(definition, ready.with_path({"status", "readyReplicas"}, 2));
    EXPECT_FALSE(verdict.is_healthy) << type;
    EXPECT_EQ(verdict.message, "Ready:2/3") << type;
  }
}

std::string digest_of(const DefinitionPtr& definition, const Value& output, const Value& outputs = {}) {
  return sight_digest(*definition, yaml("{name: web, appName: shop}"), yaml("{image: nginx}"), output, outputs);
}

TEST(Judge, verdicts_are_known_by_what_was_read) {
  testing::Library library;
  const DefinitionPtr definition = library.find(DefinitionKind::Component, "webservice");
  const Value one =
      yaml(R"({metadata: {name: a, generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, replicas: 1,
    readyReplicas: 1, updatedReplicas: 1, conditions: [{type: Available, lastUpdateTime: "2026-01-01T00:00:00Z"}]}})");
  const Value other = one.with_path({"metadata", "name"}, "b").with_path({"status", "conditions"}, json::array({}));
  EXPECT_EQ(digest_of(definition, one), digest_of(definition, other));
  for (const char* count : {"observedGeneration", "readyReplicas", "updatedReplicas", "replicas"}) {
    EXPECT_NE(digest_of(definition, one), digest_of(definition, one.with_path({"status", count}, 2))) << count;
  }
  EXPECT_NE(digest_of(definition, one), digest_of(definition, one.with_path({"spec", "replicas"}, 2)));
  EXPECT_NE(digest_of(definition, one), digest_of(definition, {}));
  const Value unhealthy = yaml(R"({"app.oam.dev/disable-health-check": "true"})");
  EXPECT_NE(digest_of(definition, one), digest_of(definition, one.with_path({"metadata", "annotations"}, unhealthy)));
}

TEST(Judge, verdicts_of_other_definitions_objects_and_secrets_are_others) {
  const DefinitionPtr plain = with_status("isHealth: context.output.ready");
  const DefinitionPtr with_message = with_status("isHealth: context.output.ready", R"CUE(message: "it is \(context.name)")CUE");
  const Value object = yaml("{kind: X, ready: true}");
  EXPECT_NE(digest_of(plain, object), digest_of(with_message, object));
  EXPECT_NE(sight_digest(*with_message, yaml("{name: a}"), {}, object, {}),
            sight_digest(*with_message, yaml("{name: b}"), {}, object, {}));
  EXPECT_EQ(sight_digest(*plain, yaml("{name: a}"), {}, object, {}), sight_digest(*plain, yaml("{name: b}"), {}, object, {}));
  // What a message may say depends on what Secrets hold, read or not.
  EXPECT_NE(digest_of(plain, object, yaml("{s: {kind: Secret, data: {k: YQ==}}}")),
            digest_of(plain, object, yaml("{s: {kind: Secret, data: {k: Yg==}}}")));
}

TEST(Judge, keeps_the_verdicts_that_were_asked_for_last) {
  Verdicts verdicts;
  verdicts.put("first", HealthVerdict{true, "one", {}, ""});
  for (std::size_t i = 0; i < Verdicts::kKept; ++i) verdicts.put(std::to_string(i), {});
  ASSERT_NE(verdicts.find("first"), nullptr);
  EXPECT_EQ(verdicts.find("first")->message, "one");
  for (std::size_t i = 0; i < 2 * Verdicts::kKept; ++i) verdicts.put(fmt::format("more {}", i), {});
  EXPECT_EQ(verdicts.find("first"), nullptr);
}

}  // namespace
}  // namespace slipway::delivery::application
