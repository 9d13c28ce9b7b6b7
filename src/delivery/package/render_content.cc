#include "delivery/package/render_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "delivery/package/function_programs.h"
#include "delivery/package/render_result.h"
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

constexpr std::string_view kNoExec =
    "a server runs no program that a Kptfile names by exec, only built-in functions and programs that a FunctionConfig maps an "
    "image to";

/// A rendering under way, shared by the coroutine and the lane: the frame may be destroyed while the lane works.
struct Work {
  std::map<std::string, std::string> files{};  // as they were
  std::optional<krm::Render> render{};
  std::optional<krm::ProgramCall> call{};
  krm::ProgramAnswer answer{};
  Rendered made{};

  void finish() {
    krm::RenderOutcome outcome = std::move(*render).finish();
    made.status.result = {.api_version = "kpt.dev/v1",
                          .kind = "FunctionResultList",
                          .metadata = json::object({{"name", "fnresults"}}),
                          .exit_code = outcome.files ? 0 : 1};
    for (const krm::RenderStep& step : outcome.steps) made.status.result.items.push_back(function_of(step));
    if (outcome.files) {
      // Where no function ran, every byte stays; what functions give back is written in kpt's form.
      made.outcome = outcome.steps.empty() ? Render::Nothing : Render::Passed;
      made.files = outcome.steps.empty() ? std::move(files) : std::move(*outcome.files);
    } else {
      made.outcome = Render::Failed;
      const Status& why = outcome.files.error();
      const bool is_missing = why.reason == Reason::NotImplemented;
      made.status.error = cut_text((is_missing ? "NotImplemented: " : "") + why.message, kMaxErrorBytes);
      made.files = std::move(files);
    }
  }
};

bool has_pipeline(const std::map<std::string, std::string>& files) {
  return std::ranges::any_of(
      files, [](const auto& file) { return file.first.ends_with(krm::kKptfile) && file.second.contains("pipeline"); });
}

}  // namespace

Task<Rendered> render_content(client::ServedContext context, std::string ns, std::map<std::string, std::string> files,
                              std::string name) {
  Env& env = context.env;
  FunctionTable table;
  if (has_pipeline(files)) table = co_await function_table(context.server, ns);
  const auto work = std::make_shared<Work>(Work{.files = std::move(files)});
  const auto begin = [work, table = std::move(table), name = std::move(name)] {
    const krm::RenderOptions options{.no_exec_text = std::string(kNoExec),
                                     .program_for = [table](const std::string& image) { return table.program_for(image); },
                                     .built_in_for = [table](const std::string& image) { return table.built_in_for(image); },
                                     .package_name = name};
    work->render.emplace(work->files, options);
    work->call = work->render->advance();
    if (!work->call) work->finish();
  };
  const auto go_on = [work] {
    work->render->answer(std::move(work->answer));
    work->call = work->render->advance();
    if (!work->call) work->finish();
  };
  co_await run_on(env, env.compute, begin);
  while (work->call) {
    work->answer = co_await run_function(env, ns, std::move(*work->call));
    co_await run_on(env, env.compute, go_on);
  }
  co_return std::move(work->made);
}

}  // namespace slipway::delivery::package
