// hold, pause, resume, freeze, unfreeze.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/pipeline/admission.h"
#include "delivery/pipeline/choose.h"
#include "delivery/pipeline/commands.h"
#include "delivery/pipeline/kind.h"
#include "json/quoted.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

Result<std::optional<Time>> time_option(const CommandCall& call, const std::string& name) {
  const std::string given = option(call, name);
  if (given.empty()) return std::nullopt;
  const auto time = parse_rfc3339(given);
  if (time) return std::optional(*time);
  return fail(Reason::BadRequest, fmt::format("--{} {}: must be a time like 2026-12-24T00:00:00Z", name, json::quoted(given)));
}

/// --until, or --for from now or from `from` on.
Result<std::optional<Time>> end_option(const CommandCall& call, const std::optional<Time>& from) {
  SLIPWAY_TRY(until, time_option(call, "until"));
  const std::string length = option(call, "for");
  if (length.empty()) return until;
  if (until) return fail(Reason::BadRequest, "give one of --until and --for");
  const auto duration = parse_duration(length);
  if (!duration || *duration <= Duration{0}) {
    return fail(Reason::BadRequest, fmt::format("--for {}: must be a duration like 2h30m", json::quoted(length)));
  }
  const Time begin = from.value_or(call.env.clock.now());
  return std::optional<Time>(std::chrono::floor<std::chrono::seconds>(begin + *duration));
}

Task<Result<CommandAnswer>> make_hold(CommandCall call, std::string verb, std::vector<std::string> environments) {
  SLIPWAY_CO_TRY(scene, co_await read_scene(call, verb));
  for (const std::string& one : environments) SLIPWAY_CO_TRY_VOID(environment_of(scene, one, "environment"));
  SLIPWAY_CO_TRY(until, end_option(call, std::nullopt));
  const HoldSpec spec{.pipeline = scene.name(),
                      .environments = environments,
                      .comment = option(call, "comment"),
                      .until = until,
                      .by = local_author(call)};
  const std::string name = object_name(fmt::format("{}-{}", scene.name(), verb), name_suffix(call.env.random));
  SLIPWAY_CO_TRY(
      made, co_await client::create(*call.client, kHolds, object_of(kHoldKind, call.ns, name, json::encode(spec)), kManager));
  const std::string what = environments.empty() ? "any environment" : joined(environments, ", ");
  co_return CommandAnswer{.text = fmt::format("hold/{}: nothing is promoted into {}{}{}\n", name, what,
                                              until ? " until " + to_rfc3339(*until) : "", as_text(made))};
}

Task<Result<CommandAnswer>> hold(CommandCall call) {
  std::vector<std::string> environments = listed(call, "environment");
  if (environments.empty()) {
    co_return fail(Reason::BadRequest, "say which environment with --environment; to hold all, slipway pipeline pause NAME");
  }
  co_return co_await make_hold(std::move(call), "hold", std::move(environments));
}

Task<Result<CommandAnswer>> pause(CommandCall call) { co_return co_await make_hold(std::move(call), "pause", {}); }

/// Ends one hold for some environments, or altogether.
Task<Result<std::string>> release_hold(client::Client& client, std::string ns, Read<HoldSpec> one,
                                       std::vector<std::string> environments) {
  std::vector<std::string> left = one.spec.environments;
  std::erase_if(left, [&](const std::string& name) { return std::ranges::find(environments, name) != environments.end(); });
  if (environments.empty() || left.empty()) {
    SLIPWAY_CO_TRY_VOID(co_await client::remove(client, kHolds, {ns, one.name()}));
    co_return fmt::format("hold/{}: over\n", one.name());
  }
  const Value patch = json::object({{"spec", json::object({{"environments", json::array(left)}})}});
  SLIPWAY_CO_TRY_VOID(co_await client::merge_patch(client, kHolds, {ns, one.name()}, patch, kManager));
  co_return fmt::format("hold/{}: holds {} only\n", one.name(), joined(left, ", "));
}

Task<Result<CommandAnswer>> resume(CommandCall call) {
  SLIPWAY_CO_TRY(scene, co_await read_scene(call, "resume"));
  const std::vector<std::string> environments = listed(call, "environment");
  for (const std::string& one : environments) SLIPWAY_CO_TRY_VOID(environment_of(scene, one, "environment"));
  CommandAnswer answer;
  for (const Read<HoldSpec>& one : scene.holds) {
    const bool is_meant = environments.empty() || std::ranges::any_of(one.spec.environments, [&](const std::string& name) {
                            return std::ranges::find(environments, name) != environments.end();
                          });
    if (is_meant) {
      SLIPWAY_CO_TRY(line, co_await release_hold(*call.client, call.ns, one, environments));
      answer.text += line;
    } else if (one.spec.environments.empty()) {
      answer.notes.push_back(fmt::format("hold/{} holds all environments: resume without --environment ends it", one.name()));
    }
  }
  if (scene.spec.is_suspended)
    answer.notes.emplace_back("spec.suspend of the pipeline is true: nothing is promoted before it is false");
  if (answer.text.empty()) {
    const std::string where = environments.empty() ? "" : " in " + joined(environments, ", ");
    answer.notes.push_back(fmt::format("pipeline/{} is not held{}", scene.name(), where));
  }
  co_return answer;
}

Result<std::string> freeze_name(const CommandCall& call, const char* verb) {
  const std::string prefix = lower(kFreezeKind.kind) + "/";
  std::string name = call.words.empty() ? "" : call.words.front();
  if (name.starts_with(prefix)) name = name.substr(prefix.size());
  if (call.words.size() == 1 && !name.empty()) return name;
  return fail(Reason::BadRequest, fmt::format("name the freeze: slipway pipeline {} NAME", verb));
}

