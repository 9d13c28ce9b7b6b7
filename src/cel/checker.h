// Finds the type of every node, which overloads a call may mean and what names refer to; see program.h.
#pragma once

#include <set>

#include "cel/lexer.h"
#include "cel/program.h"

namespace slipway::cel {

/// Marks the tree. `used` gets the variables it reads. The faults in order of discovery.
std::vector<Fault> check(Expr& root, const Environment& environment, std::set<std::string, std::less<>>& used);

/// The type `name` denotes ("int", "google.protobuf.Timestamp"); null when none.
TypePtr named_type(std::string_view name);

}  // namespace slipway::cel
