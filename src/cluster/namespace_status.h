// What keeps a namespace that is being deleted, and how its conditions tell it (as upstream's namespace controller).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/object.h"

namespace slipway::cluster {

/// What is left after one attempt to empty a namespace.
struct NamespaceRemains {
  std::map<std::string, std::size_t> resources;   // "pods.", "jobs.batch" → objects that are left
  std::map<std::string, std::size_t> finalizers;  // finalizer → objects that have it
  std::vector<std::string> content_failures;      // messages of deletions that failed
  std::string discovery_failure;                  // empty: all resources are known

  /// `left`: an array of objects of the resource.
  void add(const kube::Resource& resource, const json::Value& left);
  /// Nothing keeps the namespace.
  bool is_empty() const { return resources.empty() && content_failures.empty() && discovery_failure.empty(); }
};

/// The five conditions of a namespace that is being deleted, over those it has. Unchanged ones keep their times.
json::Value namespace_conditions(const json::Value& before, const NamespaceRemains& remains, Time now);

}  // namespace slipway::cluster
