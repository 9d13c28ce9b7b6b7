#include "promotion_fixture.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/family.h"
#include "delivery/pipeline/promotion_controller.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::pipeline_test {
namespace {

using namespace delivery::pipeline;

kube::Resource resource_of(const Value& object) {
  const auto kind = kube::GroupVersionKind::of(object);
  std::string plural = kind->kind + "s";
  std::ranges::transform(plural, plural.begin(), [](unsigned char c) { return std::tolower(c); });
  return {kind->group, kind->version, plural};
}

Value object_in(std::string_view yaml) {
  auto object = json::parse_yaml(yaml);
  EXPECT_TRUE(object) << (object ? "" : object.error().message) << "\n" << yaml;
  if (!object) return {};
  return kube::ns(*object).empty() ? object->with_path({"metadata", "namespace"}, "default") : *object;
}

EnvironmentStatus status_at(const std::string& version) {
  EnvironmentStatus status;
  for (const char* ns : {"eu", "us"}) {
    TargetStatus target;
    target.app = {.api_version = "helm.toolkit.fluxcd.io/v2", .kind = "HelmRelease", .name = "web", .cluster = std::nullopt};
    target.ns = ns;
    target.is_ready = true;
    target.revision = version;
    target.state = State::Settled;
    target.specified = target.attempted = target.running = {.text = version, .digest = "", .time = std::nullopt};
    status.targets.push_back(std::move(target));
  }
  status.version = status.targets.front().running;
  status.target_count = status.ready_count = 2;
  status.states["settled"] = 2;
  status.versions[version] = 2;
  return status;
}

}  // namespace

Task<ChangeResult> PaperChanges::carry_out(ChangeTools tools, PromotionEffect::Kind kind, ChangeOrder order) {
  calls.push_back(fmt::format("{} {}", order.environment, order.release.version));
  if (instead) {
    if (auto answer = instead(kind, order)) co_return *answer;
  }
  if (order.status.strategy != "commit" || !is_on_paper)
    co_return co_await delivery::pipeline::changes().carry_out(tools, kind, order);
  const std::string what = fmt::format("{} {}", order.environment, order.release.version);
  if (by_key.emplace(order.key, what).second) {
    made.push_back(what);
    wanted[order.environment] = order.release.version;
  }
  co_return ChangeState{.stage = ChangeState::Stage::Made, .commit = "c-" + order.key};
}

void PromotionTest::open() {
  git_ = std::make_unique<git::Repositories>(env_->env(), std::vector<Lane*>{&env_->env().compute},
                                             std::vector<Lane*>{&env_->env().compute},
                                             git::RepositoriesOptions{.folder = folder_ / "mirrors"});
  env_->env().git = git_.get();
  family_ = delivery::pipeline::family();
  family_.controllers = [this](const delivery::ControllerContext& context) {
    std::vector<std::unique_ptr<control::Controller>> made;
    made.push_back(std::make_unique<PromotionController>(context, changes_, viewed_));
    return made;
  };
  plane::ApiServer::Options options;
  options.store.path = "/data/cluster.db";
  options.families = families_;
  serve(std::move(options));
  plane::Controllers::Options controllers;
  controllers.pods = plane::PodRuntimeKind::None;
  controllers.http = &web_;
  controllers.families = families_;
  control(api_->server(), controllers);
}

void PromotionTest::close() {
  PlaneFixture::close();
  git_.reset();
}

Value PromotionTest::apply(std::string_view yaml) {
  const Value object = object_in(yaml);
  auto applied = env_->run(client::apply(api_->server(), resource_of(object), object, "tester"));
  EXPECT_TRUE(applied) << (applied ? "" : applied.error().message);
  return applied ? *applied : Value();
}

Value PromotionTest::apply_as(const std::string& user, std::string_view yaml) {
  client::Request request;
  request.verb = client::Verb::Create;
  request.body = object_in(yaml);
  request.resource = resource_of(request.body);
  request.ns = "default";
  kube::UserInfo who;
  who.name = user;
  who.groups = {"system:masters"};
  request.user = std::make_shared<const kube::UserInfo>(who);
  auto reply = env_->run(api_->server().call(std::move(request)));
  EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
  return reply ? reply->object : Value();
}

void PromotionTest::pipeline(std::string_view more, std::string_view of_prod) {
  const auto environment = [](std::string_view name, std::string_view rest) {
    return fmt::format("{{name: {0}, targets: [{{namespace: {0}-eu}}, {{namespace: {0}-us}}]{1}{2}}}", name,
                       rest.empty() ? "" : ", ", rest);
  };
  apply(fmt::format(
      R"(
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {{name: web}}
spec:
  appRef: {{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: web}}
  environments: [{}, {}, {}]
  {}
)",
      environment("dev", ""), environment("staging", ""), environment("prod", of_prod),
      more.empty() ? "promotion: {strategy: {commit: {url: 'https://git.test/config.git', baseBranch: main}}}" : more));
  write_status();
}

void PromotionTest::write_status() {
  auto now = env_->run(client::get(api_->server(), kPipelines, {"default", "web"}));
  ASSERT_TRUE(now) << now.error().message;
  PipelineStatus status;
  status.observed_generation = kube::generation(*now);
  for (const auto& [name, version] : runs_) status.environments[name] = status_at(version);
  auto written =
      env_->run(client::update_status(api_->server(), kPipelines, now->with("status", json::encode(status)), "tester"));
  ASSERT_TRUE(written) << written.error().message;
  advance(seconds{1});
}

void PromotionTest::settle(const std::string& environment, const std::string& version) {
  runs_[environment] = version;
  write_status();
}

void PromotionTest::follow() {
  bool is_changed = false;
  for (const auto& [environment, version] : changes_.wanted) {
    is_changed |= runs_[environment] != version;
    runs_[environment] = version;
  }
  if (is_changed) write_status();
}

void PromotionTest::run() {
  for (int i = 0; i < 20; ++i) {
    advance(seconds{1});
    follow();
  }
}

std::string PromotionTest::release(const std::string& version) {
  for (const Value& one : list(kReleases)) {
    if (one["spec"]["version"].as_string() == version) return std::string(kube::name(one));
  }
  return "";
}

Value PromotionTest::promotion(const std::string& environment, const std::string& version) {
  const std::string name = release(version);
  Value found;
  for (const Value& one : list(kPromotions)) {
    const bool is_it = one["spec"]["environment"].as_string() == environment && one["spec"]["release"].as_string() == name;
    if (is_it && (found.is_null() || found["spec"]["attempt"].as_int() < one["spec"]["attempt"].as_int())) found = one;
  }
  return found;
}

std::string PromotionTest::state(const std::string& environment, const std::string& version) {
  const Value found = promotion(environment, version);
  if (found.is_null()) return "";
  const Value& phase = found["status"]["phase"];
  return fmt::format("{} {}", phase.is_null() ? "Waiting" : phase.as_string(), found["status"]["reason"].as_string());
}

std::vector<std::string> PromotionTest::events(const std::string& reason) {
  std::vector<std::string> found;
  for (const Value& one : list(kube::kEvents)) {
    if (one["reason"].as_string() != reason) continue;
    found.push_back(fmt::format("{} {} {}: {}", one["type"].as_string(),
                                one["metadata"]["annotations"]["environment"].as_string(),
                                one["metadata"]["annotations"]["version"].as_string(), one["message"].as_string()));
  }
  return found;
}

}  // namespace slipway::pipeline_test
