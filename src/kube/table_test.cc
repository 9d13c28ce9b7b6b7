#include "kube/table.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/builtin.h"

namespace slipway::kube {
namespace {

const Time kNow = parse_rfc3339("2026-01-01T01:00:00Z").value();

ResourceType builtin_table(std::string_view kind) {
  for (const ResourceType& type : builtin_types()) {
    if (type.kind.kind == kind) return type;
  }
  return {};
}

std::string printed(const ResourceType& type, const std::vector<Object>& objects, TableStyle style = {}) {
  return print_table(make_table(type, objects, kNow), style);
}

TEST(Table, prints_pods_as_kubectl_does) {
  const std::vector<Object> pods{
      yaml("{metadata: {name: a, namespace: ns, creationTimestamp: '2026-01-01T00:55:00Z'}, spec: {containers: [{name: c}]},"
           " status: {phase: Running, podIP: 10.0.0.1, containerStatuses: [{ready: true, restartCount: 2, state: {running: {}},"
           " lastState: {terminated: {finishedAt: '2026-01-01T00:59:00Z'}}}]}}"),
      yaml("{metadata: {name: long-name, namespace: ns, creationTimestamp: '2025-12-30T00:00:00Z'}, spec: {containers: "
           "[{name: c}, {name: d}]},"
           " status: {phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 3}}}, {state: {terminated: "
           "{exitCode: 0,"
           " reason: Completed}}}]}}"),
  };
  EXPECT_EQ(printed(builtin_table("Pod"), pods),
            "NAME        READY   STATUS       RESTARTS      AGE\n"
            "a           1/1     Running      2 (60s ago)   5m\n"
            "long-name   0/2     ExitCode:3   0             2d1h\n");
  EXPECT_EQ(printed(builtin_table("Pod"), {pods[0]}, {.is_wide = true, .has_namespace = true, .has_headers = false}),
            "ns   a   1/1   Running   2 (60s ago)   5m   10.0.0.1   <none>   <none>   <none>\n");
}

TEST(Table, tells_how_a_pod_starts_and_ends) {
  const auto status = [](std::string_view pod) { return builtin_cell("@pod.status", yaml(pod), kNow).str(); };
  EXPECT_EQ(
      status(
          "{spec: {initContainers: [{name: i}, {name: k}]}, status: {phase: Pending, initContainerStatuses: [{name: i, state:"
          " {running: {}}}]}}"),
      "Init:0/2");
  EXPECT_EQ(
      status(
          "{spec: {initContainers: [{name: i}]}, status: {phase: Pending, initContainerStatuses: [{name: i, state: {terminated:"
          " {exitCode: 1, reason: Error}}}]}}"),
      "Init:Error");
  EXPECT_EQ(status("{status: {phase: Pending, containerStatuses: [{state: {waiting: {reason: ImagePullBackOff}}}]}}"),
            "ImagePullBackOff");
  EXPECT_EQ(status("{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {phase: Running}}"), "Terminating");
  EXPECT_EQ(status("{status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated}]}}"),
            "SchedulingGated");
}

TEST(Table, prints_jobs_with_their_selector_when_wide) {
  const Object job = yaml(
      "{metadata: {name: j, creationTimestamp: '2026-01-01T00:59:00Z'}, spec: {completions: 3, selector: {matchLabels: {u: v}},"
      " template: {spec: {containers: [{name: c, image: i}, {name: d, image: k}]}}}, status: {succeeded: 1, startTime: "
      "'2026-01-01T00:59:10Z'}}");
  EXPECT_EQ(printed(builtin_table("Job"), {job}, {.is_wide = true}),
            "NAME   STATUS    COMPLETIONS   DURATION   AGE   CONTAINERS   IMAGES   SELECTOR\n"
            "j      Running   1/3           50s        60s   c,d          i,k      u=v\n");
}

TEST(Table, shows_the_columns_of_a_crd_by_their_types) {
  ResourceType type;
  type.is_custom = true;
  EXPECT_EQ(shown_columns(type).size(), 2U);  // Name, Age
  type.columns = {
      {.name = "Done",
       .type = "string",
       .format = "",
       .description = "",
       .priority = 0,
       .json_path = ".status.conditions[?(@.type==\"Done\")].status"},
      {.name = "Steps", .type = "integer", .format = "", .description = "", .priority = 0, .json_path = ".status.steps"},
      {.name = "Odd", .type = "integer", .format = "", .description = "", .priority = 0, .json_path = ".status.odd"},
      {.name = "Started", .type = "date", .format = "", .description = "", .priority = 0, .json_path = ".status.start"}};
  const std::vector<Object> objects{
      yaml("{metadata: {name: w}, status: {conditions: [{type: Done, status: 'True'}], steps: 4, odd: x, start: "
           "'2026-01-01T00:00:00Z'}}")};
  EXPECT_EQ(printed(type, objects),
            "NAME   DONE   STEPS   ODD   STARTED\n"
            "w      True   4             60m\n");
  const json::Value table = make_table(type, objects, kNow, RowObject::None);
  EXPECT_EQ(json::print(table["rows"]), R"([{"cells":["w","True",4,null,"60m"]}])");
  EXPECT_EQ(json::print(table["columnDefinitions"].item(0)),
            R"({"name":"Name","type":"string","format":"name","description":"metadata.name","priority":0})");
}

TEST(Table, of_nothing_prints_nothing) { EXPECT_EQ(printed(builtin_table("Pod"), {}), ""); }

TEST(Table, has_a_cell_for_every_column_of_every_builtin_kind) {
  for (const ResourceType& type : builtin_types()) {
    const std::vector<Object> objects{yaml("{metadata: {name: a, creationTimestamp: '2026-01-01T00:00:00Z'}}")};
    const json::Value table = make_table(type, objects, kNow, RowObject::Object);
    EXPECT_EQ(table["rows"].item(0)["cells"].size(), type.columns.size()) << type.kind.kind;
    for (const Column& column : type.columns) {
      if (column.json_path.starts_with('@')) {
        EXPECT_FALSE(builtin_cell(column.json_path, objects[0], kNow).is_null()) << column.json_path;
      }
    }
  }
}

}  // namespace
}  // namespace slipway::kube
