// list (also get), inbox, why.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/package/commands.h"
#include "delivery/package/kind.h"
#include "delivery/package/kinds.h"
#include "delivery/package/output.h"
#include "delivery/package/show.h"
#include "delivery/package/why.h"
#include "json/quoted.h"
#include "json/text.h"
#include "kube/table.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// Options that become field selectors, as Porch's client has them.
std::string field_selector(const CommandCall& call) {
  constexpr std::pair<const char*, const char*> kFields[] = {{"name", "spec.packageName"},
                                                             {"repository", "spec.repository"},
                                                             {"workspace", "spec.workspaceName"},
                                                             {"revision", "spec.revision"},
                                                             {"lifecycle", "spec.lifecycle"}};
  std::string made;
  for (const auto& [name, field] : kFields) {
    if (!option(call, name).empty()) made += fmt::format("{}{}={}", made.empty() ? "" : ",", field, option(call, name));
  }
  return made;
}

Result<void> check_selection(const CommandCall& call) {
  SLIPWAY_TRY_VOID(check_option(call, "lifecycle", {"Draft", "Proposed", "Published", "DeletionProposed"}));
  const std::string number = option(call, "revision");
  const std::string_view digits = std::string_view(number).substr(number.starts_with('-') ? 1 : 0);
  const bool is_number = !digits.empty() && std::ranges::all_of(digits, is_digit);
  if (number.empty() || is_number) return {};
  return fail(Reason::BadRequest,
              fmt::format("--revision {}: must be a number: 0 for drafts, from 1 for published ones, -1 for "
                          "what is on the branch",
                          json::quoted(number)));
}

Task<Result<std::vector<ShownRevision>>> listed(CommandCall call) {
  SLIPWAY_CO_TRY_VOID(check_selection(call));
  std::vector<ShownRevision> all;
  if (call.words.empty()) {
    const std::string ns = has_flag(call, "all-namespaces") ? "" : call.ns;
    co_return co_await fetch_revisions(*call.client, ns, field_selector(call), option(call, "selector"));
  }
  for (const std::string& word : call.words) {
    SLIPWAY_CO_TRY(one, co_await fetch_revision(*call.client, call.ns, plain_name(word)));
    all.push_back(std::move(one));
  }
  co_return all;
}

std::string names_text(const std::vector<kube::Object>& objects) {
  std::string text;
  for (const kube::Object& one : objects) text += fmt::format("{}/{}\n", kRevisions.group_resource(), kube::name(one));
  return text;
}

Task<Result<CommandAnswer>> list(CommandCall call) {
  SLIPWAY_CO_TRY_VOID(check_output(call, {"table", "wide", "json", "yaml", "name"}));
  const std::string form = option(call, "output");
  const bool is_one = call.words.size() == 1;
  const bool is_everywhere = has_flag(call, "all-namespaces");
  const Time now = call.env.clock.now();
  const std::string ns = call.ns;
  SLIPWAY_CO_TRY(revisions, co_await listed(call));
  std::vector<kube::Object> objects;
  objects.reserve(revisions.size());
  for (const ShownRevision& one : revisions) objects.push_back(one.object);
  if (const auto chosen = chosen_output(call, objects)) co_return CommandAnswer{.text = *chosen};
  if (form == "name") co_return CommandAnswer{.text = names_text(objects)};
  if (form == "json" || form == "yaml") {
    const Value whole =
        is_one
            ? objects.front()
            : json::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", json::array(std::span<const Value>(objects))}});
    co_return CommandAnswer{.text = form == "json" ? json::print_pretty(whole) + "\n" : json::print_yaml(whole)};
  }
  if (objects.empty()) {
    co_return CommandAnswer{
        .notes = {is_everywhere ? std::string("no revisions found") : fmt::format("no revisions found in namespace {}", ns)}};
  }
  kube::TableStyle style;
  style.is_wide = form == "wide";
  style.has_namespace = is_everywhere;
  kube::ResourceType type = revision_type();
  type.is_custom = true;  // names come first
  co_return CommandAnswer{.text = kube::print_table(kube::make_table(type, objects, now), style)};
}

Task<Result<CommandAnswer>> inbox(CommandCall call) {
  const std::string owner = option(call, "owner");
  const std::string ns = has_flag(call, "all-namespaces") ? "" : call.ns;
  SLIPWAY_CO_TRY(revisions, co_await fetch_revisions(*call.client, ns, "", option(call, "selector")));
  const std::string text = inbox_table(revisions, owner, call.env.clock.now());
  if (!text.empty()) co_return CommandAnswer{.text = text};
  co_return CommandAnswer{
      .notes = {owner.empty() ? std::string("nothing waits for anybody") : fmt::format("nothing waits for {}", owner)}};
}

Task<Result<CommandAnswer>> why(CommandCall call) {
  SLIPWAY_CO_TRY(words, words_of(call, 1, "pkg why REVISION"));
  SLIPWAY_CO_TRY(revision, co_await fetch_revision(*call.client, call.ns, plain_name(words[0])));
  SLIPWAY_CO_TRY(text, co_await why_revision(std::move(call), revision.object, ""));
  co_return CommandAnswer{.text = text};
}

}  // namespace

std::vector<Command> reading_commands() {
  const std::vector<CommandOption> options{
      {.name = "output", .help = "table, wide, json, yaml, name, custom-columns=NAME:.path,… or jsonpath=…"},
      {.name = "name", .help = "only revisions of this package"},
      {.name = "repository", .help = "only of this Repository"},
      {.name = "workspace", .help = "only of this workspace"},
      {.name = "revision", .help = "only with this number"},
      {.name = "lifecycle", .help = "only Draft, Proposed, Published or DeletionProposed"},
      {.name = "selector", .help = "-l: only with these labels"},
      {.name = "all-namespaces", .help = "of all namespaces", .is_flag = true}};
  const auto listing = [&](const char* verb, const char* help) {
    return looking({.verb = verb, .help = help, .words_name = "[REVISION]", .words_help = "only these", .options = options},
                   list);
  };
  return {listing("pkg list", "list revisions"), listing("pkg get", "list revisions, or show some"),
          looking({.verb = "pkg inbox",
                   .help = "list what revisions wait for, by who has to see to it",
                   .options = {{.name = "owner", .help = "only what waits for this person or group"},
                               {.name = "selector", .help = "-l: only revisions with these labels"},
                               {.name = "all-namespaces", .help = "of all namespaces", .is_flag = true}}},
                  inbox),
          looking({.verb = "pkg why",
                   .help = "say why a revision is not published: gate, condition, owner, object",
                   .words_name = "REVISION",
                   .words_help = "the revision"},
                  why)};
}

}  // namespace slipway::delivery::package
