// list, status, why.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/family/text.h"
#include "delivery/pipeline/choose.h"
#include "delivery/pipeline/commands.h"
#include "delivery/pipeline/explain.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/show.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

std::string printed(const Value& value) { return json::print_pretty(value) + "\n"; }

Value versions_json(const Scene& scene) {
  json::ObjectBuilder versions;
  for (const Environment& one : scene.spec.environments) {
    const EnvironmentStatus there = scene.status_of(one.name);
    versions.add(one.name, there.version ? Value(there.version->text) : Value());
  }
  return versions.build();
}

Value list_entry(const Scene& scene) {
  json::ObjectBuilder out;
  out.add("namespace", scene.ns()).add("name", scene.name());
  out.add("application", json::object({{"kind", scene.spec.app.kind}, {"name", scene.spec.app.name}}));
  out.add("versions", versions_json(scene));
  for (const PipelineCondition& one : scene.status.conditions) {
    if (one.type == "Ready") out.add("ready", one.status);
    if (one.type == "PromotionPending" && one.status == "True") out.add("pending", one.message);
  }
  return out.build();
}

Task<Result<CommandAnswer>> list(CommandCall call) {
  SLIPWAY_CO_TRY_VOID(check_option(call, "output", {"table", "json"}));
  const bool is_everywhere = has_flag(call, "all-namespaces");
  SLIPWAY_CO_TRY(found,
                 co_await client::list(*call.client, kPipelines, client::ListQuery{is_everywhere ? "" : call.ns, {}, {}}));
  std::vector<kube::Object> pipelines(found["items"].items().begin(), found["items"].items().end());
  std::ranges::sort(pipelines, {}, [](const kube::Object& one) { return kube::key_of(one); });
  const Time now = call.env.clock.now();
  if (option(call, "output") == "json") {
    json::ArrayBuilder all;
    for (const kube::Object& one : pipelines) all.add(list_entry(Scene::of(one, {}, now)));
    co_return CommandAnswer{.text = printed(all.build())};
  }
  if (pipelines.empty()) {
    co_return CommandAnswer{.notes = {is_everywhere ? std::string("there are no pipelines")
                                                    : fmt::format("namespace {} has no pipelines", call.ns)}};
  }
  co_return CommandAnswer{.text = list_table(pipelines, is_everywhere ? Namespaces::several : Namespaces::one, now)};
}

Value promotion_json(const Scene& scene, const ReadPromotion& one) {
  json::ObjectBuilder out;
  out.add("name", one.name()).add("environment", one.spec.environment).add("release", one.spec.release);
  out.add("version", scene.version_of(one.spec.release)).add("action", json::enum_name(one.spec.action));
  out.add("attempt", one.spec.attempt).add("phase", json::enum_name(one.status.phase));
  for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"reason", one.status.reason},
                                   {"message", one.status.text},
                                   {"commit", one.status.commit},
                                   {"pullRequest", one.status.pull_request}}) {
    if (!text.empty()) out.add(name, text);
  }
  if (one.spec.by) out.add("by", one.spec.by->user);
  return out.build();
}

template <class List, class Write>
Value each(const List& list, Write write) {
  json::ArrayBuilder out;
  for (const auto& one : list) out.add(write(one));
  return out.build();
}

Value scene_json(const Scene& scene) {
  const auto with_name = [](const auto& one) { return one.object["spec"].with("name", one.name()); };
  return json::object(
      {{"namespace", scene.ns()},
       {"name", scene.name()},
       {"status", scene.object["status"]},
       {"releases", each(scene.releases, with_name)},
       {"promotions", each(scene.promotions, [&](const ReadPromotion& one) { return promotion_json(scene, one); })},
       {"approvals", each(scene.approvals, with_name)},
       {"holds", each(scene.holds, with_name)},
       {"freezes", each(scene.freezes, with_name)}});
}

