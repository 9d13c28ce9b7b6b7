// The commands of pipelines against a whole API server in virtual time, as users whom authentication knows: admission and
// RBAC are the real ones. No controllers run; statuses are written by hand.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/manual_env.h"
#include "delivery/pipeline/commands.h"
#include "delivery/pipeline/kind.h"
#include "json/text.h"
#include "plane/plane.h"
#include "store/memory_vfs.h"

namespace slipway::pipeline_test {

using json::Value;
namespace pipeline = delivery::pipeline;

inline Value yaml(const std::string& text) { return json::parse_yaml(text).value(); }

/// Each of its requests is `user`'s.
class ClientOf : public client::Client {
 public:
  ClientOf(client::Client& server, std::string user, std::vector<std::string> groups) : server_(server) {
    groups.emplace_back("system:authenticated");
    user_ = std::make_shared<kube::UserInfo>(
        kube::UserInfo{.name = std::move(user), .uid = "", .groups = std::move(groups), .extra = {}});
  }
  Task<Result<client::Reply>> call(client::Request request) override {
    request.user = user_;
    co_return co_await server_.call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    request.user = user_;
    co_return co_await server_.watch(std::move(request));
  }

 private:
  client::Client& server_;
  std::shared_ptr<const kube::UserInfo> user_;
};

/// `slipway pipeline VERB WORDS… --NAME VALUE…` through a client. What it prints, notes in parentheses; of a failure
/// "REASON: MESSAGE".
std::string run_command(ManualEnv& env, client::Client& client, const std::string& ns, const std::string& verb,
                        const std::vector<std::string>& words, const std::map<std::string, std::string>& options,
                        HttpClient* http = nullptr);

class PipelineCommands : public testing::Test {
 public:
  void SetUp() override;
  void TearDown() override;

  client::Client& server() { return api_->server(); }
  Result<Value> apply(const kube::Resource& resource, const std::string& text, const std::string& ns = "shop");
  Result<Value> get(const kube::Resource& resource, const std::string& name, const std::string& ns = "shop");
  std::vector<Value> list(const kube::Resource& resource, const std::string& ns = "shop");
  void write_status(const kube::Resource& resource, const std::string& name, const std::string& status);
  /// A Role of that name, bound to the user of that name.
  void grant(const std::string& user, const std::string& resources, const std::string& verbs);
  /// A ClusterRole in namespace shop.
  void bind(const std::string& user, const std::string& role);

  /// run_command() as that user; empty: as the process itself.
  std::string run(const std::string& user, const std::string& verb, const std::vector<std::string>& words,
                  const std::map<std::string, std::string>& options = {});
  /// The only object of a kind.
  Value only(const kube::Resource& resource);

  /// Pipeline web: dev, staging and prod; 1.1.0 in dev and staging, 1.0.0 in prod. With its two releases.
  void make_web();

 protected:
  store::MemoryVfs disk_;
  ManualEnv env_{ManualEnv::Options{.vfs = disk_.vfs()}};
  std::unique_ptr<plane::ApiServer> api_;
};

}  // namespace slipway::pipeline_test
