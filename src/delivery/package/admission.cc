#include "delivery/package/admission.h"

#include <fmt/format.h>

#include "delivery/family/key_writer.h"
#include "delivery/family/protected_status.h"
#include "delivery/package/approval.h"
#include "delivery/package/author.h"
#include "delivery/package/function_programs.h"
#include "delivery/package/kind.h"
#include "delivery/package/protected.h"
#include "delivery/package/rollout_plan.h"
#include "delivery/probe/signed_call.h"

namespace slipway::delivery::package {
namespace {

using kube::Object;

bool is_delete(const Object& object, const Object& old) {
  return !old.is_null() && kube::is_deleting(object) && !kube::is_deleting(old);
}

std::vector<Cause> only_the_server(const Object& object, const Object& old, const kube::Asker& asker) {
  if (asker.user == nullptr || is_delete(object, old)) return {};
  return {field::forbidden("spec",
                           "records are written by the server: change the PackageRevision of the same name in porch.kpt.dev")};
}

template <class Spec>
std::vector<Cause> faults(const Object& object, const Object&) {
  const auto spec = json::decode<Spec>(object["spec"], "spec", {.allow_unknown = true});
  return spec ? check(*spec) : spec.error().causes;
}

std::vector<Cause> function_faults(const Object& object, const Object&) {
  const std::string_view path = object["spec"]["binaryExecutor"]["path"].as_string();
  if (path.empty() || path.starts_with('/')) return {};
  return {field::invalid("spec.binaryExecutor.path", fmt::format("{:?}", path), "must be a path from the root")};
}

/// Programs of the server's machine are the administrator's to map: `edit` and `admin` write FunctionConfigs without.
std::vector<Cause> program_faults(const Object& object, const Object& old, const kube::Asker& asker) {
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
std::vector<std::string> function_warnings(const Object& object, const Object&, const kube::FindObject&) {
  if (object["spec"].has("goExecutor") || object["spec"].has("binaryExecutor")) return {};
  return {
      "pods are not run for functions: a pipeline that names this image fails unless it is built in (slipway fn), or mapped to "
      "a "
      "program by binaryExecutor"};
}

std::vector<Cause> repository_faults(const Object& object, const Object& old) {
  const std::string_view mode = kube::annotation(object, kGateMode);
  const bool is_as_it_was = !old.is_null() && kube::annotation(old, kGateMode) == mode;
  if (mode.empty() || mode == "enforce" || mode == "report" || is_as_it_was) return {};
  return {field::not_supported(fmt::format("metadata.annotations[{}]", kGateMode), fmt::format("{:?}", mode),
                               {"enforce", "report"})};
}

std::vector<Cause> check_protected(const Object& object, const Object& old, const kube::Asker& asker) {
  return check_protection(protections(), object, old, asker);
}

/// Answers to tickets count while this user may approve (ticket_answer.cc).
Object stamp_secret(const Object& secret, const Object& old, const kube::Asker& asker) {
  return record_key_writer(secret, old, asker, probe::kCallKey);
}

Object stamp_repository(const Object& repository, const Object& old, const kube::Asker& asker) {
  return stamp_author(stamp_waiver(repository, old, asker), old, asker);
}

kube::AdmissionRow row_of(const kube::GroupVersionKind& kind) {
  return {.group = kind.group, .kind = kind.kind, .mutate = {}, .validate = {}, .stamp_status = keep_status};
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
  function.validate = function_faults;
  function.validate_for = program_faults;
  function.warn = function_warnings;
  kube::AdmissionRow repository = row_of(kRepositoryKind);
  repository.validate = repository_faults;
  repository.validate_for = check_protected;
  kube::AdmissionRow variant = row_of(kVariantKind);
  kube::AdmissionRow set = row_of(kVariantSetKind);
  kube::AdmissionRow sync = row_of(kRootSyncKind);
  for (kube::AdmissionRow* row : {&policy, &rollout, &variant, &set, &sync}) row->mutate_for = stamp_author;
  repository.mutate_for = stamp_repository;
  kube::AdmissionRow secret{.group = "", .kind = "Secret", .mutate = {}, .validate = {}, .mutate_for = stamp_secret};
  return {record, policy, rollout, function, repository, variant, set, sync, secret};
}

}  // namespace slipway::delivery::package
