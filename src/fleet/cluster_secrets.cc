#include "fleet/cluster_secrets.h"

#include <algorithm>

#include "base/digest.h"
#include "kube/well_known.h"

namespace slipway::fleet {
namespace {

constexpr const char* kManager = "slipway-cluster";

/// Asks for one namespace only.
class NamespaceClient : public client::Client {
 public:
  NamespaceClient(std::shared_ptr<client::Client> inner, std::string ns) : inner_(std::move(inner)), ns_(std::move(ns)) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    request.ns = ns_;
    co_return co_await inner_->call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    request.ns = ns_;
    co_return co_await inner_->watch(std::move(request));
  }

 private:
  std::shared_ptr<client::Client> inner_;
  std::string ns_;
};

/// Of what a change of which makes another client necessary.
std::string digest_of(const Result<RemoteCluster>& access) {
  return sha256_hex(access ? access->context + "\n" + access->kubeconfig : "!" + access.error().message);
}

}  // namespace

Task<Result<void>> make_cluster_namespace(client::Client& hub) {
  const json::Value home =
      json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object({{"name", kClusterNamespace}})}});
  const auto made = co_await client::create(hub, kube::kNamespaces, home, kManager);
  if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(made.error());
  co_return Result<void>{};
}

Task<Result<void>> tell_internal_clusters(client::Client& hub, std::vector<std::string> names) {
  if (names.empty()) co_return Result<void>{};
  SLIPWAY_CO_TRY_VOID(co_await make_cluster_namespace(hub));
  for (const std::string& name : names) {
    const auto told = co_await client::create(hub, kube::kSecrets, internal_cluster_secret(name), kManager);
    if (!told && told.error().reason != Reason::AlreadyExists) co_return fail(told.error());
  }
  co_return Result<void>{};
}

ClusterSecrets::ClusterSecrets(Env& env, Fleet& fleet, std::shared_ptr<client::Client> hub, bool names_own)
    : env_(env),
      fleet_(fleet),
      names_own_(names_own),
      hub_(std::make_unique<NamespaceClient>(std::move(hub), kClusterNamespace)),
      informer_(env, *hub_, kube::kSecrets),
      tasks_(env) {
  informer_.add_handler([this](const kube::Object& before, const kube::Object& after) { changed(before, after); });
  came_ = fleet_.subscribe([this](const std::string& name) { label_own(name); });
}

ClusterSecrets::~ClusterSecrets() { informer_.stop(); }

void ClusterSecrets::changed(const kube::Object& before, const kube::Object& after) {
  const auto secret = after.is_null() ? std::nullopt : read_cluster_secret(after);
  const std::string name(kube::name(after.is_null() ? before : after));
  if (fleet_.is_in_process(name)) return label_own(name, secret);
  if (secret && !secret->is_internal()) return put(*secret);
  remove(name);
}

/// Of a cluster that has come or changed. At a start Secrets are read before the clusters of the process are open; one that
/// could be reached elsewhere until then is served here from now on.
void ClusterSecrets::label_own(const std::string& name) {
  if (!fleet_.is_in_process(name)) return;
  added_.erase(name);
  const kube::Object stored = informer_.get({kClusterNamespace, name});
  if (!stored.is_null()) label_own(name, read_cluster_secret(stored));
}

void ClusterSecrets::label_own(const std::string& name, const std::optional<ClusterSecret>& secret) {
  if (names_own_) fleet_.set_labels(name, secret ? secret->labels : std::map<std::string, std::string>());
}

void ClusterSecrets::put(const ClusterSecret& secret) {
  const auto known = added_.find(secret.name);
  const bool is_taken = known == added_.end() && std::ranges::binary_search(fleet_.names(), secret.name);
  if (is_taken || secret.name == kHubCluster) {
    env_.log.warn("the Secret of a cluster is not used: there is another cluster of that name", {{"cluster", secret.name}});
    return;
  }
  const std::string digest = digest_of(secret.access);
  if (known == added_.end() || known->second != digest) {
    added_[secret.name] = digest;
    const Result<void> joined =
        secret.access ? fleet_.add_remote(secret.name, *secret.access) : Result<void>(fail(secret.access.error()));
    if (!joined) {
      env_.log.warn("a cluster cannot be used", {{"cluster", secret.name}, {"error", joined.error().message}});
      fleet_.add_unusable(secret.name, joined.error());
    }
  }
  fleet_.set_labels(secret.name, secret.labels);
}

void ClusterSecrets::remove(const std::string& name) {
  if (added_.erase(name) > 0) fleet_.remove(name);
}

}  // namespace slipway::fleet
