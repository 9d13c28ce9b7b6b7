// The rights that a Workflow or CronWorkflow is carried out with.
#pragma once

#include <optional>

#include "delivery/family.h"
#include "fleet/identity.h"
#include "kube/object.h"

namespace slipway::delivery::jobflow {

/// The client that acts as the author whom admission recorded in an object; the controller's own where none is recorded.
class AuthorClient {
 public:
  /// `own` outlives this.
  AuthorClient(client::Client& own, const kube::Object& object, ActsAs acts_as);
  client::Client& operator*() { return as_ ? static_cast<client::Client&>(*as_) : own_; }

 private:
  client::Client& own_;
  std::optional<fleet::IdentityClient> as_;
};

}  // namespace slipway::delivery::jobflow
