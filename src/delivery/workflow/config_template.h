// Templates of configurations: CUE texts in ConfigMaps `config-template-NAME` that say which Secret (`template.output`) and
// which objects beside it (`template.outputs`) a configuration is made of, from `template.parameter` and `context` {name,
// namespace}. What they ask of providers, such as whether a registry takes these credentials (`template.validation`), is
// answered by the standard providers. Follows kubevela/kubevela pkg/config.
#pragma once

#include <string>
#include <vector>

#include "delivery/workflow/provider.h"

namespace slipway::delivery::workflow {

/// Names of the ConfigMaps begin with it.
inline constexpr const char* kConfigTemplatePrefix = "config-template-";

struct ConfigTemplate {
  std::string name;
  std::string ns;
  std::string text;
  std::string scope{};
  bool is_sensitive = false;  // configurations of it are not read back
  Value object{};             // the ConfigMap
};
/// `name` may be "namespace/name"; vela-system by default. Errors: NotFound "the template does not exist", and those of asking.
Task<Result<ConfigTemplate>> load_config_template(client::Client& hub, std::string name);

struct RenderedConfig {
  Value secret;  // null: the template has no output
  std::vector<Value> objects;
};
/// Runs what the template asks for. Errors: Invalid (parameters, the template, a validation that says no), NotImplemented (a
/// writer such as nacos), and those of providers. The call's setting outlives this.
Task<Result<RenderedConfig>> render_config(ProviderCall call, ConfigTemplate made_by, kube::ObjectKey key, Value properties);

}  // namespace slipway::delivery::workflow
