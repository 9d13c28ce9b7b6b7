// How the replicas of a component are spread over clusters that labels choose: the arithmetic of the step
// open-cluster-management. Pure.
//
//   placement: [{clusterSelector: {region: east}, replicas: "70%"}, {clusterSelector: {region: west}, replicas: "20%"}]
//   clusters east-1, east-2, east-3 (region=east), west-1 (region=west); 10 replicas declared
//   → the first entry runs 7: east-1 3, east-2 2, east-3 2; the second 2: west-1 2; one replica runs nowhere
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "delivery/application/policy.h"
#include "json/value.h"

namespace slipway::delivery::application {

struct ShareEntry {
  std::map<std::string, std::string> selector;  // a cluster must have all of these labels
  std::optional<std::int64_t> percent;          // of the declared replicas; nothing: each cluster runs them all

  std::string name() const;  // "region=east,tier=a"; "everything" without labels
};

/// From `placement` of the step's properties. Errors: Invalid with the place, for shares that are no whole percentage and for
/// shares of more than 100 % together.
Result<std::vector<ShareEntry>> read_shares(const json::Value& placement);

/// The clusters of each entry, by name. A cluster belongs to the first entry that matches it.
std::vector<std::vector<std::string>> clusters_of(const std::vector<ShareEntry>& entries,
                                                  const std::vector<ClusterEntry>& clusters);

/// How many of `declared` replicas each cluster runs. The entries together run the nearest whole number of their sum (half up);
/// each entry gets its part of that by largest remainder, of equal ones the first by name; then its clusters get equal parts,
/// those that come first by name one more. Clusters of entries without a share run `declared`.
std::map<std::string, std::int64_t> share_replicas(const std::vector<ShareEntry>& entries,
                                                   const std::vector<std::vector<std::string>>& clusters,
                                                   std::int64_t declared);

}  // namespace slipway::delivery::application
