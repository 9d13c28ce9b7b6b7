// A cluster as a Secret of the hub describes it, in namespace vela-system, under the cluster's name. Three forms: with the
// label cluster.core.oam.dev/cluster-credential-type X509Certificate (data endpoint, ca.crt, tls.crt, tls.key) or
// ServiceAccountToken (endpoint, ca.crt, token), and with the label slipway.dev/cluster-kubeconfig (data value or kubeconfig).
// Without ca.crt the server's certificate is verified against the authorities of this machine; data insecure "true" says that
// it is not verified. Pure. Follows oam-dev/cluster-gateway pkg/apis/cluster/v1alpha1. DIVERGES: there, no ca.crt means that
// any server is believed, and gets the token.
//
// A fourth form, of type Internal, has no data: a cluster that the hub's own process serves. It holds the cluster's labels.
//
// A kubeconfig may not name files or programs of this machine: whoever may write the Secret need not be allowed to read or run
// them. NotImplemented: endpoints of type ClusterProxy, credentials of type Dynamic.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "fleet/fleet.h"
#include "kube/object.h"

namespace slipway::fleet {

inline constexpr const char* kClusterNamespace = "vela-system";
/// The name by which an Application calls the cluster that it lives in.
inline constexpr const char* kHubCluster = "local";
/// Type of a cluster that is served by the process of the hub.
inline constexpr const char* kInternal = "Internal";
inline constexpr const char* kCredentialLabel = "cluster.core.oam.dev/cluster-credential-type";
inline constexpr const char* kEndpointLabel = "cluster.core.oam.dev/cluster-endpoint-type";
inline constexpr const char* kControlPlaneLabel = "cluster.core.oam.dev/control-plane";
inline constexpr const char* kAliasAnnotation = "cluster.core.oam.dev/cluster-alias";
inline constexpr const char* kKubeconfigLabel = "slipway.dev/cluster-kubeconfig";

/// What the certificate of an API server is verified against: the Secret's authority, those of this machine, or nothing.
enum class ServerTrust : std::uint8_t { Authority, System, Any };

struct ClusterSecret {
  std::string name;
  std::string alias;
  std::string type;      // X509Certificate, ServiceAccountToken, Kubeconfig, Internal; as written when unknown
  std::string endpoint;  // a URL, the endpoint type where that is no Const, "-" of an Internal one
  std::map<std::string, std::string> labels;  // the Secret's, without cluster.core.oam.dev/…, and control-plane: "false"
  std::optional<ServerTrust> trust{};         // nothing where the Secret holds a kubeconfig, which says it itself
  bool is_internal() const { return type == kInternal; }
  /// How to reach it, or why that cannot be said: NotImplemented, BadRequest with the key of the Secret, or that it is
  /// Internal.
  Result<RemoteCluster> access;
};

/// The Secret of a cluster that the process of its hub serves.
kube::Object internal_cluster_secret(const std::string& name);

/// nullopt for a Secret that describes no cluster.
std::optional<ClusterSecret> read_cluster_secret(const kube::Object& secret);

/// What the Secrets of a hub describe, in the order of their names.
Task<Result<std::vector<ClusterSecret>>> list_clusters(client::Client& hub);

/// A kubeconfig out of an object, as a value. BadRequest when it cannot be read, or names files or programs of this machine.
Result<json::Value> portable_kubeconfig(const std::string& text);

/// Whether a label of the Secret is one of the cluster, and may be set and removed as such.
bool is_cluster_label(std::string_view key);

}  // namespace slipway::fleet
