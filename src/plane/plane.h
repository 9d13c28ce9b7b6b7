// The composition: what a Slipway process is made of. ApiServer is a store with the embedded API server over it; Controllers
// are all controllers over any Client. What families bring to both comes from the rows of plane/families.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "cluster/process_runtime.h"
#include "cluster/simulated_runtime.h"
#include "control/runtime.h"
#include "fleet/cluster_secrets.h"
#include "fleet/fleet.h"
#include "plane/families.h"
#include "server/pod_backend.h"
#include "server/server.h"
#include "store/store.h"

namespace slipway::plane {

/// Applies the definitions of all families by the ordinary path and waits until they are served; what changes nothing writes
/// nothing.
Task<Result<void>> install_definitions(Env& env, client::Client& client, Families of = families());

class ApiServer {
 public:
  struct Options {
    store::Options store;
    server::Options server;  // what families bring to it is filled in here
    Families families = plane::families();
    /// Writes bootstrap objects and CRDs where they are missing or older. False for looking only.
    bool writes_bootstrap = true;
    /// Of what is delivered, where a family leaves the choice.
    delivery::OnFault on_fault = delivery::OnFault::Refuse;
    std::map<std::string, std::string> family_options{};  // as Controllers::Options has them
    bool simulates_flux = false;                          // its kinds are served: see flux/flux.h
    bool has_root_sync = false;                           // delivery/package/sync.h
  };
  static Task<Result<std::unique_ptr<ApiServer>>> open(Env& env, Options options);

  server::Server& server() { return *server_; }
  store::Store& store() { return *store_; }
  /// What was appended becomes durable; watches end.
  Task<> close();

 private:
  ApiServer() = default;

  std::unique_ptr<store::Store> store_;
  std::unique_ptr<server::Server> server_;
};

enum class PodRuntimeKind : std::uint8_t { None, Simulated, Process };

/// All controllers of a process, over one Runtime and one Fleet. A cluster of this process has its own instance of each.
class Controllers {
 public:
  /// What runs for one cluster.
  struct Options {
    PodRuntimeKind pods = PodRuntimeKind::Simulated;
    std::string data_dir;                   // process runtime: absolute; pods/ and volumes/ below it
    std::vector<std::string> supervisor{};  // process runtime: command that takes a pod folder as last argument
    cluster::ProcessUser user{};            // process runtime: as whom this process runs
    HttpClient* http = nullptr;             // for steps that call foreign servers, and for probes; outlives the controllers
    cluster::Dial dial{};                   // process runtime: for probes of TCP ports
    /// False on a cluster that is one already: only the controllers of the own families.
    bool makes_cluster = true;
    bool simulates_flux = false;  // flux/flux.h
    bool has_root_sync = false;   // delivery/package/sync.h
    delivery::ActsAs acts_as = delivery::ActsAs::User;
    bool keeps_definitions = false;                       // delivery/family.h
    std::map<std::string, std::string> family_options{};  // checked (check_options in families.h)
    Families families = plane::families();
  };
  /// The name of a cluster that is the only one, as KubeVela calls its hub.
  static constexpr const char* kLocal = "local";

  /// `remote` makes clients of clusters elsewhere; null: there are none.
  Controllers(Env& env, fleet::RemoteFactory remote);
  /// One cluster of this process, named kLocal.
  Controllers(Env& env, client::Client& client, Options options, fleet::RemoteFactory remote = nullptr);
  ~Controllers();

  /// A cluster of this process and its controllers, which is a hub too: its Secrets (fleet/cluster_secrets.h) add further
  /// clusters. `client` must outlive this.
  void add(const std::string& cluster, client::Client& client, Options options);
  /// A cluster elsewhere that has its API server and needs the controllers of the families only.
  void add_remote(const std::string& cluster, std::shared_ptr<client::Client> client, Options options);
  /// Once. Clusters added later start at once.
  void start();
  control::Runtime& runtime() { return runtime_; }
  fleet::Fleet& fleet() { return fleet_; }
  /// What keeps the controllers of a cluster from their work, a sentence each: caches that have never had a list.
  std::vector<std::string> hindrances(const std::string& cluster = kLocal) const;
  /// Null without a runtime that keeps logs.
  server::PodBackend* logs(const std::string& cluster = kLocal);
  /// Through which the wire reaches pods; null without a runtime.
  server::PodBackend* pods(const std::string& cluster = kLocal);
  /// Ends what runs outside this process, in order: SIGTERM, after `grace` SIGKILL. Pods stopped so count as disrupted: the
  /// next start runs them again.
  Task<> stop_pods(Duration grace);

 private:
  struct Pods {
    std::unique_ptr<cluster::ProcessRuntime> processes;
    std::unique_ptr<cluster::SimulatedRuntime> simulated;

    cluster::PodRuntime* any() const;
  };
  void add_controllers(const std::string& cluster, client::Client& client, Options options);

  Env& env_;
  cluster::PodAddresses addresses_{127};
  fleet::Fleet fleet_;
  std::map<std::string, Pods> pods_;
  control::Runtime runtime_;
  std::vector<std::unique_ptr<fleet::ClusterSecrets>> secrets_;
  bool is_started_ = false;
};

}  // namespace slipway::plane
