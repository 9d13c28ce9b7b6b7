// What `rollout promote` writes. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "kube/object.h"

namespace slipway::delivery::rollout {

struct Promotion {
  json::Value spec_patch;              // a merge patch of the object; null: nothing
  std::vector<std::string> approvals;  // keys of the gates to say yes to
  bool skips_gates = false;
  std::string text;  // what was done, for people
};

/// Without options the next batch; `to`: up to that batch; `full`: all of them, with a yes to every approval that is left, and
/// with `skip-gates` without asking any other gate. BadRequest when that is no step forward, saying what it waits for.
Result<Promotion> promotion(const kube::Object& rollout, const std::map<std::string, std::string>& options);

/// Keys of the approval gates from the present batch to the end that have not been decided.
std::vector<std::string> approvals_left(const kube::Object& rollout);

}  // namespace slipway::delivery::rollout
