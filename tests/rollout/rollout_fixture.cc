#include "rollout_fixture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipway::rollout_test {

void RolloutTest::open() {
  plane::ApiServer::Options options;
  options.store.path = "/data/cluster.db";
  serve(std::move(options));
  plane::Controllers::Options controllers{plane::PodRuntimeKind::Simulated, "", {}};
  controllers.http = &web_;
  control(api_->server(), controllers);
}

Result<Value> RolloutTest::apply(std::string_view yaml) {
  auto object = json::parse_yaml(yaml);
  EXPECT_TRUE(object) << (object ? "" : object.error().message) << "\n" << yaml;
  if (!object) return fail(object.error());
  const auto kind = kube::GroupVersionKind::of(*object);
  const bool has_es = kind->kind.ends_with("ss");
  const std::string plural = fmt::format("{}{}", kind->kind, has_es ? "es" : "s");
  std::string lowered = plural;
  std::ranges::transform(lowered, lowered.begin(), [](unsigned char c) { return std::tolower(c); });
  const kube::Resource resource{kind->group, kind->version, lowered};
  if (kube::ns(*object).empty()) *object = object->with_path({"metadata", "namespace"}, "default");
  auto applied = env_->run(client::apply(api_->server(), resource, *object, "tester"));
  EXPECT_TRUE(applied) << (applied ? "" : applied.error().message);
  return applied;
}

Result<Value> RolloutTest::patch(const kube::Resource& resource, const std::string& name, std::string_view yaml,
                                 const std::string& manager) {
  auto body = json::parse_yaml(yaml);
  EXPECT_TRUE(body);
  return env_->run(client::merge_patch(api_->server(), resource, {"default", name}, *body, manager));
}

void RolloutTest::deployment(const std::string& name, std::int64_t replicas, const Version& version) {
  apply(
      fmt::format("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {0}}}, spec: {{replicas: {1}, selector: "
                  "{{matchLabels: {{app: web, version: {0}}}}}, template: {{metadata: {{labels: {{app: web, version: {0}}}, "
                  "annotations: {{{3}}}}}, spec: {{containers: [{{name: main, image: '{2}'}}]}}}}}}}}",
                  name, replicas, version.image, version.annotations));
}

void RolloutTest::rollout(const std::string& target, const std::vector<std::string>& sources, std::string_view plan) {
  std::vector<std::string> references;
  for (const std::string& source : sources) {
    references.push_back(fmt::format("{{apiVersion: apps/v1, kind: Deployment, name: {}}}", source));
  }
  apply(
      fmt::format("{{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {{name: r}}, spec: {{targetRef: "
                  "{{apiVersion: apps/v1, kind: Deployment, name: {}}}, sourceRef: [{}], rolloutPlan: {}}}}}",
                  target, fmt::join(references, ", "), plan));
}

std::string RolloutTest::sizes() {
  std::vector<std::string> parts;
  for (const Value& one : list(kDeployments)) {
    parts.push_back(fmt::format("{} {}", kube::name(one), one["spec"]["replicas"].as_int()));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool RolloutTest::until(const std::function<bool()>& holds, Duration limit) {
  kube::Revision seen = -1;
  std::string broken;
  const bool held = env_->run_until(
      [&] {
        if (api_->store().revision() == seen) return false;
        seen = api_->store().revision();
        if (always_ && broken.empty()) broken = always_();
        return !broken.empty() || holds();
      },
      limit);
  EXPECT_EQ(broken, "") << json::print_pretty(peek_status());
  return held && broken.empty();
}

bool RolloutTest::until_state(std::string_view state, Duration limit) {
  const bool reached = until([&] { return peek_status()["rollingState"].as_string() == state; }, limit);
  EXPECT_TRUE(reached) << sizes() << "\n" << json::print_pretty(status());
  return reached;
}

bool RolloutTest::until_batch(std::int64_t batch, std::string_view state, Duration limit) {
  const bool reached = until(
      [&] {
        const Value now = peek_status();
        return now["currentBatch"].as_int() == batch && now["batchRollingState"].as_string() == state &&
               now["rollingState"].as_string() == "rollingInBatches";
      },
      limit);
  EXPECT_TRUE(reached) << sizes() << "\n" << json::print_pretty(status());
  return reached;
}

Value RolloutTest::peek(std::string_view api_version, std::string_view kind, std::string_view name) {
  const plane::StoreView view(api_->server(), api_->store(), env_->now());
  return view.find(json::object({{"apiVersion", api_version}, {"kind", kind}, {"namespace", "default"}, {"name", name}}));
}

std::int64_t RolloutTest::ready_pods() {
  return std::ranges::count_if(list(kube::kPods),
                               [](const Value& pod) { return !kube::is_deleting(pod) && kube::is_true(pod, "Ready"); });
}

std::string RolloutTest::condition(std::string_view type) {
  const Value found = kube::condition(get(kTraits, "r"), type);
  return found.is_null() ? "" : fmt::format("{} {}", found["status"].as_string(), found["reason"].as_string());
}

std::string RolloutTest::why(const kube::Resource& resource, const std::string& name) {
  const plane::StoreView view(api_->server(), api_->store(), env_->now());
  return control::print(control::explain(plane::explain_rows(), get(resource, name), "", view), env_->now());
}

}  // namespace slipway::rollout_test
