// What every part of one server works on: its Env, its store, what is served, who may do what, and the server itself for those
// who run ordinary requests. Verbs (server/verbs.h) owns what is referred to here; access/ and builtin/ see this and not the
// verbs, so that neither depends on how a request is carried out.
#pragma once

#include <deque>
#include <utility>

#include "base/env.h"
#include "client/client.h"
#include "kube/apply.h"
#include "server/access/access.h"
#include "server/builtin/service_numbers.h"
#include "server/registry.h"
#include "server/server.h"
#include "store/store.h"

namespace slipway::server {

using client::Reply;
using client::Request;
using json::Value;
using kube::Revision;

/// The DELETED objects of the last deletions, made once for all watchers: the last state with the deletion's revision.
class Tombstones {
 public:
  const Value& of(Revision revision, const Value& last_state);

 private:
  std::deque<std::pair<Revision, Value>> recent_;
};

struct ServerContext {
  Env& env;
  store::Store& store;
  const Options& options;
  Registry& registry;
  Access& access;
  client::Client& server;  // this server itself: how an endpoint runs an ordinary request
  Tombstones tombstones{};
  ServiceNumbers numbers{store};
};

}  // namespace slipway::server