Task<Result<CommandAnswer>> status(CommandCall call) {
  SLIPWAY_CO_TRY_VOID(check_option(call, "output", {"table", "wide", "json"}));
  SLIPWAY_CO_TRY(scene, co_await read_seen_scene(call, "status"));
  const std::string form = option(call, "output");
  if (has_flag(call, "problems")) {
    if (form == "json") {
      co_return CommandAnswer{.text =
                                  printed(each(scene.status.problems, [](const Problem& one) { return json::encode(one); }))};
    }
    co_return CommandAnswer{.text = problem_table(scene.status)};
  }
  if (form == "json") co_return CommandAnswer{.text = printed(scene_json(scene))};
  if (form == "table") co_return CommandAnswer{.text = target_table(scene, Width::narrow)};
  if (form == "wide") co_return CommandAnswer{.text = target_table(scene, Width::wide)};
  co_return CommandAnswer{.text = overview(scene) + "\n" + target_table(scene, Width::narrow)};
}

bool tells_of(const std::vector<control::Explanation>& told, std::string_view name) {
  return std::ranges::any_of(told, [&](const control::Explanation& one) {
    return one.wait.next["name"].as_string() == name || tells_of(one.because, name);
  });
}

/// A Hold or Freeze that no promotion names: there may be none that waits for it yet.
template <class Spec>
void add_standstill(std::vector<control::Explanation>& told, const std::vector<control::ExplainRow>& rows, const Scene& scene,
                    const Read<Spec>& one, const std::string& environment, const char* reason) {
  if (tells_of(told, one.name())) return;
  control::Explanation made;
  made.wait = {.on = fmt::format("{}/{}, which covers {}", lower(kube::kind(one.object)), one.name(), environment),
               .reason = reason,
               .message = one.spec.comment,
               .since = one.created(),
               .next = kube::reference_to(one.object),
               .part = {}};
  made.because = control::explain(rows, one.object, "", scene);
  told.push_back(std::move(made));
}

Task<Result<CommandAnswer>> why(CommandCall call) {
  SLIPWAY_CO_TRY(scene, co_await read_seen_scene(call, "why"));
  const std::string only = option(call, "environment");
  if (!only.empty()) SLIPWAY_CO_TRY_VOID(environment_of(scene, only, "environment"));
  const std::vector<control::ExplainRow> rows = explain_rows();
  std::vector<control::Explanation> told = control::explain(rows, scene.object, only, scene);
  for (const Environment& environment : scene.spec.environments) {
    if (!only.empty() && environment.name != only) continue;
    for (const auto* one : scene.holds_on(environment.name)) add_standstill(told, rows, scene, *one, environment.name, "Held");
    for (const auto* one : scene.freezes_on(environment.name)) {
      add_standstill(told, rows, scene, *one, environment.name, one->spec.window ? "FrozenAtTimes" : "Frozen");
    }
  }
  const std::string text = control::print(told, call.env.clock.now());
  co_return CommandAnswer{
      .text = text.empty() ? fmt::format("pipeline/{} waits for nothing: {}\n", scene.name(), scene.status.line) : text};
}

}  // namespace

std::vector<Command> reading_commands() {
  using Input = Command::Input;
  constexpr auto kAlways = Command::Cluster::Always;
  const CommandOption output{.name = "output", .help = "table or json"};
  return {{.verb = "pipeline list",
           .help = "list pipelines with the version of each environment",
           .cluster = kAlways,
           .input = Input::None,
           .options = {{.name = "all-namespaces", .help = "of all namespaces", .is_flag = true}, output},
           .run = list},
          {.verb = "pipeline status",
           .help = "show what runs where, and how far promotions are",
           .cluster = kAlways,
           .input = Input::Words,
           .words_name = "NAME",
           .words_help = "pipeline",
           .options = {{.name = "output", .help = "table or wide (the targets alone), or json (all of it)"},
                       {.name = "problems", .help = "what is wrong around it and stops nothing", .is_flag = true}},
           .run = status},
          {.verb = "pipeline why",
           .help = "say why a version is not further, down to the root cause",
           .cluster = kAlways,
           .input = Input::Words,
           .words_name = "NAME",
           .words_help = "pipeline",
           .options = {{.name = "environment", .help = "only this one"}},
           .run = why}};
}

}  // namespace slipway::delivery::pipeline
