// The APIService by which a cluster passes the requests of one API group and version on to another server
// (kube-aggregator, apiregistration.k8s.io/v1).
#pragma once

#include <string>

#include "kube/object.h"

namespace slipway::serve {

inline const kube::Resource kApiServices{"apiregistration.k8s.io", "v1", "apiservices"};

struct ApiServiceTarget {
  std::string group{};
  std::string version{};
  std::string service_ns{};
  std::string service_name{};
  std::uint16_t service_port = 443;
  std::string authority_pem{};  // of the server's certificate

  std::string name() const { return version + "." + group; }
};

/// "NAMESPACE/NAME" or "NAMESPACE/NAME:PORT"; BadRequest otherwise.
Result<void> read_service(ApiServiceTarget& target, const std::string& option, const std::string& text);

kube::Object api_service(const ApiServiceTarget& target);

/// Conflict when `found`, the APIService of that name, is not ours: another server answers for the group, or the cluster itself
/// by definitions. Null is free.
Result<void> check_owner(const json::Value& found, const ApiServiceTarget& target);

}  // namespace slipway::serve
