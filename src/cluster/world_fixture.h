// For the tests of this room: a whole cluster in one thread and virtual time, with the real store and server under the
// controllers.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/manual_env.h"
#include "cluster/admission.h"
#include "cluster/cluster.h"
#include "cluster/names.h"
#include "cluster/simulated_runtime.h"
#include "json/text.h"
#include "server/server.h"
#include "store/memory_vfs.h"

namespace slipway::cluster {

class ClusterTest : public testing::Test {
 protected:
  explicit ClusterTest(Processes* processes = nullptr, Lane* commits = nullptr, Files* files = nullptr)
      : env_(ManualEnv::Options{.vfs = disk_.vfs(), .commits = commits, .files = files, .processes = processes}) {}
  ~ClusterTest() override { stop(); }

  /// Opens the store and starts server and controllers; again after stop().
  void start();
  /// The process is gone; what was acknowledged stays.
  void stop();
  void restart() {
    stop();
    start();
  }

  json::Value make(const kube::Resource& resource, const std::string& yaml);
  json::Value create(const kube::Resource& resource, json::Value object);
  /// Null when absent.
  json::Value get(const kube::Resource& resource, const std::string& name, const std::string& ns = "default");
  std::vector<json::Value> list(const kube::Resource& resource, const std::string& ns = "default");
  void patch(const kube::Resource& resource, const std::string& name, const std::string& json,
             const std::string& subresource = "");
  void remove(const kube::Resource& resource, const std::string& name, const std::string& propagation = "Background",
              const std::string& ns = "default");
  /// Runs everything that is due within `duration`.
  void advance(Duration duration) { env_.advance(duration); }
  /// Lets everything that needs no time happen.
  void settle() { env_.run_until_idle(); }
  kube::Revision revision() const { return store_->revision(); }
  /// What a test that dies at many points multiplies its stride with: a quarter of SLIPWAY_SIM_EVERY, at least 1.
  static std::uint64_t thinning();

  std::size_t nodes_ = 1;  // of the cluster, from the first start()
  store::MemoryVfs disk_;
  ManualEnv env_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<PodRuntime> pods_;
  std::unique_ptr<control::OneCluster> clusters_;
  std::unique_ptr<control::Runtime> runtime_;
  /// Makes the pod runtime; replaced by tests of another one.
  std::function<std::unique_ptr<PodRuntime>(ClusterTest&)> make_pods_ = [](ClusterTest& test) {
    return std::make_unique<SimulatedRuntime>(test.env_);
  };
};

/// A Job with one container; `more` are further lines of spec, indented by two.
std::string job_yaml(const std::string& name, const std::string& more = "", const std::string& annotations = "");

}  // namespace slipway::cluster
