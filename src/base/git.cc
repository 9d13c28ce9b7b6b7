#include "base/git.h"

namespace slipway {

GitCredentials GitCredentials::of_secret(const std::map<std::string, std::string>& secret) {
  const auto first = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (const auto at = secret.find(key); at != secret.end() && !at->second.empty()) return at->second;
    }
    return std::string();
  };
  GitCredentials made;
  made.username = first({"username"});
  made.ssh_private_key = first({"identity"});
  made.known_hosts = first({"known_hosts"});
  made.ca_bundle = first({"ca.crt", "caFile"});
  if (made.ssh_private_key.empty()) {
    made.password = first({"password", "token"});
  } else {
    made.ssh_passphrase = first({"password"});
  }
  return made;
}

}  // namespace slipway
