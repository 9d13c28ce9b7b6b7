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

std::vector<Cause> policy_faults(const Object& object, const Object&) {
  const auto spec = json::decode<ApprovalPolicySpec>(object["spec"], "spec", {.allow_unknown = true});
  return spec ? check(*spec) : spec.error().causes;
}

std::vector<Cause> rollout_faults(const Object& object, const Object&) {
  const auto spec = json::decode<PackageRolloutSpec>(object["spec"], "spec", {.allow_unknown = true});
  return spec ? check(*spec) : spec.error().causes;
}

}  // namespace

static std::vector<kube::AdmissionRow> refusing_rows() {
  kube::AdmissionRow record;
  record.group = kRecordKind.group;
  record.kind = kRecordKind.kind;
  record.validate_for = only_the_server;
  kube::AdmissionRow policy;
  policy.group = kApprovalPolicyKind.group;
  policy.kind = kApprovalPolicyKind.kind;
  policy.validate = policy_faults;
  kube::AdmissionRow rollout;
  rollout.group = kRolloutKind.group;
  rollout.kind = kRolloutKind.kind;
  rollout.validate = rollout_faults;
  return {record, policy, rollout};
}

/// What FunctionConfig does not do yet is said to who writes one.
static kube::AdmissionRow function_row() {
  kube::AdmissionRow row;
  row.group = kFunctionConfigKind.group;
  row.kind = kFunctionConfigKind.kind;
  row.warn = [](const kube::Object& object, const kube::Object&, const kube::FindObject&) {
    std::vector<std::string> warnings;
    if (!object["spec"].has("goExecutor")) {
      warnings.emplace_back(
          "pods and programs are not run for functions: a pipeline that names this image fails unless it is built in (slipway "
          "fn)");
    }
    return warnings;
  };
  return row;
}

std::vector<kube::AdmissionRow> admission_rows() {
  std::vector<kube::AdmissionRow> rows = refusing_rows();
  rows.push_back(function_row());
  return rows;
}

}  // namespace slipway::delivery::package
