// The table of members that protect a delivery (gates, manual approval, keys of webhooks), with the right that weakening each
// one needs. A family has one row for each such member of its kinds, and admission checks the rows. Adding protection needs no
// right. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/admission.h"

namespace slipway::delivery {

struct Protection {
  kube::GroupVersionKind kind{};
  std::string_view member{};  // "spec.environments[].gates": for people and for docs/security.md
  // The right: `verb` on `resource` in the object's namespace; with `of_object` on the object's name only.
  std::string_view verb{};
  kube::Resource resource{};
  bool of_object = false;
  /// Returns the field paths that are weaker in `object` than in `old`, which is never null. For a delete `object` is `old`
  /// with a deletionTimestamp.
  std::vector<std::string> (*weakened)(const kube::Object& object, const kube::Object& old) = nullptr;
  /// The first words of a refusal; "user NAME needs the right to …" follows.
  std::string_view because = "it protects what is delivered: to weaken it";
};

/// Returns a violation for each path that is weakened without the right. A change of the owner references, of an object whose
/// delete would be refused, needs the right too, unless none are left: the garbage collector deletes what has lost its owners,
/// as the process. Empty for the process itself, for a create, and for an object that is being deleted already.
std::vector<Cause> check_protection(std::span<const Protection> table, const kube::Object& object, const kube::Object& old,
                                    const kube::Asker& asker);

}  // namespace slipway::delivery
