#include "delivery/rollout/actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/rollout/approvals.h"
#include "delivery/rollout/promotion.h"
#include "delivery/rollout/requests.h"
#include "delivery/rollout/show.h"
#include "delivery/rollout/watching.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

constexpr const char* kManager = "slipway-rollout-command";
constexpr int kMaxTries = 5;

/// A refusal names the object.
std::unexpected<Status> refused(const kube::Object& rollout, std::string_view why) {
  return fail(Reason::BadRequest, fmt::format("{}: {}", title(rollout), why));
}

CommandAnswer done(const kube::Object& rollout, std::string_view what, bool follows) {
  return {.text = fmt::format("{}: {}\n", title(rollout), what), .follows = follows};
}

std::string option(const ActionCall& call, const std::string& name) {
  const auto at = call.options.find(name);
  return at == call.options.end() ? "" : at->second;
}

Task<Result<Value>> patch(ActionCall call, Value body) {
  co_return co_await client::merge_patch(call.client, call.resource, call.key, body, kManager);
}

Task<Result<CommandAnswer>> set_paused(ActionCall call, bool is_paused) {
  SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
  if (read_status(rollout).position().is_end()) co_return refused(rollout, "it has ended");
  const Value body = json::object({{"spec", json::object({{"rolloutPlan", json::object({{"paused", is_paused}})}})}});
  SLIPWAY_CO_TRY(patched, co_await patch(call, body));
  co_return done(patched, is_paused ? "paused: nothing new is begun" : "goes on", !is_paused);
}

Task<Result<CommandAnswer>> pause(ActionCall call) { co_return co_await set_paused(std::move(call), true); }
Task<Result<CommandAnswer>> resume(ActionCall call) { co_return co_await set_paused(std::move(call), false); }

/// By a new id in the request's annotation.
Task<Result<CommandAnswer>> request(ActionCall call, std::string_view annotation, std::string what) {
  const Value body = json::object(
      {{"metadata", json::object({{"annotations", json::object({{std::string(annotation), name_suffix(call.env.random)}})}})}});
  SLIPWAY_CO_TRY(patched, co_await patch(call, body));
  co_return done(patched, what, true);
}

Task<Result<CommandAnswer>> abort(ActionCall call) {
  SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
  if (read_status(rollout).position().is_end()) co_return refused(rollout, "it has ended: there is nothing to abort");
  co_return co_await request(std::move(call), kAbortRequest, "is aborted; onFailure says what becomes of its pods");
}

Task<Result<CommandAnswer>> retry(ActionCall call) {
  SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
  if (read_status(rollout).rolling != wave::Rolling::Failed) co_return refused(rollout, "it has not failed");
  co_return co_await request(std::move(call), kRetryRequest, "a new attempt; pods that are new stay");
}

Task<Result<CommandAnswer>> revert(ActionCall call) {
  SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
  const wave::Rolling state = read_status(rollout).rolling;
  if (state == wave::Rolling::Succeeded) {
    co_return refused(rollout, "it has succeeded: to go back, give it the old version as its new target");
  }
  if (state == wave::Rolling::Failed) {
    co_return refused(rollout, "it has failed and is left as it stands: set revertOnDelete and delete it, or retry it");
  }
  co_return co_await request(std::move(call), kRevertRequest, "is reverted: the old pods come back");
}

/// An entry as the process itself would sign it; admission puts the authenticated user and the time of its own there.
Value approval(const ActionCall& call, std::int64_t attempt, const std::string& key, gate::Approval::Decision decision) {
  const gate::Approvable what = approvable(key, attempt);
  return json::encode(gate::Approval{.gate = what.gate,
                                     .attempt = what.attempt,
                                     .batch = what.batch,
                                     .decision = decision,
                                     .comment = option(call, "comment"),
                                     .user = std::string(kLocalUser),
                                     .groups = {},
                                     .at = std::chrono::floor<std::chrono::seconds>(call.env.clock.now())});
}

/// Which of the open gates are meant.
Result<std::vector<std::string>> gates_meant(const ActionCall& call, const kube::Object& rollout) {
  std::vector<std::string> open = open_approvals(rollout);
  if (const std::string name = option(call, "gate"); !name.empty()) {
    std::erase_if(open, [&](const std::string& key) { return key != name && !key.ends_with("/" + name); });
    if (open.empty()) return refused(rollout, fmt::format("no approval gate {} waits", name));
  }
  if (open.empty()) return refused(rollout, "no gate waits for an approval");
  return open;
}

