// Who wrote an object last, kept in two annotations of it: admission records them from the request and never believes the body,
// so that a controller can act as that user afterwards. Pure. Each family names annotations of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "kube/admission.h"
#include "kube/user.h"

namespace slipway::delivery {

/// Users whose rights narrow the author's (kube::Narrowing): [{"user": "ann", "groups": ["dev"]}]. Of all families.
inline constexpr const char* kContentAuthors = "slipway.dev/content-authors";

struct IdentityAnnotations {
  const char* user;
  const char* groups;  // separated by commas
};

/// Returns the object with the requesting user in its annotations if it is created or its spec changes, else with the
/// annotations of `old`. Unchanged if the process itself writes. A group whose name has a comma is left out: the list could not
/// be read back.
kube::Object record_identity(const IdentityAnnotations& in, const kube::Object& object, const kube::Object& old,
                             const kube::Asker& asker);

/// The same for kinds that annotations steer too: a user who changes an annotation whose name begins with `steering`
/// ("packages.slipway.dev/") becomes the author.
kube::Object record_author(const IdentityAnnotations& in, const kube::Object& object, const kube::Object& old,
                           const kube::Asker& asker, std::string_view steering);

/// The same as text, and read back; of a text that cannot be read the unknown author, who may do nothing.
json::Value identity_list(const std::vector<kube::UserInfo>& users);
std::vector<kube::UserInfo> read_identities(std::string_view text);

/// Returns `user` with its rights narrowed by `by` as well, and limited to the namespace `ns` (empty: no limit) unless `user`
/// has a narrowing that names one. Identities that already narrow it, and `user` itself with the same groups, are left out. If
/// none narrows it then, returns `user` unchanged: `ns` does not limit it.
kube::UserInfo narrowed(kube::UserInfo user, std::string_view ns, const std::vector<kube::UserInfo>& by);

/// Returns the object with `user`, and who narrows it, in these annotations. A group whose name has a comma is left out: the
/// list could not be read back.
kube::Object with_identity(const IdentityAnnotations& in, const kube::Object& object, const kube::UserInfo& user);

/// Returns the object with these annotations copied from `from`, and without those that `from` lacks; a null `from` has none.
kube::Object with_identity_of(const IdentityAnnotations& in, const kube::Object& object, const kube::Object& from);

/// Null when no user is recorded, since the process itself wrote the object.
std::shared_ptr<const kube::UserInfo> recorded_identity(const IdentityAnnotations& in, const kube::Object& object);

/// Whom a controller acts as for a user's objects. User: the author that admission recorded. Controller: the controller itself,
/// because the API server of this cluster does not run Slipway's admission, which would record the author.
enum class ActsAs : std::uint8_t { User, Controller };
/// Whom a controller acts as for an object. Null: the process, with its own rights. It wrote the object, or Slipway's admission
/// does not stand before this cluster (ActsAs::Controller).
std::shared_ptr<const kube::UserInfo> author_of(const IdentityAnnotations& in, const kube::Object& object, ActsAs acts_as);

/// Kinds whose objects act as their author, and where that is recorded.
struct AuthoredKinds {
  IdentityAnnotations in;
  std::vector<kube::Resource> resources;
};

}  // namespace slipway::delivery
