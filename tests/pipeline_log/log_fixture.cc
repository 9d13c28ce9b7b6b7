#include "log_fixture.h"

#include "delivery/pipeline/admission.h"
#include "delivery/pipeline/kinds.h"
#include "delivery/pipeline/log_controller.h"
#include "delivery/pipeline/own_kinds.h"
#include "kube/well_known.h"

namespace slipway::pipeline_log_test {
namespace {

using namespace delivery::pipeline;  // NOLINT: the room under test

}  // namespace

const delivery::Family& log_family() {
  static const delivery::Family family = [] {
    delivery::Family made{.name = "pipeline-log", .groups = {kPipelineKind.group}};
    made.guarded_groups = {std::string(kOwnGroup)};
    made.definitions = custom_resource_definitions();
    made.admission = [](const delivery::AdmissionContext&) { return admission_rows(); };
    made.controllers = [](const delivery::ControllerContext& context) {
      std::vector<std::unique_ptr<control::Controller>> controllers;
      controllers.push_back(std::make_unique<LogController>(context));
      return controllers;
    };
    return made;
  }();
  return family;
}

Value yaml(std::string_view text) {
  auto value = json::parse_yaml(text);
  if (!value) ADD_FAILURE() << value.error().message << "\n" << text;
  return value ? *value : Value();
}

void LogTest::open_server() {
  plane::ApiServer::Options options;
  options.store.path = path_;
  options.families = families_;
  serve(std::move(options));
}

void LogTest::look_through(client::Client& client) {
  plane::Controllers::Options options;
  options.families = families_;
  control(client, options);
  env_->run_until_idle();
}

void LogTest::open() {
  open_server();
  look_through(api_->server());
}

void LogTest::restart_server() {
  kill();
  open_server();
}

Object LogTest::create(const kube::Resource& resource, std::string_view text) {
  const auto made = run(client::create(server(), resource, yaml(text), "tester"));
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  env_->run_until_idle();
  return made ? *made : Object();
}

void LogTest::remove(const kube::Resource& resource, const std::string& name) {
  remove_in("apps", resource, name);
  env_->run_until_idle();
}

Object LogTest::make_pipeline(std::string_view metadata) {
  if (!run(client::get(server(), kube::kNamespaces, {"", "apps"}))) {
    create(kube::kNamespaces, "{apiVersion: v1, kind: Namespace, metadata: {name: apps}}");
  }
  return create(kPipelines, fmt::format(R"(
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {{name: podinfo, namespace: apps{}}}
spec:
  appRef: {{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: podinfo}}
  environments:
  - name: dev
    targets: [{{namespace: dev}}, {{namespace: dev-eu}}]
    promotion: {{strategy: {{notification: {{}}, secretRef: {{name: dev-key}}}}}}
  - {{name: stage, targets: [{{namespace: stage}}, {{namespace: stage-eu}}]}}
  - {{name: prod, targets: [{{namespace: prod}}, {{namespace: prod-eu}}]}}
  promotion: {{manual: true, strategy: {{notification: {{}}, secretRef: {{name: hooks}}}}}}
)",
                                        metadata));
}

void LogTest::write_status(const std::string& environment, const std::string& version, const std::string& state) {
  const Object pipeline = get(kPipelines, "podinfo");
  const std::string since = to_rfc3339(now());
  std::string targets;
  for (const char* suffix : {"", "-eu"}) {
    targets += fmt::format(
        "{{clusterAppRef: {{kind: HelmRelease, name: podinfo}}, namespace: {}{}, ready: {}, revision: {}, state: {}, since: "
        "\"{}\", specified: {{version: {}}}, attempted: {{version: {}}}, running: {{version: {}}}}},",
        environment, suffix, state == "settled", version, state, since, version, version, version);
  }
  const std::string at = state == "settled" ? fmt::format("version: {{version: {}, time: \"{}\"}}, ", version, since) : "";
  const Value status = yaml(fmt::format("{{{}targetCount: 2, targets: [{}]}}", at, targets));
  const Value patch = json::object(
      {{"status", json::object({{"observedGeneration", 1}, {"environments", json::object({{environment, Value()}})}})}});
  static_cast<void>(run(client::merge_patch(server(), kPipelines, {"apps", "podinfo"}, patch, "tester", "status")));
  const Value now_is = json::object(
      {{"status", json::object({{"observedGeneration", 1}, {"environments", json::object({{environment, status}})}})}});
  const auto written = run(client::merge_patch(server(), kPipelines, {"apps", "podinfo"}, now_is, "tester", "status"));
  EXPECT_TRUE(written) << (written ? "" : written.error().message);
  env_->run_until_idle();
}

std::vector<Chain> LogTest::chains() { return chains_of(list(kDeliveryLogs), "apps", "podinfo"); }

std::vector<std::string> LogTest::told() {
  std::vector<std::string> lines;
  for (const Chain& chain : chains()) {
    EXPECT_EQ(verify(chain).fault, "");
    for (const Segment& segment : chain.segments) {
      for (const DeliveryEntry& entry : segment.spec.entries) {
        if (entry.what == "target") continue;
        std::string line = entry.what;
        for (const std::string& word : {entry.environment, entry.version}) line += word.empty() ? "" : " " + word;
        lines.push_back(line);
      }
    }
  }
  return lines;
}

}  // namespace slipway::pipeline_log_test
