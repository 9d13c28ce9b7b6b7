// The API server as functions: Request → Reply over a store, without sockets. It is itself the in-process Client. Every verb of
// one request runs: resolve the resource, decode, mutate, default, validate, admit, append, answer; nothing is answered before
// it is durable. Follows the Kubernetes API conventions and k8s.io/apiserver's generic registry.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "client/client.h"
#include "client/served.h"
#include "kube/admission.h"
#include "kube/resource.h"
#include "server/access/authenticator.h"
#include "store/store.h"

namespace slipway::server {

class Registry;
class Verbs;

struct Options {
  std::vector<kube::AdmissionRow> admission;
  /// API groups beside the built-in ones whose kinds the roles admin, edit and view give rights on.
  std::vector<std::string> own_groups{};
  /// Those whose objects are a person's word or order: admin writes them, edit and view only read.
  std::vector<std::string> guarded_groups{};
  std::vector<client::AnsweredKind> answered{};
  std::vector<client::UnservedVersion> unserved{};
  /// The API server that has the objects of the answered kinds, when it is another one: then nothing but those kinds is served
  /// here, and whoever calls has been authorized there. Outlives this server. Null: this one.
  client::Client* behind = nullptr;
  std::size_t max_object_bytes = std::size_t{3} << 19;    // 1.5 MiB, as etcd's request limit
  std::size_t max_body_bytes = std::size_t{3} << 20;      // 3 MiB, as the API server's
  std::size_t watch_batch = 500;                          // events handed out at once
  bool writes_bootstrap = true;                           // false: start() only reads
  Duration min_watch_timeout = std::chrono::minutes{30};  // the server picks one to two times this
  Authenticator::Options access{};                        // how users are known
  /// PEM of the authority that signed the server's certificate: ConfigMap kube-root-ca.crt of every namespace. Empty: none.
  std::string authority_pem{};
  /// Where the server can be reached, an IP address: Endpoints and EndpointSlice of Service kubernetes. Empty: they are not
  /// made.
  std::string address{};
  std::uint16_t port = 0;
  /// Nodes that the cluster begins with: local, local-2, …; those of an earlier start stay.
  std::size_t nodes = 1;
};

/// The answer to a list as it was read: its items in pages, so that whoever turns them into text can let each go when it is
/// done with it.
struct ListReply {
  json::Value frame;               // the list object with no items
  std::vector<json::Value> pages;  // arrays that make up the items, in order
  std::vector<std::string> warnings;
};

class Server : public client::Client {
 public:
  Server(Env& env, store::Store& store, Options options);
  ~Server() override;

  /// Creates what every cluster has where it is missing: the namespaces default, kube-system,
  /// kube-public and kube-node-lease, roles and bindings (access/bootstrap.h), a ServiceAccount in each namespace. To be
  /// awaited before the first call.
  Task<Result<void>> start();

  /// Both authorize Request::user, where it is set.
  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;
  /// As call() of a list, in pages.
  Task<Result<ListReply>> list(client::Request request);

  /// Who asks, for Request::user (see Authenticator::authenticate). Null is never given.
  Result<UserPtr> authenticate(const Credentials& credentials);
  /// Forbidden unless the user may do what neither call() nor watch() carries: streams, and paths that are no resource
  /// (Attributes::of_path). Null may do all.
  Result<void> authorize(const UserPtr& user, const Attributes& attributes);

  /// The revision that a get or list wants the state to have at least; 0: any will do. Invalid or BadRequest for parameters
  /// that cannot be read.
  Result<kube::Revision> revision_wanted(const client::Request& request) const;
  /// Waits until the newest state is at least `revision`: at most 3 s, then 504. call() waits for what it wants itself; who
  /// counts calls in flight waits here before, holding no place.
  Task<Result<void>> reach(kube::Revision revision);

  const Registry& registry() const { return *registry_; }

 private:
  Env& env_;
  store::Store& store_;
  Options options_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<Verbs> verbs_;
};

}  // namespace slipway::server
