#include "server/server.h"

#include <algorithm>

#include "kube/builtin.h"
#include "server/list_options.h"
#include "server/registry.h"
#include "server/verbs.h"

namespace slipway::server {

namespace {

/// The built-in kinds; their entries are the same for every server of the process.
const Registry& builtins() {
  static const Registry all = [] {
    Registry made;
    for (const kube::ResourceType& type : kube::builtin_types()) made.put(type);
    return made;
  }();
  return all;
}

}  // namespace

Server::Server(Env& env, store::Store& store, Options options)
    : env_(env),
      store_(store),
      options_(std::move(options)),
      registry_(options_.behind == nullptr ? std::make_unique<Registry>(builtins())
                                           : std::make_unique<Registry>(Registry::Only::Answered)) {
  for (const client::AnsweredKind& kind : options_.answered) registry_->put(kind);
  registry_->refuse(options_.unserved);
  verbs_ = std::make_unique<Verbs>(env_, store_, options_, *registry_, options_.behind == nullptr ? *this : *options_.behind);
}

Server::~Server() = default;

Task<Result<void>> Server::start() {
  if (!options_.writes_bootstrap) co_return Result<void>{};
  co_return co_await verbs_->begin();
}

Task<Result<client::Reply>> Server::call(client::Request request) { return verbs_->call(std::move(request)); }

Task<Result<std::unique_ptr<client::Watch>>> Server::watch(client::Request request) {
  return verbs_->watch(std::move(request));
}

Task<Result<ListReply>> Server::list(client::Request request) { return verbs_->list(std::move(request)); }

Result<kube::Revision> Server::revision_wanted(const client::Request& request) const {
  const auto served = registry_->served(request.resource);
  if (!served || (*served)->answers != nullptr) return 0;  // functions know no revisions of the store
  if (request.verb == client::Verb::Get) return revision_of(request.resource_version);
  SLIPWAY_TRY(plan, ListPlan::of(request));
  return std::max(plan.not_older_than, plan.at);
}

Task<Result<void>> Server::reach(kube::Revision revision) { return verbs_->reach(revision); }

Result<UserPtr> Server::authenticate(const Credentials& credentials) {
  return verbs_->access().authenticator.authenticate(credentials);
}

Result<void> Server::authorize(const UserPtr& user, const Attributes& attributes) {
  if (user == nullptr || options_.behind != nullptr) return {};
  return verbs_->access().authorizer.check(*user, attributes);
}

}  // namespace slipway::server
