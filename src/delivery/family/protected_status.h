// Which members of a status users may write. A status records what a controller has decided: a gate that passed, an attempt, a
// size. A user who could write it could pass a gate without the right to. Admission puts such members back. Pure.
#pragma once

#include <initializer_list>
#include <string_view>

#include "kube/admission.h"

namespace slipway::delivery {

/// True for the process itself and for users who may impersonate anyone: they may write every member of a status.
bool may_write_status(const kube::Asker& asker);

/// Returns the object with its status restored from `old`, except for `members`, which keep what the user wrote. Users of
/// may_write_status() (administrators, and `slipway controller` on another cluster) keep all that they wrote.
kube::Object with_protected_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker,
                                   std::initializer_list<std::string_view> members);

/// The same without members: users write nothing. For the `stamp_status` rows of kinds whose status only controllers write.
Result<kube::Object> keep_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);

/// Returns the object with the members `own` of its status restored from `old`. Other members stay as the user wrote them.
/// Users of may_write_status() keep all that they wrote.
kube::Object with_own_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker,
                             std::initializer_list<std::string_view> own);

}  // namespace slipway::delivery
