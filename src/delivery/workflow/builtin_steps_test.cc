// That built-in steps ask for what definitions/step/TABLE.md says. A run is written as its calls in order, with what is told of
// each, and how it ends.
#include <gtest/gtest.h>

#include <set>

#include "delivery/workflow/builtin_steps_play_test.h"
#include "delivery/workflow/builtin_texts.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

using json::Value;

void check(const std::vector<StepRow>& rows) {
  for (const StepRow& row : rows) {
    const Played played = play(row.step, row.parameter, row.answers);
    EXPECT_EQ(played.trace, row.trace) << row.step << " " << row.parameter;
    EXPECT_EQ(played.error, "") << row.step << " " << row.parameter;
  }
}

TEST(BuiltinSteps, deliver_components) { check(step_rows::delivering()); }

TEST(BuiltinSteps, deliver_environments) { check(step_rows::environments()); }

TEST(BuiltinSteps, roll_components_out) { check(step_rows::rolling()); }

TEST(BuiltinSteps, apply_and_read_objects) { check(step_rows::applying()); }

TEST(BuiltinSteps, export_data) { check(step_rows::exporting()); }

TEST(BuiltinSteps, tell_and_ask_others) { check(step_rows::telling()); }

TEST(BuiltinSteps, run_jobs_and_wait_for_them) { check(step_rows::running()); }

TEST(BuiltinSteps, judge_and_look_around) { check(step_rows::judging()); }

TEST(BuiltinSteps, reach_beyond_the_cluster) { check(step_rows::reaching()); }

TEST(BuiltinSteps, ask_the_same_way_with_other_parameters) { check(step_rows::varied()); }

