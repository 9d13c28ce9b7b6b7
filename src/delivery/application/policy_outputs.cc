#include "delivery/application/policy_outputs.h"

#include <fmt/format.h>

#include "base/compute_pool.h"
#include "delivery/application/scoped_policies.h"

namespace slipway::delivery::application {
namespace {

Task<Result<std::vector<Manifest>>> render_policy(AppRun& run, PolicySpec policy, DefinitionPtr definition) {
  ComponentSpec as_component;
  as_component.name = policy.name;
  as_component.type = policy.type;
  as_component.properties = policy.properties;
  const ComponentTemplates templates{.component = definition, .traits = {}};
  const RenderContext context = run.render_context({});
  std::expected<Rendering, RenderError> made{std::unexpect};
  co_await compute_for(run.tools().env, context.ns,
                       [&] { made = render_component(as_component, templates, context, {}, {}, {}); });
  if (!made) co_return fail(Reason::Invalid, made.error().message);
  const auto* rendered = std::get_if<RenderedComponent>(&*made);
  if (rendered == nullptr) co_return fail(Reason::NotImplemented, "templates of policies cannot call providers");
  std::vector<Manifest> manifests;
  const auto add = [&](const Value& object) {
    manifests.push_back({.object = object.with_path({"metadata", "labels", kLabelCluster}, ""),
                         .cluster = kHub,
                         .component = "",
                         .trait = "",
                         .creator = "policy"});
  };
  if (!rendered->workload.is_null()) add(rendered->workload);
  for (const RenderedObject& one : rendered->others) add(one.object);
  co_return manifests;
}

}  // namespace

Task<std::map<std::string, Result<std::vector<Manifest>>>> render_policies(AppRun& run) {
  std::map<std::string, Result<std::vector<Manifest>>> made;
  for (const PolicySpec& policy : std::vector<PolicySpec>(run.parsed().spec.policies)) {
    const auto known = run.parsed().policies.find(policy.type);
    if (known == run.parsed().policies.end() || !known->second->program || is_application_scoped(*known->second)) continue;
    made.insert_or_assign(policy.name, co_await render_policy(run, policy, known->second));
  }
  co_return made;
}

Task<Result<void>> apply_policy_outputs(AppRun& run) {
  auto rendered = co_await render_policies(run);
  for (const PolicySpec& policy : std::vector<PolicySpec>(run.parsed().spec.policies)) {
    const auto found = rendered.find(policy.name);
    if (found == rendered.end()) continue;
    Result<void> done{};
    if (!found->second) {
      done = fail(found->second.error());
    } else if (!found->second->empty()) {
      auto applied = co_await run.apply(*found->second);
      if (!applied) done = fail(std::move(applied).error());
    }
    if (!done) {
      Status error = std::move(done).error();
      error.message = fmt::format("policy {}: {}", policy.name, error.message);
      co_return fail(std::move(error));
    }
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application
