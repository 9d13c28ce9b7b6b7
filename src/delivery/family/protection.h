// What protects is protected: a table of the members that protect a delivery (gates, manual approval, keys that sign), and of
// the right that weakening them takes. A family has a row for each such member of its kinds, and admission reads the rows.
// Adding protection takes no right. Pure.
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
  // The right: to `verb` the resource in the object's namespace; `of_object`: that object by its name.
  std::string_view verb{};
  kube::Resource resource{};
  bool of_object = false;
  /// Field paths that are weaker in `object` than in `old`. `old` is never null. A delete is asked for with an object that is
  /// the old one with a deletionTimestamp.
  std::vector<std::string> (*weakened)(const kube::Object& object, const kube::Object& old) = nullptr;
};

/// A violation for each path that is weaker while the asker lacks the right. None for the process itself, for a create, and for
/// objects that were being deleted before.
std::vector<Cause> check_protection(std::span<const Protection> table, const kube::Object& object, const kube::Object& old,
                                    const kube::Asker& asker);

}  // namespace slipway::delivery
