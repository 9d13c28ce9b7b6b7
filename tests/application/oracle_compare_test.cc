// The comparison itself: what the oracle says, given back word by word, passes everywhere; each kind of change is found.
#include "oracle_compare.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_status.h"

namespace slipway::oracle_test {
namespace {

Value yaml(std::string_view text) {
  auto read = json::parse_yaml(text);
  EXPECT_TRUE(read) << (read ? "" : read.error().message) << "\n" << text;
  return read ? *read : Value();
}

/// The status that a line was taken from.
Value status_of(const Value& line) {
  json::ArrayBuilder steps;
  for (const Value& step : line["steps"].items()) {
    if (step.has("parent")) continue;
    json::ArrayBuilder below;
    for (const Value& sub : line["steps"].items()) {
      if (sub["parent"] == step["name"]) below.add(sub);
    }
    steps.add(step.with("subSteps", below.build()));
  }
  const Value list = steps.build();
  Value status = json::object({{"conditions", line["conditions"]}, {"services", line["services"]}});
  status = status.with("appliedResources", line["applied"]);
  if (line["target"]["kind"] == Value("WorkflowRun")) return status.with("status", line["phase"]).with("steps", list);
  return status.with("status", line["phase"]).with("workflow", json::object({{"steps", list}}));
}

End end_of(const Value& line) {
  End end;
  end.target = line["target"].with("status", status_of(line));
  end.is_stable = true;
  return end;
}

Find find_in(const Value& line) {
  return [objects = expected_objects(line)](const std::string& cluster, const Value& wanted) {
    for (const Value& one : objects) {
      if (cluster_of(one) == cluster && one["kind"] == wanted["kind"] && kube::key_of(one) == kube::key_of(wanted)) return one;
    }
    return Value();
  };
}

TEST(OracleConformance, what_the_oracle_says_passes_the_comparison) {
  const auto folder = corpus_folder();
  if (folder.empty()) GTEST_SKIP() << "skipped: no corpus at $SLIPWAY_CORPUS";
  for (const Case& one : read_cases(folder)) {
    for (const Value& line : one.lines) {
      const Comparison made = compare(one, end_of(line), find_in(line));
      EXPECT_TRUE(made.is_same_end) << one.file;
      EXPECT_EQ(made.differences, std::vector<std::string>{}) << one.file;
      EXPECT_EQ(made.objects.passed, static_cast<int>(expected_objects(line).size())) << one.file;
    }
  }
}

const Value& running() {
  static const Value kLine = yaml(R"(
    target: {apiVersion: core.oam.dev/v1beta1, kind: Application, name: a, namespace: c}
    phase: running
    steps: [{name: web, type: apply-component, phase: succeeded}]
    services: [{name: web, namespace: c, healthy: true, message: 'Ready:1/1', traits: [{type: scaler, healthy: true}]}]
    applied: [{kind: Service, namespace: c, name: web}]
    objects: [{apiVersion: v1, kind: Service, metadata: {name: web, namespace: c}, spec: {type: ClusterIP}}]
    conditions: [{type: Workflow, status: 'True', reason: Available}])");
  return kLine;
}

TEST(OracleComparison, finds_each_change) {
  struct Row {
    std::vector<std::string_view> path;  // of the line that was found
    const char* value;
    std::vector<std::string> differences;
  };
  const Row rows[] = {
      {{"phase"}, "workflowFailed", {"end: expected phase \"running\", found workflowFailed"}},
      {{"steps"}, "[]", {R"(step web: expected {"name":"web","type":"apply-component","phase":"succeeded"}, found nothing)"}},
      {{"steps"},
       "[{name: web, type: apply-component, phase: succeeded}, {name: db, type: t, phase: running, reason: Wait}]",
       {R"(step db: not expected, found {"name":"db","type":"t","phase":"running","reason":"Wait"})"}},
      {{"services"},
       "[{name: web, namespace: c, healthy: true, traits: []}]",
       {R"(service /c/web: expected {"name":"web","namespace":"c","healthy":true,"message":"Ready:1/1","traits":)"
        R"([{"type":"scaler","healthy":true}]}, found {"name":"web","namespace":"c","healthy":true,"traits":[]})"}},
      {{"objects"},
       "[{apiVersion: v1, kind: Service, metadata: {name: web, namespace: c, labels: {l: m}}, spec: {type: NodePort}}]",
       {R"(object Service c/web metadata.labels: not expected, found {"l":"m"})",
        R"(object Service c/web spec.type: expected "ClusterIP", found "NodePort")"}},
      {{"objects"}, "[]", {"object Service c/web not there"}},
      {{"applied"},
       "[{kind: Service, namespace: c, name: web}, {kind: Job, namespace: c, name: j}]",
       {"object Job c/j not expected"}},
  };
  const Case one{.file = "f", .lines = {running()}, .difference = ""};
  for (const Row& row : rows) {
    const Value found = running().with_path(row.path, yaml(row.value));
    EXPECT_EQ(compare(one, end_of(found), find_in(found)).differences, row.differences);
  }
  EXPECT_FALSE(compare(one, End{}, find_in(running())).is_same_end) << "a target that is not there";
}

TEST(OracleComparison, failures_have_the_same_steps_and_reasons) {
  const Value line =
      running().with("phase", "workflowFailed").with("steps", yaml("[{name: a, phase: failed, reason: Action}]"));
  const Case one{.file = "f", .lines = {line}, .difference = ""};
  EXPECT_TRUE(compare(one, end_of(line), find_in(line)).is_same_end);
  for (const char* steps :
       {"[{name: a, phase: failed, reason: Timeout}]", "[{name: b, phase: failed, reason: Action}]", "[]"}) {
    const Value found = line.with("steps", yaml(steps));
    EXPECT_FALSE(compare(one, end_of(found), find_in(found)).is_same_end) << steps;
  }
}

TEST(OracleComparison, waiting_is_said_by_the_same_condition_with_the_name_of_what_is_missing) {
  const Value line = running()
                         .with("phase", "rendering")
                         .with("unresolved", yaml("['component:helm']"))
                         .with("conditions", yaml("[{type: Parsed, status: 'False', message: no definition helm}]"));
  const Case one{.file = "f", .lines = {line}, .difference = ""};
  const std::pair<const char*, bool> rows[] = {
      {"[{type: Parsed, status: 'False', message: 'component a: there is no type helm'}]", true},
      {"[{type: Parsed, status: 'False', message: 'component a has no type'}]", false},
      {"[{type: Render, status: 'False', message: there is no type helm}]", false},
      {"[{type: Parsed, status: 'True', message: helm}]", false},
      {"[]", false},
  };
  for (const auto& [conditions, expected] : rows) {
    const Value found = line.with("conditions", yaml(conditions));
    EXPECT_EQ(compare(one, end_of(found), find_in(found)).is_same_end, expected) << conditions;
  }
}

TEST(OracleComparison, of_two_lines_either_counts) {
  const Value failed = running().with("phase", "workflowFailed");
  const Case one{.file = "f", .lines = {failed, running()}, .difference = ""};
  EXPECT_EQ(one.kind(), Class::Fails);
  EXPECT_TRUE(compare(one, end_of(running()), find_in(running())).is_same_end);
  EXPECT_TRUE(compare(one, end_of(running()), find_in(running())).differences.empty());
}

}  // namespace
}  // namespace slipway::oracle_test
