// promote, rollback, approve, reject, lift.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/pipeline/choose.h"
#include "delivery/pipeline/commands.h"
#include "delivery/pipeline/kind.h"
#include "json/quoted.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

std::vector<std::string> author_notes(const Value& made) {
  if (made["spec"]["by"]["user"].as_string() != kLocalUser) return {};
  return {
      "it bears no authenticated user: rules that ask who said it count it only where this process is the cluster "
      "(--data-dir)"};
}

Wish wish_of(const CommandCall& call, const char* environment) {
  return {.environment = option(call, environment), .release = option(call, "release"), .version = option(call, "version")};
}

Task<Result<CommandAnswer>> make_promotion(CommandCall call, Scene scene, PromotionPlan plan) {
  plan.spec.comment = option(call, "comment");
  plan.spec.by = local_author(call);
  const Value wanted = object_of(kPromotionKind, call.ns, plan.name, json::encode(plan.spec));
  SLIPWAY_CO_TRY(made, co_await client::create(*call.client, kPromotions, wanted, kManager));
  const bool is_rollback = plan.spec.action == PromotionAction::Rollback;
  co_return CommandAnswer{
      .text = fmt::format("promotion/{}: {} {} {}{}\n", plan.name, plan.version,
                          is_rollback ? "goes back into" : "is to get into", plan.spec.environment, as_text(made)),
      .notes = plan.notes};
}

Task<Result<CommandAnswer>> promote(CommandCall call) {
  SLIPWAY_CO_TRY(scene, co_await read_scene(call, "promote"));
  const Gates gates = has_flag(call, "skip-gates") ? Gates::skipped : Gates::asked;
  SLIPWAY_CO_TRY(plan, plan_promotion(scene, wish_of(call, "to"), gates));
  if (!plan.is_there) co_return co_await make_promotion(std::move(call), std::move(scene), std::move(plan));
  const Value patch = json::object({{"spec", json::object({{"skipGates", true}})}});
  SLIPWAY_CO_TRY_VOID(co_await client::merge_patch(*call.client, kPromotions, {call.ns, plan.name}, patch, kManager));
  co_return CommandAnswer{.text = fmt::format("promotion/{}: its gates are not asked any more\n", plan.name),
                          .notes = plan.notes};
}

Task<Result<CommandAnswer>> roll_back(CommandCall call) {
  SLIPWAY_CO_TRY(scene, co_await read_scene(call, "rollback"));
  SLIPWAY_CO_TRY(plan, plan_rollback(scene, wish_of(call, "environment")));
  co_return co_await make_promotion(std::move(call), std::move(scene), std::move(plan));
}

Task<Result<CommandAnswer>> say(CommandCall call, Scene scene, ApprovalSpec spec) {
  spec.comment = option(call, "comment");
  spec.by = local_author(call);
  const std::string name =
      object_name(fmt::format("{}-{}-{}", spec.pipeline, spec.environment, spec.decision), name_suffix(call.env.random));
  SLIPWAY_CO_TRY(made, co_await client::create(*call.client, kApprovals,
                                               object_of(kApprovalKind, call.ns, name, json::encode(spec)), kManager));
  const char* const done = spec.decision == "approve"  ? "approved for"
                           : spec.decision == "reject" ? "rejected for"
                                                       : "lifted in";
  co_return CommandAnswer{.text = fmt::format("approval/{}: {} {} {}{}\n", name, scene.version_of(spec.release), done,
                                              spec.environment, as_text(made)),
                          .notes = author_notes(made)};
}

/// promotion/NAME stands for its pipeline, environment and release.
Task<Result<CommandCall>> with_promotion_named(CommandCall call) {
  const std::string prefix = lower(kPromotionKind.kind) + "/";
  if (call.words.size() != 1 || !call.words.front().starts_with(prefix)) co_return call;
  const std::string name = call.words.front().substr(prefix.size());
  SLIPWAY_CO_TRY(found, co_await client::get(*call.client, kPromotions, {call.ns, name}));
  call.words = {found["spec"]["pipeline"].str()};
  call.options["environment"] = found["spec"]["environment"].str();
  call.options["release"] = found["spec"]["release"].str();
  co_return call;
}

Task<Result<CommandAnswer>> decide(CommandCall given, std::string decision) {
  SLIPWAY_CO_TRY(call, co_await with_promotion_named(std::move(given)));
  SLIPWAY_CO_TRY(scene, co_await read_scene(call, decision));
  SLIPWAY_CO_TRY(spec, plan_approval(scene, wish_of(call, "environment"), option(call, "gate")));
  spec.decision = decision;
  co_return co_await say(std::move(call), std::move(scene), std::move(spec));
}
Task<Result<CommandAnswer>> approve(CommandCall call) { co_return co_await decide(std::move(call), "approve"); }
Task<Result<CommandAnswer>> reject(CommandCall call) { co_return co_await decide(std::move(call), "reject"); }

Task<Result<CommandAnswer>> lift(CommandCall given) {
  SLIPWAY_CO_TRY(call, co_await with_promotion_named(std::move(given)));
  SLIPWAY_CO_TRY(scene, co_await read_scene(call, "lift"));
  SLIPWAY_CO_TRY(spec, plan_lift(scene, wish_of(call, "environment")));
  co_return co_await say(std::move(call), std::move(scene), std::move(spec));
}

}  // namespace

std::vector<Command> changing_commands() {
  const CommandOption environment{.name = "environment", .help = "which environment"};
  const CommandOption release{.name = "release", .help = "name of the Release"};
  const CommandOption version{.name = "version", .help = "its version"};
  const CommandOption gate{.name = "gate", .help = "only this approval gate (default: all of the environment)"};
  const CommandOption comment{.name = "comment", .help = "why"};
  return {
      changing_row("promote", "let a release get into an environment (default: what comes before has settled at)",
                   {{.name = "to", .help = "environment"},
                    release,
                    version,
                    {.name = "skip-gates", .help = "do not ask its gates; approvals, holds and freezes count", .is_flag = true},
                    comment},
                   promote),
      changing_row("rollback", "bring back the release that ran before", {environment, release, version, comment}, roll_back),
      changing_row("approve", "say yes to what waits for people; NAME may be promotion/NAME",
                   {environment, release, version, gate, comment}, approve),
      changing_row("reject", "say no: the release does not get in until that is lifted",
                   {environment, release, version, gate, comment}, reject),
      changing_row("lift", "let a release be tried again that was rejected", {environment, release, version, comment}, lift)};
}

}  // namespace slipway::delivery::pipeline
