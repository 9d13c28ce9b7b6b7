// A connection to a cluster that is elsewhere, from what the command line and the environment say (KUBECONFIG, proxies).
#pragma once

#include <memory>

#include "cli/commands.h"
#include "remote/remote_client.h"

namespace slipway::cli {

/// Whether KUBECONFIG says which cluster is meant.
bool has_kubeconfig_variable();
/// --kubeconfig, else KUBECONFIG (the first file of a list that has the context), else ~/.kube/config, else the service account
/// of the pod this runs in.
Result<remote::Connection> connection_of(Files& files, const Arguments& arguments);

/// Clients of clusters that kubeconfigs name as data: no files, no programs of this machine (remote/kubeconfig.h). For the
/// fleet of a process; `env` outlives the clients.
fleet::RemoteFactory remote_factory(Env& env);
/// By one file, without the proxies of this process's environment.
Result<remote::Connection> connection_in(Files& files, const std::string& kubeconfig, const std::string& context);

std::shared_ptr<remote::RemoteClient> connect(Session& session, remote::Connection connection);

}  // namespace slipway::cli
