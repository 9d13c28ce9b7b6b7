#include "delivery/application/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "delivery/application/authors.h"
#include "delivery/application/definition_store.h"
#include "delivery/application/delivery_check.h"
#include "delivery/application/identity.h"
#include "delivery/application/kind.h"
#include "delivery/application/rollout_plans.h"
#include "delivery/application/run_stamp.h"
#include "delivery/family/rendered_mark.h"
#include "delivery/family/template_owner.h"
#include "delivery/workflow/config_template.h"

namespace slipway::delivery::application {
namespace {

/// A name that is no text stays, to be refused.
Value named(const Value& item, const std::string& name) {
  const Value& own = item["name"];
  const bool has_none = own.is_null() || (own.is_string() && own.as_string().empty());
  return item.is_object() && has_none ? item.with("name", name) : item;
}

Value with_step_names(const Value& steps) {
  if (!steps.is_array()) return steps;
  json::ArrayBuilder out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Value step = named(steps.item(i), fmt::format("step-{}", i));
    if (const Value subs = step["subSteps"]; subs.is_array()) {
      json::ArrayBuilder named_subs;
      for (std::size_t j = 0; j < subs.size(); ++j) named_subs.add(named(subs.item(j), fmt::format("step-{}-{}", i, j)));
      step = step.with("subSteps", named_subs.build());
    }
    out.add(std::move(step));
  }
  return out.build();
}

Value with_policy_names(const Value& policies) {
  if (!policies.is_array()) return policies;
  json::ArrayBuilder out;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const Value& policy = policies.item(i);
    out.add(named(policy, fmt::format("{}-auto-gen-{}", policy["type"].as_string(), i)));
  }
  return out.build();
}

/// Looks names up for one Application among the objects that `find` gives.
Lookup lookup_in(DefinitionStore& store, const kube::Object& application, const kube::FindObject& find) {
  const std::string ns(kube::ns(application));
  return {.definition = [&store, ns, &find](DefinitionKind kind,
                                            const std::string& type) { return store.find(kind, ns, type, find); },
          .policy = [ns, &find](const std::string& name) { return find(kPolicies, ns, name); },
          .workflow = [ns, &find](const std::string& name) { return find(kWorkflows, ns, name); }};
}

/// The seed of the rollouts (OAM rollout design): no request takes an application away from its controller again.
std::vector<Cause> check_rollout_template(const kube::Object& application, const kube::Object& old) {
  if (old.is_null() || !is_rollout_template(application) || is_rollout_template(old)) return {};
  return {field::forbidden(fmt::format("metadata.annotations[{}]", kRolloutTemplate),
                           "it can only be set when the application is created; once removed it cannot come back")};
}

/// Who sets it says that a delivery is the first one, which only the rollout that makes it knows.
std::vector<Cause> check_creating(const kube::Object& application, const kube::Object& old) {
  const auto mark = kube::annotation(application, kCreating);
  if (mark.empty() || mark == kube::annotation(old, kCreating)) return {};
  return {field::forbidden(fmt::format("metadata.annotations[{}]", kCreating),
                           "only rollouts set it, on the workloads that they make")};
}

std::vector<Cause> check_marks(const kube::Object& application, const kube::Object& old) {
  std::vector<Cause> causes = check_rollout_template(application, old);
  std::ranges::move(check_creating(application, old), std::back_inserter(causes));
  std::ranges::move(check_counts(application["spec"], old["spec"]), std::back_inserter(causes));
  return causes;
}

/// The check of one write of an Application.
class WriteCheck : public kube::AdmissionCheck {
 public:
  WriteCheck(std::shared_ptr<DefinitionStore> store, OnFault on_fault) : store_(std::move(store)), on_fault_(on_fault) {}

  bool read(const kube::Object& object, const kube::Object& old, const kube::FindObject& find) override {
    Value seen = json::array({seen_of(object), seen_of(old)});
    if (check_ == nullptr || seen_ != seen) check_ = std::make_unique<DeliveryCheck>(object, old);
    seen_ = std::move(seen);
    return check_->read(lookup_in(*store_, object, find));
  }
  void compute() override { check_->compute(); }
  void cancel() override { check_->cancel(); }

  /// Update rules, types and names are checked even where nothing more may be computed, or another object came meanwhile.
  kube::Assessment result(const kube::Object& object, const kube::Object& old, const kube::FindObject& find) override {
    kube::Assessment out;
    DeliveryCheck plain(object, old);
    const bool is_checked = check_ != nullptr && check_->is_read() && seen_ == json::array({seen_of(object), seen_of(old)});
    if (!is_checked) plain.read_as_written(lookup_in(*store_, object, find));
    std::vector<Cause> causes = is_checked ? check_->causes() : plain.causes();
    if (on_fault_ == OnFault::Warn) {
      out.warnings = as_texts(causes);
    } else {
      out.causes = std::move(causes);
    }
    if (is_checked) std::ranges::move(check_->warnings(), std::back_inserter(out.warnings));
    if (!is_checked || check_->is_cut_short()) out.warnings.emplace_back(kCutShort);
    return out;
  }

