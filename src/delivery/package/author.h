// As whom the objects of the room act: the user who last wrote the spec or an annotation of packages.slipway.dev, as admission
// recorded it. What they name (a Secret, a package upstream, objects to inject) is read and written with that user's rights.
#pragma once

#include <memory>
#include <string>

#include "client/client.h"
#include "delivery/family/identity.h"

namespace slipway::delivery::package {

inline constexpr IdentityAnnotations kAuthor{"packages.slipway.dev/author", "packages.slipway.dev/author-groups"};
using Author = std::shared_ptr<const kube::UserInfo>;

/// For the `mutate_for` row of the kinds that act.
kube::Object stamp_author(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);
/// Null when the process itself wrote the object, or none of our admission stood before it.
Author author_of(const kube::Object& object);

/// What a user is to have the right to do.
struct NeededRight {
  std::string verb{};
  kube::Resource resource{};
  std::string subresource{};
  kube::ObjectKey key{};
};
/// Asks the API server, as the process, whether the user has it. A null user is the process, which has all.
Task<Result<bool>> has_right(client::Client& process, Author user, NeededRight right);
/// Forbidden, in the API server's words, unless has_right().
Task<Result<void>> require_right(client::Client& process, Author user, NeededRight right);

}  // namespace slipway::delivery::package
