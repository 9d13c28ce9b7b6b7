// Objects that were stored before admission recorded who writes them. Kinds that act for users (Family::authored and
// flux/author.h) would act with the rights of the process; so each such object is given the unknown author, who has no rights
// (control/author_right.h), or the user whom --adopt-as names. A file in the cluster's folder says that this was done: what has
// no author from then on was written by a command of the folder's owner.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/env.h"
#include "client/client.h"
#include "kube/user.h"
#include "plane/families.h"

namespace slipway::plane {

/// Gives an author to the objects that have none, and with `adopter` to those of the unknown author: `adopter`, else the
/// unknown author. Returns how many. Metadata changes, nothing else. REQUIRES: `server` acts as the process.
Task<Result<std::size_t>> settle_authors(client::Client& server, std::optional<kube::UserInfo> adopter,
                                         Families of = families());

/// The file that says that every object of a cluster's folder had an author, or that there was none.
std::string authors_mark(const std::string& folder);

}  // namespace slipway::plane
