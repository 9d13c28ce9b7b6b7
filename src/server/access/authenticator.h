// Who is asking: from a client certificate, a bearer token (static, or of a service account) or nothing at all, then perhaps
// acting for another user. Follows k8s.io/apiserver's authenticators (union of x509, token file, service accounts, anonymous)
// and its impersonation filter.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/http.h"
#include "kube/user.h"
#include "server/access/authorizer.h"
#include "server/access/token.h"
#include "store/store.h"

namespace slipway::server {

using UserPtr = std::shared_ptr<const kube::UserInfo>;

/// What a connection and the headers of one request say about who asks.
struct Credentials {
  /// Only of a certificate that was verified against the server's own authority for clients.
  struct Certificate {
    std::string common_name;                 // the user
    std::vector<std::string> organizations;  // the groups
    std::string sha256;                      // of the DER form, lower-case hexadecimal; may be empty
  };
  std::optional<Certificate> certificate{};
  std::string authorization{};     // the header, "Bearer …"
  std::string websocket_bearer{};  // the token of a browser's subprotocol
  bool is_impersonating = false;
  std::string impersonated_user{};
  std::string impersonated_uid{};
  std::vector<std::string> impersonated_groups{};
  std::map<std::string, std::vector<std::string>> impersonated_extra{};

  /// Takes one header, its name in any case: Authorization, Impersonate-*, Sec-WebSocket-Protocol. Others are passed over.
  void take_header(std::string_view name, std::string_view value);
  void take_headers(const http::Headers& headers);
};

/// A text in the form of upstream's --token-auth-file: token,user,uid[,"group,group"] per line. BadRequest for another form.
Result<std::map<std::string, UserPtr, std::less<>>> read_static_tokens(std::string_view csv);

class Authenticator {
 public:
  struct Options {
    std::map<std::string, UserPtr, std::less<>> static_tokens{};
    std::shared_ptr<const TokenSigner> signer{};  // null: no service account tokens
    TokenRules tokens{};
    bool allows_anonymous = true;
  };
  Authenticator(Env& env, const store::Store& store, Authorizer& authorizer, Options options)
      : env_(env), store_(store), authorizer_(authorizer), options_(std::move(options)) {}

  /// Who asks, after impersonation. Unauthorized for a wrong token, or for none where anonymous requests are off; Forbidden for
  /// impersonation that is not allowed. Without credentials it is system:anonymous, who may what RBAC says: health and version.
  Result<UserPtr> authenticate(const Credentials& credentials);
  /// Who shows a bearer token. `audiences` may be empty: those of the server. Unauthorized, saying why, otherwise.
  Result<TokenFacts> token(std::string_view token, const std::vector<std::string>& audiences);

  const Options& options() const { return options_; }

 private:
  Result<UserPtr> caller(const Credentials& credentials);
  Result<UserPtr> impersonate(const kube::UserInfo& caller, const Credentials& credentials);
  Result<json::Value> claims_of(std::string_view token);

  Env& env_;
  const store::Store& store_;
  Authorizer& authorizer_;
  Options options_;
  /// Claims of tokens whose signature was right, so that it is not computed for every request. Bounded.
  std::map<std::string, json::Value, std::less<>> verified_;
};

}  // namespace slipway::server
