// A whole plane in virtual time, its disk in memory: store, server, controllers and simulated pods. Time moves only when
// nothing else is left to do, so that delays that are not asked for do not exist.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/manual_env.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/workflow.h"
#include "json/text.h"
#include "kube/object.h"
#include "kube/well_known.h"
#include "plane/plane.h"
#include "plane/store_view.h"
#include "store/memory_vfs.h"

namespace slipway::jobflow_test {

using delivery::jobflow::kJobs;
using delivery::jobflow::kStepSets;
using delivery::jobflow::kWorkflows;
using json::Value;
using kube::ObjectKey;

using kube::kEvents;
using kube::kPods;

inline Value yaml(std::string_view text) {
  auto value = json::parse_yaml(text, {.max_bytes = std::size_t{64} << 20});
  if (!value) ADD_FAILURE() << value.error().message << "\n" << text.substr(0, 2000);
  return value ? *value : Value();
}

/// A template whose pods run as long, and end as, the annotations say.
inline std::string job(std::string_view annotations = "", std::string_view spec = "") {
  return fmt::format(
      "{{spec: {{backoffLimit: 0, {}template: {{metadata: {{annotations: {{{}}}}}, spec: {{restartPolicy: Never, containers: "
      "[{{name: m, image: i}}]}}}}}}}}",
      spec, annotations);
}

class PlaneTest : public testing::Test {
 public:
  void SetUp() override { open(); }
  void TearDown() override { close(); }

  void open() {
    plane::ApiServer::Options options;
    options.store.path = "/data/cluster.db";
    auto api = env_->run(plane::ApiServer::open(*env_, options));
    ASSERT_TRUE(api) << api.error().message;
    api_ = std::move(*api);
    controllers_ = std::make_unique<plane::Controllers>(env_->env(), api_->server(),
                                                        plane::Controllers::Options{plane::PodRuntimeKind::Simulated, "", {}});
    controllers_->start();
  }
  void close() {
    env_->drop_all();
    controllers_.reset();
    api_.reset();
  }
  /// The process is killed and started again over the same file.
  void restart() {
    const Time now = env_->now();
    close();
    disk_.kill();
    env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.seed = ++seed_, .start = now, .vfs = disk_.vfs()});
    open();
  }

  server::Server& server() { return api_->server(); }
  Time now() const { return env_->now(); }
  void advance(Duration time) { env_->advance(time); }

  Result<Value> create(const kube::Resource& resource, Value object) {
    return env_->run(client::create(server(), resource, std::move(object), "tester"));
  }
  /// A workflow in namespace default.
  Value make(std::string_view name, std::string_view spec) {
    auto made = create(
        kWorkflows,
        yaml(fmt::format(
            "{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {{name: {}, namespace: default}}, spec: {}}}",
            name, spec)));
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? *made : Value();
  }
  Value get(const kube::Resource& resource, const std::string& name) {
    auto object = env_->run(client::get(server(), resource, {"default", name}));
    return object ? *object : Value();
  }
  Value workflow(const std::string& name) { return get(kWorkflows, name); }
  std::vector<Value> list(const kube::Resource& resource) {
    auto found = env_->run(client::list(server(), resource, {.ns = "default", .label_selector = "", .field_selector = ""}));
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    std::vector<Value> out;
    if (found) out.assign((*found)["items"].items().begin(), (*found)["items"].items().end());
    return out;
  }
  Result<Value> patch(const std::string& name, std::string_view spec) {
    return env_->run(
        client::merge_patch(server(), kWorkflows, {"default", name}, json::object({{"spec", yaml(spec)}}), "tester"));
  }
  void remove(const std::string& name, const std::string& propagation = "Background") {
    auto gone = env_->run(client::remove(server(), kWorkflows, {"default", name},
                                         {.propagation = propagation, .uid = "", .resource_version = "", .grace_seconds = {}}));
    EXPECT_TRUE(gone) << (gone ? "" : gone.error().message);
  }

  static bool has_ended(const Value& workflow) {
    return kube::is_true(workflow, "Complete") || kube::is_true(workflow, "Failed");
  }
  /// The newest durable state, read at once.
  Value peek(const std::string& name) {
    const plane::StoreView view(server(), api_->store(), now());
    return view.find(json::object(
        {{"apiVersion", "batch.slipway.dev/v1alpha1"}, {"kind", "Workflow"}, {"namespace", "default"}, {"name", name}}));
  }
  /// Runs until the workflow has ended, and no further; its last state.
  Value end_of(const std::string& name, Duration limit = std::chrono::hours{24}) {
    kube::Revision seen = 0;
    const bool ended = env_->run_until(
        [&] {
          if (api_->store().revision() == seen) return false;
          seen = api_->store().revision();
          return has_ended(peek(name));
        },
        limit);
    const Value found = peek(name);
    EXPECT_TRUE(ended) << name << ": " << json::print_pretty(found["status"]).substr(0, 3000);
    return found;
  }
  /// Reasons of the events about an object, sorted.
  std::vector<std::string> events_about(const std::string& name) {
    std::vector<std::string> reasons;
    for (const Value& event : list(kEvents)) {
      if (event["involvedObject"]["name"].as_string() == name && event["involvedObject"]["kind"].as_string() == "Workflow") {
        reasons.push_back(event["reason"].str());
      }
    }
    std::ranges::sort(reasons);
    return reasons;
  }
  /// "step/attempt" of all Jobs, sorted.
  std::vector<std::string> attempts() {
    std::vector<std::string> out;
    for (const Value& one : list(kJobs)) {
      out.push_back(fmt::format("{}/{}", kube::annotation(one, delivery::jobflow::kStepAnnotation),
                                kube::annotation(one, delivery::jobflow::kAttemptAnnotation)));
    }
    std::ranges::sort(out);
    return out;
  }
  static std::string phase(const Value& workflow, std::string_view step) {
    return workflow["status"]["statuses"][step]["phase"].str();
  }
  static std::string reason(const Value& workflow, std::string_view step) {
    return workflow["status"]["statuses"][step]["reason"].str();
  }

 protected:
  store::MemoryVfs disk_;
  std::uint64_t seed_ = 1;  // of the process that runs: another one draws other uids
  std::unique_ptr<ManualEnv> env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs()});
  std::unique_ptr<plane::ApiServer> api_;
  std::unique_ptr<plane::Controllers> controllers_;
};

}  // namespace slipway::jobflow_test
