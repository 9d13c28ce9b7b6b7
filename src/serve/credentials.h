// The keys of an embedded control plane, kept in DIR/pki (mode 0600): its own certificate authority, the server's certificate,
// and an administrator's client certificate; and the kubeconfig that holds them for kubectl. What is not
// valid by the wall clock is made again: the authority only then, keeping the former beside it (ca-replaced), the other two
// also when they end soon, when the names of the server change, and with a new authority.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "kube/user.h"
#include "net/certificate.h"

namespace slipway::serve {

struct Credentials {
  std::string authority_pem;
  net::KeyPair server;
  net::KeyPair admin;
};

/// Whom the administrator's certificate names.
kube::UserInfo administrator();

/// Reads or makes what is in `folder`. `names`: what the server is reached under beside those that every one has. BadRequest
/// when a file there cannot be read as what it should be.
Result<Credentials> open_credentials(Env& env, const std::string& folder, const std::vector<std::string>& names);

struct KubeconfigEntry {
  std::string name;    // of cluster, context
  std::string server;  // "https://127.0.0.1:6443/clusters/dev"
};
/// A kubeconfig with a context per entry, the first one current.
std::string kubeconfig(const Credentials& credentials, const std::vector<KubeconfigEntry>& entries);

}  // namespace slipway::serve
