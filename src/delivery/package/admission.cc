#include "delivery/package/admission.h"

#include "delivery/package/approval.h"
#include "delivery/package/kind.h"
#include "delivery/package/rollout_plan.h"

namespace slipway::delivery::package {
namespace {

using kube::Object;

std::vector<Cause> only_the_server(const Object&, const Object&, const kube::Asker& asker) {
  if (asker.user == nullptr) return {};
  return {field::forbidden("spec",
                           "records are written by the server: change the PackageRevision of the same name in porch.kpt.dev")};
}

template <class Spec>
std::vector<Cause> faults(const Object& object, const Object&) {
  const auto spec = json::decode<Spec>(object["spec"], "spec", {.allow_unknown = true});
  return spec ? check(*spec) : spec.error().causes;
}

/// What FunctionConfig does not do yet is said to who writes one.
std::vector<std::string> function_warnings(const Object& object, const Object&, const kube::FindObject&) {
  if (object["spec"].has("goExecutor")) return {};
  return {
      "pods and programs are not run for functions: a pipeline that names this image fails unless it is built in (slipway fn)"};
}

kube::AdmissionRow row_of(const kube::GroupVersionKind& kind) {
  return {.group = kind.group, .kind = kind.kind, .mutate = {}, .validate = {}};
}

}  // namespace

std::vector<kube::AdmissionRow> admission_rows() {
  kube::AdmissionRow record = row_of(kRecordKind);
  record.validate_for = only_the_server;
  kube::AdmissionRow policy = row_of(kApprovalPolicyKind);
  policy.validate = faults<ApprovalPolicySpec>;
  kube::AdmissionRow rollout = row_of(kRolloutKind);
  rollout.validate = faults<PackageRolloutSpec>;
  kube::AdmissionRow function = row_of(kFunctionConfigKind);
  function.warn = function_warnings;
  return {record, policy, rollout, function};
}

}  // namespace slipway::delivery::package
