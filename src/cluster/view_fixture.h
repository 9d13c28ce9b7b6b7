// Tests of what is explained: the rows of this room over a test's cluster.
#pragma once

#include <string>
#include <vector>

#include "cluster/explain.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {

/// What explain rows may see of the test's cluster.
class TestView : public control::View {
 public:
  TestView(std::vector<json::Value> objects, Time now) : objects_(std::move(objects)), now_(now) {}
  json::Value find(const json::Value& reference) const override {
    for (const json::Value& object : objects_) {
      if (object["kind"] == reference["kind"] && kube::name(object) == reference["name"].as_string()) return object;
    }
    return {};
  }
  std::vector<json::Value> owned_by(const json::Value& owner, const kube::GroupVersionKind& kind) const override {
    std::vector<json::Value> owned;
    for (const json::Value& object : objects_) {
      if (kube::kind(object) == kind.kind && kube::is_owned_by(object, kube::uid(owner))) owned.push_back(object);
    }
    return owned;
  }
  Time now() const override { return now_; }

 private:
  std::vector<json::Value> objects_;
  Time now_;
};

class ViewTest : public ClusterTest {
 protected:
  /// Why the object stands as it does, as text; empty when it waits for nothing.
  std::string why(const kube::Resource& resource, const std::string& name) {
    std::vector<json::Value> objects;
    for (const json::Value& pod : list(kPods)) objects.push_back(pod.with("kind", "Pod").with("apiVersion", "v1"));
    const TestView view(objects, env_.clock().now());
    return control::print(control::explain(explain_rows(), get(resource, name), "", view), env_.clock().now());
  }
};

}  // namespace slipway::cluster
