// Whether a server is the one it says it is: its SSH host key against the text of a known_hosts file (sshd(8), SSH_KNOWN_HOSTS
// FILE FORMAT), its certificate against a bundle of authorities given for it.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace slipway::git {

/// True when a line for the host has this key (`key_type` as on the line, "ssh-ed25519"; `key` its raw bytes) and none for it
/// revokes it. Plain and hashed names, patterns with "*", "?" and "!", [host]:port. Lines of @cert-authority are passed over.
bool is_known_host(std::string_view known_hosts, std::string_view host, int port, std::string_view key_type,
                   std::string_view key);

/// Checks a certificate (DER) for `host` against the authorities in `ca_bundle` (PEM). Intermediates must be in the bundle:
/// libgit2 hands out the server's own certificate only. Unauthorized says what is wrong, BadRequest that the bundle holds none.
Result<void> check_certificate(std::string_view ca_bundle, std::string_view certificate, const std::string& host);

}  // namespace slipway::git
