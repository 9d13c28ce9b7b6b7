// Does the probes of process pods (probe.h) and lets their answers steer: readiness and startup show in the container's status,
// a container whose liveness or startup fails is ended, SIGTERM and after its grace SIGKILL, and its supervisor starts it again
// as the pod's restartPolicy says.
//
// DIVERGES: an https probe wants a certificate that the HTTP client believes; the kubelet believes any. gRPC probes are not
// implemented and fail.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/env.h"
#include "base/http_client.h"
#include "base/pod_record.h"
#include "cluster/pod_runtime.h"
#include "cluster/probe.h"

namespace slipway::cluster {

/// Connects to a TCP port and hangs up.
using Dial = std::function<Task<Result<void>>(std::string host, std::uint16_t port, Duration timeout)>;

/// What probes are done with.
struct ProbeTools {
  HttpClient* http = nullptr;  // outlives the probes
  Dial dial{};
  std::function<Task<Result<std::unique_ptr<server::PodExec>>>(kube::Object pod, server::ExecQuery query)> exec{};
};

class ProcessProbes {
 public:
  /// `changed` is called when an answer makes a pod stand differently.
  ProcessProbes(Env& env, ProbeTools tools, std::function<void(const kube::ObjectKey&)> changed)
      : env_(env), tools_(std::move(tools)), changed_(std::move(changed)), tasks_(env) {}

  /// Starts what is due, ends containers that are to be restarted, and puts what is known into the report.
  void judge(const kube::Object& pod, const PodState& state, const std::string& address, PodReport& report);
  void forget(const std::string& uid) { pods_.erase(uid); }

 private:
  /// One run of a container.
  struct Watched {
    ProcessId process;
    std::int64_t started_us = 0;
    ContainerProbes probes;
    std::string complaint{};          // of the last probe that failed
    std::optional<Steady> kill_at{};  // SIGTERM was sent
  };
  using Containers = std::map<std::string, Watched>;  // by name

  Watched& watched(Containers& containers, const json::Value& container, const PodContainerState& state,
                   const json::Value& status);
  void end_failed(Watched& watched, const kube::Object& pod);
  Task<> run_probe(kube::Object pod, std::string container, ProcessId process, std::size_t index, ProbeSpec spec,
                   std::string address);
  /// Why it failed; empty: it did not.
  Task<std::string> ask(kube::Object pod, json::Value container, ProbeSpec spec, std::string address);
  Task<std::string> ask_http(json::Value probe, std::uint16_t port, Duration timeout, std::string address);
  Task<std::string> ask_exec(kube::Object pod, std::string container, json::Value command, Duration timeout);

  Env& env_;
  ProbeTools tools_;
  std::function<void(const kube::ObjectKey&)> changed_;
  std::map<std::string, Containers> pods_;  // by uid
  Tasks tasks_;
};

}  // namespace slipway::cluster
