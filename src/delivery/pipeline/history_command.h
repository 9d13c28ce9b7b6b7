// slipway pipeline history NAME: what the logs of a pipeline tell, those of pipelines too that had its name before and are
// gone.
#pragma once

#include <string>
#include <vector>

#include "delivery/family.h"
#include "delivery/pipeline/delivery_log.h"

namespace slipway::delivery::pipeline {

/// The row of the command line; listed in family.cc.
Command history_command();

/// What is shown of the logs.
struct HistoryQuery {
  std::string environment{};  // entries of others are left out; those of no environment stay
  std::optional<Time> since{};
  std::string form = "table";  // table, json, csv
};
std::string history_text(const std::vector<Chain>& chains, const HistoryQuery& query);

}  // namespace slipway::delivery::pipeline
