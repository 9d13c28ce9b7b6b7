// init, clone, copy, upgrade: a POST with one task.
#include <fmt/format.h>

#include <algorithm>

#include "base/count.h"
#include "base/text.h"
#include "delivery/family/text.h"
#include "delivery/package/cluster_sync.h"
#include "delivery/package/commands.h"
#include "delivery/package/kind.h"
#include "json/quoted.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

const CommandOption kRepositoryOption{.name = "repository", .help = "Repository of the new revision"};
const CommandOption kWorkspaceOption{.name = "workspace",
                                     .help = "tells the new revision apart from the others of its package"};
const CommandOption kStrategyOption{.name = "strategy",
                                    .help = "resource-merge, fast-forward, force-delete-replace or copy-merge"};

Result<std::string> required_option(const CommandCall& call, const std::string& name) {
  std::string given = option(call, name);
  if (!given.empty()) return given;
  return fail(Reason::BadRequest, fmt::format("--{} is required", name));
}

Result<MergeStrategy> strategy_option(const CommandCall& call) {
  const std::string given = option(call, "strategy");
  const auto known = enum_value<MergeStrategy>(given);
  if (known) return *known;
  return fail(Reason::BadRequest, fmt::format("--strategy {}: must be {}", json::quoted(given), kStrategyOption.help));
}

/// The answer has what the server warns of: conflicts of an upgrade, a rendering that failed.
Task<Result<CommandAnswer>> create_revision_object(CommandCall call, RevisionSpec spec) {
  spec.lifecycle = json::enum_name(Lifecycle::Draft);
  const Value object = json::object({{"apiVersion", Value(kRevisionKind.api_version())},
                                     {"kind", Value(kRevisionKind.kind)},
                                     {"metadata", json::object({{"namespace", Value(call.ns)}})},
                                     {"spec", json::encode(spec)}});
  client::Request request;
  request.verb = client::Verb::Create;
  request.resource = kRevisions;
  request.ns = call.ns;
  request.body = object;
  request.field_manager = kCommandManager;
  SLIPWAY_CO_TRY(made, co_await call.client->call(std::move(request)));
  co_return CommandAnswer{.text = std::string(kube::name(made.object)), .notes = made.warnings};
}

Task<Result<CommandAnswer>> answer_created(CommandCall call, RevisionSpec spec) {
  SLIPWAY_CO_TRY(made, co_await create_revision_object(std::move(call), std::move(spec)));
  made.text += " created\n";
  co_return std::move(made);
}

Task<Result<CommandAnswer>> init(CommandCall call) {
  SLIPWAY_CO_TRY(words, words_of(call, 1, "pkg init PACKAGE --repository REPOSITORY --workspace WORKSPACE"));
  SLIPWAY_CO_TRY(repository, required_option(call, "repository"));
  SLIPWAY_CO_TRY(workspace, required_option(call, "workspace"));
  const std::string description = option(call, "description");
  InitTask task{.description = description.empty() ? "sample description" : description, .site = option(call, "site")};
  for (const std::string& line : lines_of(call, "keywords")) {
    for (const std::string_view word : split(line, ',')) task.keywords.emplace_back(trimmed(word));
  }
  RevisionSpec spec{.package_name = words[0], .repository = repository, .workspace = workspace};
  spec.tasks = {RevisionTask{.type = TaskType::Init, .init = std::move(task)}};
  co_return co_await answer_created(std::move(call), std::move(spec));
}

