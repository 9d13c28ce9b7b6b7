// condition set|list, gate add|remove, ready: what revisions wait for.
#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/commands.h"
#include "delivery/package/kind.h"
#include "delivery/package/readiness.h"
#include "delivery/package/show.h"
#include "json/quoted.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// TYPE=True, TYPE=False:Reason:message
Result<Condition> read_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  Condition made{.type = std::string(text.substr(0, equals))};
  std::string_view rest = equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  const auto status = enum_value<Truth>(rest.substr(0, rest.find(':')));
  if (made.type.empty() || !status) {
    return fail(
        Reason::BadRequest,
        fmt::format("{} is no condition: write TYPE=True, TYPE=False or TYPE=Unknown, with :REASON:MESSAGE behind it if "
                    "you like",
                    json::quoted(text)));
  }
  made.status = *status;
  rest = rest.contains(':') ? rest.substr(rest.find(':') + 1) : std::string_view();
  made.reason = rest.substr(0, rest.find(':'));
  if (rest.contains(':')) made.message = rest.substr(rest.find(':') + 1);
  return made;
}

/// The list with one that has the new one's `key` replaced, or with it at the end.
Value with_item(const Value& list, std::string_view key, const Value& item) {
  json::ArrayBuilder made;
  bool is_there = false;
  for (const Value& one : list.items()) {
    const bool is_same = one[key] == item[key];
    made.add(is_same ? item : one);
    is_there = is_there || is_same;
  }
  if (!is_there) made.add(item);
  return made.build();
}

Value without_item(const Value& list, std::string_view key, std::string_view value) {
  json::ArrayBuilder made;
  for (const Value& one : list.items()) {
    if (one[key].as_string() != value) made.add(one);
  }
  return made.build();
}

/// `revision` with these conditions said.
kube::Object with_conditions(const ShownRevision& revision, const std::vector<Condition>& said) {
  Value conditions = revision.object["status"]["conditions"];
  for (const Condition& one : said) {
    json::ObjectBuilder made;
    made.add("type", one.type).add("status", json::enum_name(one.status));
    made.add("reason", one.reason).add("message", one.message);
    if (!one.scope.empty()) {
      json::ArrayBuilder scope;
      for (const std::string& file : one.scope) scope.add(file);
      made.add("scope", scope.build());
    }
    conditions = with_item(conditions, "type", made.build());
  }
  return revision.object.with_path({"status", "conditions"}, conditions);
}

/// The revision that was named, or all unpublished ones that the selector takes.
Task<Result<std::vector<ShownRevision>>> judged(CommandCall call) {
  std::vector<ShownRevision> all;
  const std::string selector = option(call, "selector");
  if (selector.empty()) {
    SLIPWAY_CO_TRY(one, co_await fetch_revision(*call.client, call.ns, plain_name(call.words[1])));
    all.push_back(std::move(one));
    co_return all;
  }
  SLIPWAY_CO_TRY(found, co_await fetch_revisions(*call.client, call.ns, "", selector));
  std::ranges::copy_if(found, std::back_inserter(all), [](const ShownRevision& one) { return !is_published(one.lifecycle()); });
  co_return all;
}

Task<Result<CommandAnswer>> set_conditions(CommandCall call) {
  const std::size_t first = option(call, "selector").empty() ? 2 : 1;
  if (call.words.size() <= first) {
    co_return fail(Reason::BadRequest,
                   "usage: slipway pkg condition set REVISION TYPE=STATUS[:REASON[:MESSAGE]]…, or with -l SELECTOR in place of "
                   "the revision");
  }
  std::vector<Condition> said;
  for (std::size_t i = first; i < call.words.size(); ++i) {
    SLIPWAY_CO_TRY(condition, read_assignment(call.words[i]));
    if (is_computed(condition.type)) {
      co_return fail(Reason::BadRequest, fmt::format("{} is computed by Slipway and cannot be set", condition.type));
    }
    condition.scope = lines_of(call, "scope");
    said.push_back(std::move(condition));
  }
  SLIPWAY_CO_TRY(revisions, co_await judged(call));
  CommandAnswer answer;
  for (const ShownRevision& one : revisions) {
    SLIPWAY_CO_TRY(reply, co_await put_revision_object(*call.client, with_conditions(one, said)));
    SLIPWAY_CO_TRY(now, read_shown(reply.object));
    answer.text += fmt::format("{}: {} gates met\n", now.name(), now.status.ready);
    for (const std::string& warning : reply.warnings) answer.notes.push_back(fmt::format("{}: {}", now.name(), warning));
  }
  if (revisions.empty()) answer.notes.push_back("there is nothing to judge");
  co_return answer;
}

