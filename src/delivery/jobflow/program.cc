#include "delivery/jobflow/program.h"

#include <fmt/format.h>

#include <set>

#include "base/lookup.h"
#include "delivery/jobflow/external.h"
#include "delivery/jobflow/object_step.h"
#include "json/quoted.h"
#include "json/text.h"
#include "kube/names.h"
#include "kube/selector.h"

namespace slipway::delivery::jobflow {

using json::quoted;
namespace {

constexpr std::size_t kMaxCauses = 100;

/// Collects what is wrong with a decoded spec, beyond what its field descriptions say.
class ProgramChecker {
 public:
  ProgramChecker(const kube::Object& workflow, const WorkflowSpec& spec)
      : workflow_name_(kube::name(workflow)), workflow_ns_(kube::ns(workflow)), spec_(spec) {}

  std::vector<Cause> run() {
    if (spec_.steps.empty()) add(field::required("spec.steps", "at least one step"));
    check_selector();
    check_shared();
    for (const auto& [name, one] : spec_.templates) check_template(one, "spec.templates[" + name + "]");
    for (const auto& entry : spec_.steps) {
      if (causes_.size() >= kMaxCauses) break;
      check_name(entry.first);
      check_step(entry.second, [&entry](const char* below) { return "spec.steps[" + entry.first + "]" + below; });
    }
    if (spec_.rerun && !spec_.rerun->from.empty() && !spec_.steps.contains(spec_.rerun->from)) {
      add(field::invalid("spec.rerun.from", quoted(spec_.rerun->from), "no such step"));
    }
    return std::move(causes_);
  }

 private:
  void add(Cause cause) {
    if (causes_.size() < kMaxCauses) causes_.push_back(std::move(cause));
  }
  void add_all(std::vector<Cause> causes) {
    for (auto& cause : causes) add(std::move(cause));
  }

  void check_name(const std::string& name) {
    if (name.empty()) add(field::invalid("spec.steps", "\"\"", "a step needs a name"));
    if (name.size() > kMaxStepName) add(field::too_long(fmt::format("spec.steps[{}…]", name.substr(0, 40)), kMaxStepName));
  }

  void check_selector() {
    if (!spec_.selector) return;
    auto selector = kube::LabelSelector::from_object(*spec_.selector);
    if (!selector) {
      add(field::invalid("spec.selector", json::print(*spec_.selector), selector.error().message));
    } else if (selector->matches_everything()) {
      add(field::invalid("spec.selector", json::print(*spec_.selector), "an empty selector is invalid for a workflow"));
    } else {
      selector_ = std::move(*selector);
    }
  }

  void check_shared() {
    const auto to_value = [](const std::map<std::string, std::string>& entries) {
      json::ObjectBuilder builder;
      for (const auto& [name, value] : entries) builder.add(name, value);
      return builder.build();
    };
    add_all(kube::label_causes(to_value(spec_.metadata.labels), "spec.metadata.labels"));
    add_all(kube::annotation_causes(to_value(spec_.metadata.annotations), "spec.metadata.annotations"));
  }

  void check_template(const Value& job_template, const std::string& path) {
    auto found = check_job_template(job_template, path);
    const bool is_sound = found.empty();
    add_all(std::move(found));
    if (!is_sound || !selector_) return;
    const Value labels = job_labels(spec_, workflow_name_, job_template);
    if (selector_->matches(labels)) return;
    add(field::invalid(path + ".metadata.labels", json::print(labels),
                       fmt::format("`selector` ({}) does not match the labels of the template", selector_->to_string())));
  }

  template <class Path>
  void check_step(const Step& step, const Path& path) {
    if (step.object_reference) {
      add(field::forbidden(path(".objectReference"), "the old spelling: write " + path(".externalRef")));
    }
    if (step.dependency_ids) {
      add(field::forbidden(path(".dependencies.dependencyIDs"),
                           fmt::format("the old spelling: write the names as a list, {}: {}", path(".dependencies"),
                                       json::print(*step.dependency_ids).substr(0, 200))));
    }
    const int given = (step.job_template ? 1 : 0) + (step.template_ref ? 1 : 0) + (step.object_template ? 1 : 0) +
                      (step.external_ref ? 1 : 0);
    if (given == 0 && !step.object_reference) {
      add(field::required(path(""), "exactly one of jobTemplate, template, objectTemplate and externalRef must be set"));
    }
    if (given > 1) {
      add(field::forbidden(path(""), "only one of jobTemplate, template, objectTemplate and externalRef may be set"));
    }
    if (step.job_template) check_template(*step.job_template, path(".jobTemplate"));
    if (step.template_ref) check_template_ref(*step.template_ref, path);
    if (step.object_template) check_object(*step.object_template, path(".objectTemplate"));
    if (step.external_ref) {
      check_external(step, path);
    } else if (step.until && !step.object_template) {
      add(field::forbidden(path(".until"), "only for steps with externalRef or objectTemplate"));
    }
  }