 private:
  static constexpr const char* kCutShort =
      "accepted without rendering every policy and component, or checking every step: admission ran out of time (1 s); errors "
      "in the rest are reported "
      "when they are delivered";

  /// What of an Application is judged: uid and times of a create are others each time it is planned.
  static Value seen_of(const kube::Object& application) {
    const Value& metadata = application["metadata"];
    return json::array({application["spec"], metadata["name"], metadata["namespace"], metadata["labels"],
                        metadata["annotations"], Value(kube::is_deleting(application))});
  }

  std::shared_ptr<DefinitionStore> store_;
  OnFault on_fault_;
  std::unique_ptr<DeliveryCheck> check_;
  Value seen_;  // what check_ judges
};

kube::AdmissionRow application_row(OnFault on_fault, const std::string& definition_namespace, CheckPlan check_plan) {
  const auto store = std::make_shared<DefinitionStore>(definition_namespace);
  kube::AdmissionRow row{.group = kApplicationKind.group,
                         .kind = kApplicationKind.kind,
                         .mutate = with_names,
                         .validate = check_marks,
                         .mutate_for = record_identity,
                         .validate_for = check_service_account,
                         .stamp_status = stamp_run};
  row.check = [store, on_fault] { return std::make_shared<WriteCheck>(store, on_fault); };
  row.validate_around = [on_fault, check_plan = std::move(check_plan)](const kube::Object& object, const kube::Object& old,
                                                                       const kube::FindObject& find) {
    return check_plans(object, old, find, check_plan, on_fault);
  };
  row.warn = [store](const kube::Object& object, const kube::Object& old, const kube::FindObject& find) {
    const Lookup lookup = lookup_in(*store, object, find);
    std::vector<std::string> told = run_warnings(object, old);
    for (auto* more : {trait_warnings, plan_warnings}) {
      std::ranges::move(more(object, old, lookup), std::back_inserter(told));
    }
    return told;
  };
  return row;
}

/// Definitions for all are written by those who may do so for all.
std::vector<kube::AdmissionRow> author_rows(const std::string& definition_namespace) {
  const auto store = std::make_shared<DefinitionStore>(definition_namespace);
  const auto record = [store](const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
    return store->is_for_all(kube::ns(object)) ? object : record_author(object, old, asker);
  };
  std::vector<kube::AdmissionRow> rows;
  for (const char* kind : {"Policy", "Workflow", "ComponentDefinition", "TraitDefinition", "PolicyDefinition",
                           "WorkflowStepDefinition", "DefinitionRevision"}) {
    rows.push_back({.group = kGroup, .kind = kind, .mutate = {}, .validate = {}, .mutate_for = record});
  }
  rows.push_back({.group = kRevisionKind.group,
                  .kind = kRevisionKind.kind,
                  .mutate = {},
                  .validate = {},
                  .validate_for = check_revision_writer});
  return rows;
}

/// Configuration templates are rendered for every user who names them; rollouts apply rendered resources.
kube::Object stamp_config_map(const kube::Object& map, const kube::Object& old, const kube::Asker& asker) {
  const kube::Object marked = keep_rendered_mark(map, old, asker);
  return kube::name(map).starts_with(workflow::kConfigTemplatePrefix) ? record_author(marked, old, asker) : marked;
}

}  // namespace

kube::Object with_names(const kube::Object& application, const kube::Object& old) {
  const Value& spec = application["spec"];
  if (!old.is_null() && spec == old["spec"]) return application;
  kube::Object out = application;
  if (const Value& steps = spec["workflow"]["steps"]; steps.is_array()) {
    out = out.with_path({"spec", "workflow", "steps"}, with_step_names(steps));
  }
  if (spec["policies"].is_array()) out = out.with_path({"spec", "policies"}, with_policy_names(spec["policies"]));
  return out;
}

std::vector<std::string> as_texts(const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  texts.reserve(causes.size());
  for (const Cause& one : causes) texts.push_back(fmt::format("{}: {}", one.field, one.message));
  return texts;
}

std::vector<kube::AdmissionRow> admission_rows(OnFault on_fault, const std::string& definition_namespace,
                                               CheckPlan check_plan) {
  std::vector<kube::AdmissionRow> rows = {
      application_row(on_fault, definition_namespace, std::move(check_plan)),
      {.group = kWorkflowRunKind.group,
       .kind = kWorkflowRunKind.kind,
       .mutate = {},
       .validate = {},
       .mutate_for = record_identity,
       .validate_for = check_service_account,
       .warn = [](const kube::Object& run, const kube::Object& old, const kube::FindObject&) { return run_warnings(run, old); },
       .stamp_status = stamp_run}};
  std::ranges::move(author_rows(definition_namespace), std::back_inserter(rows));
  rows.push_back({.group = "", .kind = "ConfigMap", .mutate = {}, .validate = {}, .mutate_for = stamp_config_map});
  rows.push_back({.group = "", .kind = "Secret", .mutate = {}, .validate = {}, .mutate_for = keep_rendered_mark});
  return rows;
}

}  // namespace slipway::delivery::application
