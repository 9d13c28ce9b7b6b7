// One cluster's API on the wire: a request about resources becomes a client::Request, its answer takes the form that was asked
// for. What is no resource (discovery, health, OpenAPI, metrics) is answered by serve/paths.h, or by a family's own path.
//
// What is looked at first costs least: the path, then whether the user may, then whether there is room; only then is the body
// read. So a stranger's body is never parsed, and what a stranger sends leaves no trace in metrics but counts by verb and code.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "client/served.h"
#include "kube/openapi.h"
#include "net/server.h"
#include "serve/call.h"
#include "serve/event_text.h"
#include "serve/paths.h"
#include "serve/source_limit.h"
#include "serve/target.h"
#include "server/pod_backend.h"
#include "server/registry.h"
#include "server/server.h"

namespace slipway::serve {

struct ApiOptions {
  /// Where logs come from and commands run; null without such a runtime.
  server::PodBackend* pods = nullptr;
  std::string root{};       // the path this API is below: "/clusters/dev"
  MetricsSource metrics{};  // empty: /metrics is not served
  /// What keeps the cluster's controllers from their work, a sentence each: /readyz fails with them. Empty: there are none.
  std::function<std::vector<std::string>()> hindrances{};
  /// Paths that families answer; none of them is one of the server's own.
  std::vector<client::HttpPath> paths{};
  // Beyond these: 429. A place is held from before the body is read until the answer is made; watches, streams and reads that
  // wait for a revision to come hold none.
  std::size_t reads_in_flight = 400;
  std::size_t writes_in_flight = 200;
};

class Api {
 public:
  Api(Env& env, server::Server& server, ApiOptions options);

  Task<net::Answer> answer(Call call);

  server::Server& server() { return server_; }
  std::size_t watches() const { return *watches_; }

 private:
  /// What a request was about, for its metrics: empty until it is known that such a resource is served and that the user may
  /// do that, so that labels come only from what is registered.
  struct Subject {
    kube::Resource resource;
    std::string subresource;
    std::string dry_run{};  // "All"; empty: what it changes is kept
  };
  /// A request that the user may make, still without parameters and body.
  struct Admitted {
    client::Request request;
    Target target;
  };

  void measure(const Subject& subject, std::string_view verb, const net::Answer& answer, Steady begun);
  Result<Admitted> admit(const Call& call, client::Verb verb);
  Task<Result<net::Answer>> answer_resource(Call call, Admitted admitted);
  Task<Result<net::Answer>> answer_read(Call call, Admitted admitted);
  Task<Result<net::Answer>> answer_write(Call call, Admitted admitted);
  Task<Result<net::Answer>> answer_plain(Call call, client::Request request, server::TypePtr type,
                                         std::vector<std::string> warnings = {});
  Task<Result<net::Answer>> answer_list(Call call, client::Request request, server::TypePtr type);
  Task<Result<net::Answer>> answer_watch(Call call, client::Request request, server::TypePtr type);
  Result<net::Answer> answer_path(const Call& call);
  const client::HttpPath* find_path(const Route& route) const;
  Task<Result<net::Answer>> answer_own_path(const client::HttpPath& path, Call call);

  Env& env_;
  server::Server& server_;
  ApiOptions options_;
  kube::OpenApiDocuments documents_;
  std::shared_ptr<EventTexts> texts_ = std::make_shared<EventTexts>();
  std::shared_ptr<std::size_t> watches_ = std::make_shared<std::size_t>(0);
  std::size_t reads_ = 0;
  std::size_t writes_ = 0;
  SourceLimit strangers_{};
};

}  // namespace slipway::serve
