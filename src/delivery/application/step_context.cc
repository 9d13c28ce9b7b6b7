#include "delivery/application/step_context.h"

#include <fmt/format.h>

namespace slipway::delivery::application {
namespace {

bool names_workload(const Definition& definition) {
  return definition.object["spec"]["schematic"]["cue"]["template"].as_string().contains("context.workload");
}

}  // namespace

Task<Result<Value>> step_context_of(AppRun& run, DefinitionPtr definition) {
  if (!names_workload(*definition)) co_return Value();
  const std::vector<ComponentSpec>& components = run.parsed().spec.components;
  if (components.size() != 1) {
    co_return fail(Reason::Invalid,
                   fmt::format("context.workload is the workload of the only component, and the application has {}: take "
                               "op.#RenderComponent of the one that is meant",
                               components.size()));
  }
  ComponentSpec component = components.front();
  const std::string name = component.name;
  SLIPWAY_CO_TRY(rendered, co_await run.render(std::move(component), {}, {}, {}));
  if (rendered->workload.is_null()) {
    co_return fail(Reason::Invalid, fmt::format("context.workload: component {} has no workload of its own", name));
  }
  if (rendered->is_secret) {
    co_return fail(Reason::Invalid, fmt::format("context.workload: component {} holds what was read from a Secret: take "
                                                "op.#RenderComponent, which keeps it secret",
                                                name));
  }
  co_return json::object({{"workload", rendered->workload}});
}

}  // namespace slipway::delivery::application
