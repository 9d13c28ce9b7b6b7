// Access control of one server: who asks and what they may do.
#pragma once

#include "server/access/authenticator.h"
#include "server/access/authorizer.h"

namespace slipway::server {

struct Access {
  Access(Env& env, store::Store& store, Authenticator::Options options)
      : authorizer(store), authenticator(env, store, authorizer, std::move(options)) {}

  Authorizer authorizer;
  Authenticator authenticator;
};

}  // namespace slipway::server
