// Service account tokens: what is in one and when it holds (authentication.k8s.io/v1 TokenRequest, k8s.io/kubernetes
// pkg/serviceaccount). Signing is handed in, so that this room knows no keys and no signature format.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "json/value.h"
#include "kube/user.h"
#include "store/store.h"

namespace slipway::server {

/// Signs claims (the JSON text of a token's payload) and checks signatures. Implemented with the keys of the data directory
/// where the server is put together.
class TokenSigner {
 public:
  virtual ~TokenSigner() = default;
  virtual Result<std::string> sign(std::string_view claims) const = 0;
  /// The claims of a token with a right signature; Unauthorized otherwise.
  virtual Result<std::string> verify(std::string_view token) const = 0;
};

struct TokenRules {
  std::string issuer = "https://kubernetes.default.svc.cluster.local";
  /// What tokens for the server itself are for; the first is the default audience.
  std::vector<std::string> audiences{issuer};
};

/// Something a token dies with: a Pod, Secret or Node.
struct BoundObject {
  std::string kind;
  std::string name;
  std::string uid;
};

/// The claims of a token for a ServiceAccount object. `bound` is null for none. `id` becomes "jti".
json::Value token_claims(const TokenRules& rules, const json::Value& account, const BoundObject* bound,
                         const std::vector<std::string>& audiences, Time now, Duration validity, std::string_view id);

struct TokenFacts {
  std::shared_ptr<const kube::UserInfo> user;
  std::vector<std::string> audiences;  // of those asked for, the ones the token is for
};
/// Who shows a token with these claims. Unauthorized, saying why, when it is expired, for none of `audiences`, or the account
/// or the object it is bound to is gone or another by now.
Result<TokenFacts> token_facts(const TokenRules& rules, const store::Store& store, const json::Value& claims,
                               const std::vector<std::string>& audiences, Time now);

/// The key of a ServiceAccount, Pod, Secret or Node in the store.
std::string account_key(std::string_view ns, std::string_view name);
std::string bound_key(const BoundObject& bound, std::string_view ns);

}  // namespace slipway::server
