#include "delivery/package/new_content.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lookup.h"
#include "base/text.h"
#include "delivery/package/exported.h"
#include "delivery/package/kind.h"
#include "delivery/probe/secret.h"
#include "krm/command.h"
#include "krm/merge.h"
#include "krm/yaml_tree.h"
#include "kube/well_known.h"

namespace slipway::delivery::package {
namespace {

using client::ServedContext;
using json::Value;

constexpr std::string_view kContextFile = "package-context.yaml";
constexpr std::size_t kMostConflictsShown = 10;

std::string last_part(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Value strings(const std::vector<std::string>& list) {
  json::ArrayBuilder made;
  for (const std::string& one : list) made.add(one);
  return made.build();
}

std::string_view strategy_name(MergeStrategy strategy) { return json::enum_name(strategy); }

/// A record with its content, out of whichever repository it is in.
struct Source {
  StoredRecord stored{};
  OpenRepository repository{};
  Content content{};

  GitLock lock() const {
    const RevisionRecord& record = stored.record;
    return *repository.lock(record.path, content_ref(record, repository), record.commit).git;
  }
};

/// As the user who asks: to copy a revision is to read it.
Task<Result<Source>> source_of(ServedContext context, ContentAskedFor asked, std::string name) {
  SLIPWAY_CO_TRY_VOID(co_await require_right(context.server, asked.user, {"get", kResources, "", {asked.ns, name}}));
  SLIPWAY_CO_TRY(git, git_of(context.env));
  SLIPWAY_CO_TRY(stored, co_await get_record(context.server, {asked.ns, name}));
  SLIPWAY_CO_TRY(repository, co_await open_repository(context.server, asked.ns, stored.record.repository));
  SLIPWAY_CO_TRY(content, co_await content_of(*git, repository, stored.record));
  co_return Source{std::move(stored), std::move(repository), std::move(content)};
}

/// Resources are found again after a rename, by an upgrade here or `kpt pkg update`.
Task<Content> marked(Env& env, Content content) {
  // Shared: the frame may be destroyed while the lane works.
  const auto files = std::make_shared<krm::Files>(std::move(content.files));
  co_await run_on(env, env.compute, [files] { *files = krm::with_merge_marks(std::move(*files)); });
  content.files = std::move(*files);
  co_return content;
}

Task<Result<NewContent>> cloned_content(ServedContext context, OpenRepository repository, ContentAskedFor asked,
                                        RevisionSpec spec, CloneTask task) {
  const UpstreamSource& upstream = task.upstream;
  NewContent made;
  GitLock lock;
  Content content;
  if (upstream.revision && !upstream.revision->name.empty()) {
    SLIPWAY_CO_TRY(source, co_await source_of(context, asked, upstream.revision->name));
    lock = source.lock();
    content = std::move(source.content);
    made.source = std::move(source.stored);
  } else if (upstream.git) {
    SLIPWAY_CO_TRY(fetched, co_await fetch_foreign(context, asked, *upstream.git));
    lock = fetched.lock;
    content = std::move(fetched.content);
    SLIPWAY_CO_TRY(said, verdicts_of(content.files));
    if (said.conditions) made.conditions = imported(*said.conditions, context.env.clock.now());
  } else if (upstream.oci || upstream.type == SourceType::Oci) {
    co_return fail(Reason::NotImplemented,
                   "spec.tasks[0].clone.upstreamRef.oci: registries are not implemented: clone from a Git repository");
  } else {
    co_return fail(Reason::BadRequest, "spec.tasks[0].clone.upstreamRef: one of upstreamRef and git is required");
  }
  SLIPWAY_CO_TRY(copy, as_copy(std::move(content), spec.package_name, lock, task.strategy));
  if (repository.spec.is_deployment) put_context(copy.files, spec.package_name);
  made.content = co_await marked(context.env, std::move(copy));
  made.upstream_lock = Locator{.type = "git", .git = lock};
  co_return made;
}

Task<Result<NewContent>> edited_content(ServedContext context, ContentAskedFor asked, EditTask task) {
  SLIPWAY_CO_TRY(source, co_await source_of(context, asked, task.source->name));
  NewContent made{.content = std::move(source.content), .upstream_lock = source.stored.record.upstream_lock};
  made.source = std::move(source.stored);
  co_return made;
}

Condition conflicts_condition(const std::vector<krm::Conflict>& conflicts) {
  Condition made{.type = "UpgradeConflicts", .status = Truth::True, .reason = "UpstreamTaken"};
  std::vector<std::string> lines;
  for (const krm::Conflict& one : conflicts) {
    if (lines.size() < kMostConflictsShown) lines.push_back(krm::describe(one));
  }
  made.message = joined(lines, "; ");
  if (conflicts.size() > kMostConflictsShown) {
    made.message += fmt::format("; and {} more", conflicts.size() - kMostConflictsShown);
  }
  return made;
}

Task<Result<NewContent>> upgraded_content(ServedContext context, OpenRepository repository, ContentAskedFor asked,
                                          RevisionSpec spec, UpgradeTask task) {
  SLIPWAY_CO_TRY(origin, co_await source_of(context, asked, task.old_upstream.name));
  SLIPWAY_CO_TRY(upstream, co_await source_of(context, asked, task.new_upstream.name));
  SLIPWAY_CO_TRY(local, co_await source_of(context, asked, task.local.name));
  SLIPWAY_CO_TRY(strategy, krm::strategy_of(strategy_name(task.strategy)));
  if (repository.spec.is_deployment) share_context(local.content.files, {&origin.content.files, &upstream.content.files});
  SLIPWAY_CO_TRY(merged, krm::upgrade(origin.content.files, upstream.content.files, local.content.files, strategy));
  NewContent made;
  const GitLock lock = upstream.lock();
  Content content{.files = std::move(merged.files)};
  for (const Content* from : {&upstream.content, &local.content}) {
    for (const auto& [path, mode] : from->modes) {
      if (content.files.contains(path)) content.modes[path] = mode;
    }
  }
  SLIPWAY_CO_TRY(copy, as_copy(std::move(content), spec.package_name, lock, task.strategy));
  const bool has_context = copy.files.contains(std::string(kContextFile));
  if (repository.spec.is_deployment && !has_context) put_context(copy.files, spec.package_name);
  made.content = co_await marked(context.env, std::move(copy));
  made.upstream_lock = Locator{.type = "git", .git = lock};
  made.source = std::move(local.stored);
  made.upstream = std::move(upstream.stored);
  made.old_upstream = std::move(origin.stored);
  if (!merged.conflicts.empty()) {
    made.conditions.push_back(conflicts_condition(merged.conflicts));
    made.warnings.push_back("both sides changed: " + made.conditions.back().message);
  }
  co_return made;
}

/// The files of a new package, below `folder` ("sub/") with what the task says of it.
Result<Content> package_of(const std::string& name, const InitTask& task, const std::string& folder) {
  const std::string description = task.description.empty() ? "sample description" : task.description;
  krm::CommandOutcome made = krm::init_command({}, name, description);
  if (!made.files) return fail(Reason::InternalError, made.errors);
  SLIPWAY_TRY(kptfile, krm::KeptYaml::parse(value_at(*made.files, kKptfile)));
  const std::vector<std::string> keywords{"info", "keywords"};
  const std::vector<std::string> site{"info", "site"};
  if (!task.keywords.empty()) SLIPWAY_TRY_VOID(kptfile.set(0, keywords, strings(task.keywords)));
  if (!task.site.empty()) SLIPWAY_TRY_VOID(kptfile.set(0, site, task.site));
  (*made.files)[kKptfile] = kptfile.text();
  Content content;
  for (auto& [path, text] : *made.files) content.files.emplace(folder + path, std::move(text));
  return content;
}

/// Names that a ref may have at the remote.
std::vector<std::string> ref_names(const std::string& ref) {
  if (ref.starts_with("refs/")) return {ref};
  if (ref.empty()) return {"refs/heads/main", "refs/heads/master"};
  return {"refs/heads/" + ref, "refs/tags/" + ref};
}

bool is_commit_id(std::string_view text) {
  return text.size() == 40 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Task<Result<GitId>> find_foreign(Git& git, GitRemote remote, std::string ref) {
  if (is_commit_id(ref)) {
    for (const char* prefix : {"refs/heads/", "refs/tags/"}) SLIPWAY_CO_TRY_VOID(co_await git.fetch_all(remote, prefix));
    co_return ref;
  }
  for (const std::string& name : ref_names(ref)) {
    auto found = co_await git.fetch(remote, name);
    if (found || found.error().reason != Reason::NotFound) co_return found;
  }
  co_return fail(Reason::NotFound, fmt::format("{} has no branch or tag {:?}", remote.url, ref));
}

}  // namespace

Result<Content> init_content(const RevisionSpec& spec, const InitTask& task) {
  const std::string name = last_part(spec.package_name);
  if (task.subpackage.empty()) return package_of(name, task, "");
  const std::string folder = plain_path(task.subpackage);
  const std::string fault = package_name_fault(folder);
  if (!fault.empty()) {
    return fail(kube::invalid(kRevisionKind, name,
                              {field::invalid("spec.tasks[0].init.subpackage", fmt::format("{:?}", task.subpackage), fault)}));
  }
  SLIPWAY_TRY(content, package_of(name, {}, ""));
  SLIPWAY_TRY(inner, package_of(last_part(folder), task, folder + "/"));
  content.files.merge(inner.files);
  return content;
}

Result<Content> as_copy(Content content, const std::string& path, const GitLock& from, MergeStrategy strategy) {
  const auto found = content.files.find(kKptfile);
  if (found == content.files.end()) {
    return fail(Reason::BadRequest, fmt::format("{} at {} is no package: there is no Kptfile in it", from.directory, from.ref));
  }
  const krm::GitOrigin origin{.repo = from.repo, .directory = from.directory, .ref = from.ref, .commit = from.commit};
  SLIPWAY_TRY(kptfile, krm::with_origin(found->second, last_part(path), origin, strategy_name(strategy)));
  found->second = std::move(kptfile);
  return content;
}

void put_context(krm::Files& files, const std::string& path) {
  for (const std::string& folder : krm::package_folders(files)) {
    const std::string in = folder.empty() ? "" : folder + "/";
    const auto kptfile = files.find(in + kKptfile);
    if (kptfile == files.end()) continue;
    const auto tree = krm::read_one_yaml(kptfile->second);
    const std::string_view name = tree ? tree->root.get({"metadata", "name"}) : "";
    files[in + std::string(kContextFile)] = krm::package_context(name.empty() ? last_part(folder) : name, path);
  }
}

void share_context(const krm::Files& local, std::initializer_list<krm::Files*> others) {
  for (const auto& [path, text] : local) {
    if (last_part(path) != kContextFile) continue;
    for (krm::Files* files : others) {
      if (files->contains(path.substr(0, path.size() - kContextFile.size()) + kKptfile)) (*files)[path] = text;
    }
  }
}

Task<Result<Fetched>> fetch_foreign(ServedContext context, ContentAskedFor asked, GitSource source) {
  SLIPWAY_CO_TRY(git, git_of(context.env));
  GitRemote remote{.url = source.repo, .space = asked.ns};
  if (source.secret && !source.secret->name.empty()) {
    const kube::ObjectKey key{asked.ns, source.secret->name};
    SLIPWAY_CO_TRY_VOID(co_await require_right(context.server, asked.user, {"get", kube::kSecrets, "", key}));
    SLIPWAY_CO_TRY(values, co_await probe::read_secret(context.server, asked.ns, json::object({{"name", key.name}})));
    remote.credentials = GitCredentials::of_secret(values);
  }
  SLIPWAY_CO_TRY(commit, co_await find_foreign(*git, remote, source.ref));
  const std::string folder = plain_path(source.directory);
  SLIPWAY_CO_TRY(content, co_await read_content(*git, remote, folder, commit));
  co_return Fetched{std::move(content), {.repo = source.repo, .directory = folder, .ref = source.ref, .commit = commit}};
}

Task<Result<NewContent>> new_content(ServedContext context, OpenRepository repository, ContentAskedFor asked,
                                     RevisionSpec spec) {
  const RevisionTask task = spec.tasks.empty() ? RevisionTask{} : spec.tasks.front();
  switch (task.type) {
    case TaskType::Clone:
      co_return co_await cloned_content(context, std::move(repository), std::move(asked), std::move(spec),
                                        task.clone.value_or(CloneTask{}));
    case TaskType::Edit:
      co_return co_await edited_content(context, std::move(asked), task.edit.value_or(EditTask{}));
    case TaskType::Upgrade:
      co_return co_await upgraded_content(context, std::move(repository), std::move(asked), std::move(spec),
                                          task.upgrade.value_or(UpgradeTask{}));
    case TaskType::Init:
    case TaskType::None:
    case TaskType::Render:
    case TaskType::Push:
      break;
  }
  SLIPWAY_CO_TRY(content, init_content(spec, task.init.value_or(InitTask{})));
  co_return NewContent{.content = std::move(content)};
}

}  // namespace slipway::delivery::package
