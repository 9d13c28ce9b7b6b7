// The ConfigMap of a revision's rendered objects: a key for each component, and keys of their own for policies.
#pragma once

#include <string_view>

namespace slipway::delivery {

/// Keys `policy_<name>` hold the objects of policies. No component is called so: names of components have no underscores.
inline constexpr std::string_view kPolicyKey = "policy_";

}  // namespace slipway::delivery