/// Steps with parameters that they refuse.
std::vector<std::pair<std::string, const char*>> refused() {
  return {
      {"deploy", R"({"auto":"yes"})"},
      {"builtin-apply-component", R"({"value":"web"})"},
      {"apply-object", R"({"value":"text"})"},
      {"apply-deployment", R"({"replicas":1})"},
      {"apply-app", R"({"neither":1})"},
      {"read-app", R"({})"},
      {"read-object", R"({"kind":"Pod"})"},
      {"clean-jobs", R"({"namespace":5})"},
      {"depends-on-app", R"({"name":"a"})"},
      {"apply-remaining", R"({"exceptions":"a"})"},
      {"deploy2runtime", R"({"clusters":"a"})"},
      {"export2config", R"({"data":{}})"},
      {"export2secret", R"({"secretName":"s","kind":"other","data":{}})"},
      {"export-data", R"({"kind":"Pod","data":{}})"},
      {"export-service", R"({"ip":"1.1.1.1","port":"a","targetPort":2})"},
      {"create-config", R"({"name":"c","config":"text"})"},
      {"read-config", R"({})"},
      {"list-config", R"({})"},
      {"delete-config", R"({})"},
      {"print-message-in-status", R"({})"},
      {"suspend", R"({"duration":5})"},
      {"request", R"({"method":"GET"})"},
      {"request", R"({"url":"u","method":"FETCH"})"},
      {"webhook", R"({"url":"http://x","data":{}})"},
      {"notification", R"({"slack":{"url":{"value":"u"},"message":{}}})"},
      {"chat-gpt", R"({"token":{"value":"t"},"prompt":{"type":"poem","content":"x"}})"},
      {"vela-cli", R"({"command":"vela ls"})"},
      {"build-push-image", R"({"context":"c"})"},
      {"apply-terraform-config", R"({"source":{"hcl":"h"},"variable":{},"deleteResource":"yes"})"},
      {"apply-terraform-provider", R"({"type":"none"})"},
      {"check-metrics", R"({"condition":">1"})"},
      {"collect-service-endpoints", R"({"port":"http"})"},
      {"generate-jdbc-connection", R"({})"},
      {"restart-workflow", R"({"every":"often"})"},
      {"addon-operation", R"({"addonName":"a","operation":"remove"})"},
      {"app-rollout", R"({"plan":{}})"},
      {"apply-component", R"({"component":1})"},
      {"blue-green-rollout", R"({"components":"db"})"},
      {"deploy-cloud-resource", R"({"env":1})"},
      {"deploy2env", R"({"env":"prod","parallel":"yes"})"},
      {"rollout-promotion", R"({"manualApproval":"no"})"},
      {"rollout-wait-succeed", R"({"appName":"app","component":1})"},
      {"share-cloud-resource", R"({"env":"prod","placements":"x"})"},
      {"traffic-shift", R"({"partition":[]})"},
      {"gitops", R"({"branch":"main"})"},
      {"gitops", R"({"gitRepo":"https://git.test/a.git","secrets":"hide"})"},
      {"open-cluster-management", R"({"placement":[{"clusterSelector":"east"}]})"},
      {"helm-template", R"({"path":"chart"})"},
      {"kustomize-patch", R"({"source":"https://git.test/t.git","patch":"image: x"})"},
  };
}

TEST(BuiltinSteps, refuse_wrong_parameters_before_the_first_call) {
  for (const auto& [step, parameter] : refused()) {
    const Played played = play(step, parameter, {});
    EXPECT_NE(played.error, "") << step << " " << parameter << " " << played.trace;
    EXPECT_EQ(played.trace, "") << step << " " << parameter;
  }
}

/// They have no parameters.
const std::set<std::string> kBare = {"apply-application", "apply-application-in-parallel", "step-group", "rollback"};

TEST(BuiltinSteps, each_have_two_parameter_sets_and_a_wrong_one) {
  std::map<std::string, std::set<std::string>> good;
  std::map<std::string, int> bad;
  for (const auto& rows :
       {step_rows::delivering(), step_rows::environments(), step_rows::rolling(), step_rows::applying(), step_rows::exporting(),
        step_rows::telling(), step_rows::running(), step_rows::judging(), step_rows::reaching(), step_rows::varied()}) {
    for (const StepRow& row : rows) good[row.step].insert(row.parameter);
  }
  for (const auto& [step, parameter] : refused()) ++bad[step];
  for (const BuiltinText& one : builtin_texts()) {
    if (!one.path.starts_with("step/")) continue;
    const std::string step(one.path.substr(5, one.path.size() - 9));
    EXPECT_GE(good[step].size(), kBare.contains(step) ? 1U : 2U) << step;
    EXPECT_GE(bad[step], kBare.contains(step) ? 0 : 1) << step;
  }
}

/// The parameters of the nth call of a step.
Value params_of(const std::string& step, const std::string& parameter, std::size_t n = 0, const Answers& answers = {}) {
  const Played played = play(step, parameter, answers);
  EXPECT_EQ(played.error, "");
  EXPECT_LT(n, played.params.size());
  return n < played.params.size() ? played.params[n] : Value();
}

TEST(BuiltinSteps, push_below_the_applications_name_unless_told_otherwise) {
  const Answers answers = {{"gitops.push", {R"({"message":"pushed"})"}}};
  const Value by_default = params_of("gitops", R"({"gitRepo":"u"})", 0, answers);
  EXPECT_EQ(by_default["path"].as_string(), "app");
  EXPECT_EQ(by_default["branch"].as_string(), "main");
  EXPECT_EQ(by_default["secrets"].as_string(), "refuse");
  EXPECT_EQ(params_of("gitops", R"({"gitRepo":"u","path":""})", 0, answers)["path"].as_string(), "");
}

TEST(BuiltinSteps, pass_their_parameters_on) {
  EXPECT_EQ(json::print(params_of("deploy", R"({"policies":["a","b"]})")),
            R"({"policies":["a","b"],"parallelism":5,"ignoreTerraformComponent":true,"inlinePolicies":[]})");
  EXPECT_EQ(json::print(params_of("request", R"({"url":"u","header":{"A":"b"},"body":{"x":[1]}})")),
            R"({"method":"GET","url":"u","request":{"body":"{\"x\":[1]}","header":{"A":"b"}}})");
  EXPECT_EQ(json::print(params_of("notification", R"({"slack":{"url":{"value":"u"},"message":{"text":"t"}}})")["request"]),
            R"({"header":{"Content-Type":"application/json"},"body":"{\"text\":\"t\"}"})");
  EXPECT_EQ(
      json::print(params_of("export2secret", R"({"secretName":"s","kind":"docker-registry",)"
                                             R"("dockerRegistry":{"username":"u","password":"p","server":"r"}})")["value"]),
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"ns"},)"
      R"("stringData":{".dockerconfigjson":"{\"auths\":{\"r\":{\"username\":\"u\",\"password\":\"p\",\"auth\":\"dTpw\"}}}"},)"
      R"("type":"kubernetes.io/dockerconfigjson"})");
  EXPECT_EQ(json::print(params_of("clean-jobs", R"({"labelSelector":{"a":"b"},"namespace":"n"})")["filter"]),
            R"({"namespace":"n","matchingLabels":{"a":"b"}})");
  EXPECT_EQ(
      json::print(params_of("apply-terraform-provider", R"({"type":"ec","apiKey":"k"})")),
      R"({"name":"app-step","namespace":"ns","template":"terraform-ec","config":{"name":"ec-provider","EC_API_KEY":"k"}})");
  EXPECT_EQ(json::print(params_of("restart-workflow", R"({"at":"2026-01-01T00:00:00Z"})")["patch"]),
            R"({"metadata":{"annotations":{"app.oam.dev/restart-workflow":"2026-01-01T00:00:00Z"}}})");
}

TEST(BuiltinSteps, mount_a_volume_twice_but_declare_it_once) {
  const Value pod =
      params_of("vela-cli", R"({"command":["c"],"storage":{"secret":[)"
                            R"({"name":"a","mountPath":"/a","secretName":"s"},)"
                            R"({"name":"a","mountPath":"/b","secretName":"s","subPath":"x"}],)"
                            R"("hostPath":[{"name":"h","path":"/h","mountPath":"/c"}]}})")["value"]["spec"]["template"]["spec"];
  EXPECT_EQ(json::print(pod["volumes"]), R"([{"name":"secret-a","secret":{"secretName":"s","defaultMode":420}},)"
                                         R"({"name":"hostpath-h","hostPath":{"path":"/h","type":"Directory"}}])");
  EXPECT_EQ(pod["containers"].item(0)["volumeMounts"].size(), 3u);
}

}  // namespace
}  // namespace slipway::delivery::workflow