/// ADDRESS.git/FOLDER@REF, as kpt has it; what the options say comes first.
Result<UpstreamSource> foreign_source(const CommandCall& call, std::string_view word) {
  if (word.starts_with("oci://")) {
    return fail(Reason::NotImplemented, "packages in image registries are not implemented: clone from a Git repository");
  }
  GitSource git{.ref = option(call, "ref"), .directory = option(call, "directory")};
  const std::size_t suffix = word.find(".git");
  const std::size_t end = suffix == std::string_view::npos ? word.rfind('@') : suffix + 4;
  git.repo = word.substr(0, std::min(end, word.size()));
  const std::string_view rest = word.substr(std::min(end, word.size()));
  const std::size_t at = rest.rfind('@');
  if (git.directory.empty()) git.directory = rest.substr(0, std::min(at, rest.size()));
  if (git.ref.empty() && at != std::string_view::npos) git.ref = rest.substr(at + 1);
  if (git.directory.empty()) git.directory = "/";
  if (git.ref.empty()) git.ref = "main";
  if (!option(call, "secret-ref").empty()) git.secret = NameRef{option(call, "secret-ref")};
  return UpstreamSource{.type = SourceType::Git, .git = std::move(git)};
}

bool is_address(std::string_view word) { return word.contains("://") || word.contains(".git") || word.starts_with("git@"); }

Task<Result<CommandAnswer>> clone(CommandCall call) {
  SLIPWAY_CO_TRY(words, words_of(call, 2, "pkg clone REVISION|ADDRESS PACKAGE --repository REPOSITORY --workspace WORKSPACE"));
  SLIPWAY_CO_TRY(repository, required_option(call, "repository"));
  SLIPWAY_CO_TRY(workspace, required_option(call, "workspace"));
  CloneTask task;
  SLIPWAY_CO_TRY(strategy, strategy_option(call));
  task.strategy = strategy;
  if (is_address(words[0])) {
    SLIPWAY_CO_TRY(source, foreign_source(call, words[0]));
    task.upstream = std::move(source);
  } else {
    task.upstream.revision = NameRef{plain_name(words[0])};
  }
  RevisionSpec spec{.package_name = words[1], .repository = repository, .workspace = workspace};
  spec.tasks = {RevisionTask{.type = TaskType::Clone, .clone = std::move(task)}};
  co_return co_await answer_created(std::move(call), std::move(spec));
}

Task<Result<CommandAnswer>> copy(CommandCall call) {
  SLIPWAY_CO_TRY(words, words_of(call, 1, "pkg copy REVISION --workspace WORKSPACE"));
  SLIPWAY_CO_TRY(workspace, required_option(call, "workspace"));
  SLIPWAY_CO_TRY(source, co_await fetch_revision(*call.client, call.ns, plain_name(words[0])));
  RevisionSpec spec{.package_name = source.spec.package_name, .repository = source.spec.repository, .workspace = workspace};
  spec.tasks = {RevisionTask{.type = TaskType::Edit, .edit = EditTask{.source = NameRef{source.name()}}}};
  co_return co_await answer_created(std::move(call), std::move(spec));
}

/// The newest published revision of the package of `old`, or number `wanted`.
Result<ShownRevision> newer_than(const std::vector<ShownRevision>& all, const ShownRevision& old, std::int64_t wanted) {
  const ShownRevision* found = nullptr;
  for (const ShownRevision& one : all) {
    if (one.package() != old.package() || !is_published(one.lifecycle()) || one.spec.revision <= 0) continue;
    if (wanted != 0 ? one.spec.revision == wanted : found == nullptr || one.spec.revision > found->spec.revision) found = &one;
  }
  if (found != nullptr) return *found;
  return fail(Reason::NotFound, fmt::format("package {} has no published revision{}", old.package().object_name(),
                                            wanted == 0 ? "" : fmt::format(" {}", wanted)));
}

Result<std::int64_t> number_option(const CommandCall& call, const std::string& name) {
  const std::string text = option(call, name);
  if (text.empty()) return 0;
  if (const auto number = parse_count(text); number && *number > 0) return *number;
  return fail(Reason::BadRequest, fmt::format("--{} {}: must be the number of a revision", name, json::quoted(text)));
}

