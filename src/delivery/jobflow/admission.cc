#include "delivery/jobflow/admission.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "delivery/family/identity.h"
#include "delivery/family/protected_status.h"
#include "delivery/jobflow/cron_workflow.h"
#include "delivery/jobflow/external.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/program.h"
#include "json/quoted.h"
#include "json/text.h"

namespace slipway::delivery::jobflow {

using json::quoted;
namespace {

/// The old object's steps that can change no more, by name. Large workflows say it by a bitmap over the names in order.
class Pinned {
 public:
  explicit Pinned(const kube::Object& old) {
    const Value& status = old["status"];
    for (auto [name, record] : status["statuses"].members()) {
      const auto phase = graph::phase_of(record["phase"].as_string());
      if (phase && *phase > graph::Phase::Ready && *phase != graph::Phase::Suspended) {
        phases_.emplace(name, graph::is_terminal(*phase));
      }
    }
    if (status["stepSets"].as_int() == 0) return;
    is_unsure_ = status["observedGeneration"].as_int() != kube::generation(old);
    std::string bits;
    if (!base64_decode(status["started"].as_string(), bits)) return;
    std::vector<std::string> names;
    for (auto [name, step] : old["spec"]["steps"].members()) names.emplace_back(name);
    std::ranges::sort(names);
    std::map<std::string, bool> failed;
    for (std::size_t i = 0; i < names.size() && i / 8 < bits.size(); ++i) {
      if ((static_cast<unsigned char>(bits[i / 8]) >> (i % 8) & 1U) != 0) phases_.emplace(std::move(names[i]), false);
    }
    for (const Value& failure : status["failures"].items()) phases_[failure["step"].str()] = true;
  }

  bool has(const std::string& step) const { return phases_.contains(step); }
  bool is_terminal(const std::string& step) const {
    const auto found = phases_.find(step);
    return found != phases_.end() && found->second;
  }
  /// The bitmap is about an older spec.
  bool is_unsure() const { return is_unsure_; }
  const std::map<std::string, bool>& all() const { return phases_; }

 private:
  std::map<std::string, bool> phases_;  // whether terminal
  bool is_unsure_ = false;
};

/// The old spelling `dependencies: {dependencyIDs: […]}` moves to a field that validate() refuses with the new one: the schema,
/// which knows a list only, would refuse it without.
Value with_old_spellings_apart(const Value& spec) {
  Value out = spec;
  for (auto [name, step] : spec["steps"].members()) {
    const Value& dependencies = step["dependencies"];
    if (!dependencies.is_object()) continue;
    const Value& ids = dependencies["dependencyIDs"];
    out =
        out.with_path({"steps", name}, step.without("dependencies").with("dependencyIDs", ids.is_null() ? dependencies : ids));
  }
  return out;
}

using Members = std::map<std::string_view, const Value*>;

Members members_of(const Value& object) {
  Members out;
  for (auto [name, value] : object.members()) out.emplace(name, &value);
  return out;
}

const Value& member(const Members& members, std::string_view name) {
  static const Value kNull;
  const auto found = members.find(name);
  return found == members.end() ? kNull : *found->second;
}

/// Compares a new spec with the old one.
class Change {
 public:
  Change(const kube::Object& workflow, const kube::Object& old)
      : spec_(workflow["spec"]), old_spec_(old["spec"]), old_(old), pinned_(old) {}

  std::vector<Cause> run() {
    if (spec_ == old_spec_) return {};
    if (spec_["selector"] != old_spec_["selector"]) {
      add(field::invalid("spec.selector", json::print(spec_["selector"]), "field is immutable"));
    }
    if (is_finished(old_)) {
      check_finished();
    } else if (pinned_.is_unsure() && (spec_["steps"] != old_spec_["steps"] || spec_["templates"] != old_spec_["templates"])) {
      add(field::forbidden("spec.steps", "the controller has not seen the last change yet: try again in a moment"));
    } else {
      check_pinned();
    }
    check_rerun();
    return std::move(causes_);
  }

 private:
  void add(Cause cause) {
    if (causes_.size() < 100) causes_.push_back(std::move(cause));
  }

  void check_finished() {
    const Members now = members_of(spec_);
    const Members before = members_of(old_spec_);
    for (const auto& side : {now, before}) {
      for (const auto& [name, value] : side) {
        if (name == "rerun" || name == "selector" || member(now, name) == member(before, name)) continue;
        add(field::forbidden(fmt::format("spec.{}", name), "the workflow has finished: only spec.rerun may be changed"));
        return;
      }
    }
  }

  void check_pinned() {
    const Members steps = members_of(spec_["steps"]);
    const Members old_steps = members_of(old_spec_["steps"]);
    const Members templates = members_of(spec_["templates"]);
    const Members old_templates = members_of(old_spec_["templates"]);
    for (const auto& [name, is_terminal] : pinned_.all()) {
      const Value& before = member(old_steps, name);
      if (before.is_null()) continue;
      const Value& now = member(steps, name);
      if (now.is_null()) {
        add(field::forbidden(fmt::format("spec.steps[{}]", name), "a step that has started may not be removed"));
      } else if (now != before) {
        add(field::forbidden(fmt::format("spec.steps[{}]", name), "a step that has started may not be changed"));
      } else if (const auto used = now["template"]["name"].as_string();
                 !used.empty() && member(templates, used) != member(old_templates, used)) {
        add(field::forbidden(
            fmt::format("spec.templates[{}]", used),
            fmt::format("step {} has been started with this template: give the change a new name", quoted(name))));
      }
    }
  }

