// Pods as processes of this machine, without isolation: each pod is a folder (pod_folder.h) and a small supervisor process that
// runs its containers, outlives Slipway and records what happens (base/pod_record.h). Everything is found again after a restart
// from the folders. Uses only Env::processes and Env::files; what waits for the disk does so on the commit lane.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/client.h"
#include "cluster/pod_addresses.h"
#include "cluster/pod_folder.h"
#include "cluster/pod_runtime.h"
#include "cluster/process_probes.h"

namespace slipway::cluster {

class ProcessRuntime : public PodRuntime {
 public:
  struct Options {
    std::string data_folder{};              // absolute
    std::vector<std::string> supervisor{};  // command that takes a pod's folder as last argument
    ProcessUser user{};                     // as whom this process runs
    bool wants_namespace = true;            // false: volumes are mapped below $POD_ROOT even where mounts are allowed
    HttpClient* http = nullptr;             // for httpGet probes; outlives the runtime
    Dial dial{};                            // for tcpSocket probes
  };

  /// `client` reads the ConfigMaps, Secrets and claims of pods. `addresses`, of the network 127, are shared by all runtimes of
  /// a process; those of pods that were started earlier are read from their folders and noted there at once.
  ProcessRuntime(Env& env, client::Client& client, PodAddresses& addresses, Options options);

  Task<Result<PodReport>> advance(kube::Object pod) override;
  Task<Result<PodReport>> stop(kube::Object pod, Duration grace) override;
  Task<Result<void>> forget(std::string uid) override;
  Task<Result<void>> forget_all_but(std::set<std::string> uids) override;
  Task<Result<std::string>> logs(kube::Object pod, server::LogQuery query) override;
  Task<Result<std::string>> log_times(kube::Object pod, server::LogQuery query) override;
  bool runs_commands() const override { return true; }
  /// As a small pod of its own below the pod's folder, with the container's variables, volumes and working directory.
  Task<Result<std::unique_ptr<server::PodExec>>> exec(kube::Object pod, server::ExecQuery query) override;
  Task<Result<std::unique_ptr<server::PodExec>>> attach(kube::Object pod, server::ExecQuery query) override;
  /// Without a manifest nothing of a pod has run, and a pod that has none cannot start with a claim that is being deleted.
  bool uses_claims(const kube::Object& pod) const override;
  Result<void> release_claim(const kube::ObjectKey& claim) override;
  bool ignores_images() const override { return true; }

  /// Ends all pods for a shutdown: SIGTERM, after `grace` SIGKILL; nothing new starts from now on. Returns when all have ended.
  /// Pods that fail by it fail with DisruptionTarget, so that their Jobs go on when Slipway is started again.
  Task<> stop_all(Duration grace);

 private:
  /// What is known of a pod between two looks.
  struct Entry {
    ProcessId started{};        // the supervisor that was started last
    ProcessId watched{};        // whose end a task waits for
    std::string state{};        // as last read
    Duration pause{0};          // until the next look
    Duration grace{-1};         // of the last SIGTERM; negative: none
    bool is_preparing = false;  // its claims have been looked at, its manifest is not yet written
  };
  struct Look {
    PodFate fate = PodFate::NotStarted;
    std::optional<PodState> state{};
  };

  void note_addresses();
  /// This machine's for pods that were started without one of their own.
  std::string address_of(const std::string& uid) const;
  Look look(const std::string& uid);
  Result<std::optional<PodState>> read_state(const std::string& uid, Entry& entry);
  Task<Result<std::optional<PodReport>>> prepare(kube::Object pod);
  Task<Result<PodInputs>> fetch_inputs(kube::Object pod);
  Task<Result<void>> make_folder(std::string uid, PodFolderPlan plan);
  /// Runs `work` on the commit lane; it may use Env::files and what it owns.
  Task<Result<void>> on_disk(std::function<Result<void>()> work);
  Result<void> start_supervisor(const std::string& uid, PodFate fate);
  Task<Result<void>> terminate(std::string uid, ProcessId supervisor, Duration grace);
  PodReport keep_watching(const kube::Object& pod, const Look& seen);
  Task<> tell_end(kube::ObjectKey key, ProcessId supervisor);

  Env& env_;
  client::Client& client_;
  PodAddresses& addresses_;
  Options options_;
  PodPaths paths_;
  std::map<std::string, Entry> entries_;  // by uid
  bool is_stopping_ = false;
  Tasks tasks_;
  ProcessProbes probes_;
};

}  // namespace slipway::cluster
