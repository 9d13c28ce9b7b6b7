#include "delivery/pipeline/admission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "delivery/family/protected_status_test.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/kinds.h"
#include "delivery/pipeline/own_kinds.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

kube::Object object(const std::string& kind, const std::string& spec) {
  const std::string group = kind == "Pipeline"        ? "pipelines.weave.works"
                            : kind == "GitopsCluster" ? "gitops.weave.works"
                                                      : kOwnGroup.data();
  return yaml(fmt::format("{{apiVersion: {}/v1alpha1, kind: {}, metadata: {{name: one, namespace: shop}}, spec: {}}}", group,
                          kind, spec));
}

std::string text_of(const std::vector<Cause>& causes) {
  std::string text;
  for (const Cause& cause : causes) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", cause.field, cause.message);
  return text;
}

/// A namespace with the pipeline "web" (dev, then prod, which has the approval gate "leads") and its release "web-1".
Value find(const kube::Resource& resource, std::string_view ns, std::string_view name) {
  if (ns != "shop") return {};
  if (resource == kPipelines && name == "web") {
    return yaml(
        R"({spec: {environments: [{name: dev}, {name: prod, gates: [{name: leads, approval: {}}, {name: slo, metric: {}}]}]}})");
  }
  if (resource == kPipelines && name == "api") return yaml("{spec: {environments: [{name: test}]}}");
  if (resource == kReleases && name == "web-1") return yaml("{spec: {pipeline: web, version: 1.0.0}}");
  if (resource == kReleases && name == "api-1") return yaml("{spec: {pipeline: api, version: 1.0.0}}");
  return {};
}

std::string references(const std::string& kind, const std::string& spec, const kube::Object& old = {}) {
  return text_of(check_references(object(kind, spec), old, find));
}

