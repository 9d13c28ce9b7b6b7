// How commands read logs and releases from a cluster. Each answer is of one list per kind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/client.h"
#include "delivery/pipeline/delivery_log.h"

namespace slipway::delivery::pipeline {

/// The chains of the pipelines of a namespace, by pipeline; of one only where `pipeline` is not empty.
Task<Result<std::map<std::string, std::vector<Chain>>>> read_chains(client::Client& client, std::string ns,
                                                                    std::string pipeline);

/// The items of a list of a namespace.
Task<Result<std::vector<kube::Object>>> read_all(client::Client& client, kube::Resource resource, std::string ns,
                                                 std::string label_selector);

/// A cell of CSV (RFC 4180), quoted where it must be. What a spreadsheet would take for a formula gets an apostrophe.
std::string csv_cell(std::string text);
/// Rows of CSV, each with a line end.
std::string csv(const std::vector<std::vector<std::string>>& rows);

}  // namespace slipway::delivery::pipeline
