// Components that Terraform provides: a ComponentDefinition with schematic.terraform is rendered to one Configuration object,
// which a Terraform controller in the cluster carries out; no Terraform runs here. Its template and status texts are made from
// the schematic, so that it is rendered, judged and described like any other (kubevela/kubevela pkg/appfile).
#pragma once

#include <string>

#include "json/value.h"

namespace slipway::delivery::application {

/// Whether a definition object is of this kind.
bool is_terraform(const json::Value& definition);
/// The CUE template of such a definition. DIVERGES: schematic.terraform.deleteResource holds where the component says nothing.
std::string terraform_template(const json::Value& definition);
/// The CUE template of any definition object: its own, or that of its schematic.terraform.
std::string template_of(const json::Value& definition);
/// Healthy once Terraform has applied it and its outputs are there.
std::string terraform_health_policy();
std::string terraform_custom_status();

}  // namespace slipway::delivery::application
