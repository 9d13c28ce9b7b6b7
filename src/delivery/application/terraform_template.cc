#include "delivery/application/terraform_template.h"

#include <fmt/format.h>

#include "json/text.h"

namespace slipway::delivery::application {

namespace {

using json::Value;

/// What the schematic fixes of the Configuration's spec.
Value fixed_spec(const Value& terraform) {
  const bool is_remote = terraform["type"].as_string() == "remote";
  if (!is_remote) return json::object({{"hcl", terraform["configuration"]}});
  Value spec = json::object({{"remote", terraform["configuration"]}});
  if (terraform.has("path")) spec = spec.with("path", terraform["path"]);
  return spec;
}

/// What holds where the component's properties say nothing.
Value default_spec(const Value& terraform) {
  Value spec = Value::empty_object();
  for (const char* member :
       {"writeConnectionSecretToRef", "providerRef", "gitCredentialsSecretReference", "customRegion", "deleteResource"}) {
    if (terraform.has(member)) spec = spec.with(member, terraform[member]);
  }
  return spec;
}

constexpr const char* kTemplate = R"CUE(
// Properties that are the Configuration's own; all others are variables. deleteResource is both.
_own: {{
	writeConnectionSecretToRef:    true
	providerRef:                   true
	customRegion:                  true
	forceDelete:                   true
	gitCredentialsSecretReference: true
}}
_defaults: {defaults}
_given: {{
	for k, v in _defaults if parameter[k] == _|_ {{(k): v}}
	for k, v in parameter if _own[k] != _|_ || k == "deleteResource" {{(k): v}}
}}
output: {{
	apiVersion: "terraform.core.oam.dev/v1beta2"
	kind:       "Configuration"
	metadata: annotations: {annotations}
	spec: {fixed}
	spec: {{
		_given
		if _given.writeConnectionSecretToRef != _|_ if _given.writeConnectionSecretToRef.namespace == _|_ {{
			writeConnectionSecretToRef: namespace: context.namespace
		}}
		variable: {{
			for k, v in parameter if _own[k] == _|_ {{(k): v}}
		}}
	}}
}}
parameter: {{
	// +usage=Secret that takes the outputs
	writeConnectionSecretToRef?: {{
		name:       string
		namespace?: string
	}}
	// +usage=Provider object with the credentials
	providerRef?: {{
		name:       string
		namespace?: string
	}}
	// +usage=Region, instead of the provider's
	customRegion?: string
	// +usage=Whether to delete the object though the cloud resource cannot be deleted
	forceDelete?: bool
	// +usage=Secret with the credentials of the git repository
	gitCredentialsSecretReference?: {{
		name:       string
		namespace?: string
	}}
	// +usage=Variables of the Terraform module
	...
}}
)CUE";

}  // namespace

bool is_terraform(const Value& definition) { return !definition["spec"]["schematic"]["terraform"].is_null(); }

std::string terraform_template(const Value& definition) {
  const Value& terraform = definition["spec"]["schematic"]["terraform"];
  const Value annotations = definition["metadata"]["annotations"].without("kubectl.kubernetes.io/last-applied-configuration");
  return fmt::format(fmt::runtime(kTemplate), fmt::arg("defaults", json::print(default_spec(terraform))),
                     fmt::arg("annotations", json::print(annotations)), fmt::arg("fixed", json::print(fixed_spec(terraform))));
}

std::string template_of(const json::Value& definition) {
  return is_terraform(definition) ? terraform_template(definition) : definition["spec"]["schematic"]["cue"]["template"].str();
}

std::string terraform_health_policy() {
  return R"CUE(isHealth: [if context.output.status.apply.state != _|_ {context.output.status.apply.state == "Available"}, false][0]
)CUE";
}

std::string terraform_custom_status() {
  return R"CUE(message: [
	if context.output.status.apply.message != _|_ {context.output.status.apply.message},
	if context.output.status.apply.state != _|_ {context.output.status.apply.state},
	"waiting for a Terraform controller",
][0]
)CUE";
}

}  // namespace slipway::delivery::application
