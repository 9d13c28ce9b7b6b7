// An API server with the kinds of pipelines and the controller that writes their logs, in virtual time. Statuses are written by
// the test, as the other controllers of the room would.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "delivery/family.h"
#include "delivery/pipeline/delivery_log.h"
#include "delivery/pipeline/kind.h"
#include "json/text.h"
#include "plane/plane_fixture_test.h"

namespace slipway::pipeline_log_test {

using delivery::pipeline::kApprovals;
using delivery::pipeline::kDeliveryLogs;
using delivery::pipeline::kHolds;
using delivery::pipeline::kPipelines;
using delivery::pipeline::kReleases;
using json::Value;
using kube::Object;
using kube::ObjectKey;

/// The definitions and the controller of logs alone.
const delivery::Family& log_family();

Value yaml(std::string_view text);

class LogTest : public plane::PlaneFixture {
 public:
  void open() override;
  /// As restart(), with the server alone: no controller looks at pipelines.
  void restart_server();
  /// The controllers, over `client`, which outlives close().
  void look_through(client::Client& client);

  client::Client& server() { return api_->server(); }
  Env& env() { return env_->env(); }
  Time now() const { return env_->now(); }
  template <class T>
  T run(Task<T> task) {
    return env_->run(std::move(task));
  }

  Object create(const kube::Resource& resource, std::string_view text);
  Object get(const kube::Resource& resource, const std::string& name) { return get_in("apps", resource, name); }
  std::vector<Object> list(const kube::Resource& resource) { return list_in("apps", resource); }
  void remove(const kube::Resource& resource, const std::string& name);
  /// podinfo over dev, stage and prod.
  Object make_pipeline(std::string_view metadata = "");
  /// Both targets of an environment of podinfo are ready at `version`, or in `state`.
  void write_status(const std::string& environment, const std::string& version, const std::string& state = "settled");
  std::vector<delivery::pipeline::Chain> chains();
  /// "observed prod 1.2.0" of all entries but those of targets, by chain and order.
  std::vector<std::string> told();

 private:
  void open_server();

 protected:
  std::string path_ = "/data/cluster.db";
  std::vector<const delivery::Family*> families_{&log_family()};
};

}  // namespace slipway::pipeline_log_test
