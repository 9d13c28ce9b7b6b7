#include "control/controller.h"

#include <fmt/format.h>

#include "base/check.h"

namespace slipway::control {

namespace {

/// Runs on a cluster that went: everything it asks is answered with NotFound.
class NoCluster : public Client {
 public:
  explicit NoCluster(std::string name) : name_(std::move(name)) {}
  Task<Result<client::Reply>> call(client::Request) override { co_return refuse(); }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override { co_return refuse(); }

 private:
  std::unexpected<Status> refuse() const {
    return fail(Reason::ServiceUnavailable, fmt::format("cluster {} is not known", name_));
  }

  std::string name_;
};

std::unique_ptr<TrackingClient> tracked(Clusters& clusters, const std::string& cluster,
                                        const TrackingClient::Options& options) {
  std::shared_ptr<Client> inner = clusters.find(cluster);
  if (inner == nullptr) inner = std::make_shared<NoCluster>(cluster);
  return std::make_unique<TrackingClient>(std::move(inner), cluster, options);
}

}  // namespace

Reconcile::Reconcile(ObjectKey reconciled, const std::string& home, Clusters& clusters, TrackingClient::Options tracking)
    : clusters_(clusters),
      tracking_(std::move(tracking)),
      key(std::move(reconciled)),
      client(*(clients_[home] = tracked(clusters_, home, tracking_))) {}

Result<Client*> Reconcile::on(const std::string& cluster) {
  auto& known = clients_[cluster];
  if (known == nullptr) {
    if (clusters_.find(cluster) == nullptr) {
      clients_.erase(cluster);
      return fail(Reason::NotFound, fmt::format("cluster {} is not known", cluster));
    }
    known = tracked(clusters_, cluster, tracking_);
  }
  return known.get();
}

Client& Reconcile::as(std::shared_ptr<const kube::UserInfo> author) {
  return *acting_.emplace_back(std::make_unique<ActingClient>(client, std::move(author)));
}

HttpClient* Reconcile::outgoing(HttpClient* http) {
  if (http == nullptr) return nullptr;
  std::string tenant = key.ns.empty() ? "(cluster-scoped)" : key.ns;  // as in queue.h; the word is no namespace's name
  return outgoing_.emplace_back(std::make_unique<TenantHttp>(*http, std::move(tenant))).get();
}

std::vector<Written> Reconcile::take_written() {
  std::vector<Written> all;
  for (auto& [cluster, writer] : clients_) {
    for (Written& written : writer->take_written()) all.push_back(std::move(written));
  }
  return all;
}

Watches::Mapper Watches::owner_of_kind(std::string group, std::string kind) {
  return [group = std::move(group), kind = std::move(kind)](const Value& object) {
    const Value& owner = kube::controller_of(object);
    std::vector<ObjectKey> keys;
    if (kube::refers_to(owner, group, kind)) keys.push_back({std::string(kube::ns(object)), owner["name"].str()});
    return keys;
  };
}

}  // namespace slipway::control
