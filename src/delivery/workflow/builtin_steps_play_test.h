// A built-in step, played as the engine plays it: the first call that was not done is answered from a table, the step is
// evaluated again with the answer. And the runs that are written down, a table for each group of steps.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json/value.h"

namespace slipway::delivery::workflow {

/// "kube.read" → what is returned, in turn; the last one stays.
using Answers = std::map<std::string, std::vector<std::string>>;

struct Played {
  std::string trace;
  std::vector<json::Value> params{};  // of the calls, in order
  std::string error;                  // the end, when it is one
};
Played play(const std::string& step, const std::string& parameter, const Answers& answers);

/// A run: what the step calls, in order.
struct StepRow {
  const char* step;
  const char* parameter;
  Answers answers;
  const char* trace;
};
namespace step_rows {
/// A rollout as a step sees it: what it rolls out, how far it is, and its plan.
std::string rollout(const char* revision, const char* rolling, const char* batch, int current, const char* plan = "{}");

std::vector<StepRow> delivering();
std::vector<StepRow> environments();
std::vector<StepRow> rolling();
std::vector<StepRow> applying();
std::vector<StepRow> exporting();
std::vector<StepRow> telling();
std::vector<StepRow> running();
std::vector<StepRow> judging();
std::vector<StepRow> reaching();
/// The second parameter sets of steps that need no more than one row in the other tables.
std::vector<StepRow> varied();
}  // namespace step_rows

}  // namespace slipway::delivery::workflow
