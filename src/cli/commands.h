// The commands of the command line. Each is a coroutine over an open session and gives the exit code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/deliver.h"
#include "cli/session.h"

namespace slipway::cli {

/// What the command line said, for all commands together.
struct Arguments {
  std::vector<std::string> files;   // -f
  std::vector<std::string> target;  // KIND/NAME/PART or KIND NAME; words of a family's command
  std::string data_dir;
  std::string ns;  // empty: not given
  /// No data folder: on the cluster that a kubeconfig names.
  bool is_elsewhere = false;
  /// There is a cluster to work on, here or elsewhere.
  bool has_cluster = true;
  bool all_namespaces = false;
  std::string output = "table";                // table, wide, json, yaml, name
  std::string pod_runtime;                     // simulated, process; empty: as given before for the folder, else simulated
  std::string timeout;                         // a Go duration
  std::string action;                          // a verb of a family (delivery/family.h), such as rerun
  const delivery::Command* command = nullptr;  // of a family
  std::map<std::string, std::string> action_options;      // options of either by name; empty: not given
  std::map<std::string, std::string> controller_options;  // run, up, controller: of families
  bool waits = false;                                     // elsewhere: follow to the end
  bool approves_all = false;                              // run: what waits for a person goes on
  bool shows_tree = false;                                // status
  bool watches = false;                                   // status
  std::string container;                                  // logs, exec
  std::string cluster;                                    // logs, exec
  std::vector<std::string> words;                         // exec: the command, out of `target`
  std::string cascade = "background";
  std::string listen = "127.0.0.1:6443";        // up: ADDRESS:PORT
  std::vector<std::string> clusters;            // up: names; empty: one, at the root
  std::size_t nodes = 1;                        // up, run: of each cluster that is made
  bool simulates_flux = false;                  // up: every cluster
  std::string stop_timeout = "10s";             // up, controller: a Go duration
  std::uint64_t max_git_mib = 64;               // up, controller: of a pack
  OutsideTimes max_times{};                     // up, controller
  std::string log_level = "warn";               // up, controller: debug, info, warn, error
  std::string log_format = "text";              // up, controller: text, json
  std::vector<std::string> allowed_outgoing{};  // up, controller: addresses that may be called for users
  bool allows_local_git = false;                // up, controller: git URLs may name repositories on this machine
  std::string controllers = "all";              // up: cluster leaves those of the families to `slipway controller`
  std::string kubeconfig;                       // of a cluster elsewhere
  std::string context;                          // empty: the current one
  std::string lease_ns;                         // controller: where its Lease is; empty: the context's namespace
  std::string application_admission;            // up, run: enforce or warn; empty: enforce
  std::string application_identity;             // up, controller: user or controller; empty: user, where that can be known
  std::string adopt_as;                         // up: the author of objects that have none; empty: unknown
  std::vector<std::string> adopt_as_groups;     // up: that user's groups
  std::string webhook_listen;                   // controller: ADDRESS:PORT of the families' paths; empty: none
  std::string porch_listen;          // controller: ADDRESS:PORT of the packages' kinds, behind an APIService; empty: none
  std::string porch_service;         // controller: NAMESPACE/NAME[:PORT] that leads there; empty: no APIService is written
  bool cluster_controllers = false;  // controller: also those that make a bare API server a cluster
};

/// What --application-admission says.
inline delivery::OnFault on_fault_of(const Arguments& arguments) {
  return arguments.application_admission == "warn" ? delivery::OnFault::Warn : delivery::OnFault::Refuse;
}

Task<int> run(Session& session, Arguments arguments);
Task<int> get(Session& session, Arguments arguments);
Task<int> describe(Session& session, Arguments arguments);
Task<int> why(Session& session, Arguments arguments);
Task<int> logs(Session& session, Arguments arguments);
Task<int> status(Session& session, Arguments arguments);
/// Runs a command in a container of a pod that the target means.
Task<int> exec(Session& session, Arguments arguments);
/// Applies the files to a cluster elsewhere, or to that of a data folder, without running controllers.
Task<int> apply(Session& session, Arguments arguments);
/// Asks for `arguments.action` and, where that sets the object in motion, follows it to its end.
Task<int> act(Session& session, Arguments arguments);
/// Runs `arguments.command`.
Task<int> family_command(Session& session, Arguments arguments);
Task<int> remove(Session& session, Arguments arguments);
/// Serves one cluster, or several, until it is interrupted. The session has none open.
Task<int> up(Session& session, Arguments arguments);
/// Runs the controllers against an API server elsewhere until interrupted, or until it no longer leads. No cluster is open.
Task<int> controller(Session& session, Arguments arguments);

/// As kubectl-slipway: on the cluster that a kubeconfig names. `ns` empty: the context's.
Task<int> plugin_describe(Session& session, Arguments arguments);
Task<int> plugin_why(Session& session, Arguments arguments);

/// The whole program.
int main(int argc, char** argv);

}  // namespace slipway::cli
