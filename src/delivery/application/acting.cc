#include "delivery/application/acting.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"

namespace slipway::delivery::application {

Result<client::Client*> Acting::on(const std::string& cluster) {
  SLIPWAY_TRY(client, own(cluster));
  if (!identity_) return client;
  auto& as = as_identity_[client];
  if (!as) as = std::make_unique<fleet::IdentityClient>(*client, identity_);
  return as.get();
}

Result<client::Client*> Acting::own(const std::string& cluster) {
  if (cluster.empty() || cluster == kHub) return &run_.client;
  auto found = run_.on(cluster);
  if (!found) return fail(Reason::NotFound, fmt::format("cluster \"{}\" not found", cluster));
  return found;
}

}  // namespace slipway::delivery::application
