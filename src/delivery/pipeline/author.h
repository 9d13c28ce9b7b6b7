// The author of a Pipeline or GitopsCluster: the user who last wrote its spec, or the annotation that asks for annotations on
// targets, as recorded by admission. Secrets, targets and clusters that it names are read, and annotations written, with that
// user's rights. (`spec.by` of Promotions, Freezes and the like is the user who asked for that one thing, own_kinds.h.)
#pragma once

#include <memory>

#include "delivery/family.h"
#include "delivery/family/identity.h"

namespace slipway::delivery::pipeline {

inline constexpr IdentityAnnotations kIdentity{"pipelines.slipway.dev/author", "pipelines.slipway.dev/author-groups"};
using User = std::shared_ptr<const kube::UserInfo>;

/// Records the author. For the `mutate_for` row of both kinds.
kube::Object stamp_identity(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);
/// Returns null if the process itself wrote the object, if it was written without Slipway's admission, and always with
/// ActsAs::Controller: the process acts with its own rights then.
User author_of(const kube::Object& object, ActsAs acts_as = ActsAs::User);

}  // namespace slipway::delivery::pipeline
