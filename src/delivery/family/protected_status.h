// Which members of a status users may write. A status records what a controller has decided: a gate that passed, an attempt, a
// size. A user who could write it could pass a gate without the right to. Admission puts such members back. Pure.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kube/admission.h"

namespace slipway::delivery {

/// The process itself, and users who may impersonate anyone.
bool may_write_status(const kube::Asker& asker);

/// The object with the status of `old`, but for `members`, which users write. The process itself, and users who may impersonate
/// anyone (administrators, and `slipway controller` on another cluster), write every member.
kube::Object with_protected_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker,
                                   std::initializer_list<std::string_view> members);

/// The object with `own` members of the status as `old` has them: what users write of other members stays, foreign ones too.
/// The same users as above write every member.
kube::Object with_own_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker,
                             std::initializer_list<std::string_view> own);

}  // namespace slipway::delivery
