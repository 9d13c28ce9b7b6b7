#include "delivery/package/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/package/content.h"
#include "delivery/package/exported.h"
#include "delivery/package/upstream_name.h"
#include "krm/kptfile.h"

namespace slipway::delivery::package {
namespace {

constexpr const char* kOutside = "git";

std::optional<FoundRevision> found_at(const Discovery& from, const std::string& name, const std::string& commit) {
  const PackageRef ref = read_ref(name, from.place.branch, from.place.folder);
  FoundRevision found{.key = {{from.repository, ref.path}, ref.workspace}, .commit = commit, .ref = name};
  switch (ref.kind) {
    case RefKind::Draft:
      return found;
    case RefKind::Proposed:
      found.lifecycle = Lifecycle::Proposed;
      return found;
    case RefKind::Tag: {
      if (from.strangers.contains(name)) return std::nullopt;
      const auto said = from.workspaces.find(name);
      found.key.workspace = said == from.workspaces.end() ? fmt::format("v{}", ref.revision) : said->second;
      found.revision = ref.revision;
      const std::string deletion =
          ref_of({{from.repository, ref.path}, ""}, ref.revision, Lifecycle::DeletionProposed, from.place.folder);
      found.lifecycle = from.refs.contains(deletion) ? Lifecycle::DeletionProposed : Lifecycle::Published;
      return found;
    }
    case RefKind::DeletionProposed:
    case RefKind::Branch:
    case RefKind::Other:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Locator> upstream_in(const std::map<std::string, std::string>& files) {
  const auto found = files.find(std::string(krm::kKptfile));
  const auto kptfile = found == files.end() ? Result<krm::Kptfile>(krm::Kptfile{}) : krm::read_kptfile(found->second);
  if (!kptfile || !kptfile->upstream_lock || !kptfile->upstream_lock->git) return std::nullopt;
  const krm::KptGitLock& git = *kptfile->upstream_lock->git;
  return Locator{.type = "git",
                 .git = GitLock{.repo = git.repo, .directory = git.directory, .ref = git.ref, .commit = git.commit}};
}

/// What the Kptfile says of gates and conditions. Where it cannot be read that is not known, and the record is not ready.
Verdicts said_in(const std::map<std::string, std::string>& files, RevisionRecord& record) {
  auto said = verdicts_of(files);
  if (said) {
    if (record.render != Render::Unreadable) return *std::move(said);
    record.render = Render::Nothing;
    record.render_error.clear();
    record.exported.clear();  // what was said meanwhile is not in the Kptfile
    return *std::move(said);
  }
  record.render = Render::Unreadable;
  record.render_error = said.error().message;
  std::ranges::replace(record.render_error, '\n', ' ');
  return {};
}

void add_author(RevisionRecord& record) {
  const auto at = std::ranges::lower_bound(record.authors, kOutside);
  if (at == record.authors.end() || *at != kOutside) record.authors.insert(at, kOutside);
}

/// RevisionRecord::exported of a Kptfile. What it says of types that the server computes (kpt writes Rendered) is left there.
std::string exported_by(const Verdicts& said) {
  std::vector<std::string> gates = said.gates.value_or(std::vector<std::string>{});
  Conditions conditions = said.conditions.value_or(Conditions{});
  std::erase_if(gates, [](const std::string& type) { return is_computed(type); });
  std::erase_if(conditions, [](const Condition& one) { return is_computed(one.type); });
  return verdicts_digest(gates, conditions);
}

/// Whether two contents differ in nothing but the lists of gates and conditions.
bool is_same_content(Files one, Files other) {
  const std::string name(krm::kKptfile);
  for (Files* files : {&one, &other}) {
    if (const auto kptfile = files->find(name); kptfile != files->end()) {
      kptfile->second = without_status(with_verdicts(kptfile->second, {}, {}));
    }
  }
  return one == other;
}

/// What was said about the content with the digest `was` is about the present one.
void move_verdicts(RevisionRecord& record, const std::string& was) {
  for (Condition& one : record.conditions) {
    if (one.digest == was) one.digest = record.digest;
  }
  for (Vote& vote : record.votes) {
    if (vote.digest == was) vote.digest = record.digest;
  }
}

void take_place(RevisionRecord& record, const Adopted& from) {
  record.lifecycle = from.found.lifecycle;
  record.revision = from.found.revision;
  record.commit = from.found.commit;
  const ContentView view(from.files);
  record.digest = view.digest();
  record.file_digests = view.file_digests();
  record.drift.clear();
}

}  // namespace

std::vector<FoundRevision> discovered(const Discovery& from, std::vector<std::string>& faults) {
  std::map<RevisionKey, FoundRevision> by_key;
  const auto add = [&](FoundRevision found) {
    const auto [at, is_new] = by_key.try_emplace(found.key, found);
    if (is_new) return;
    // A proposal is pushed before its draft goes, a tag before its proposal: the later one counts.
    bool is_later = found.lifecycle > at->second.lifecycle && !is_published(at->second.lifecycle);
    if (is_published(found.lifecycle) && is_published(at->second.lifecycle)) {
      faults.push_back(fmt::format("{} and {} are both {}", at->second.ref, found.ref, found.key.object_name()));
      is_later = from.workspaces.contains(found.ref) && !from.workspaces.contains(at->second.ref);
    }
    if (is_later) at->second = std::move(found);
  };
  for (const auto& [name, commit] : from.refs) {
    if (auto found = found_at(from, name, commit)) add(std::move(*found));
  }
  for (const auto& [path, commit] : from.packages) {
    const RevisionKey key{{from.repository, path}, from.place.branch};
    const bool is_proposed = from.refs.contains(ref_of(key, kPlaceholder, Lifecycle::DeletionProposed, from.place.folder));
    add({.key = key,
         .lifecycle = is_proposed ? Lifecycle::DeletionProposed : Lifecycle::Published,
         .revision = kPlaceholder,
         .commit = commit,
         .ref = "refs/heads/" + from.place.branch});
  }
  std::vector<FoundRevision> all;
  for (auto& [key, found] : by_key) {
    const bool is_named = parse_revision_name(key.object_name()) == key;
    if (is_named) {
      all.push_back(std::move(found));
    } else {
      faults.push_back(fmt::format("folder {:?} of {} is not served: package {:?} with workspace {:?} makes no name",
                                   plain_path(from.place.folder + "/" + key.package.path), found.ref, key.package.path,
                                   key.workspace));
    }
  }
  return all;
}

std::map<std::string, std::string> packages_in(const std::vector<GitFile>& files, std::string_view folder) {
  const std::string prefix = folder.empty() ? "" : std::string(folder) + "/";
  const auto rest_of = [&](const GitFile& file) {
    const std::string_view path = file.path;
    return path.starts_with(prefix) ? path.substr(prefix.size()) : std::string_view();
  };
  std::set<std::string, std::less<>> with_kptfile;
  for (const GitFile& file : files) {
    const std::string_view rest = rest_of(file);
    const std::size_t slash = rest.rfind('/');
    if (slash != std::string_view::npos && rest.substr(slash + 1) == krm::kKptfile) with_kptfile.emplace(rest.substr(0, slash));
  }
  // The outermost folder with a Kptfile on the way to a file.
  std::map<std::string, std::string> contents;
  for (const GitFile& file : files) {
    const std::string_view rest = rest_of(file);
    for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/', slash + 1)) {
      const auto package = with_kptfile.find(rest.substr(0, slash));
      if (package == with_kptfile.end()) continue;
      contents[*package] += fmt::format("{} {} {}\n", rest.substr(slash + 1), static_cast<int>(file.mode), file.id);
      break;
    }
  }
  for (auto& [path, text] : contents) text = sha256_hex(text);
  return contents;
}

Relation relation_of(const RevisionRecord* record, const FoundRevision* found) {
  if (record == nullptr) return Relation::New;
  if (!record->intents.empty()) return Relation::Busy;
  if (found == nullptr) return Relation::Gone;
  if (record->commit != found->commit) return Relation::Moved;
  const bool is_same = record->lifecycle == found->lifecycle && record->revision == found->revision;
  return is_same ? Relation::Same : Relation::Changed;
}

RevisionRecord adopted(const Adopted& from) {
  const FoundRevision& found = from.found;
  RevisionRecord record{.repository = found.key.package.repository,
                        .path = found.key.package.path,
                        .workspace = found.key.workspace,
                        .upstream_name = std::string(kNoUpstream),
                        .is_deployment = from.is_deployment,
                        .settled = from.now,
                        .upstream_lock = upstream_in(from.files)};
  take_place(record, from);
  const Verdicts said = said_in(from.files, record);
  record.gates = gates_of(said.gates.value_or(std::vector<std::string>{}), kPackageSource);
  // What was published with its conditions has them; of a draft they are claims.
  const Conditions conditions = said.conditions.value_or(Conditions{});
  record.conditions = conditions;
  if (!is_published(found.lifecycle)) {
    record.conditions = imported(conditions, from.now);
    const ContentView view(from.files);
    const Conditions before = from.pushed.before.conditions.value_or(Conditions{});
    record = with_pushed(std::move(record), from.pushed, before, view, from.now);
    record.notes.clear();
    add_author(record);
  }
  record.exported = verdicts_digest(record);
  return record;
}

RevisionRecord followed(RevisionRecord record, const Adopted& from) {
  const std::string digest = record.digest;
  const bool has_other_content = from.before == nullptr || !is_same_content(*from.before, from.files);
  take_place(record, from);
  record.upstream_lock = upstream_in(from.files);
  if (record.self_lock && record.self_lock->git) record.self_lock->git->commit = record.commit;
  const Verdicts said = said_in(from.files, record);
  if (is_published(record.lifecycle)) return record;
  const ContentView view(from.files);
  const Conditions logged = record.conditions;
  if (has_other_content) {
    record.conditions = reset(record.conditions, kContentChanged, view, from.now);
    record.settled = from.now;
    if (record.render != Render::Unreadable) record.render = Render::Nothing;
    record.render_status.reset();
    add_author(record);
  } else {
    move_verdicts(record, digest);
  }
  if (record.render == Render::Unreadable) return record;
  record = with_pushed(std::move(record), from.pushed, logged, view, from.now);
  record.exported = exported_by(said);
  return record;
}

}  // namespace slipway::delivery::package
