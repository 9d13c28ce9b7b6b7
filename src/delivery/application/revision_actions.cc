#include "delivery/application/revision_actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"
#include "delivery/application/revision.h"
#include "delivery/application/text_diff.h"
#include "delivery/family/text.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

/// The spec of the application inside a revision.
Value spec_of(const Value& revision) { return revision_content(revision)["application"]["spec"]; }

/// Oldest first.
Task<Result<std::vector<Value>>> revisions_of(ActionCall call) {
  client::ListQuery query;
  query.ns = call.key.ns;
  query.label_selector = fmt::format("{}={}", kLabelName, call.key.name);
  SLIPWAY_CO_TRY(list, co_await client::list(call.client, kRevisions, query));
  std::vector<Value> all(list["items"].items().begin(), list["items"].items().end());
  std::ranges::sort(all, {}, number_of_revision);
  co_return all;
}

std::string current_of(const kube::Object& application) { return application["status"]["latestRevision"]["name"].str(); }

/// The revision that people call `wanted`: its name, `v2` or `2`.
Result<Value> find_revision(const std::vector<Value>& all, const std::string& application, const std::string& wanted) {
  for (const Value& revision : all) {
    const std::string number = std::to_string(number_of_revision(revision));
    if (kube::name(revision) == wanted || wanted == number || wanted == "v" + number) return revision;
  }
  std::string names;
  for (const Value& revision : all) names += (names.empty() ? "" : ", ") + std::string(kube::name(revision));
  return fail(Reason::NotFound,
              fmt::format("application/{} has no revision {}; it has {}", application, wanted, names.empty() ? "none" : names));
}

/// "delivered", "not delivered", or "-" where nothing is recorded.
std::string outcome_of(const Value& revision) {
  const Value& succeeded = revision["status"]["succeeded"];
  return succeeded.is_null() ? "-" : succeeded.as_bool() ? "delivered" : "not delivered";
}

Task<Result<CommandAnswer>> list_revisions(ActionCall call) {
  SLIPWAY_CO_TRY(application, co_await client::get(call.client, call.resource, call.key));
  SLIPWAY_CO_TRY(all, co_await revisions_of(call));
  const auto form = call.options.find("output");
  if (form != call.options.end() && form->second != "table") {
    const Value list =
        json::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", json::array(std::span<const Value>(all))}});
    co_return CommandAnswer{.text = form->second == "json" ? json::print_pretty(list) + "\n" : json::print_yaml(list)};
  }
  std::vector<std::vector<std::string>> rows = {{"REVISION", "HASH", "PUBLISHVERSION", "OUTCOME", "AGE", ""}};
  for (const Value& revision : all) {
    const std::string_view version = kube::annotation(revision, kPublishVersion);
    rows.push_back({std::string(kube::name(revision)), std::string(kube::label(revision, "app.oam.dev/app-revision-hash")),
                    version.empty() ? "-" : std::string(version), outcome_of(revision),
                    age(kube::creation_time(revision), call.env.clock.now()),
                    kube::name(revision) == current_of(application) ? "current" : ""});
  }
  CommandAnswer answer;
  if (all.empty()) answer.notes.push_back(fmt::format("application/{} has no revisions yet", call.key.name));
  if (!all.empty()) answer.text = aligned(rows);
  co_return answer;
}

/// As people read it.
std::string spec_text(const Value& revision) { return json::print_yaml(spec_of(revision)); }

/// Without options the one before the current against the current.
Task<Result<CommandAnswer>> diff_revisions(ActionCall call) {
  SLIPWAY_CO_TRY(application, co_await client::get(call.client, call.resource, call.key));
  SLIPWAY_CO_TRY(all, co_await revisions_of(call));
  const auto option = [&](const char* name) {
    const auto at = call.options.find(name);
    return at == call.options.end() ? "" : at->second;
  };
  const std::string to = option("to").empty() ? current_of(application) : option("to");
  if (to.empty()) co_return fail(Reason::BadRequest, fmt::format("application/{} has no revisions yet", call.key.name));
  SLIPWAY_CO_TRY(later, find_revision(all, call.key.name, to));
  std::string from = option("from");
  if (from.empty()) {
    for (const Value& one : all) {
      if (number_of_revision(one) < number_of_revision(later)) from = std::string(kube::name(one));
    }
  }
  if (from.empty()) {
    co_return fail(Reason::BadRequest, fmt::format("{} is the first revision: there is none to compare it with", to));
  }
  SLIPWAY_CO_TRY(earlier, find_revision(all, call.key.name, from));
  const std::string text =
      text_diff(std::string(kube::name(earlier)), spec_text(earlier), std::string(kube::name(later)), spec_text(later));
  CommandAnswer answer{.text = text};
  if (text.empty()) answer.notes.push_back(fmt::format("{} and {} have the same spec", kube::name(earlier), kube::name(later)));
  co_return answer;
}

