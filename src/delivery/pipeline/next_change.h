// What a promotion would change in an environment: the version, the images, and, for people to see, where the values of the two
// environments differ (a promotion leaves values alone). Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "delivery/pipeline/scene.h"

namespace slipway::delivery::pipeline {

struct Change {
  std::string environment{};
  std::string from{};      // versions that run there
  std::string to{};        // the version that would
  std::string release{};   // its Release; empty: there is none yet
  bool is_settled = true;  // false: what comes before has not settled, so nothing would be promoted now
  std::vector<std::string> images_added{};
  std::vector<std::string> images_removed{};
};

/// The next: of `environment`, or of the first that does not run what those before it have settled at. BadRequest for an
/// environment that is not there or the first; NotFound when all environments run the same.
Result<Change> next_change(const Scene& scene, const std::string& environment);

/// Leaves of two trees that differ, by path: {"replicas", {"1", "3"}}; "" where one has none.
std::map<std::string, std::pair<std::string, std::string>> differing(const json::Value& from, const json::Value& to);

std::string print(const Scene& scene, const Change& change);

}  // namespace slipway::delivery::pipeline