  void check_object(const Value& object, const std::string& path) {
    auto found = check_object_template(object, workflow_ns_, path);
    const bool is_sound = found.empty();
    add_all(std::move(found));
    const auto name = kube::name(object);
    if (!is_sound || name.empty()) return;
    const std::string what = fmt::format("{} {}", kube::kind(object), name);
    const std::string group = kube::GroupVersionKind::of(object)->group;
    if (!objects_.insert(fmt::format("{}/{}", group, what)).second) {
      add(field::duplicate(path + ".metadata.name", quoted(name)));
    }
    if (group == kWorkflowKind.group && kube::kind(object) == kWorkflowKind.kind && name == workflow_name_) {
      add(field::invalid(path + ".metadata.name", quoted(name), "a workflow cannot create itself"));
    }
  }

  template <class Path>
  void check_template_ref(const TemplateRef& reference, const Path& path) {
    if (!spec_.templates.contains(reference.name)) {
      std::string known;
      for (const auto& [name, one] : spec_.templates) {
        if (known.size() < 200) known += (known.empty() ? "" : ", ") + quoted(name);
      }
      add(field::invalid(path(".template.name"), quoted(reference.name),
                         known.empty() ? "spec.templates is empty" : "no such template; spec.templates has " + known));
    }
    for (const auto& one : reference.env) {
      for (const auto& fault : kube::env_name_faults(one.name))
        add(field::invalid(path(".template.env"), quoted(one.name), fault));
      if (one.value_from && !one.value.empty()) {
        add(field::invalid(path(".template.env"), quoted(one.name), "value and valueFrom may not both be set"));
      }
    }
  }

  template <class Path>
  void check_external(const Step& step, const Path& path) {
    const ExternalRef& external = *step.external_ref;
    if (!external.ns.empty()) {
      for (const auto& fault : kube::dns1123_label_faults(external.ns))
        add(field::invalid(path(".externalRef.namespace"), quoted(external.ns), fault));
    }
    if (external.api_version.empty()) {
      return add(field::required(path(".externalRef.apiVersion"), "only a Workflow and a Job have a default"));
    }
    auto kind = kube::GroupVersionKind::of(json::object({{"apiVersion", external.api_version}, {"kind", external.kind}}));
    const bool is_workflow = kind && kind->group == kWorkflowKind.group && kind->kind == kWorkflowKind.kind;
    const bool is_job = kind && kind->group == kJobKind.group && kind->kind == kJobKind.kind;
    if (!step.until && !is_workflow && !is_job) {
      add(field::required(path(".until"),
                          fmt::format("{} has no end known to workflows: say which condition to wait for", external.kind)));
    }
    if (is_workflow && external.name == workflow_name_ && !is_far(external, workflow_ns_)) {
      add(field::invalid(path(".externalRef.name"), quoted(external.name), "a workflow cannot wait for itself"));
    }
    if (step.retry) add(field::forbidden(path(".retry"), "not for steps with externalRef: the object is somebody else's"));
  }

  std::string workflow_name_;
  std::string workflow_ns_;
  const WorkflowSpec& spec_;
  std::optional<kube::LabelSelector> selector_;
  std::set<std::string> objects_;  // "group/Kind name" of object templates with a name
  std::vector<Cause> causes_;
};

/// The API versions that a reference may leave out.
void fill_defaults(WorkflowSpec& spec) {
  for (auto& [name, step] : spec.steps) {
    if (!step.external_ref || !step.external_ref->api_version.empty()) continue;
    if (step.external_ref->kind == kWorkflowKind.kind) step.external_ref->api_version = kWorkflowKind.api_version();
    if (step.external_ref->kind == kJobKind.kind) step.external_ref->api_version = kJobKind.api_version();
  }
}

graph::Graph::Step graph_step(const std::string& name, const Step& step, graph::Trigger fallback) {
  graph::Graph::Step out{.name = name,
                         .trigger = step.trigger.value_or(fallback),
                         .is_tolerated = step.tolerated,
                         .takes_slot = !step.external_ref,
                         .is_held = step.suspend};
  if (step.dependencies) out.dependencies = *step.dependencies;
  return out;
}

}  // namespace

std::expected<std::shared_ptr<const Program>, std::vector<Cause>> Program::compile(const kube::Object& workflow) {
  auto decoded = json::decode<WorkflowSpec>(workflow["spec"], "spec", {.allow_unknown = true});
  if (!decoded) {
    if (!decoded.error().causes.empty()) return std::unexpected(decoded.error().causes);
    return std::unexpected(std::vector{field::invalid("spec", "{}", decoded.error().message)});
  }
  auto program = std::make_shared<Program>();
  program->spec_ = std::move(*decoded);
  fill_defaults(program->spec_);
  if (auto causes = ProgramChecker(workflow, program->spec_).run(); !causes.empty()) return std::unexpected(std::move(causes));
  std::vector<graph::Graph::Step> steps;
  steps.reserve(program->spec_.steps.size());
  for (const auto& [name, step] : program->spec_.steps) steps.push_back(graph_step(name, step, program->spec_.trigger));
  auto built = graph::Graph::build(std::move(steps), "spec.steps");
  if (!built) return std::unexpected(std::move(built).error());
  program->graph_ = std::move(*built);
  for (const auto& [name, step] : program->spec_.steps) program->steps_.push_back(&step);
  return program;
}

Value Program::job_template(graph::StepIndex index) const {
  const Step& one = step(index);
  if (one.job_template) return *one.job_template;
  return with_env(value_at(spec_.templates, one.template_ref->name), one.template_ref->env);
}

}  // namespace slipway::delivery::jobflow
