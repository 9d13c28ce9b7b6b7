#include "delivery/application/acting.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"

namespace slipway::delivery::application {

Acting::Acting(control::Reconcile& run, std::shared_ptr<const kube::UserInfo> identity)
    : run_(run), identity_(std::move(identity)) {}
Acting::~Acting() = default;

Result<client::Client*> Acting::on(const std::string& cluster) {
  SLIPWAY_TRY(client, own(cluster));
  auto& made = clients_[client];
  if (!made) made = std::make_unique<control::ActingClient>(*client, identity_, &confinement_, client == &run_.client);
  return made.get();
}

void Acting::confine(std::string ns, std::string why) {
  if (!confinement_.why.empty()) return;
  confinement_ = {.ns = std::move(ns), .why = std::move(why)};
}

Result<client::Client*> Acting::own(const std::string& cluster) {
  if (cluster.empty() || cluster == kHub) return &run_.client;
  auto found = run_.on(cluster);
  if (!found) return fail(Reason::NotFound, fmt::format("cluster \"{}\" not found", cluster));
  return found;
}

}  // namespace slipway::delivery::application
