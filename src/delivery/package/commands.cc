#include "delivery/package/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/package/kind.h"
#include "json/quoted.h"

namespace slipway::delivery::package {

using json::Value;

std::vector<Command> commands() {
  std::vector<Command> all;
  for (auto& part : {create_commands(), content_commands(), lifecycle_commands(), reading_commands(), verdict_commands(),
                     repository_commands()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Lifecycle ShownRevision::lifecycle() const { return enum_value<Lifecycle>(spec.lifecycle).value_or(Lifecycle::Draft); }

Result<ShownRevision> read_shown(const kube::Object& object) {
  ShownRevision made{.object = object};
  SLIPWAY_TRY(spec, json::decode<RevisionSpec>(object["spec"], "spec", {.allow_unknown = true}));
  SLIPWAY_TRY(status, json::decode<RevisionStatus>(object["status"], "status", {.allow_unknown = true}));
  made.spec = std::move(spec);
  made.status = std::move(status);
  return made;
}

std::string option(const CommandCall& call, const std::string& name) {
  const auto at = call.options.find(name);
  return at == call.options.end() ? "" : at->second;
}

bool has_flag(const CommandCall& call, const std::string& name) { return call.options.contains(name); }

std::vector<std::string> lines_of(const CommandCall& call, const std::string& name) {
  std::vector<std::string> all;
  for (const std::string_view line : split(option(call, name), '\n')) {
    if (!trimmed(line).empty()) all.emplace_back(trimmed(line));
  }
  return all;
}

Result<void> check_option(const CommandCall& call, const std::string& name, const std::vector<std::string>& allowed) {
  const std::string given = option(call, name);
  if (given.empty() || std::ranges::find(allowed, given) != allowed.end()) return {};
  return fail(Reason::BadRequest, fmt::format("--{} {}: must be {}", name, json::quoted(given), joined(allowed, " or ")));
}

std::string plain_name(std::string_view word) {
  const std::size_t slash = word.find('/');
  const std::string kind = lower(word.substr(0, slash));
  const bool is_named = slash != std::string_view::npos && (kind == lower(kRevisionKind.kind) || kind == kRevisions.plural);
  return std::string(is_named ? word.substr(slash + 1) : word);
}

Result<std::vector<std::string>> words_of(const CommandCall& call, std::size_t count, std::string_view form) {
  if (call.words.size() == count && std::ranges::find(call.words, "") == call.words.end()) return call.words;
  return fail(Reason::BadRequest, fmt::format("usage: slipway {}", form));
}

Task<Result<ShownRevision>> fetch_revision(client::Client& client, std::string ns, std::string name) {
  SLIPWAY_CO_TRY(object, co_await client::get(client, kRevisions, kube::ObjectKey{ns, name}));
  co_return read_shown(object);
}

Task<Result<std::vector<ShownRevision>>> fetch_revisions(client::Client& client, std::string ns, std::string fields,
                                                         std::string labels) {
  client::ListQuery query;
  query.ns = ns;
  query.field_selector = fields;
  query.label_selector = labels;
  SLIPWAY_CO_TRY(list, co_await client::list(client, kRevisions, query));
  std::vector<ShownRevision> all;
  for (const Value& item : list["items"].items()) {
    SLIPWAY_CO_TRY(one, read_shown(item.with("apiVersion", kRevisionKind.api_version()).with("kind", kRevisionKind.kind)));
    all.push_back(std::move(one));
  }
  std::ranges::sort(all, {}, [](const ShownRevision& one) { return kube::key_of(one.object); });
  co_return all;
}

Task<Result<ShownFiles>> fetch_files(client::Client& client, std::string ns, std::string name) {
  client::Request request;
  request.verb = client::Verb::Get;
  request.resource = kResources;
  request.ns = std::move(ns);
  request.name = std::move(name);
  SLIPWAY_CO_TRY(reply, co_await client.call(std::move(request)));
  ShownFiles made{.object = reply.object, .files = {}, .warnings = reply.warnings};
  for (const auto& [path, text] : made.object["spec"]["resources"].members()) made.files[std::string(path)] = text.str();
  co_return made;
}

Task<Result<client::Reply>> put_revision_object(client::Client& client, kube::Object object, std::string subresource) {
  client::Request request;
  request.verb = client::Verb::Update;
  request.resource = kRevisions;
  request.ns = kube::ns(object);
  request.name = kube::name(object);
  request.subresource = std::move(subresource);
  request.body = std::move(object);
  request.field_manager = kCommandManager;
  co_return co_await client.call(std::move(request));
}

namespace {

Command row(CommandForm form, CommandRun run) {
  const bool has_words = !form.words_name.empty();
  return {.verb = std::move(form.verb),
          .help = std::move(form.help),
          .cluster = Command::Cluster::Always,
          .input = has_words ? Command::Input::Words : Command::Input::None,
          .words_name = std::move(form.words_name),
          .words_help = std::move(form.words_help),
          .options = std::move(form.options),
          .run = std::move(run)};
}

}  // namespace

Command looking(CommandForm form, CommandRun run) { return row(std::move(form), std::move(run)); }

Command changing(CommandForm form, CommandRun run) {
  Command made = row(std::move(form), std::move(run));
  made.only_reads = false;
  return made;
}

}  // namespace slipway::delivery::package