TEST(PipelineAdmission, a_pipeline_is_checked_when_its_spec_is_new) {
  const kube::Object bad = object("Pipeline",
                                  "{appRef: {kind: HelmRelease, name: web}, environments: [{name: dev, targets: "
                                  "[{namespace: a}, {namespace: a}]}]}");
  EXPECT_EQ(text_of(validate(bad, {})), "spec.environments[0].targets[1]: Duplicate value: \"a\"");
  EXPECT_EQ(text_of(validate(bad, bad)), "") << "what was let in before may be labelled";
  EXPECT_EQ(text_of(validate(bad.with_path({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z"), {})), "");
  EXPECT_EQ(text_of(validate(object("GitopsCluster", "{}"), {})),
            "spec.secretRef: Required value: give capiClusterRef or secretRef");
}

TEST(PipelineAdmission, a_freeze_ends_after_it_begins_and_recurs_by_a_rule) {
  const auto freeze = [](const std::string& spec) { return text_of(validate(object("Freeze", spec), {})); };
  EXPECT_EQ(freeze("{}"), "");
  EXPECT_EQ(freeze("{from: '2026-12-20T00:00:00Z', until: '2027-01-02T00:00:00Z'}"), "");
  EXPECT_EQ(freeze("{from: '2026-12-20T00:00:00Z', until: '2026-12-20T00:00:00Z'}"),
            "spec.until: Invalid value: \"2026-12-20T00:00:00Z\": must be after spec.from, 2026-12-20T00:00:00Z");
  EXPECT_EQ(freeze("{window: {rrule: 'FREQ=WEEKLY;BYDAY=FR;BYHOUR=15', duration: 57h}}"), "");
  EXPECT_TRUE(
      freeze("{window: {rrule: 'FREQ=SECONDLY'}}").starts_with("spec.window.rrule: Invalid value: \"FREQ=SECONDLY\": "));
}

TEST(PipelineAdmission, a_log_only_grows) {
  const auto log = [](const std::string& entries) {
    return object("DeliveryLog", "{pipeline: web, pipelineUID: u, segment: 0, entries: [" + entries + "]}");
  };
  const std::string one = "{at: '2026-01-01T00:00:00Z', what: observed, hash: a}";
  const std::string two = "{at: '2026-01-01T00:00:00Z', what: promoted, hash: b}";
  EXPECT_EQ(text_of(validate(log(one + "," + two), log(one))), "");
  EXPECT_EQ(text_of(validate(log(two), log(one))), "spec.entries[0]: Forbidden: what is in the log never changes");
  EXPECT_EQ(text_of(validate(log(one), log(one + "," + two))), "spec.entries[1]: Forbidden: what is in the log never changes");
}

/// Every kind of the room that has a status: a new one needs the row too.
TEST(PipelineAdmission, users_write_no_status) {
  const auto kinds = kinds_with_status(custom_resource_definitions());
  EXPECT_EQ(kinds.size(), 3U);
  expect_users_write_no_status(admission_rows(), kinds);
}

struct ReferenceCase {
  std::string kind;
  std::string spec;
  std::string said;
};

TEST(PipelineAdmission, what_an_object_names_must_be_there) {
  const ReferenceCase cases[] = {
      {"Promotion", "{pipeline: web, environment: prod, release: web-1}", ""},
      {"Promotion", "{pipeline: wep, environment: prod, release: web-1}",
       "spec.pipeline: Not found: \"wep\": namespace \"shop\" has no such pipeline"},
      {"Promotion", "{pipeline: web, environment: production, release: web-1}",
       "spec.environment: Not found: \"production\": the pipeline has dev, prod"},
      {"Promotion", "{pipeline: web, environment: prod, release: web-2}",
       "spec.release: Not found: \"web-2\": `slipway pipeline status web -n shop` shows the releases there are"},
      {"Promotion", "{pipeline: web, environment: prod, release: api-1}",
       "spec.release: Invalid value: \"api-1\": is a release of pipeline \"api\""},
      {"Approval", "{pipeline: web, environment: prod, release: web-1}", ""},
      {"Approval", "{pipeline: web, environment: prod, release: web-1, gate: leads}", ""},
      {"Approval", "{pipeline: web, environment: prod, release: web-1, gate: slo}",
       "spec.gate: Not found: \"slo\": the approval gates of the environment are leads"},
      {"Approval", "{pipeline: web, environment: dev, release: web-1, gate: leads}",
       "spec.gate: Not found: \"leads\": the environment has no approval gates: leave it out to approve the promotion itself"},
      {"Hold", "{pipeline: web}", ""},
      {"Hold", "{pipeline: web, environments: [dev, qa]}",
       "spec.environments[1]: Not found: \"qa\": the pipeline has dev, prod"},
      {"Freeze", "{}", ""},
      {"Freeze", "{environments: [anything]}", ""},
      {"Freeze", "{pipelines: [web, api], environments: [prod, test]}", ""},
      {"Freeze", "{pipelines: [web], environments: [test]}",
       "spec.environments[0]: Not found: \"test\": the pipeline has dev, prod"},
      {"Freeze", "{pipelines: [web, app]}", "spec.pipelines[1]: Not found: \"app\": namespace \"shop\" has no such pipeline"},
      {"Release", "{pipeline: web, version: 1.0.0}", ""},
      {"Release", "{pipeline: web, version: 1.0.0, environment: qa}",
       "spec.environment: Not found: \"qa\": the pipeline has dev, prod"},
      {"Release", "{pipeline: wep, version: 1.0.0}",
       "spec.pipeline: Not found: \"wep\": namespace \"shop\" has no such pipeline"}};
  for (const ReferenceCase& one : cases) EXPECT_EQ(references(one.kind, one.spec), one.said) << one.kind << " " << one.spec;
  const kube::Object stays = object("Hold", "{pipeline: gone}");
  EXPECT_EQ(text_of(check_references(stays, stays, find)), "") << "its pipeline has gone since";
}

TEST(PipelineAdmission, by_is_who_asks_whatever_is_written) {
  const kube::UserInfo ann{.name = "ann", .uid = "", .groups = {"leads"}, .extra = {}};
  const kube::UserInfo eve{.name = "eve", .uid = "", .groups = {}, .extra = {}};
  const Time now{std::chrono::seconds{1'800'000'000}};
  const kube::Asker as_ann{.user = &ann, .may = {}, .now = now};
  const kube::Asker as_eve{.user = &eve, .may = {}, .now = now + std::chrono::hours{1}};
  const kube::Object forged = object("Hold", "{pipeline: web, by: {user: root, groups: [system:masters]}}");
  const kube::Object made = stamp_author(forged, {}, as_ann);
  EXPECT_EQ(json::print(made["spec"]["by"]), R"({"user":"ann","groups":["leads"],"time":"2027-01-15T08:00:00Z"})");

  const kube::Object relabelled =
      made.with_path({"metadata", "labels"}, yaml("{a: b}")).with_path({"spec", "by", "user"}, "eve");
  EXPECT_EQ(stamp_author(relabelled, made, as_eve)["spec"]["by"], made["spec"]["by"])
      << "who says nothing new is not the author";
  EXPECT_EQ(stamp_author(made.without_path({"spec", "by"}), made, as_eve)["spec"]["by"], made["spec"]["by"]);
  const kube::Object widened = made.with_path({"spec", "environments"}, yaml("[prod]"));
  EXPECT_EQ(stamp_author(widened, made, as_eve)["spec"]["by"]["user"].as_string(), "eve");

  const kube::Asker process{};
  EXPECT_TRUE(stamp_author(object("Hold", "{pipeline: web}"), {}, process)["spec"]["by"].is_null());
  EXPECT_EQ(stamp_author(forged, {}, process), forged);
  const kube::Object unsigned_one = object("Hold", "{pipeline: web}");
  EXPECT_TRUE(
      stamp_author(unsigned_one.with_path({"spec", "by"}, yaml("{user: eve}")), unsigned_one, as_eve)["spec"]["by"].is_null());
}

}  // namespace
}  // namespace slipway::delivery::pipeline
