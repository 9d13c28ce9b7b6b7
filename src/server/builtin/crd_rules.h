// What a CustomResourceDefinition may say (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation), worded as
// upstream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/object.h"

namespace slipway::server {

/// Every violation. `old` is null for a create. Versions that did not change are not judged again.
void crd_causes(const kube::Object& crd, const kube::Object& old, std::vector<Cause>& causes);

/// Groups below k8s.io and kubernetes.io are the community's: a definition there says in an annotation who approved it
/// (KEP-1111). `reason` is that of the condition KubernetesAPIApprovalPolicyConformant.
struct Approval {
  bool is_needed = false;
  bool is_approved = false;
  std::string reason{};
  std::string message{};
};
Approval approval_of(const kube::Object& crd);
inline constexpr std::string_view kApproved = "api-approved.kubernetes.io";

}  // namespace slipway::server