  void check_rerun() {
    const Value& now = spec_["rerun"];
    const Value& before = old_spec_["rerun"];
    if (now == before || now.is_null()) return;
    if (now["id"] == before["id"] || now["id"].as_string() == old_["status"]["rerun"].as_string()) {
      return add(field::invalid("spec.rerun.id", json::print(now["id"]), "a new rerun needs a new id"));
    }
    const std::string from = now["from"].str();
    if (is_finished(old_) || (!from.empty() && pinned_.is_terminal(from))) return;
    add(field::forbidden("spec.rerun",
                         from.empty() ? "the workflow has not finished"
                                      : fmt::format("the workflow has not finished and step {} has not ended", quoted(from))));
  }

  const Value& spec_;
  const Value& old_spec_;
  const kube::Object& old_;
  Pinned pinned_;
  std::vector<Cause> causes_;
};

}  // namespace

bool is_finished(const kube::Object& workflow) {
  return kube::is_true(workflow, "Complete") || kube::is_true(workflow, "Failed");
}

kube::Object mutate_cron(const kube::Object& cron, const kube::Object&) {
  const Value& spec = cron["spec"]["workflowTemplate"]["spec"];
  const Value apart = spec.is_object() ? with_old_spellings_apart(spec) : spec;
  return apart == spec ? cron : cron.with_path({"spec", "workflowTemplate", "spec"}, apart);
}

kube::Object mutate(const kube::Object& workflow, const kube::Object& old) {
  kube::Object out = workflow;
  if (old.is_null() && !kube::is_deleting(out)) out = kube::with_finalizer(out, kWorkflowFinalizer);
  if (!out["spec"].is_object()) return out;
  if (const Value spec = with_old_spellings_apart(out["spec"]); spec != out["spec"]) out = out.with("spec", spec);
  if (out["spec"].has("selector")) return out;
  const Value& kept = old["spec"]["selector"];
  const Value own = json::object({{"matchLabels", json::object({{kWorkflowLabel, label_value(kube::name(out))}})}});
  return out.with_path({"spec", "selector"}, kept.is_null() ? own : kept);
}

std::vector<Cause> validate(const kube::Object& workflow, const kube::Object& old) {
  if (kube::is_deleting(workflow)) return {};  // whatever it is, it must be able to go
  // The spec was checked when it was written; rules that came later must not hold up status and metadata.
  if (!old.is_null() && workflow["spec"] == old["spec"]) return {};
  auto program = Program::compile(workflow);
  std::vector<Cause> causes = program ? std::vector<Cause>{} : std::move(program).error();
  if (!old.is_null()) {
    for (auto& cause : Change(workflow, old).run()) causes.push_back(std::move(cause));
  }
  return causes;
}

kube::Object stamp_writer(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  return record_identity(kIdentity, object, old, asker);
}

std::vector<Cause> check_step_set_writer(const kube::Object& set, const kube::Object& old, const kube::Asker& asker) {
  if (may_write_status(asker)) return {};
  const auto refused = [&](std::string field) {
    return std::vector{field::forbidden(
        std::move(field),
        fmt::format("records of a Workflow's steps are written and deleted by its controller only: user {} needs the right to "
                    "impersonate users; delete the Workflow instead, or set its spec.rerun to run steps again",
                    quoted(asker.user->name)))};
  };
  if (old.is_null()) return refused("spec");
  if (kube::is_deleting(set) && !kube::is_deleting(old)) {
    // One that no Workflow owns any more records nothing.
    return kube::controller_of(old).is_null() ? std::vector<Cause>{} : refused("metadata.ownerReferences");
  }
  if (set["spec"] != old["spec"]) return refused("spec");
  const Value& owners = set["metadata"]["ownerReferences"];
  return owners == old["metadata"]["ownerReferences"] ? std::vector<Cause>{} : refused("metadata.ownerReferences");
}

std::vector<kube::AdmissionRow> admission_rows(JobCheck check) {
  const auto validate_all = [check](const kube::Object& workflow, const kube::Object& old) {
    std::vector<Cause> causes = validate(workflow, old);
    return causes.empty() ? check_jobs(workflow, old, check) : causes;
  };
  const auto validate_cron_all = [check](const kube::Object& cron, const kube::Object& old) {
    return validate_cron(cron, old, check);
  };
  return {{.group = kWorkflowKind.group,
           .kind = kWorkflowKind.kind,
           .mutate = mutate,
           .validate = validate_all,
           .mutate_for = stamp_writer,
           .stamp_status = keep_status},
          {.group = kCronWorkflowKind.group,
           .kind = kCronWorkflowKind.kind,
           .mutate = mutate_cron,
           .validate = validate_cron_all,
           .mutate_for = stamp_writer,
           .stamp_status = keep_status},
          {.group = kStepSetKind.group,
           .kind = kStepSetKind.kind,
           .mutate = {},
           .validate = {},
           .validate_for = check_step_set_writer}};
}

}  // namespace slipway::delivery::jobflow
