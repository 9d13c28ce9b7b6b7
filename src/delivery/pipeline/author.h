// As whom a Pipeline and a GitopsCluster act: the user who last wrote the spec, or the annotation that asks for annotations, as
// admission recorded it. Secrets, targets and clusters that they name are read, and annotations written, with that user's
// rights. (`spec.by` of our own kinds is who asked for that one thing, own_kinds.h.)
#pragma once

#include <memory>

#include "delivery/family.h"
#include "delivery/family/identity.h"

namespace slipway::delivery::pipeline {

inline constexpr IdentityAnnotations kIdentity{"pipelines.slipway.dev/author", "pipelines.slipway.dev/author-groups"};
using User = std::shared_ptr<const kube::UserInfo>;

/// For the `mutate_for` row of both kinds.
kube::Object stamp_identity(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);
/// Null when the process itself wrote the object, or no admission of ours stands before it.
User author_of(const kube::Object& object, ActsAs acts_as = ActsAs::User);

}  // namespace slipway::delivery::pipeline