/// The revision whose content stands where the lock says; null when none is served here.
const ShownRevision* found_by_lock(const std::vector<ShownRevision>& all, const std::optional<Locator>& lock) {
  if (!lock || !lock->git) return nullptr;
  const auto at = std::ranges::find_if(all, [&](const ShownRevision& one) {
    if (!is_published(one.lifecycle()) || !one.status.self_lock || !one.status.self_lock->git) return false;
    const GitLock& own = *one.status.self_lock->git;
    return plain_url(own.repo) == plain_url(lock->git->repo) && plain_path(own.directory) == plain_path(lock->git->directory) &&
           (own.commit == lock->git->commit || own.ref == lock->git->ref);
  });
  return at == all.end() ? nullptr : &*at;
}

/// The revision that this one came from, or was last upgraded to, by what is known of all: by its tasks, or, of one that was
/// read from Git, by its upstreamLock. Null when none is served here.
const ShownRevision* upstream_in(const std::vector<ShownRevision>& all, const ShownRevision& local) {
  const auto named = [&](const std::string& name) {
    const auto at = std::ranges::find(all, name, &ShownRevision::name);
    return at == all.end() ? nullptr : &*at;
  };
  const ShownRevision* here = &local;
  for (std::size_t hops = 0; here != nullptr && hops < all.size(); ++hops) {
    const RevisionTask task = here->spec.tasks.empty() ? RevisionTask{} : here->spec.tasks.front();
    std::string name;
    if (task.upgrade) name = task.upgrade->new_upstream.name;
    if (task.clone && task.clone->upstream.revision) name = task.clone->upstream.revision->name;
    if (const ShownRevision* upstream = named(name)) return upstream;
    here = task.edit && task.edit->source ? named(task.edit->source->name) : nullptr;
  }
  return found_by_lock(all, local.status.upstream_lock);
}

std::vector<const ShownRevision*> newer_ones(const std::vector<ShownRevision>& all, const ShownRevision& old) {
  std::vector<const ShownRevision*> newer;
  for (const ShownRevision& one : all) {
    const bool is_newer = one.package() == old.package() && is_published(one.lifecycle()) &&
                          one.spec.revision > std::max<std::int64_t>(old.spec.revision, 0);
    if (is_newer) newer.push_back(&one);
  }
  std::ranges::sort(newer, {}, [](const ShownRevision* one) { return one->spec.revision; });
  return newer;
}

/// Which published revisions could be upgraded, and to what; from the side of the copies or from that of their upstreams.
Task<Result<CommandAnswer>> discover(CommandCall call) {
  SLIPWAY_CO_TRY_VOID(check_option(call, "discover", {"upstream", "downstream"}));
  SLIPWAY_CO_TRY(all, co_await fetch_revisions(*call.client, call.ns, "", ""));
  const bool is_upwards = option(call, "discover") == "upstream";
  std::vector<std::vector<std::string>> rows{{"PACKAGE REVISION", "UPSTREAM REPOSITORY", "UPSTREAM UPDATES"}};
  if (!is_upwards) rows = {{"PACKAGE REVISION", "DOWNSTREAM PACKAGE", "DOWNSTREAM UPDATE"}};
  for (const ShownRevision& local : all) {
    const bool is_asked = call.words.empty() || std::ranges::find(call.words, local.name()) != call.words.end();
    if (!is_published(local.lifecycle()) || local.spec.revision <= 0 || (is_upwards && !is_asked)) continue;
    const ShownRevision* old = upstream_in(all, local);
    const auto newer = old == nullptr ? std::vector<const ShownRevision*>{} : newer_ones(all, *old);
    std::vector<std::string> versions;
    versions.reserve(newer.size());
    for (const ShownRevision* one : newer) versions.push_back(fmt::format("v{}", one->spec.revision));
    if (is_upwards) {
      rows.push_back({local.name(), newer.empty() ? "-" : old->spec.repository,
                      newer.empty() ? "No update available" : joined(versions, ", ")});
      continue;
    }
    if (newer.empty()) continue;
    const std::string upstream = newer.back()->name();
    if (!call.words.empty() && std::ranges::find(call.words, upstream) == call.words.end()) continue;
    rows.push_back({upstream, local.name(), fmt::format("v{}->{}", old->spec.revision, versions.back())});
  }
  co_return CommandAnswer{.text = aligned(rows)};
}

