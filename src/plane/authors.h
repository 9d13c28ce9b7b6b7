// Objects that were stored before admission recorded who writes them. Kinds that act for users (Family::authored, and those of
// Flux while it is simulated) would act with the rights of the process for them; so each such object is given the unknown
// author, who has no rights (control/author_right.h), or the user whom --adopt-as names. A file in the cluster's folder records
// that this was done. Afterwards an object without an author was written by a command of the folder's owner; it acts with the
// rights of the process until a start with --adopt-as gives it an author.
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

/// Path of the file that records that every object in a cluster's folder has been given an author, or that the folder was new.
std::string authors_mark(const std::string& folder);

}  // namespace slipway::plane
