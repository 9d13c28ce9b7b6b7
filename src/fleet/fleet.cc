#include "fleet/fleet.h"

#include <fmt/format.h>

#include "fleet/cluster_secret.h"

namespace slipway::fleet {

namespace {

class RefusingClient : public client::Client {
 public:
  explicit RefusingClient(Status problem) : problem_(std::move(problem)) {}

  Task<Result<client::Reply>> call(client::Request) override { co_return fail(problem_); }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override { co_return fail(problem_); }

 private:
  Status problem_;
};

}  // namespace

Fleet::~Fleet() {
  for (const auto& [name, member] : members_) {
    if (member.breaker) member.breaker->detach();
  }
}

void Fleet::add(const std::string& name, client::Client& client) {
  put(name, {.client = std::shared_ptr<client::Client>(std::shared_ptr<void>(), &client), .breaker = nullptr});
}

void Fleet::add_remote(const std::string& name, std::shared_ptr<client::Client> client) {
  auto breaker = std::make_shared<BreakerClient>(env_, name, std::move(client), [this, name] { tell(name); });
  put(name, {.client = breaker, .breaker = breaker});
}

Result<void> Fleet::add_remote(const std::string& name, const RemoteCluster& cluster) {
  if (!remote_) {
    return fail(Reason::NotImplemented, fmt::format("cluster {}: this command cannot connect to clusters elsewhere", name));
  }
  SLIPWAY_TRY(client, remote_(cluster));
  add_remote(name, std::move(client));
  return {};
}

Result<void> Fleet::connect(const std::string& name, const std::string& kubeconfig) {
  SLIPWAY_TRY_VOID(portable_kubeconfig(kubeconfig));
  return add_remote(name, RemoteCluster{.kubeconfig = kubeconfig});
}

void Fleet::add_unusable(const std::string& name, Status problem) {
  put(name, {.client = std::make_shared<RefusingClient>(problem), .breaker = nullptr, .problem = problem});
}

void Fleet::set_labels(const std::string& name, std::map<std::string, std::string> labels) {
  const auto found = members_.find(name);
  if (found == members_.end() || found->second.labels == labels) return;
  found->second.labels = std::move(labels);
  tell(name);
}

void Fleet::put(const std::string& name, Member member) {
  const auto old = members_.find(name);
  if (old != members_.end() && old->second.breaker) old->second.breaker->detach();
  members_[name] = std::move(member);
  tell(name);
}

void Fleet::remove(const std::string& name) {
  const auto found = members_.find(name);
  if (found == members_.end()) return;
  if (found->second.breaker) found->second.breaker->detach();
  members_.erase(found);
  tell(name);
}

std::vector<std::string> Fleet::names() const {
  std::vector<std::string> names;
  for (const auto& [name, member] : members_) names.push_back(name);
  return names;
}

std::shared_ptr<client::Client> Fleet::find(const std::string& cluster) const {
  const auto found = members_.find(cluster);
  return found == members_.end() ? nullptr : found->second.client;
}

bool Fleet::is_in_process(const std::string& cluster) const {
  const auto found = members_.find(cluster);
  return found != members_.end() && found->second.breaker == nullptr && !found->second.problem;
}

control::Reach Fleet::reach(const std::string& cluster) const {
  const auto found = members_.find(cluster);
  if (found == members_.end())
    return {false, fail(Reason::NotFound, fmt::format("cluster {} is not known", cluster)).error(), {}};
  if (found->second.problem) return {false, *found->second.problem, {}};
  return found->second.breaker ? found->second.breaker->reach() : control::Reach{};
}

std::map<std::string, std::string> Fleet::labels(const std::string& cluster) const {
  const auto found = members_.find(cluster);
  return found == members_.end() ? std::map<std::string, std::string>() : found->second.labels;
}

control::Clusters::Subscription Fleet::subscribe(Listener listener) {
  const std::uint64_t id = ++listeners_->next;
  listeners_->all.emplace(id, std::move(listener));
  return {nullptr, [listeners = listeners_, id](void*) { listeners->all.erase(id); }};
}

/// Listeners may subscribe, leave, add and remove clusters.
void Fleet::tell(const std::string& name) {
  const auto snapshot = listeners_->all;
  for (const auto& [id, listener] : snapshot) {
    if (listeners_->all.contains(id)) listener(name);
  }
}

}  // namespace slipway::fleet
