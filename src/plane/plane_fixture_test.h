// For tests of families: a process in virtual time, its disk in memory, that can be killed and started again; and one that is a
// whole plane, which is an API server with its controllers.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/manual_env.h"
#include "plane/plane.h"
#include "store/memory_vfs.h"

namespace slipway::plane {

/// Prints what goes wrong where SLIPWAY_TEST_LOG is set.
class TestLog : public Log {
 public:
  void write(LogLevel, std::string_view text, Fields fields) override {
    if (std::getenv("SLIPWAY_TEST_LOG") == nullptr) return;
    fmt::print("log: {}", text);
    for (const auto& [key, value] : fields) fmt::print(" {}={}", key, value);
    fmt::print("\n");
  }
};

class RestartFixture : public testing::Test {
 public:
  void SetUp() override { open(); }
  void TearDown() override { close(); }
  /// Starts the process. What it is made of goes with close(), before `env_` does.
  virtual void open() = 0;
  virtual void close() = 0;
  /// The process is killed and started again over the same disk.
  virtual void restart() {
    kill();
    open();
  }
  void advance(Duration time) { env_->advance(time); }

 protected:
  /// What was not synced is lost; time stands still meanwhile.
  void kill() {
    const Time now = env_->now();
    close();
    disk_.kill();
    env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.start = now, .vfs = disk_.vfs(), .log = &log_});
  }

  store::MemoryVfs disk_;
  TestLog log_;
  std::unique_ptr<ManualEnv> env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs(), .log = &log_});
};

class PlaneFixture : public RestartFixture {
 public:
  void close() override {
    env_->drop_all();
    controllers_.reset();
    api_.reset();
  }

 protected:
  void serve(ApiServer::Options options) {
    auto api = env_->run(ApiServer::open(*env_, std::move(options)));
    ASSERT_TRUE(api) << api.error().message;
    api_ = std::move(*api);
  }
  void control(client::Client& client, const Controllers::Options& options) {
    controllers_ = std::make_unique<Controllers>(env_->env(), client, options);
    controllers_->start();
  }

  /// Null when absent.
  json::Value get_in(const std::string& ns, const kube::Resource& resource, const std::string& name) {
    auto found = env_->run(client::get(api_->server(), resource, {ns, name}));
    return found ? *found : json::Value();
  }
  std::vector<json::Value> list_in(const std::string& ns, const kube::Resource& resource) {
    auto found = env_->run(client::list(api_->server(), resource, {.ns = ns, .label_selector = "", .field_selector = ""}));
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    std::vector<json::Value> items;
    if (found) items.assign((*found)["items"].items().begin(), (*found)["items"].items().end());
    return items;
  }
  void remove_in(const std::string& ns, const kube::Resource& resource, const std::string& name) {
    auto gone = env_->run(client::remove(api_->server(), resource, {ns, name}));
    EXPECT_TRUE(gone) << (gone ? "" : gone.error().message);
  }

  std::unique_ptr<ApiServer> api_;
  std::unique_ptr<Controllers> controllers_;
};

}  // namespace slipway::plane
