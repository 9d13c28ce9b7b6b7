// What an expression may cost at the most, before any value is known (cel-go, checker/cost.go, with the sizes that
// k8s.io/apiserver/pkg/cel derives from a schema). The unit is that of Budget: reading a name is 1, a character 0.1. What has
// no known bound costs kUnboundedCost, and sums and products stop there.
//
// DIVERGES: where cel-go loses sight of a declared size, as behind an index into what a call returned, the type still tells it
// here, so that such an estimate is lower than upstream's.
#pragma once

#include <cstdint>

#include "cel/ast.h"

namespace slipway::cel {

inline constexpr std::uint64_t kUnboundedCost = UINT64_MAX;

/// REQUIRES: `root` was checked; `self` is the type of the variable self, which may be null.
std::uint64_t estimated_cost(const Expr& root, TypePtr self);

/// The product, kUnboundedCost at the most.
std::uint64_t cost_product(std::uint64_t left, std::uint64_t right);
std::uint64_t cost_sum(std::uint64_t left, std::uint64_t right);

}  // namespace slipway::cel
