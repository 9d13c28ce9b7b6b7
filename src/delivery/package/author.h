// The author of a package object: the user who last wrote its spec or an annotation of packages.slipway.dev, as recorded by
// admission. Secrets, upstream packages and injected objects that the object names are read and written with that user's
// rights.
#pragma once

#include <memory>
#include <string>

#include "client/client.h"
#include "control/author_right.h"
#include "delivery/family.h"
#include "delivery/family/identity.h"

namespace slipway::delivery::package {

inline constexpr IdentityAnnotations kAuthor{"packages.slipway.dev/author", "packages.slipway.dev/author-groups"};
using Author = std::shared_ptr<const kube::UserInfo>;

/// Records the author. For the `mutate_for` row of each kind that acts.
kube::Object stamp_author(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);
/// Returns null if the process itself wrote the object, if it was written without Slipway's admission, and always with
/// ActsAs::Controller: the process acts with its own rights then.
Author author_of(const kube::Object& object, ActsAs acts_as = ActsAs::User);

using control::has_right;
using control::NeededRight;
using control::require_right;

}  // namespace slipway::delivery::package
