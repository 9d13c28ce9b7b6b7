#include "delivery/jobflow/object_step.h"

#include <fmt/format.h>

#include "delivery/jobflow/names.h"
#include "json/text.h"
#include "kube/builtin.h"
#include "kube/names.h"

namespace slipway::delivery::jobflow {
namespace {

/// False for a built-in kind that does not live in namespaces; true for one that is not known here.
bool may_be_namespaced(const kube::GroupVersionKind& kind) {
  const auto& types = kube::builtin_types();
  const auto found = std::ranges::find_if(
      types, [&](const kube::ResourceType& type) { return type.kind.group == kind.group && type.kind.kind == kind.kind; });
  return found == types.end() || found->is_namespaced;
}

void check_metadata(const Value& metadata, std::string_view workflow_ns, const std::string& path, std::vector<Cause>& causes) {
  for (const auto* name : {"generateName", "ownerReferences", "finalizers", "uid", "resourceVersion"}) {
    if (metadata.has(name)) causes.push_back(field::forbidden(path + "." + name, "set by the workflow controller"));
  }
  if (const auto ns = metadata["namespace"].as_string(); !ns.empty() && !workflow_ns.empty() && ns != workflow_ns) {
    causes.push_back(field::invalid(path + ".namespace", json::print(metadata["namespace"]),
                                    "the object is created in the workflow's namespace: leave it out"));
  }
  if (const Value& name = metadata["name"]; !name.is_null()) {
    for (const auto& fault : kube::dns1123_subdomain_faults(name.as_string())) {
      causes.push_back(field::invalid(path + ".name", json::print(name), fault));
    }
  }
  for (auto& cause : kube::label_causes(metadata["labels"], path + ".labels")) causes.push_back(std::move(cause));
  for (auto& cause : kube::annotation_causes(metadata["annotations"], path + ".annotations"))
    causes.push_back(std::move(cause));
}

}  // namespace

std::vector<Cause> check_object_template(const Value& object, std::string_view workflow_ns, const std::string& path) {
  std::vector<Cause> causes;
  for (const auto* name : {"apiVersion", "kind"}) {
    if (object[name].as_string().empty()) causes.push_back(field::required(fmt::format("{}.{}", path, name)));
  }
  const auto kind = kube::GroupVersionKind::of(object);
  if (!causes.empty() || !kind) {
    if (causes.empty()) causes.push_back(field::invalid(path + ".apiVersion", json::print(object["apiVersion"]), "no version"));
    return causes;
  }
  if (kind->group == kJobKind.group && kind->kind == kJobKind.kind) {
    causes.push_back(field::forbidden(path, "a step creates a Job by jobTemplate or template"));
  }
  if (!may_be_namespaced(*kind)) {
    causes.push_back(field::invalid(path + ".kind", json::print(object["kind"]),
                                    "does not live in namespaces: a workflow creates objects of its own namespace only"));
  }
  check_metadata(object["metadata"], workflow_ns, path + ".metadata", causes);
  return causes;
}

kube::GroupVersionKind object_kind(const Program& program, graph::StepIndex step) {
  return *kube::GroupVersionKind::of(*program.step(step).object_template);  // Program::compile() has checked it
}

Reference object_reference(const kube::Object& workflow, const Program& program, graph::StepIndex step, std::int64_t attempt) {
  const Value& pattern = *program.step(step).object_template;
  Reference reference{.api_version = pattern["apiVersion"].str(),
                      .kind = pattern["kind"].str(),
                      .ns = "",
                      .name = pattern["metadata"]["name"].str(),
                      .uid = "",
                      .cluster = ""};
  if (reference.name.empty()) {
    reference.name = job_name(kube::name(workflow), kube::uid(workflow), program.name(step), attempt);
  }
  return reference;
}

kube::Object make_object(const kube::Object& workflow, const Program& program, graph::StepIndex step, std::int64_t attempt) {
  const Value& pattern = *program.step(step).object_template;
  json::ObjectBuilder labels(pattern["metadata"]["labels"]);
  labels.set(kWorkflowLabel, label_value(kube::name(workflow)));
  labels.set(kStepLabel, label_value(program.name(step)));
  json::ObjectBuilder annotations(pattern["metadata"]["annotations"]);
  annotations.set(kStepAnnotation, program.name(step));
  annotations.set(kAttemptAnnotation, std::to_string(attempt));
  const Value metadata = json::object({{"name", object_reference(workflow, program, step, attempt).name},
                                       {"namespace", kube::ns(workflow)},
                                       {"labels", labels.build()},
                                       {"annotations", annotations.build()},
                                       {"ownerReferences", json::array({kube::owner_reference(workflow)})}});
  return pattern.with("metadata", metadata);
}

ExternalView view_object(const kube::Object& workflow, const Program& program, graph::StepIndex step, std::int64_t attempt,
                         const Value& object) {
  const Reference wanted = object_reference(workflow, program, step, attempt);
  const ExternalRef reference{
      .api_version = wanted.api_version, .kind = wanted.kind, .ns = "", .name = wanted.name, .uid = "", .cluster = ""};
  ExternalView view;
  if (object.is_null()) {
    view.message = text_of(reference) + " does not exist yet";
    return view;
  }
  view.uid = kube::uid(object);
  view.is_deleting = kube::is_deleting(object);
  const bool is_ours =
      kube::is_owned_by(object, kube::uid(workflow)) && kube::annotation(object, kStepAnnotation) == program.name(step);
  if (!is_ours) {
    view.state = ExternalView::State::Foreign;
    view.message = fmt::format("another {} has this name", text_of(reference));
    return view;
  }
  if (view.is_deleting || kube::annotation(object, kAttemptAnnotation) != std::to_string(attempt)) {
    view.state = ExternalView::State::Stale;
    view.message = fmt::format("{} of an earlier attempt is being deleted", text_of(reference));
    return view;
  }
  const std::optional<Until>& until = program.step(step).until;
  if (until || is_workflow(reference)) return view_condition(reference, until, object);
  view.state = ExternalView::State::Reached;
  return view;
}

}  // namespace slipway::delivery::jobflow
