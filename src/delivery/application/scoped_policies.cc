#include "delivery/application/scoped_policies.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/application/component_check.h"
#include "delivery/application/kind.h"
#include "delivery/application/render_error.h"
#include "delivery/application/template_run.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kReplaced[] = {"components", "workflow", "policies"};
constexpr const char* kAdded[] = {"labels", "annotations"};
constexpr const char* kPolicyContext = "ctx";
/// As whom the application is delivered: admission alone says so.
constexpr const char* kIdentity[] = {kUserName, kUserGroup, kServiceAccount};
/// Of annotations that policies do not see: they steer controllers and clients.
constexpr const char* kInternal[] = {"app.oam.dev/", "kubectl.kubernetes.io/"};

DefinitionPtr scoped_definition(const Value& policy, const Lookup& lookup) {
  const std::string type = policy["type"].str();
  if (type.empty() || is_own_policy(type)) return nullptr;
  auto found = lookup.definition(DefinitionKind::Policy, type);
  return found && is_application_scoped(**found) ? *found : nullptr;
}

Value or_empty(const Value& value) { return value.is_object() ? value : Value::empty_object(); }

Value added(const Value& base, const Value& more) {
  json::ObjectBuilder out(or_empty(base));
  for (const auto& [key, value] : more.members()) out.set(key, value);
  return out.build();
}

Value without_internal(const Value& annotations) {
  json::ObjectBuilder out;
  for (const auto& [key, value] : annotations.members()) {
    const auto begins = [&](const char* prefix) { return key.starts_with(prefix); };
    if (std::ranges::none_of(kInternal, begins)) out.set(key, value);
  }
  return out.build();
}

Value policy_context(const kube::Object& application, const Value& policy, const Definition& definition) {
  const Value& spec = application["spec"];
  const Value& revision = definition.object["status"]["latestRevision"];
  return json::object({{"name", Value(kube::name(application))},
                       {"namespace", Value(kube::ns(application))},
                       {"appName", Value(kube::name(application))},
                       {"appLabels", or_empty(application["metadata"]["labels"])},
                       {"appAnnotations", without_internal(application["metadata"]["annotations"])},
                       {"appComponents", spec["components"].is_array() ? spec["components"] : Value::empty_array()},
                       {"appWorkflow", or_empty(spec["workflow"])},
                       {"appPolicies", spec["policies"].is_array() ? spec["policies"] : Value::empty_array()},
                       {"policyName", policy["name"]},
                       {"policyType", policy["type"]},
                       {"policyRevision", revision["revision"].is_null() ? Value(0) : revision["revision"]},
                       {"policyRevisionName", Value(revision["name"].str())},
                       {"policyRevisionHash", Value(revision["revisionHash"].str())}});
}

/// What is wrong with `output`, in words; empty: nothing.
std::string output_fault(const Value& output) {
  if (!output.is_object()) return "output: must be a struct";
  for (const auto& [key, value] : output.members()) {
    const auto is_it = [&](const char* known) { return key == known; };
    const bool is_object = std::ranges::any_of(kAdded, is_it) || key == kPolicyContext || key == "workflow";
    if (!is_object && !std::ranges::any_of(kReplaced, is_it)) {
      return fmt::format("output.{}: unknown; there are labels, annotations, components, workflow, policies and ctx", key);
    }
    if (is_object ? !value.is_object() : !value.is_array()) {
      return fmt::format("output.{}: must be a {}", key, is_object ? "struct" : "list");
    }
  }
  for (const char* key : kIdentity) {
    if (output["annotations"].has(key)) {
      return fmt::format("output.annotations[\"{}\"]: a policy cannot set as whom the application acts", key);
    }
  }
  return "";
}

/// Names parameters that have no value: where they belong in the application, of a global policy in its template.
Status missing(const std::vector<ParameterFault>& parameters, const ScopedPolicy& scoped) {
  Status error;
  error.reason = Reason::Invalid;
  std::vector<std::string> texts;
  for (const ParameterFault& one : parameters) {
    if (scoped.path.empty()) {
      texts.push_back(fmt::format("{}: {}", one.field, one.message));
      continue;
    }
    error.causes.push_back(cause_of(one, scoped.policy["properties"], scoped.path));
    texts.push_back(fmt::format("{}: {}", error.causes.back().field, error.causes.back().message));
  }
  error.message = joined(texts, "; ");
  return error;
}

