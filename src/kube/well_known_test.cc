#include "kube/well_known.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kube/builtin.h"

namespace slipway::kube {
namespace {

TEST(WellKnown, resources_are_built_in_in_that_version) {
  for (const Resource& resource :
       {kPods, kServices, kConfigMaps, kSecrets, kNamespaces, kEvents, kClaims, kServiceAccounts, kJobs, kDeployments,
        kReplicaSets, kBudgets, kDefinitions, kRoles, kRoleBindings, kClusterRoles, kClusterRoleBindings, kLeases}) {
    const auto& types = builtin_types();
    EXPECT_TRUE(std::ranges::any_of(types, [&](const ResourceType& type) { return type.resource == resource; }))
        << resource.group_resource();
  }
}

}  // namespace
}  // namespace slipway::kube
