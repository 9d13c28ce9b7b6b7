#include "serve/user.h"

namespace slipway::serve {

Result<kube::UserInfo> user_of(const net::ConnectionInfo& connection) {
  const net::PeerCertificate& certificate = connection.certificate;
  if (certificate.sha256.empty() || !certificate.is_verified) return fail(Reason::Unauthorized, "Unauthorized");
  kube::UserInfo user;
  user.name = certificate.common_name;
  user.groups = certificate.organizations;
  user.groups.emplace_back("system:authenticated");
  return user;
}

}  // namespace slipway::serve