/// `output` of the policy's template; null: it is not enabled.
Result<Value> output_of(const kube::Object& application, const ScopedPolicy& scoped, const cue::Limits& limits) {
  const Value& policy = scoped.policy;
  const Definition& definition = *scoped.definition;
  const TemplateRun run{.place = "policy",
                        .definition = definition,
                        .parameter = or_empty(policy["properties"]),
                        .context = {{"context", policy_context(application, policy, definition)}},
                        .answers = {},
                        .limits = limits};
  auto made = run_template(run);
  if (const auto* wrong = std::get_if<RenderError>(&made)) {
    return fail(Reason::Invalid, wrong->field.empty() ? wrong->message : wrong->field + ": " + wrong->message);
  }
  const auto* root = std::get_if<cue::Cursor>(&made);
  if (root == nullptr) return fail(Reason::Invalid, "templates of application-scoped policies cannot call providers");
  if (const auto enabled = root->field("config").field("enabled").to_json(); enabled && !enabled->as_bool(true)) return Value();
  const cue::Cursor output = root->field("output");
  if (!output.exists()) return Value::empty_object();
  const auto value = output.to_json();
  if (!value) {
    const std::vector<ParameterFault> parameters = missing_parameters(*root, definition);
    return parameters.empty() ? fail(Reason::Invalid, "output: it is not concrete") : fail(missing(parameters, scoped));
  }
  if (const std::string fault = output_fault(*value); !fault.empty()) return fail(Reason::Invalid, fault);
  return *value;
}

kube::Object changed(kube::Object application, const Value& output) {
  for (const char* key : kAdded) {
    if (output.has(key)) {
      application = application.with_path({"metadata", key}, added(application["metadata"][key], output[key]));
    }
  }
  for (const char* key : kReplaced) {
    if (output.has(key)) application = application.with_path({"spec", key}, output[key]);
  }
  return application;
}

}  // namespace

kube::Object with_metadata_of(const kube::Object& made, const kube::Object& stored) {
  const Value& changed = made["metadata"];
  Value metadata = stored["metadata"];
  for (const char* key : kAdded) {
    if (changed.has(key)) metadata = metadata.with(key, changed[key]);
  }
  for (const char* key : kIdentity) {
    const Value& was = stored["metadata"]["annotations"][key];
    if (metadata["annotations"][key] == was) continue;
    metadata = was.is_null() ? metadata.without_path({"annotations", key}) : metadata.with_path({"annotations", key}, was);
  }
  return made.with("metadata", metadata);
}

bool is_application_scoped(const Definition& definition) {
  return definition.object["spec"]["scope"].as_string() == "Application";
}

std::vector<ScopedPolicy> scoped_policies(const kube::Object& application, const Lookup& lookup) {
  std::vector<ScopedPolicy> named;
  const Value& policies = application["spec"]["policies"];
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const Value& policy = policies.item(i);
    DefinitionPtr definition = scoped_definition(policy, lookup);
    if (definition) named.push_back({policy, std::move(definition), fmt::format("spec.policies[{}]", i)});
  }
  if (kube::annotation(application, kSkipGlobalPolicies) == "true") return named;
  std::vector<ScopedPolicy> all;
  for (const DefinitionPtr& definition : lookup.global_policies ? lookup.global_policies() : std::vector<DefinitionPtr>()) {
    const auto is_it = [&](const ScopedPolicy& one) { return one.policy["type"].as_string() == definition->name; };
    if (std::ranges::any_of(named, is_it)) continue;
    const Value policy = json::object({{"name", definition->name}, {"type", definition->name}});
    all.push_back({policy, definition, ""});
  }
  std::ranges::move(named, std::back_inserter(all));
  return all;
}

Result<Scoped> with_scoped_policies(const kube::Object& application, const std::vector<ScopedPolicy>& policies,
                                    const std::atomic<bool>* cancelled) {
  Scoped scoped{.application = application, .custom = {}, .policies = {}, .record = {}};
  json::ObjectBuilder record;
  cue::Limits limits = cue::Limits::for_template();
  limits.cancelled = cancelled;
  for (const ScopedPolicy& one : policies) {
    const Value& policy = one.policy;
    const std::string name = policy["name"].str();
    auto output = output_of(scoped.application, one, limits);
    if (!output) {
      Status error = std::move(output).error();
      error.message = fmt::format("policy {}: {}", name, error.message);
      return fail(std::move(error));
    }
    AppliedPolicy told{.name = name, .type = policy["type"].str(), .is_applied = !output->is_null()};
    if (one.path.empty()) told.source = "global";
    if (!told.is_applied) told.message = "its config says that it is not enabled";
    scoped.policies.push_back(std::move(told));
    record.set(name, json::print(*output));
    if (output->is_null()) continue;
    scoped.application = changed(std::move(scoped.application), *output);
    if (output->has(kPolicyContext)) scoped.custom = added(scoped.custom, (*output)[kPolicyContext]);
  }
  scoped.application = with_metadata_of(scoped.application, application);
  if (!scoped.policies.empty()) scoped.record = record.build();
  return scoped;
}

std::string policies_config_map(const kube::Object& application) {
  return fmt::format("application-policies-{}-{}", kube::ns(application), kube::name(application));
}

}  // namespace slipway::delivery::application
