#include "delivery/rollout/admission.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/family/protected_status.h"
#include "delivery/gate/approval.h"
#include "delivery/rollout/approvals.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/protected.h"
#include "delivery/rollout/requests.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/subject.h"
#include "json/quoted.h"

namespace slipway::delivery::rollout {
namespace {

using json::quoted;
using json::Value;

constexpr wave::Moment kMoments[] = {wave::Moment::Initialize,   wave::Moment::BeforeBatch, wave::Moment::BeforeTraffic,
                                     wave::Moment::AfterTraffic, wave::Moment::AfterBatch,  wave::Moment::Throughout,
                                     wave::Moment::Finalize};

const kube::Resource& resource_of(const kube::Object& rollout) {
  const std::string_view kind = kube::kind(rollout);
  return kind == kTraitKind.kind ? kTraits : kind == kRolloutKind.kind ? kRollouts : kAppRollouts;
}

bool is_rollout(const Value& reference) {
  return std::ranges::any_of(
      std::initializer_list<kube::GroupVersionKind>{kTraitKind, kRolloutKind, kAppRolloutKind},
      [&](const kube::GroupVersionKind& kind) { return kube::refers_to(reference, kind.group, kind.kind); });
}

/// The spec without what changes in the course of a rollout: who writes that decides nothing about what is rolled out.
Value authored(const Value& spec) {
  Value out = spec;
  for (const char* name : {"paused", "batchPartition", "lastBatchToRollout"}) out = out.without_path({"rolloutPlan", name});
  return out;
}

Status refused(const kube::Object& rollout, const kube::Asker& asker) {
  Status status;
  status.reason = Reason::Forbidden;
  status.name = kube::name(rollout);
  status.kind = resource_of(rollout).plural;
  status.group = resource_of(rollout).group;
  status.message = fmt::format("{} {} is forbidden: user {} may not {} it", resource_of(rollout).group_resource(),
                               quoted(kube::name(rollout)), quoted(asker.user->name), kApproveVerb);
  return status;
}

bool may_approve(const kube::Object& rollout, const kube::Asker& asker) {
  return asker.may(kApproveVerb, resource_of(rollout), kube::ns(rollout), kube::name(rollout));
}

/// Whatever its moment.
bool has_approval_gate(const PlanSettings& plan, const gate::Approval& approval) {
  std::optional<std::int64_t> batch;
  if (approval.batch >= 0) batch = approval.batch;
  return std::ranges::any_of(kMoments, [&](wave::Moment at) {
    const gate::GateSpec* gate = plan.find_gate(wave::gate_key(batch, at, approval.gate));
    return gate != nullptr && gate->approval;
  });
}

Result<void> check_approval(const kube::Object& rollout, const PlanSettings& plan, const gate::Approval& approval) {
  const std::int64_t attempt = rollout["status"]["attempt"].as_int();
  if (approval.attempt != attempt) {
    return fail(
        kube::conflict(resource_of(rollout), kube::name(rollout),
                       fmt::format("the approval is for attempt {}, the rollout is in attempt {}", approval.attempt, attempt)));
  }
  if (has_approval_gate(plan, approval)) return {};
  return fail(Reason::Invalid, fmt::format("{} {} has no approval gate {} {}", resource_of(rollout).group_resource(),
                                           quoted(kube::name(rollout)), quoted(approval.gate),
                                           approval.batch < 0 ? "of no batch" : fmt::format("of batch {}", approval.batch)));
}

Value stamped(gate::Approval approval, const kube::Asker& asker) {
  approval.user = asker.user != nullptr ? asker.user->name : std::string(kLocalUser);
  if (asker.user != nullptr) approval.groups = asker.user->groups;
  approval.at = asker.now;
  return json::encode(approval);
}

/// Nothing of the status is written but that: a yes to the approvals that are waited for. The rollout itself says with it what
/// it waits for now.
bool is_resumed(const kube::Object& rollout, const kube::Object& old) {
  const bool is_over = old["status"]["pause"].as_bool() && !rollout["status"]["pause"].as_bool();
  return is_over && rollout["status"].without("pause") == old["status"].without("pause");
}

std::vector<gate::Approval> approvals_waited_for(const kube::Object& old, const PlanSettings& plan) {
  std::vector<gate::Approval> given;
  for (const Value& gate : old["status"]["gates"].items()) {
    const std::string key = gate["key"].str();
    const gate::GateSpec* spec = plan.find_gate(key);
    if (gate["state"].as_string() != "Asked" || spec == nullptr || !spec->approval) continue;
    const gate::Approvable what = approvable(key, old["status"]["attempt"].as_int());
    given.push_back({.gate = what.gate, .attempt = what.attempt, .batch = what.batch});
  }
  return given;
}

bool contains(const Value& list, const Value& item) { return std::ranges::find(list.items(), item) != list.items().end(); }

}  // namespace

kube::Object mutate(const kube::Object& rollout, const kube::Object& /*old*/) {
  const Value& plan = rollout["spec"]["rolloutPlan"];
  if (!plan.is_object() || !plan["rolloutStrategy"].as_string().empty()) return rollout;
  return rollout.with_path({"spec", "rolloutPlan", "rolloutStrategy"}, "IncreaseFirst");
}

std::vector<Cause> validate(const kube::Object& rollout, const kube::Object& old) {
  if (kube::is_deleting(rollout)) return {};  // whatever it is, it must be able to go
  if (!old.is_null() && rollout["spec"] == old["spec"]) return {};
  std::vector<Cause> causes = check_spec(rollout);
  if (!old.is_null()) std::ranges::move(check_update(rollout, old), std::back_inserter(causes));
  return causes;
}

kube::Object stamp_author(const kube::Object& rollout, const kube::Object& old, const kube::Asker& asker) {
  if (asker.user == nullptr) return rollout;
  const bool is_written = old.is_null() || authored(rollout["spec"]) != authored(old["spec"]);
  return is_written ? with_identity(kAuthor, rollout, *asker.user) : with_identity_of(kAuthor, rollout, old);
}

std::vector<Cause> check_asker(const kube::Object& rollout, const kube::Object& old, const kube::Asker& asker) {
  if (auto causes = check_protection(protections(), rollout, old, asker); !causes.empty()) return causes;
  const std::string_view asked = kube::annotation(rollout, kSkipGatesRequest);
  if (asked.empty() || asked == kube::annotation(old, kSkipGatesRequest) || may_approve(rollout, asker)) return {};
  return {field::forbidden(
      fmt::format("metadata.annotations[{}]", kSkipGatesRequest),
      fmt::format("to skip gates the user {} needs the verb {} on the rollout", quoted(asker.user->name), kApproveVerb))};
}

Result<kube::Object> stamp_status(const kube::Object& rollout, const kube::Object& old, const kube::Asker& asker) {
  return stamp_approvals(with_protected_status(rollout, old, asker, {"approvals", "pause"}), old, asker);
}

Result<kube::Object> stamp_approvals(const kube::Object& rollout, const kube::Object& old, const kube::Asker& asker) {
  const Value& before = old["status"]["approvals"];
  Value approvals = rollout["status"]["approvals"];
  const bool is_said = asker.user != nullptr && approvals != before && !approvals.is_null();
  if (!is_said && !is_resumed(rollout, old)) return rollout;
  SLIPWAY_TRY(subject, read_subject(old));
  SLIPWAY_TRY(plan, read_plan(subject.plan, wave::Shape::Pair));
  for (std::size_t i = 0; is_said && i < approvals.size(); ++i) {
    if (contains(before, approvals.item(i))) continue;
    if (!may_approve(old, asker)) return fail(refused(old, asker));
    SLIPWAY_TRY(approval, json::decode<gate::Approval>(approvals.item(i), fmt::format("status.approvals[{}]", i)));
    SLIPWAY_TRY_VOID(check_approval(old, plan, approval));
    approvals = approvals.with_item(i, stamped(std::move(approval), asker));
  }
  for (gate::Approval& approval : is_said ? std::vector<gate::Approval>{} : approvals_waited_for(old, plan)) {
    if (asker.user != nullptr && !may_approve(old, asker)) return fail(refused(old, asker));
    std::vector<Value> all(approvals.items().begin(), approvals.items().end());
    all.push_back(stamped(std::move(approval), asker));
    approvals = json::array(all);
  }
  if (approvals == rollout["status"]["approvals"]) return rollout;
  if (approvals.size() > kMaxApprovals) {
    return fail(Reason::Invalid, fmt::format("status.approvals: at most {} entries", kMaxApprovals));
  }
  return rollout.with_path({"status", "approvals"}, approvals);
}

std::vector<Cause> check_claims(const kube::Object& rollout, const kube::Object& old, const kube::FindObject& find) {
  const Value& spec = rollout["spec"];
  if (!old.is_null() && spec["targetRef"] == old["spec"]["targetRef"] && spec["sourceRef"] == old["spec"]["sourceRef"])
    return {};
  std::vector<Cause> causes;
  const auto check = [&](const Value& reference, const std::string& field) {
    const auto kind = kube::GroupVersionKind::of(reference);
    if (!kind) return;
    // The workloads that have rows are all named regularly; others are found taken by the controller.
    const kube::Resource resource{kind->group, kind->version, lower(kind->kind) + "s"};
    const kube::Object workload = find(resource, kube::ns(rollout), reference["name"].as_string());
    const Value& owner = kube::controller_of(workload);
    if (!is_rollout(owner) || owner["uid"].as_string() == kube::uid(rollout)) return;
    causes.push_back(field::invalid(field, quoted(reference["name"].as_string()),
                                    fmt::format("{} {} works on it: wait for its end, or delete it", owner["kind"].as_string(),
                                                quoted(owner["name"].as_string()))));
  };
  check(spec["targetRef"], "spec.targetRef");
  for (std::size_t i = 0; i < spec["sourceRef"].size(); ++i) {
    check(spec["sourceRef"].item(i), fmt::format("spec.sourceRef[{}]", i));
  }
  return causes;
}

std::vector<kube::AdmissionRow> admission_rows() {
  std::vector<kube::AdmissionRow> rows;
  for (const kube::GroupVersionKind& kind : {kTraitKind, kRolloutKind, kAppRolloutKind}) {
    rows.push_back({.group = kind.group,
                    .kind = kind.kind,
                    .mutate = mutate,
                    .validate = validate,
                    .mutate_for = stamp_author,
                    .validate_for = check_asker,
                    .validate_around = check_claims,
                    .stamp_status = stamp_status});
  }
  return rows;
}

}  // namespace slipway::delivery::rollout
