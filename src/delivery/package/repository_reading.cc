// Reading a repository as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/package/exported.h"
#include "delivery/package/kind.h"
#include "delivery/package/repository_controller.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// On the branch, of all packages; beyond it the repository says that there are more.
constexpr std::size_t kMostFiles = 200'000;
/// Commits of a push that are looked at one by one, from the newest.
constexpr std::size_t kMaxPushedCommits = 50;

class Reader {
 public:
  Reader(Env& env, Git& git, client::Client& client, OpenRepository repository, std::string ns, KnownBranch known)
      : env_(env),
        git_(git),
        client_(client),
        repository_(std::move(repository)),
        ns_(std::move(ns)),
        known_(std::move(known)) {}

  Task<Result<Reading>> run(std::vector<StoredRecord> records) {
    for (StoredRecord& one : records) by_key_.emplace(one.record.key(), std::move(one));
    Discovery from{.repository = repository_.name, .place = repository_.place};
    for (const char* prefix : {"refs/heads/", "refs/tags/"}) {
      auto refs = co_await git_.fetch_all(repository_.remote, prefix);
      if (!refs) co_return fail(std::move(refs).error());
      from.refs.insert(refs->begin(), refs->end());
    }
    SLIPWAY_CO_TRY_VOID(co_await find_packages(from));
    co_await find_workspaces(from);
    std::vector<FoundRevision> found = discovered(from, reading_.faults);
    for (const FoundRevision& one : found) {
      if (auto done = co_await take(one); !done) {
        leave_out(done.error(), fmt::format("{}: {}", one.ref, done.error().message));
      }
    }
    std::set<RevisionKey> there;
    for (const FoundRevision& one : found) there.insert(one.key);
    for (const auto& [key, stored] : by_key_) {
      if (!there.contains(key)) co_await let_go(stored);
    }
    for (const auto& [key, stored] : by_key_) {
      if (auto done = co_await look_at_branch(stored); !done) leave_out(done.error(), done.error().message);
    }
    reading_.refs = std::move(from.refs);
    reading_.revisions = static_cast<std::int64_t>(found.size());
    co_return std::move(reading_);
  }

 private:
  Task<Result<void>> find_packages(Discovery& from) {
    const auto tip = from.refs.find(repository_.branch_ref());
    if (tip == from.refs.end()) {
      if (repository_.git().creates_branch) co_return Result<void>{};
      co_return fail(Reason::NotFound, fmt::format("there is no branch {} in {}: push it, or set spec.git.createBranch",
                                                   repository_.place.branch, repository_.remote.url));
    }
    reading_.commit = tip->second;
    GitTreeQuery query{.path = repository_.place.folder, .max_file_bytes = 0, .max_files = kMostFiles};
    auto files = co_await git_.read_tree(repository_.remote, tip->second, std::move(query));
    if (!files && files.error().reason == Reason::NotFound) co_return Result<void>{};  // the folder is not there yet
    if (!files) co_return fail(std::move(files).error());
    const bool goes_on = !known_.tip.empty() && co_await has_commit(tip->second, known_.tip);
    for (const auto& [path, digest] : packages_in(*files, repository_.place.folder)) {
      const auto known = known_.packages.find(path);
      std::string commit = tip->second;
      if (known != known_.packages.end() && known->second.digest == digest) {
        if (goes_on || co_await has_commit(tip->second, known->second.commit)) commit = known->second.commit;
      }
      from.packages.emplace(path, commit);
      reading_.packages.emplace(path, KnownPackage{.digest = digest, .commit = commit});
    }
    co_return Result<void>{};
  }

  /// Whether the branch has the commit in its history: after a forced push it may have it no more.
  Task<bool> has_commit(std::string tip, std::string commit) {
    if (commit == tip) co_return true;
    if (const auto asked = on_branch_.find(commit); asked != on_branch_.end()) co_return asked->second;
    const auto answer = co_await git_.is_ancestor(repository_.remote, commit, tip);
    const bool is_there = answer && *answer;  // where it cannot be told, the package is read again
    on_branch_.emplace(commit, is_there);
    co_return is_there;
  }

