// A PackageVariantSet as the variants that it wants: targets are unrolled, and the template's expressions evaluated for each
// (config.porch.kpt.dev/v1alpha2). Pure: repositories, selected objects and the upstream revision go in. Each expression is
// compiled once, however many targets there are.
//
// Variables: repoDefault and packageDefault (text), and upstream, repository and target, of which name, namespace, labels and
// annotations can be read; a target that is a Repository by name has repo and package instead.
// DIVERGES: names of variants that are too long, or whose package has a path, end in a SHA-256, not a SHA-1; which variant is
// which is told by repository and package, as in Porch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "delivery/package/variant_set_spec.h"
#include "kube/object.h"

namespace slipway::delivery::package {

/// What is wrong with a set, in Porch's words; its condition Stalled has them joined by "; ".
std::vector<std::string> check(const VariantSetSpec& set);

/// What a set is unrolled with.
struct FanOutView {
  std::string name{};  // of the set
  std::string uid{};
  std::vector<kube::Object> repositories{};           // of its namespace
  std::vector<std::vector<kube::Object>> selected{};  // for each target: the objects of its objectSelector's kind
  kube::Object upstream{};                            // the PackageRevision
};

struct WantedVariant {
  std::string name{};
  VariantSpec spec{};

  const Downstream& downstream() const { return *spec.downstream; }
};
/// In the order of targets; where two make one package the later one is meant. Invalid, naming the place ("spec.targets[1]:
/// template.downstream.repoExpr: …"), when one cannot be evaluated: then nothing is to be changed, since a variant that could
/// not be made must not count as not wanted. REQUIRES: check() found nothing.
Result<std::vector<WantedVariant>> unroll(const VariantSetSpec& set, const FanOutView& view);

/// "SET-REPO-PACKAGE", at most 63 bytes.
std::string variant_name(std::string_view set, const Downstream& downstream);

/// What is to be done to the variants that are there.
struct VariantChanges {
  std::vector<WantedVariant> create{};
  std::vector<WantedVariant> update{};  // under the name of the one that is there
  std::vector<std::string> remove{};    // names
};
/// `there` are the set's own, with their specs.
VariantChanges changes(const std::vector<WantedVariant>& wanted, const std::vector<WantedVariant>& there);

}  // namespace slipway::delivery::package
