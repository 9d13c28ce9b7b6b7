#include "delivery/package/render_content.h"

#include <fmt/format.h>

#include <optional>

#include "json/text.h"
#include "krm/render.h"

namespace slipway::delivery::package {
namespace {

std::string text_of(const json::Value& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.str() : json::print(value);
}

ResultItem item_of(const krm::FunctionResult& result) {
  ResultItem item{.message = result.message, .severity = result.severity, .tags = result.tags};
  if (!result.kind.empty() || !result.name.empty()) {
    item.object =
        ResultObject{.api_version = result.api_version, .kind = result.kind, .name = result.name, .ns = result.namespace_name};
  }
  if (!result.field_path.empty()) {
    item.field = ResultField{.path = result.field_path,
                             .current_value = text_of(result.current_value),
                             .proposed_value = text_of(result.proposed_value)};
  }
  if (!result.file_path.empty()) {
    item.file = ResultFile{.path = result.file_path, .index = static_cast<std::int64_t>(result.file_index)};
  }
  return item;
}

FunctionResult function_of(const krm::RenderStep& step) {
  FunctionResult made{.image = step.image, .exec = step.exec, .stderr_text = step.errors, .exit_code = step.exit_code};
  if (made.stderr_text.empty()) made.stderr_text = step.error;
  if (!step.error.empty() && made.exit_code == 0) made.exit_code = 1;
  for (const krm::FunctionResult& one : step.results) made.results.push_back(item_of(one));
  return made;
}

Rendered rendered(std::map<std::string, std::string> files, const std::string& name) {
  Rendered made;
  krm::RenderOutcome outcome = krm::render(files, {.package_name = name});
  made.status.result = {.api_version = "kpt.dev/v1",
                        .kind = "FunctionResultList",
                        .metadata = json::object({{"name", "fnresults"}}),
                        .exit_code = outcome.files ? 0 : 1};
  for (const krm::RenderStep& step : outcome.steps) made.status.result.items.push_back(function_of(step));
  if (outcome.files) {
    made.outcome = outcome.steps.empty() ? Render::Nothing : Render::Passed;
    made.files = std::move(*outcome.files);
  } else {
    made.outcome = Render::Failed;
    made.status.error = outcome.files.error().message;
    made.files = std::move(files);
  }
  return made;
}

}  // namespace

Task<Rendered> render_content(Env& env, std::map<std::string, std::string> files, std::string name) {
  const auto made = std::make_shared<Rendered>();
  co_await run_on(env, env.compute, [made, files = std::move(files), name = std::move(name)]() mutable {
    *made = rendered(std::move(files), name);
  });
  co_return std::move(*made);
}

}  // namespace slipway::delivery::package
