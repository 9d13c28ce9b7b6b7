// One requirement of a label selector: whether it is well formed, whether labels meet it, how it is written.
#pragma once

#include <string>

#include "base/status.h"
#include "json/value.h"
#include "kube/selector.h"

namespace slipway::kube {

/// BadRequest with upstream's wording: key and values are valid labels, and as many values as the operator takes.
Result<void> check(const LabelSelector::Requirement& requirement);
/// `label` is nullptr when the object has none of that key.
bool holds(const LabelSelector::Requirement& requirement, const json::Value* label);
/// As in a query: "a in (b,c)", "!d".
std::string to_string(const LabelSelector::Requirement& requirement);

}  // namespace slipway::kube