Result<std::map<std::string, std::string>> label_options(const CommandCall& call) {
  std::map<std::string, std::string> labels;
  for (const std::string& one : listed(call, "cluster-label")) {
    const auto equals = one.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Reason::BadRequest, fmt::format("--cluster-label {}: must be KEY=VALUE", json::quoted(one)));
    }
    labels[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return labels;
}

Result<std::optional<gate::WindowGate>> window_option(const CommandCall& call) {
  const std::string rule = option(call, "rrule");
  const std::string length = option(call, "duration");
  const std::string zone = option(call, "time-zone");
  if (rule.empty() && length.empty() && zone.empty()) return std::nullopt;
  if (rule.empty())
    return fail(Reason::BadRequest, "--duration and --time-zone are of a freeze that comes again: give --rrule too");
  gate::WindowGate window{.rrule = rule, .is_freeze = true};
  if (!zone.empty()) window.time_zone = zone;
  if (!length.empty()) {
    const auto duration = parse_duration(length);
    if (!duration || *duration <= Duration{0}) {
      return fail(Reason::BadRequest, fmt::format("--duration {}: must be a duration like 48h", json::quoted(length)));
    }
    window.duration = *duration;
  }
  return std::optional(window);
}

Task<Result<CommandAnswer>> freeze(CommandCall call) {
  SLIPWAY_CO_TRY(name, freeze_name(call, "freeze"));
  FreezeSpec spec{.pipelines = listed(call, "pipeline"),
                  .environments = listed(call, "environment"),
                  .comment = option(call, "comment"),
                  .by = local_author(call)};
  SLIPWAY_CO_TRY(labels, label_options(call));
  SLIPWAY_CO_TRY(window, window_option(call));
  SLIPWAY_CO_TRY(from, time_option(call, "from"));
  SLIPWAY_CO_TRY(until, end_option(call, from));
  spec.cluster_labels = labels;
  spec.window = window;
  spec.from = from;
  spec.until = until;
  const Value wanted = object_of(kFreezeKind, call.ns, name, json::encode(spec));
  if (const auto causes = validate(wanted, {}); !causes.empty()) {
    co_return fail(Reason::BadRequest, fmt::format("{}: {}", causes.front().field, causes.front().message));
  }
  SLIPWAY_CO_TRY(made, co_await client::create(*call.client, kFreezes, wanted, kManager));
  const std::string where = spec.environments.empty() ? "any environment" : joined(spec.environments, ", ");
  const std::string of = spec.pipelines.empty() ? fmt::format("any pipeline of {}", call.ns) : joined(spec.pipelines, ", ");
  co_return CommandAnswer{.text =
                              fmt::format("freeze/{}: nothing is promoted into {} of {}{}{}{}{}\n", name, where, of,
                                          from ? " from " + to_rfc3339(*from) : "", until ? " until " + to_rfc3339(*until) : "",
                                          window ? " while " + window->rrule : "", as_text(made))};
}

Task<Result<CommandAnswer>> unfreeze(CommandCall call) {
  SLIPWAY_CO_TRY(name, freeze_name(call, "unfreeze"));
  auto removed = co_await client::remove(*call.client, kFreezes, {call.ns, name});
  if (!removed && removed.error().reason == Reason::NotFound) {
    SLIPWAY_CO_TRY(list, co_await client::list(*call.client, kFreezes, client::ListQuery{call.ns, {}, {}}));
    std::vector<std::string> known;
    for (const Value& one : list["items"].items()) known.emplace_back(kube::name(one));
    co_return fail(Reason::NotFound, fmt::format("freeze {} is not in namespace {}: {}", json::quoted(name), call.ns,
                                                 known.empty() ? "it has none" : "it has " + joined(known, ", ")));
  }
  if (!removed) co_return fail(std::move(removed).error());
  co_return CommandAnswer{.text = fmt::format("freeze/{}: over\n", name)};
}

}  // namespace

std::vector<Command> standstill_commands() {
  const CommandOption environments{.name = "environment", .help = "which; may be given several times", .is_repeated = true};
  const CommandOption until{.name = "until", .help = "when it ends, e.g. 2026-12-24T00:00:00Z"};
  const CommandOption length{.name = "for", .help = "how long, e.g. 2h30m"};
  const CommandOption comment{.name = "comment", .help = "why"};
  std::vector<Command> all = {
      changing_row("hold", "promote nothing into some environments", {environments, until, length, comment}, hold),
      changing_row("pause", "promote nothing into any environment", {until, length, comment}, pause),
      changing_row("resume", "end holds, of all environments or some", {environments}, resume),
      changing_row("freeze", "promote nothing for a time, or again and again",
                   {{.name = "pipeline",
                     .help = "only this one; may be given several times (default: all of the namespace)",
                     .is_repeated = true},
                    environments,
                    {.name = "cluster-label",
                     .help = "only environments with a target in a cluster with KEY=VALUE",
                     .is_repeated = true},
                    {.name = "from", .help = "when it begins"},
                    until,
                    length,
                    {.name = "rrule", .help = "when it comes again, e.g. FREQ=WEEKLY;BYDAY=FR;BYHOUR=15"},
                    {.name = "duration", .help = "with --rrule: how long each time, e.g. 57h"},
                    {.name = "time-zone", .help = "with --rrule: e.g. Europe/Berlin (default: UTC)"},
                    comment},
                   freeze),
      changing_row("unfreeze", "end a freeze", {}, unfreeze)};
  for (Command& one : all) {
    if (one.verb.ends_with("freeze")) one.words_help = "of the freeze";
  }
  return all;
}

}  // namespace slipway::delivery::pipeline