  /// Whose workspace a tag was published from: the log knows, else the commit says it.
  Task<> find_workspaces(Discovery& from) {
    std::map<std::pair<std::string, std::int64_t>, std::string> known;
    for (const auto& [key, stored] : by_key_) {
      const RevisionRecord& record = stored.record;
      if (record.revision > 0) known[{record.path, record.revision}] = record.workspace;
    }
    for (const auto& [name, commit] : from.refs) {
      const PackageRef ref = read_ref(name, repository_.place.branch, repository_.place.folder);
      if (ref.kind != RefKind::Tag) continue;
      if (const auto found = known.find({ref.path, ref.revision}); found != known.end()) {
        from.workspaces[name] = found->second;
        continue;
      }
      const auto read = co_await git_.read_commit(repository_.remote, commit);
      if (!read) continue;
      const std::string folder = repository_.folder_of(ref.path);
      for (const CommitNote& note : notes_of(read->commit.message)) {
        if (note.package == folder && !note.workspace.empty()) from.workspaces[name] = note.workspace;
      }
      if (from.workspaces.contains(name)) continue;
      const auto files = co_await git_.read_tree(repository_.remote, commit, {.path = folder, .max_file_bytes = 0});
      if (!files && files.error().reason == Reason::NotFound) from.strangers.insert(name);
    }
  }

  Task<Result<void>> take(FoundRevision found) {
    const auto at = by_key_.find(found.key);
    const RevisionRecord* record = at == by_key_.end() ? nullptr : &at->second.record;
    switch (relation_of(record, &found)) {
      case Relation::Same:
      case Relation::Busy:
      case Relation::Gone:
        co_return Result<void>{};
      case Relation::New:
        co_return co_await add(std::move(found));
      case Relation::Changed:
        co_return co_await follow(at->second, std::move(found));
      case Relation::Moved:
        co_return co_await follow_or_tell(at->second, std::move(found));
    }
    co_return Result<void>{};
  }

  Task<Result<Content>> read(const FoundRevision& found) {
    return read_content(git_, repository_.remote, repository_.folder_of(found.key.package.path), found.commit);
  }

  Task<Result<void>> add(FoundRevision found) {
    SLIPWAY_CO_TRY(content, co_await read(found));
    Adopted from{
        .found = found, .files = content.files, .is_deployment = repository_.spec.is_deployment, .now = env_.clock.now()};
    if (!is_published(found.lifecycle)) {
      Verdicts on_branch;
      if (!reading_.commit.empty()) on_branch = co_await verdicts_at(found.key.package.path, reading_.commit);
      from.pushed = co_await pushed_since(std::move(on_branch), reading_.commit, found);
    }
    RevisionRecord record = adopted(from);
    record.self_lock = repository_.lock(record.path, found.ref, found.commit);
    auto made = co_await create_record(client_, env_.clock.now(), ns_, std::move(record), {});
    if (!made) co_return fail(std::move(made).error());
    co_return Result<void>{};
  }

  /// What the Kptfile of a package says in a commit; nothing where it cannot be read.
  Task<Verdicts> verdicts_at(std::string path, GitId commit) {
    const std::string kptfile = plain_path(repository_.folder_of(path) + "/" + std::string(krm::kKptfile));
    const auto files = co_await git_.read_tree(repository_.remote, commit, {.path = kptfile});
    if (!files || files->empty() || !files->front().content) co_return Verdicts{};
    auto said = verdicts_of({{std::string(krm::kKptfile), *files->front().content}});
    co_return said ? *std::move(said) : Verdicts{};
  }

