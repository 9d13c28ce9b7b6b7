// `slipway controller --porch-listen`: the kinds of porch.kpt.dev, served behind an APIService of a cluster elsewhere, which
// keeps one PackageRecord for each revision.
#pragma once

#include <memory>
#include <string>

#include "cli/listen.h"
#include "serve/aggregated.h"
#include "serve/api_service.h"
#include "store/store.h"

namespace slipway::cli {

class PorchListener {
 public:
  struct Options {
    std::string listen{};   // ADDRESS:PORT
    std::string service{};  // "NAMESPACE/NAME[:PORT]", which leads here: its APIService is written; empty: by somebody else
    std::string folder{};   // keys of the server, below pki; what is there is used again
  };
  /// Listens from here on. Conflict when somebody else answers for the group; BadRequest for options that cannot be read, and
  /// when the cluster has no front proxy. `cluster` outlives this.
  static Task<Result<std::unique_ptr<PorchListener>>> open(Env& env, client::Client& cluster, Options options);

  /// Until stop().
  Task<> run();
  void stop(Duration grace) { http_->stop(grace); }
  /// "https://127.0.0.1:4711"
  std::string url() const;
  const std::string& host() const { return address_.host; }
  unsigned short port() const { return http_->port(); }
  bool is_loopback() const { return address_.is_loopback(); }
  /// Of the authority that signed the server's certificate.
  const std::string& authority_pem() const { return authority_pem_; }

 private:
  PorchListener() = default;
  Result<void> listen(Env& env, const Options& options, const serve::ApiServiceTarget& target, const serve::FrontProxy& proxy);

  ListenAddress address_{};
  std::string authority_pem_{};
  std::unique_ptr<store::Store> store_;  // of what is not there: the server's own objects
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<serve::Aggregated> aggregated_;
};

}  // namespace slipway::cli