Result<Value> choose(const std::vector<Value>& all, const kube::Object& application, const std::string& wanted) {
  const std::string name(kube::name(application));
  const std::string current = current_of(application);
  if (!wanted.empty()) {
    SLIPWAY_TRY(revision, find_revision(all, name, wanted));
    if (kube::name(revision) == current && spec_of(revision) == application["spec"]) {
      return fail(Reason::BadRequest, fmt::format("application/{}: {} is what it has now", name, current));
    }
    return revision;
  }
  for (const Value& revision : std::vector<Value>(all.rbegin(), all.rend())) {
    const bool is_earlier = kube::name(revision) != current && spec_of(revision) != application["spec"];
    if (is_earlier && revision["status"]["succeeded"].as_bool()) return revision;
  }
  return fail(Reason::BadRequest,
              fmt::format("application/{} has no earlier revision that was delivered; `slipway revision list app/{}` shows "
                          "what there is, `slipway revision rollback app/{} --revision NAME` takes any",
                          name, name, name));
}

}  // namespace

Task<Result<CommandAnswer>> roll_back(ActionCall call) {
  SLIPWAY_CO_TRY(application, co_await client::get(call.client, call.resource, call.key));
  const Value& workflow = application["status"]["workflow"];
  if (workflow.is_object() && !workflow["finished"].as_bool() && !workflow["terminated"].as_bool() &&
      !workflow["suspend"].as_bool()) {
    co_return fail(Reason::BadRequest, fmt::format("application/{}: its workflow is running: suspend or terminate it first "
                                                   "(slipway workflow suspend app/{})",
                                                   call.key.name, call.key.name));
  }
  SLIPWAY_CO_TRY(all, co_await revisions_of(call));
  const auto wanted = call.options.find("revision");
  SLIPWAY_CO_TRY(revision, choose(all, application, wanted == call.options.end() ? "" : wanted->second));
  kube::Object restored = application.with("spec", spec_of(revision));
  const std::string_view version = kube::annotation(revision, kPublishVersion);
  if (!version.empty()) {
    restored = restored.with_path({"metadata", "annotations", kPublishVersion}, Value(version));
  } else if (!kube::annotation(restored, kPublishVersion).empty()) {
    restored = restored.without_path({"metadata", "annotations", kPublishVersion});
  }
  SLIPWAY_CO_TRY_VOID(co_await client::update(call.client, call.resource, restored, kManager));
  co_return CommandAnswer{.text = fmt::format("application/{}: spec of {} is back\n", call.key.name, kube::name(revision)),
                          .follows = true};
}

std::vector<Action> revision_actions() {
  std::vector<Action> actions = {
      {.verb = "revision list",
       .help = "list the revisions of an application",
       .options = {{.name = "output", .help = "table, json or yaml"}},
       .run = list_revisions,
       .only_reads = true},
      {.verb = "revision diff",
       .help = "compare the specs of two revisions of an application",
       .options = {{.name = "from", .help = "the earlier one (default: that before --to)"},
                   {.name = "to", .help = "the later one (default: the current)"}},
       .run = diff_revisions,
       .only_reads = true},
      {.verb = "revision rollback",
       .help = "bring back the spec of an earlier revision",
       .options = {{.name = "revision", .help = "NAME, v2 or 2 (default: the last one before that was delivered)"}},
       .run = roll_back}};
  for (Action& action : actions) action.takes_bare_name = true;
  return actions;
}

}  // namespace slipway::delivery::application