/// Writes a yes or a no to gates. `gates` empty: those that wait and are meant.
Task<Result<kube::Object>> decide(ActionCall call, std::vector<std::string> gates, gate::Approval::Decision decision) {
  for (int tried = 1;; ++tried) {
    SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
    if (gates.empty()) {
      SLIPWAY_CO_TRY(meant, gates_meant(call, rollout));
      gates = meant;
    }
    const std::int64_t attempt = rollout["status"]["attempt"].as_int();
    json::ArrayBuilder entries;
    for (const Value& entry : rollout["status"]["approvals"].items()) entries.add(entry);
    for (const std::string& gate : gates) entries.add(approval(call, attempt, gate, decision));
    const kube::Object wanted = rollout.with_path({"status", "approvals"}, entries.build());
    auto written = co_await client::update_status(call.client, call.resource, wanted, kManager);
    if (!written && written.error().reason == Reason::Conflict && tried < kMaxTries) continue;
    co_return written;
  }
}

/// What was written, and as whom.
CommandAnswer decided(const kube::Object& rollout, std::string_view what) {
  const Value& entries = rollout["status"]["approvals"];
  const std::string user = entries.size() == 0 ? "" : entries.item(entries.size() - 1)["user"].str();
  CommandAnswer answer = done(rollout, fmt::format("{} as {}", what, user), true);
  if (user == kLocalUser) {
    answer.notes.push_back(
        "the approval bears no authenticated user: it counts only where this process is the cluster (--data-dir)");
  }
  return answer;
}

Task<Result<CommandAnswer>> approve(ActionCall call) {
  SLIPWAY_CO_TRY(written, co_await decide(std::move(call), {}, gate::Approval::Decision::Approve));
  co_return decided(written, "approved");
}

Task<Result<CommandAnswer>> reject(ActionCall call) {
  SLIPWAY_CO_TRY(written, co_await decide(std::move(call), {}, gate::Approval::Decision::Reject));
  co_return decided(written, "rejected");
}

/// Approvals first: without the right to approve nothing else is done.
Task<Result<CommandAnswer>> promote(ActionCall call) {
  SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
  const auto wanted = promotion(rollout, call.options);
  if (!wanted) co_return refused(rollout, wanted.error().message);
  if (!wanted->approvals.empty())
    SLIPWAY_CO_TRY_VOID(co_await decide(call, wanted->approvals, gate::Approval::Decision::Approve));
  if (wanted->skips_gates) SLIPWAY_CO_TRY_VOID(co_await request(call, kSkipGatesRequest, ""));
  if (!wanted->spec_patch.is_null()) SLIPWAY_CO_TRY_VOID(co_await patch(call, wanted->spec_patch));
  co_return done(rollout, wanted->text, true);
}

Task<Result<CommandAnswer>> tell_history(ActionCall call) {
  SLIPWAY_CO_TRY(rollout, co_await client::get(call.client, call.resource, call.key));
  co_return CommandAnswer{.text = history(rollout, call.env.clock.now())};
}

std::vector<CommandOption> decision_options() {
  return {{.name = "gate", .help = "only this gate (default: all that wait)"}, {.name = "comment", .help = "why"}};
}

std::vector<Action> changing_actions() {
  return {
      {.verb = "rollout pause", .help = "begin nothing new", .run = pause},
      {.verb = "rollout resume", .help = "end the pause", .run = resume},
      {.verb = "rollout approve",
       .help = "say yes to gates that wait for people",
       .options = decision_options(),
       .run = approve},
      {.verb = "rollout reject", .help = "say no to them: the rollout fails", .options = decision_options(), .run = reject},
      {.verb = "rollout promote",
       .help = "let the next batch run, or more of them",
       .options = {{.name = "to", .help = "up to this batch, from 0"},
                   {.name = "full", .help = "all batches; also approves what waits or will wait for people", .is_flag = true},
                   {.name = "skip-gates", .help = "with --full: metrics, webhooks and windows are not asked", .is_flag = true}},
       .run = promote},
      {.verb = "rollout abort", .help = "fail now, as onFailure says", .run = abort},
      {.verb = "rollout retry", .help = "a new attempt after a failure; pods that are new stay", .run = retry},
      {.verb = "rollout revert", .help = "fail now, and bring the old pods back whatever onFailure says", .run = revert}};
}

std::vector<Action> reading_actions() {
  return {{.verb = "rollout status",
           .help = "show how far a rollout is",
           .options = {{.name = "wait",
                        .help = "until its end (exit code 0 or 1) or until a person is needed (3)",
                        .is_flag = true},
                       {.name = "timeout", .help = "with --wait: give up after this long, e.g. 10m (exit code 3)"}},
           .run = show_status,
           .only_reads = true},
          {.verb = "rollout watch",
           .help = "tell what changes until it has ended or needs a person",
           .options = {{.name = "timeout", .help = "give up after this long, e.g. 10m (exit code 3)"}},
           .run = watch,
           .only_reads = true},
          {.verb = "rollout history", .help = "list its attempts and how they ended", .run = tell_history, .only_reads = true},
          {.verb = "rollout replay",
           .help = "decide its gates again from the log of what they were decided on",
           .run = tell_replay,
           .only_reads = true}};
}

}  // namespace

std::vector<Action> actions() {
  std::vector<Action> all = changing_actions();
  std::ranges::move(reading_actions(), std::back_inserter(all));
  return all;
}

}  // namespace slipway::delivery::rollout
