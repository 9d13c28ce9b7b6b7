#include "delivery/pipeline/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/reader_access.h"
#include "json/quoted.h"

namespace slipway::delivery::pipeline {

std::vector<Command> commands() {
  std::vector<Command> all = reading_commands();
  std::ranges::move(comparing_commands(), std::back_inserter(all));
  std::ranges::move(changing_commands(), std::back_inserter(all));
  std::ranges::move(standstill_commands(), std::back_inserter(all));
  all.push_back(create_command());
  return all;
}

std::string option(const CommandCall& call, const std::string& name) {
  const auto at = call.options.find(name);
  return at == call.options.end() ? "" : at->second;
}

bool has_flag(const CommandCall& call, const std::string& name) { return call.options.contains(name); }

std::vector<std::string> listed(const CommandCall& call, const std::string& name) {
  std::vector<std::string> all;
  for (const std::string_view line : split(option(call, name), '\n')) {
    for (const std::string_view part : split(line, ',')) {
      if (!trimmed(part).empty()) all.emplace_back(trimmed(part));
    }
  }
  return all;
}

Result<void> check_option(const CommandCall& call, const std::string& name, const std::vector<std::string>& allowed) {
  const std::string given = option(call, name);
  if (given.empty() || std::ranges::find(allowed, given) != allowed.end()) return {};
  return fail(Reason::BadRequest, fmt::format("--{} {}: must be {}", name, json::quoted(given), joined(allowed, " or ")));
}

Result<std::string> pipeline_named(const CommandCall& call, const std::string& verb) {
  const std::string prefix = lower(kPipelineKind.kind) + "/";
  std::string name = call.words.empty() ? "" : call.words.front();
  if (name.starts_with(prefix)) name = name.substr(prefix.size());
  if (call.words.size() == 1 && !name.empty() && !name.contains('/')) return name;
  return fail(Reason::BadRequest, fmt::format("name one pipeline: slipway pipeline {} NAME", verb));
}

Task<Result<Scene>> read_scene(CommandCall call, std::string verb) {
  SLIPWAY_CO_TRY(name, pipeline_named(call, verb));
  co_return co_await Scene::read(*call.client, call.ns, name, call.env.clock.now());
}

Task<Result<Scene>> read_seen_scene(CommandCall call, std::string verb) {
  SLIPWAY_CO_TRY(scene, co_await read_scene(call, std::move(verb)));
  ReaderAccess access(call.env);
  SLIPWAY_CO_TRY(status, co_await access.seen(*call.client, nullptr, scene.object));
  scene.hide(std::move(status));
  co_return std::move(scene);
}

Command changing_row(std::string verb, std::string help, std::vector<CommandOption> options,
                     std::function<Task<Result<CommandAnswer>>(CommandCall call)> run) {
  return {.verb = "pipeline " + verb,
          .help = std::move(help),
          .cluster = Command::Cluster::Always,
          .input = Command::Input::Words,
          .words_name = "NAME",
          .words_help = "pipeline",
          .options = std::move(options),
          .run = std::move(run),
          .only_reads = false};
}

Author local_author(const CommandCall& call) {
  return {
      .user = std::string(kLocalUser), .groups = {}, .time = std::chrono::floor<std::chrono::seconds>(call.env.clock.now())};
}

kube::Object object_of(const kube::GroupVersionKind& kind, const std::string& ns, const std::string& name, json::Value spec) {
  return json::object({{"apiVersion", kind.api_version()},
                       {"kind", kind.kind},
                       {"metadata", json::object({{"namespace", ns}, {"name", name}})},
                       {"spec", std::move(spec)}});
}

std::string as_text(const kube::Object& made) {
  const std::string user = made["spec"]["by"]["user"].str();
  return user.empty() ? "" : " as " + user;
}

}  // namespace slipway::delivery::pipeline
