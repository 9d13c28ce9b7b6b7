// A cluster of plain objects for tests of traffic: applies changes as a server would.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "delivery/rollout/traffic.h"

namespace slipway::delivery::rollout {

class Cluster {
 public:
  Cluster() = default;
  /// YAML documents.
  explicit Cluster(const std::string& yaml);

  const Objects& objects() const { return objects_; }
  void put(const kube::Object& object);
  /// Fails the test when a change does not apply, or a patch does not test the resourceVersion.
  void apply(const std::vector<Change>& changes);
  /// Without resourceVersions.
  Objects plain() const;
  std::string yaml() const;

 private:
  Objects objects_;
  std::int64_t revision_ = 1;
};

/// The YAML of one object.
kube::Object from_yaml(const std::string& text);
/// Service web in shop, from web-primary to web-canary.
Route route_of(const std::string& provider);
/// Applies a split; fails the test when it is refused or when asking again writes again.
void shift_to(Cluster& cluster, const Route& route, const Split& split);
/// What restore() would leave.
Cluster restored(Cluster cluster, const Route& route, bool target_stays = false);

/// Sections of a txtar file in tests/golden/traffic, in their order: "-- NAME --" and what follows.
using Sections = std::vector<std::pair<std::string, std::string>>;
/// All files there are, by provider.
std::vector<std::pair<std::string, Sections>> traffic_goldens();
/// Fails the test when they differ from the file, unless SLIPWAY_UPDATE is set: then rewrites it.
void expect_golden(const std::string& file, const Sections& sections);
/// The route and the objects that a file begins with.
Route golden_route(const Sections& sections);
Cluster golden_cluster(const Sections& sections);

}  // namespace slipway::delivery::rollout
