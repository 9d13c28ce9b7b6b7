// A command in a container of a process pod: a pod of its own, with one container, in a folder below the pod's. Its supervisor
// prints to two files and records the end, as for every pod, so an exec needs nothing of the machine but Files and Processes;
// its input is files too (os/relay.h). Attaching reads the log of the container itself.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "server/pod_backend.h"

namespace slipway::cluster {

inline std::string file_in(const std::string& folder, std::string_view name) { return folder + "/" + std::string(name); }

struct ExecPlan {
  std::string pod_folder;  // of the pod, with its manifest
  std::string folder;      // of the exec; made here, removed at its end
  std::vector<std::string> supervisor;
  server::ExecQuery query;
};
/// NotFound when the pod has no such container (or never started).
Task<Result<std::unique_ptr<server::PodExec>>> start_exec(Env& env, ExecPlan plan);

struct AttachPlan {
  std::string pod_folder;
  std::string log;          // of the container
  std::string input;        // folder of its input; empty: it takes none
  bool ends_input = false;  // with the client's (stdinOnce)
  server::ExecQuery query;
};
/// What the container prints from now on. NotFound when it does not run.
Result<std::unique_ptr<server::PodExec>> start_attach(Env& env, AttachPlan plan);

}  // namespace slipway::cluster
