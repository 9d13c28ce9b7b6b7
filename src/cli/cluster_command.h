// `slipway cluster`: the clusters that a hub knows by Secrets (fleet/cluster_secret.h). The hub is an API server that a
// kubeconfig names, or a data directory that no process serves.
#pragma once

#include <string>

#include "base/status.h"
#include "json/value.h"
#include "remote/kubeconfig.h"

namespace CLI {
class App;
}

namespace slipway::cli {

/// Adds the command with its verbs; `code` takes the exit code when one of them ran.
void add_cluster_command(CLI::App& app, int& code);

/// The Secret that makes a cluster known. NotImplemented for credentials that cannot stand in a Secret: those that a program or
/// a file of this machine gives.
Result<json::Value> cluster_secret(const std::string& name, const remote::Connection& connection);

}  // namespace slipway::cli
