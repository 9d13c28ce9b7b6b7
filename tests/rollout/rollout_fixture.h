// Rollouts on a whole plane in virtual time: store, server, the cluster's controllers and simulated pods, its disk in memory.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/manual_env.h"
#include "delivery/rollout/kind.h"
#include "json/text.h"
#include "kube/object.h"
#include "kube/well_known.h"
#include "plane/plane.h"
#include "plane/store_view.h"
#include "store/memory_vfs.h"

namespace slipway::rollout_test {

using delivery::rollout::kTraits;
using json::Value;
using kube::kDeployments;
using std::chrono::minutes;
using std::chrono::seconds;

/// A pod that is ready after a second; `more` are annotations of the template.
struct Version {
  std::string image = "web:1";
  std::string annotations{};
};
/// A bad one: its container ends as soon as it starts.
inline const Version kBad{"web:bad", "slipway.dev/exit-code: '1'"};

/// Prints what goes wrong where SLIPWAY_TEST_LOG is set.
class TestLog : public Log {
 public:
  void write(LogLevel level, std::string_view text, Fields fields) override;
};

class RolloutTest : public testing::Test {
 public:
  void SetUp() override { open(); }
  void TearDown() override { close(); }

  void open();
  void close();
  /// The process is killed and started again over the same file.
  void restart();

  Result<Value> apply(std::string_view yaml);
  Value get(const kube::Resource& resource, const std::string& name);
  std::vector<Value> list(const kube::Resource& resource);
  Result<Value> patch(const kube::Resource& resource, const std::string& name, std::string_view yaml,
                      const std::string& manager = "tester");
  void remove(const kube::Resource& resource, const std::string& name);
  void advance(Duration time) { env_->advance(time); }

  void deployment(const std::string& name, std::int64_t replicas, const Version& version = {});
  /// A RolloutTrait "r" of Deployments; `plan` is YAML in flow style.
  void rollout(const std::string& target, const std::vector<std::string>& sources, std::string_view plan);
  Value status() { return get(kTraits, "r")["status"]; }
  std::string state() { return status()["rollingState"].str(); }
  std::int64_t size(const std::string& deployment) { return get(kDeployments, deployment)["spec"]["replicas"].as_int(); }
  /// "web-v1 8, web-v2 2": the sizes asked for.
  std::string sizes();
  /// Whether that holds within `limit`; looked at every second.
  bool until(const std::function<bool()>& holds, Duration limit = minutes{30});
  bool until_state(std::string_view state, Duration limit = minutes{30}) {
    return until([&] { return this->state() == state; }, limit);
  }

 protected:
  store::MemoryVfs disk_;
  TestLog log_;
  std::unique_ptr<ManualEnv> env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs(), .log = &log_});
  std::unique_ptr<plane::ApiServer> api_;
  std::unique_ptr<plane::Controllers> controllers_;
};

}  // namespace slipway::rollout_test
