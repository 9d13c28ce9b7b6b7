// An ingress controller as small as can be: it follows the Ingresses (or HTTPRoutes), Services and EndpointSlices of a
// namespace and keeps an nginx on what they say. A pod is asked while its endpoint is ready and not terminating. Routes of the
// Gateway API get the conditions Accepted and ResolvedRefs at their generation once nginx serves them; Ingresses have no such
// report.
#pragma once

#include <memory>
#include <string>

#include "base/http_client.h"
#include "client/informer.h"
#include "config.h"
#include "process.h"

namespace slipway::nginx {

enum class Routes : std::uint8_t { Ingresses, HttpRoutes };

class Proxy {
 public:
  /// Serves on `port` of the loopback. `client` and `http` (for asking nginx which configuration it serves) outlive it.
  Proxy(Env& env, client::Client& client, HttpClient& http, Routes routes, std::string ns, unsigned short port);

  /// Follows until its world ends.
  Task<> run();
  /// How often nginx got a new configuration.
  int version() const { return version_; }
  /// Whether every request is answered from what was last seen of the objects.
  bool is_serving() const { return is_serving_ && !is_stale_; }
  /// What could not be served, and what nginx wrote to its error log.
  std::string log() const { return trouble_ + (nginx_ ? nginx_->log() : ""); }

 private:
  void follow(client::Informer& informer);
  Site site() const;
  Task<bool> serve(Site site);
  Task<> report(std::vector<json::Value> routes);

  Env& env_;
  client::Client& client_;
  HttpClient& http_;
  const std::string ns_;
  const unsigned short port_;
  const Routes kind_;
  client::Informer routes_;
  client::Informer services_;
  client::Informer slices_;
  Signal changed_;
  Tasks tasks_;
  std::unique_ptr<Process> nginx_;
  std::string served_;  // the configuration, but for its version
  std::string trouble_;
  int version_ = 0;
  bool is_stale_ = true;
  bool is_serving_ = false;
};

}  // namespace slipway::nginx
