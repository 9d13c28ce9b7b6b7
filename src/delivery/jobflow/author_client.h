// The rights that a Workflow or CronWorkflow is carried out with.
#pragma once

#include "control/acting_client.h"
#include "delivery/family.h"
#include "kube/object.h"

namespace slipway::delivery::jobflow {

/// The author whom admission recorded in an object; null: the process itself wrote it, or the controller acts with its own
/// rights.
std::shared_ptr<const kube::UserInfo> author_of(const kube::Object& object, ActsAs acts_as);

/// `own` as the author whom admission recorded in an object; as the controller where none is recorded. `own` outlives it.
control::ActingClient as_author(client::Client& own, const kube::Object& object, ActsAs acts_as);

}  // namespace slipway::delivery::jobflow