  /// What was committed to the Kptfile of a draft after the commit `base` ("": from its beginning), where it said `before`.
  Task<PushedVerdicts> pushed_since(Verdicts before, GitId base, FoundRevision found) {
    PushedVerdicts pushed{.before = std::move(before)};
    const std::string& path = found.key.package.path;
    GitWalk walk{.tip = found.commit,
                 .path = plain_path(repository_.folder_of(path) + "/" + std::string(krm::kKptfile)),
                 .max_found = kMaxPushedCommits};
    if (!base.empty()) walk.base = std::move(base);
    const auto commits = co_await git_.walk(repository_.remote, std::move(walk));
    if (!commits) co_return pushed;
    for (auto one = commits->commits.rbegin(); one != commits->commits.rend(); ++one) {
      pushed.commits.push_back({.author = one->author.email, .said = co_await verdicts_at(path, one->id)});
    }
    co_return pushed;
  }

  Task<Result<void>> follow(StoredRecord stored, FoundRevision found) {
    SLIPWAY_CO_TRY(content, co_await read(found));
    Adopted from{
        .found = found, .files = content.files, .is_deployment = repository_.spec.is_deployment, .now = env_.clock.now()};
    const std::string& known = stored.record.commit;
    const auto before = co_await read_content(git_, repository_.remote, repository_.folder_of(stored.record.path), known);
    if (before) from.before = &before->files;
    if (!is_published(found.lifecycle) && found.commit != known) {
      Verdicts was = co_await verdicts_at(stored.record.path, known);
      from.pushed = co_await pushed_since(std::move(was), known, found);
    }
    RevisionRecord next = followed(stored.record, from);
    next.self_lock = repository_.lock(next.path, found.ref, found.commit);
    co_return co_await put(std::move(stored), std::move(next));
  }

  Task<Result<void>> put(StoredRecord stored, RevisionRecord next) {
    Value metadata = stored.object["metadata"];
    metadata = metadata.without_path({"annotations", kDriftAnnotation});
    auto written = co_await put_record(client_, env_.clock.now(), std::move(stored), std::move(next), metadata);
    if (!written) co_return fail(std::move(written).error());
    co_return Result<void>{};
  }

  /// A branch has moved, and the package on it may be as it was: then its revision stays at the older commit, if that is still
  /// in the branch's history.
  Task<Result<void>> follow_branch(StoredRecord stored, FoundRevision found) {
    const RevisionRecord& record = stored.record;
    SLIPWAY_CO_TRY(content, co_await read(found));
    const auto goes_on = co_await git_.is_ancestor(repository_.remote, record.commit, found.commit);
    if (goes_on && *goes_on && record.drift.empty()) {
      const auto was = co_await read_content(git_, repository_.remote, repository_.folder_of(record.path), record.commit);
      if (was && was->files == content.files && was->modes == content.modes) {
        reading_.packages[record.path].commit = found.commit = record.commit;
        if (found.lifecycle == record.lifecycle) co_return Result<void>{};
      }
    }
    co_return co_await follow(std::move(stored), std::move(found));
  }

  /// A published revision is what was approved: its content is never followed. A draft is, where it goes on from ours.
  Task<Result<void>> follow_or_tell(StoredRecord stored, FoundRevision found) {
    const RevisionRecord& record = stored.record;
    const std::string_view said = kube::annotation(stored.object, kDriftAnnotation);
    const bool was_published = record.revision > 0 && is_published(record.lifecycle);
    if (record.revision == kPlaceholder) co_return co_await follow_branch(std::move(stored), std::move(found));
    bool is_followed = is_published(found.lifecycle) && !was_published;
    if (!is_followed && !was_published) {
      const auto goes_on = co_await git_.is_ancestor(repository_.remote, record.commit, found.commit);
      is_followed = (goes_on && *goes_on) || said == "theirs";
    }
    if (is_followed) co_return co_await follow(std::move(stored), std::move(found));
    if (said == "ours" && !was_published && found.lifecycle == Lifecycle::Draft) {
      co_return co_await keep_ours(std::move(stored), std::move(found));
    }
    const std::string text =
        fmt::format("{} is at {} and not at {}, which the log has", found.ref, found.commit, record.commit);
    if (record.drift == text) co_return Result<void>{};
    RevisionRecord next = record;
    next.drift = text;
    co_return co_await put(std::move(stored), std::move(next));
  }

