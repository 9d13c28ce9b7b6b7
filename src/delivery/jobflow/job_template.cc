#include <fmt/format.h>

#include <array>

#include "delivery/jobflow/names.h"
#include "delivery/jobflow/program.h"
#include "json/text.h"
#include "kube/names.h"

namespace slipway::delivery::jobflow {
namespace {

constexpr std::array<std::string_view, 13> kJobSpecFields = {
    "template",         "parallelism",   "completions",         "backoffLimit", "activeDeadlineSeconds",
    "completionMode",   "suspend",       "manualSelector",      "selector",     "ttlSecondsAfterFinished",
    "podFailurePolicy", "successPolicy", "podReplacementPolicy"};
constexpr std::array<std::string_view, 5> kNumbers = {"parallelism", "completions", "backoffLimit", "activeDeadlineSeconds",
                                                      "ttlSecondsAfterFinished"};

bool is_job_spec_field(std::string_view name) { return std::ranges::find(kJobSpecFields, name) != kJobSpecFields.end(); }

std::string text_of(const Value& value) { return json::print(value).substr(0, 64); }

/// Only metadata and spec belong here; a bare JobSpec is the old form.
bool check_shape(const Value& job_template, const std::string& path, std::vector<Cause>& causes) {
  if (!job_template.is_object()) {
    causes.push_back(
        field::type_invalid(path, text_of(job_template), "must be a JobTemplateSpec: an object with metadata and spec"));
    return false;
  }
  for (auto [name, value] : job_template.members()) {
    if (name == "metadata" || name == "spec") continue;
    if (is_job_spec_field(name)) {
      causes.push_back(
          field::forbidden(path + "." + std::string(name),
                           "a JobSpec in place of a JobTemplateSpec is the old spelling: write it below " + path + ".spec"));
      return false;
    }
    causes.push_back(
        field::forbidden(path + "." + std::string(name), "unknown field; a JobTemplateSpec has metadata and spec"));
  }
  if (!job_template["spec"].is_object()) causes.push_back(field::required(path + ".spec", "the spec of the Job"));
  return job_template["spec"].is_object();
}

void check_metadata(const Value& metadata, const std::string& path, std::vector<Cause>& causes) {
  for (const auto* name : {"name", "generateName", "namespace", "ownerReferences", "finalizers"}) {
    if (metadata.has(name)) causes.push_back(field::forbidden(path + "." + name, "set by the workflow controller"));
  }
  for (auto& cause : kube::label_causes(metadata["labels"], path + ".labels")) causes.push_back(std::move(cause));
  for (auto& cause : kube::annotation_causes(metadata["annotations"], path + ".annotations"))
    causes.push_back(std::move(cause));
}

void check_numbers(const Value& spec, const std::string& path, std::vector<Cause>& causes) {
  for (const auto name : kNumbers) {
    const Value& value = spec[name];
    if (value.is_null()) continue;
    const std::string where = fmt::format("{}.{}", path, name);
    if (!value.is_int()) {
      causes.push_back(field::type_invalid(where, text_of(value), "must be an integer"));
    } else if (value.as_int() < 0) {
      causes.push_back(field::invalid(where, text_of(value), "must be greater than or equal to 0"));
    } else if (value.as_int() > INT32_MAX && name != "activeDeadlineSeconds") {
      causes.push_back(field::invalid(where, text_of(value), "must be less than or equal to 2147483647"));
    }
  }
}

void check_pod(const Value& pod, const std::string& path, std::vector<Cause>& causes) {
  if (!pod["containers"].is_array() || pod["containers"].empty()) {
    causes.push_back(field::required(path + ".containers", "at least one container"));
  }
  const Value& policy = pod["restartPolicy"];
  if (policy.is_null()) {
    causes.push_back(field::required(path + ".restartPolicy", "valid values: \"OnFailure\", \"Never\""));
  } else if (policy.as_string() != "OnFailure" && policy.as_string() != "Never") {
    causes.push_back(field::not_supported(path + ".restartPolicy", text_of(policy), {"OnFailure", "Never"}));
  }
}

Value merged(const Value& below, const Value& above) {
  json::ObjectBuilder builder(below);
  for (auto [name, value] : above.members()) builder.set(name, value);
  return builder.build();
}

Value with_env_in(const Value& containers, const std::vector<EnvVar>& env) {
  json::ArrayBuilder out;
  for (const Value& container : containers.items()) {
    Value variables = container["env"];
    for (const auto& one : env) {
      std::size_t at = 0;
      while (at < variables.size() && variables.item(at)["name"].as_string() != one.name) ++at;
      Value variable = json::object({{"name", one.name}});
      if (one.value_from) {
        variable = variable.with("valueFrom", *one.value_from);
      } else {
        variable = variable.with("value", one.value);
      }
      variables = variables.with_item(at, std::move(variable));
    }
    out.add(container.with("env", std::move(variables)));
  }
  return out.build();
}

}  // namespace

std::vector<Cause> check_job_template(const Value& job_template, const std::string& path) {
  std::vector<Cause> causes;
  const bool has_spec = check_shape(job_template, path, causes);
  if (!has_spec) return causes;
  check_metadata(job_template["metadata"], path + ".metadata", causes);
  const Value& spec = job_template["spec"];
  for (const auto* name : {"selector", "manualSelector"}) {
    if (spec.has(name)) causes.push_back(field::forbidden(path + ".spec." + name, "the Job gets its own selector"));
  }
  check_numbers(spec, path + ".spec", causes);
  const std::string pod_path = path + ".spec.template.spec";
  if (!spec["template"]["spec"].is_object()) {
    causes.push_back(field::required(pod_path, "the pod to run"));
  } else {
    check_pod(spec["template"]["spec"], pod_path, causes);
  }
  return causes;
}

Value with_env(const Value& job_template, const std::vector<EnvVar>& env) {
  if (env.empty()) return job_template;
  Value pod = job_template["spec"]["template"]["spec"];
  for (const auto* name : {"initContainers", "containers"}) {
    if (pod.has(name)) pod = pod.with(name, with_env_in(pod[name], env));
  }
  return job_template.with_path({"spec", "template", "spec"}, std::move(pod));
}

Value job_labels(const WorkflowSpec& spec, std::string_view workflow, const Value& job_template) {
  json::ObjectBuilder shared;
  for (const auto& [name, value] : spec.metadata.labels) shared.set(name, value);
  return merged(merged(shared.build(), job_template["metadata"]["labels"]),
                json::object({{kWorkflowLabel, label_value(workflow)}}));
}

}  // namespace slipway::delivery::jobflow