Task<Result<CommandAnswer>> upgrade(CommandCall call) {
  if (!option(call, "discover").empty()) co_return co_await discover(std::move(call));
  SLIPWAY_CO_TRY(words, words_of(call, 1, "pkg upgrade REVISION --workspace WORKSPACE [--revision NUMBER]"));
  SLIPWAY_CO_TRY(wanted, number_option(call, "revision"));
  SLIPWAY_CO_TRY(workspace, required_option(call, "workspace"));
  SLIPWAY_CO_TRY(strategy, strategy_option(call));
  SLIPWAY_CO_TRY(local, co_await fetch_revision(*call.client, call.ns, plain_name(words[0])));
  SLIPWAY_CO_TRY(all, co_await fetch_revisions(*call.client, call.ns, "", ""));
  const ShownRevision* old_upstream = upstream_in(all, local);
  if (old_upstream == nullptr) {
    co_return fail(
        Reason::BadRequest,
        fmt::format("{} was not cloned from a revision that is served here, so nothing is newer than it", local.name()));
  }
  const std::string old_name = old_upstream->name();
  SLIPWAY_CO_TRY(upstream, newer_than(all, *old_upstream, wanted));
  if (upstream.name() == old_name) {
    co_return CommandAnswer{.notes = {fmt::format("{} follows {} already", local.name(), old_name)}};
  }
  RevisionSpec spec{.package_name = local.spec.package_name, .repository = local.spec.repository, .workspace = workspace};
  spec.tasks = {RevisionTask{
      .type = TaskType::Upgrade,
      .upgrade = UpgradeTask{
          .old_upstream = {old_name}, .new_upstream = {upstream.name()}, .local = {local.name()}, .strategy = strategy}}};
  SLIPWAY_CO_TRY(made, co_await create_revision_object(std::move(call), std::move(spec)));
  made.text = fmt::format("{} upgraded to {}\n", local.name(), made.text);
  co_return std::move(made);
}

}  // namespace

std::vector<Command> create_commands() {
  return {changing({.verb = "pkg init",
                    .help = "make a new, empty package in a repository (without --repository: in a folder)",
                    .words_name = "PACKAGE",
                    .words_help = "path of the package in the repository",
                    .options = {kRepositoryOption,
                                kWorkspaceOption,
                                {.name = "description", .help = "what it is for"},
                                {.name = "keywords", .help = "words to find it by", .is_repeated = true},
                                {.name = "site", .help = "a page about it"}}},
                   init),
          changing({.verb = "pkg clone",
                    .help = "make a package with the content of another one, which stays its upstream",
                    .words_name = "SOURCE",
                    .words_help = "a revision, or ADDRESS.git/FOLDER@REF; then the new package's path",
                    .options = {kRepositoryOption,
                                kWorkspaceOption,
                                kStrategyOption,
                                {.name = "ref", .help = "branch, tag or commit of a foreign repository"},
                                {.name = "directory", .help = "folder in a foreign repository"},
                                {.name = "secret-ref", .help = "Secret with credentials for a foreign repository"}}},
                   clone),
          changing({.verb = "pkg copy",
                    .help = "make a new revision of a package with the content of a published one",
                    .words_name = "REVISION",
                    .words_help = "the published one",
                    .options = {kWorkspaceOption}},
                   copy),
          changing({.verb = "pkg upgrade",
                    .help = "make a new revision with what has changed upstream (with --from: in a folder)",
                    .words_name = "[REVISION]",
                    .words_help = "the published revision with the local changes",
                    .options = {kWorkspaceOption,
                                {.name = "discover",
                                 .help = "upstream: list what could be upgraded to what; downstream: by the upstream"},
                                kStrategyOption,
                                {.name = "revision", .help = "number of the upstream revision (default: the newest)"}}},
                   upgrade)};
}

}  // namespace slipway::delivery::package