  /// The log's content as a commit on top of what others have pushed, which so stays in the history.
  Task<Result<void>> keep_ours(StoredRecord stored, FoundRevision found) {
    SLIPWAY_CO_TRY(theirs, co_await read(found));
    SLIPWAY_CO_TRY(ours, co_await content_of(git_, repository_, stored.record));
    const ContentView view(ours.files);
    DraftCommit draft{.parent = found.commit,
                      .from = std::move(theirs),
                      .to = std::move(ours),
                      .path = stored.record.path,
                      .workspace = stored.record.workspace,
                      .user = kRecordManager,
                      .now = env_.clock.now()};
    SLIPWAY_CO_TRY(made, co_await commit_draft(git_, repository_, std::move(draft)));
    RevisionRecord next = stored.record;
    next.lifecycle = Lifecycle::Draft;
    next.commit = found.commit;
    next = with_saved(std::move(next), view, made, repository_.place);
    next.drift.clear();
    co_return co_await put(std::move(stored), std::move(next));
  }

  /// What others have changed on the branch is told of the drafts and proposals whose publication would undo it.
  Task<Result<void>> look_at_branch(StoredRecord stored) {
    const RevisionRecord& record = stored.record;
    const bool is_open = !is_published(record.lifecycle) && record.intents.empty() && !kube::is_deleting(stored.object);
    if (!is_open || reading_.commit.empty()) co_return Result<void>{};
    GitId published;
    std::int64_t newest = 0;
    for (const auto& [key, other] : by_key_) {
      if (key.package != record.key().package || other.record.revision <= newest) continue;
      newest = other.record.revision;
      published = other.record.commit;
    }
    SLIPWAY_CO_TRY(outside, co_await outside_changes(git_, repository_, record.path, reading_.commit, {published}));
    if (outside == record.outside) co_return Result<void>{};
    SLIPWAY_CO_TRY(now, co_await get_record(client_, stored.key()));
    if (now.version() != stored.version()) co_return Result<void>{};
    RevisionRecord next = now.record;
    next.outside = std::move(outside);
    const Value metadata = now.object["metadata"];
    SLIPWAY_CO_TRY_VOID(co_await put_record(client_, env_.clock.now(), std::move(now), std::move(next), metadata));
    co_return Result<void>{};
  }

  /// Its reference is gone: another writer has removed it.
  Task<> let_go(StoredRecord stored) {
    if (!stored.record.intents.empty() || kube::is_deleting(stored.object)) co_return;
    client::DeleteQuery query;
    query.uid = stored.uid();
    query.resource_version = stored.version();
    const auto gone = co_await client::remove(client_, kRecords, stored.key(), std::move(query));
    if (!gone && gone.error().reason != Reason::NotFound) leave_out(gone.error(), gone.error().message);
  }

  /// The repository has to be read again. That another writer was faster, which that reading sees, is no fault.
  void leave_out(const Status& why, std::string text) {
    reading_.is_whole = false;
    const bool is_race = why.reason == Reason::Conflict || why.reason == Reason::AlreadyExists;
    if (!is_race) reading_.faults.push_back(std::move(text));
  }

  Env& env_;
  Git& git_;
  client::Client& client_;
  OpenRepository repository_;
  std::string ns_;
  KnownBranch known_;
  std::map<std::string, bool> on_branch_{};  // by commit, what was asked
  std::map<RevisionKey, StoredRecord> by_key_{};
  Reading reading_{};
};

}  // namespace

Task<Result<Reading>> read_repository_as_a_whole(Env& env, client::Client& client, OpenRepository repository, std::string ns,
                                                 std::vector<StoredRecord> records, KnownBranch known) {
  SLIPWAY_CO_TRY(git, git_of(env));
  Reader reader(env, *git, client, std::move(repository), std::move(ns), std::move(known));
  co_return co_await reader.run(std::move(records));
}

}  // namespace slipway::delivery::package