Task<Result<CommandAnswer>> list_conditions(CommandCall call) {
  if (call.words.size() != 2) co_return fail(Reason::BadRequest, "usage: slipway pkg condition list REVISION");
  SLIPWAY_CO_TRY(revision, co_await fetch_revision(*call.client, call.ns, plain_name(call.words[1])));
  co_return CommandAnswer{.text = condition_table(revision, call.env.clock.now())};
}

Task<Result<CommandAnswer>> condition(CommandCall call) {
  const std::string verb = call.words.empty() ? "" : call.words[0];
  if (verb == "set") co_return co_await set_conditions(std::move(call));
  if (verb == "list") co_return co_await list_conditions(std::move(call));
  co_return fail(Reason::BadRequest, "usage: slipway pkg condition set|list REVISION|FOLDER …");
}

Task<Result<CommandAnswer>> gate(CommandCall call) {
  const std::string verb = call.words.empty() ? "" : call.words[0];
  if ((verb != "add" && verb != "remove") || call.words.size() != 3) {
    co_return fail(Reason::BadRequest, "usage: slipway pkg gate add|remove REVISION|FOLDER TYPE");
  }
  const std::string& type = call.words[2];
  SLIPWAY_CO_TRY(revision, co_await fetch_revision(*call.client, call.ns, plain_name(call.words[1])));
  const Value& gates = revision.object["spec"]["readinessGates"];
  if (verb == "remove" && find(revision.spec.gates, type) == nullptr) {
    co_return fail(Reason::NotFound, fmt::format("{} has no gate {}", revision.name(), json::quoted(type)));
  }
  json::ObjectBuilder asked;
  asked.add("conditionType", type);
  if (!option(call, "owner").empty()) asked.add("owner", option(call, "owner"));
  SLIPWAY_CO_TRY_VOID(check_option(call, "at", {"propose", "approve"}));
  if (!option(call, "at").empty()) asked.add("at", option(call, "at"));
  const Value made =
      verb == "add" ? with_item(gates, "conditionType", asked.build()) : without_item(gates, "conditionType", type);
  SLIPWAY_CO_TRY(reply,
                 co_await put_revision_object(*call.client, revision.object.with_path({"spec", "readinessGates"}, made)));
  SLIPWAY_CO_TRY(now, read_shown(reply.object));
  CommandAnswer answer{.text = fmt::format("{}: {} gates met\n", now.name(), now.status.ready), .notes = reply.warnings};
  const ReadinessGate* left = find(now.spec.gates, type);
  if (verb == "remove" && left != nullptr) {
    answer.notes.push_back(fmt::format("the gate stays: it is also asked for by {}", fmt::join(left->sources, ", ")));
  }
  co_return answer;
}

Task<Result<CommandAnswer>> ready(CommandCall call) {
  SLIPWAY_CO_TRY(words, words_of(call, 1, "pkg ready REVISION|FOLDER"));
  SLIPWAY_CO_TRY(revision, co_await fetch_revision(*call.client, call.ns, plain_name(words[0])));
  const auto missing =
      unmet(gates_at(revision.spec.gates, revision.lifecycle()), revision.status.conditions, call.env.clock.now());
  const Condition* whole =
      find(revision.status.conditions, revision.lifecycle() == Lifecycle::Draft ? kReadyToPropose : kReadyToApprove);
  const bool is_unreadable = whole != nullptr && whole->reason == kKptfileUnreadable;
  if (missing.empty() && !is_unreadable) co_return CommandAnswer{.text = "ready\n"};
  CommandAnswer answer{.text = fmt::format("{}: not ready\n", revision.name()), .exit_code = 1};
  if (is_unreadable) answer.text += fmt::format("  {}\n", whole->message);
  for (const Unmet& one : missing) answer.text += fmt::format("  {}\n", one.text());
  co_return answer;
}

}  // namespace

std::vector<Command> verdict_commands() {
  return {changing({.verb = "pkg condition",
                    .help = "set conditions of a revision, or list them (or of a folder)",
                    .words_name = "VERB",
                    .words_help = "set REVISION TYPE=True…, TYPE=False:Reason:message; or list REVISION",
                    .options = {{.name = "selector", .help = "with set: all unpublished ones with these labels"},
                                {.name = "scope",
                                 .help = "pattern of the files that the condition depends on: changes of others leave it",
                                 .is_repeated = true}}},
                   condition),
          changing({.verb = "pkg gate",
                    .help = "add a gate to a revision, or take it back (or of a folder)",
                    .words_name = "VERB",
                    .words_help = "add REVISION TYPE; or remove REVISION TYPE",
                    .options = {{.name = "owner", .help = "the user or group that alone may set its condition True"},
                                {.name = "at", .help = "propose or approve: the step before which it is asked; absent: both"}}},
                   gate),
          looking({.verb = "pkg ready",
                   .help = "say whether all gates are met; exit code 1 and what is missing when not",
                   .words_name = "REVISION",
                   .words_help = "revision, or folder"},
                  ready)};
}

}  // namespace slipway::delivery::package
