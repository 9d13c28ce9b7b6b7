#include "delivery/package/admission.h"

#include <fmt/format.h>

#include "delivery/package/approval.h"
#include "delivery/package/function_programs.h"
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

static std::vector<Cause> function_faults(const Object& object, const Object&) {
  const std::string_view path = object["spec"]["binaryExecutor"]["path"].as_string();
  if (path.empty() || path.starts_with('/')) return {};
  return {field::invalid("spec.binaryExecutor.path", fmt::format("{:?}", path), "must be a path from the root")};
}

/// Programs of the server's machine are the administrator's to map: `edit` and `admin` write FunctionConfigs without.
static std::vector<Cause> program_faults(const Object& object, const Object& old, const kube::Asker& asker) {
  const json::Value& program = object["spec"]["binaryExecutor"];
  const bool is_as_it_was = !old.is_null() && old["spec"]["binaryExecutor"] == program &&
                            old["spec"]["image"] == object["spec"]["image"] &&
                            old["spec"]["prefixes"] == object["spec"]["prefixes"];
  if (program.is_null() || is_as_it_was) return {};
  if (asker.may(kRunProgramVerb, kFunctionConfigs, kube::ns(object), kube::name(object))) return {};
  return {field::forbidden("spec.binaryExecutor", fmt::format("user {:?} may not {} on functionconfigs: programs of the server "
                                                              "are mapped by its administrators",
                                                              asker.user->name, kRunProgramVerb))};
}

/// What FunctionConfig does not do is said to who writes one.
static kube::AdmissionRow function_row() {
  kube::AdmissionRow row;
  row.group = kFunctionConfigKind.group;
  row.kind = kFunctionConfigKind.kind;
  row.validate = function_faults;
  row.validate_for = program_faults;
  row.warn = [](const kube::Object& object, const kube::Object&, const kube::FindObject&) {
    std::vector<std::string> warnings;
    if (!object["spec"].has("goExecutor") && !object["spec"].has("binaryExecutor")) {
      warnings.emplace_back(
          "pods are not run for functions: a pipeline that names this image fails unless it is built in (slipway fn), or "
          "mapped "
          "to a program by binaryExecutor");
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
