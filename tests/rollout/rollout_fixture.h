// Rollouts on a whole plane in virtual time: store, server, the cluster's controllers and simulated pods, its disk in memory.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/probe/paper_test.h"
#include "delivery/rollout/kind.h"
#include "json/text.h"
#include "kube/object.h"
#include "kube/well_known.h"
#include "plane/plane_fixture_test.h"
#include "plane/store_view.h"

namespace slipway::rollout_test {

using delivery::rollout::kTraits;
using json::Value;
using kube::kDeployments;
using std::chrono::minutes;
using std::chrono::seconds;

/// What a template says: its pods are ready two seconds after they start.
struct Version {
  std::string image = "web:1";
  std::string annotations = "slipway.dev/ready-after: 2s";
};
inline const Version kBad{"web:bad", "slipway.dev/ready-after: never"};

class RolloutTest : public plane::PlaneFixture {
 public:
  void open() override;

  Result<Value> apply(std::string_view yaml);
  Value get(const kube::Resource& resource, const std::string& name) { return get_in("default", resource, name); }
  std::vector<Value> list(const kube::Resource& resource) { return list_in("default", resource); }
  Result<Value> patch(const kube::Resource& resource, const std::string& name, std::string_view yaml,
                      const std::string& manager = "tester");
  void remove(const kube::Resource& resource, const std::string& name) { remove_in("default", resource, name); }

  void deployment(const std::string& name, std::int64_t replicas, const Version& version = {});
  /// A RolloutTrait "r" of Deployments; `plan` is YAML in flow style.
  void rollout(const std::string& target, const std::vector<std::string>& sources, std::string_view plan);
  Value status() { return get(kTraits, "r")["status"]; }
  std::string state() { return status()["rollingState"].str(); }
  std::int64_t size(const std::string& deployment) { return get(kDeployments, deployment)["spec"]["replicas"].as_int(); }
  /// "web-v1 8, web-v2 2": the sizes asked for.
  std::string sizes();
  /// Whether that holds within `limit`; looked at after each change of the store, and no further.
  bool until(const std::function<bool()>& holds, Duration limit = minutes{30});
  bool until_state(std::string_view state, Duration limit = minutes{30});
  bool until_batch(std::int64_t batch, std::string_view state, Duration limit = minutes{30});
  /// The newest durable state, read at once: for until() and always_.
  Value peek(std::string_view api_version, std::string_view kind, std::string_view name);
  Value peek_status() { return peek("standard.oam.dev/v1alpha1", "RolloutTrait", "r")["status"]; }
  std::int64_t peek_size(std::string_view deployment) {
    return peek("apps/v1", "Deployment", deployment)["spec"]["replicas"].as_int();
  }
  std::int64_t ready_pods();
  /// Condition of the rollout: "True Reason".
  std::string condition(std::string_view type);

  /// What `why` prints of it.
  std::string why(const kube::Resource& resource, const std::string& name);

  /// Looked at after each change of the store while until() runs: what must always hold; empty while it does.
  std::function<std::string()> always_{};

 protected:
  delivery::probe::PaperWeb web_;
};

}  // namespace slipway::rollout_test
