#include "delivery/package/worker.h"

#include <algorithm>

#include "control/author_right.h"
#include "control/events.h"
#include "delivery/package/exported.h"
#include "delivery/package/kind.h"
#include "delivery/package/record_index.h"
#include "delivery/package/upstream_name.h"

namespace slipway::delivery::package {
namespace {

using control::Outcome;
using json::Value;
using kube::ObjectKey;

constexpr const char* kWaiting = "waiting";  // records with intents, by repository
constexpr Duration kFirstRetryPause = std::chrono::milliseconds{100};
constexpr Duration kLongestRetryPause = std::chrono::minutes{1};

/// What decides which revision is the latest.
bool is_same_place(const Value& before, const Value& after) {
  return before["spec"]["lifecycle"] == after["spec"]["lifecycle"] && before["spec"]["revision"] == after["spec"]["revision"];
}

Value with_latest(const Value& metadata, bool is_latest) {
  if (is_latest) return metadata.with_path({"labels", kLatestLabel}, "true");
  return metadata.without_path({"labels", kLatestLabel});
}

bool has_foreign_finalizers(const Value& object) {
  return !kube::without_finalizer(object, kGitFinalizer)["metadata"]["finalizers"].empty();
}

/// The record after another writer has changed what an intent was about: nothing of it is done any more, and what was promised
/// is taken back.
RevisionRecord drifted(RevisionRecord record, const std::string& text) {
  record.lifecycle = record.intents.front().from;
  record.intents.clear();
  record.approval.reset();
  record.drift = text;
  record.not_pushed.clear();
  return record;
}

/// Once for a record from before spec.upstreamName, by which dependents are found.
Task<Result<Outcome>> name_upstream(client::Client& client, Time now, Value object) {
  SLIPWAY_CO_TRY(stored, read_record(object));
  RevisionRecord next = stored.record;
  next.upstream_name = missing_upstream(object);
  SLIPWAY_CO_TRY_VOID(co_await put_record(client, now, std::move(stored), std::move(next), object["metadata"]));
  co_return Outcome::settled();
}

}  // namespace

control::ControllerOptions RecordWorker::options() const {
  control::ControllerOptions options;
  options.backoff = client::Backoff{kFirstRetryPause, kLongestRetryPause};
  return options;
}

void RecordWorker::watch(control::Watches& watches) {
  records_ = &watches.primary(kRecords);
  records_->add_index(kWaiting, [](const Value& object) {
    std::vector<std::string> at;
    if (!object["spec"]["intents"].empty()) at.push_back(repository_id(object));
    return at;
  });
  watches.changes(kRecords, [this](const Value& before, const Value& after) {
    if (is_same_place(before, after)) return std::vector<ObjectKey>{};
    return keys_below(*records_, kube::ns(after.is_null() ? before : after), package_of(after.is_null() ? before : after));
  });
  watches.also(kRepositories, [this](const Value& repository) {
    return records_->index_keys(kWaiting, kube::key_of(repository).to_string());
  });
}

Task<Outcome> RecordWorker::reconcile(control::Reconcile& run) {
  const Value object = records_->get(run.key);
  if (object.is_null()) {
    resting_.erase(run.key);
    told_.erase(run.key);
    co_return Outcome::settled();
  }
  auto outcome = co_await look_after(run.client, object);
  if (outcome) co_return *outcome;
  // Another writer has appended: the newer record comes through the cache.
  if (outcome.error().reason == Reason::Conflict) co_return Outcome::retries_after(kFirstRetryPause);
  if (outcome.error().reason == Reason::NotFound) {
    const auto there = co_await client::get(run.client, kRecords, run.key);
    if (!there && there.error().reason == Reason::NotFound) co_return Outcome::settled();
  }
  co_await tell(run.client, run.key, outcome.error().message);
  if (outcome.error().reason == Reason::Forbidden && !outcome.error().kind.empty())
    co_return Outcome::retries_after(control::kAuthorRightPause);
  co_return Outcome::failed(std::move(outcome).error());
}

/// Once for each reason: who looks at the revision is to know why it is not in the repository.
Task<> RecordWorker::tell(client::Client& client, ObjectKey key, std::string why) {
  auto stored = co_await get_record(client, key);
  if (!stored || stored->record.intents.empty() || stored->record.not_pushed == why) co_return;
  env_.log.warn("a repository does not take what was decided", {{"revision", key.to_string()}, {"why", why}});
  RevisionRecord next = stored->record;
  next.not_pushed = std::move(why);
  const Value metadata = stored->object["metadata"];
  (void)co_await put_record(client, env_.clock.now(), *std::move(stored), std::move(next), metadata);
}

/// Most changes are verdicts about a draft, which need nothing but a rest: those are not even decoded.
Task<Result<Outcome>> RecordWorker::look_after(client::Client& client, Value object) {
  const bool is_draft = object["spec"]["lifecycle"].as_string() == json::enum_name(Lifecycle::Draft);
  const bool has_work = !object["spec"]["intents"].empty();
  if (!has_work && !missing_upstream(object).empty())
    co_return co_await name_upstream(client, env_.clock.now(), std::move(object));
  if (is_draft && !has_work && kube::label(object, kLatestLabel).empty()) co_return co_await catch_up(client, object);
  resting_.erase(kube::key_of(object));
  SLIPWAY_CO_TRY(stored, read_record(object));
  co_return co_await (has_work ? carry_out(client, std::move(stored)) : keep_up(client, std::move(stored)));
}

Task<Result<Outcome>> RecordWorker::carry_out(client::Client& client, StoredRecord stored) {
  while (!stored.record.intents.empty()) {
    const Intent intent = stored.record.intents.front();
    if (intent.kind == IntentKind::Delete && has_foreign_finalizers(stored.object)) co_return Outcome::settled();
    auto repository = co_await open_repository(client, stored.key().ns, stored.record.repository);
    if (!repository) co_return fail(std::move(repository).error());
    SLIPWAY_CO_TRY(done, co_await carry_out_intent(env_, *repository, stored));
    if (intent.kind == IntentKind::Delete) {
      SLIPWAY_CO_TRY_VOID(co_await confirm(client, *repository, std::move(stored), ""));
      co_return Outcome::settled();
    }
    RevisionRecord next = stored.record;
    if (done.step.kind == GitStep::Kind::Confirm) {
      SLIPWAY_CO_TRY(written, co_await confirm(client, *repository, std::move(stored), done.step.text));
      stored = std::move(written);
      continue;
    }
    if (done.step.kind == GitStep::Kind::Drift) {
      next = drifted(std::move(next), done.step.text);
      if (!done.outside.empty()) {  // the revision is as it was; the branch is not
        next.drift.clear();
        next.outside = done.outside;
      }
    } else {
      next.intents.front() = done.intent;
    }
    const Value metadata = stored.object["metadata"];
    SLIPWAY_CO_TRY(written, co_await put_record(client, env_.clock.now(), std::move(stored), std::move(next), metadata));
    stored = std::move(written);
  }
  co_return Outcome::settled();
}

/// Appends the end of the first intent.
Task<Result<StoredRecord>> RecordWorker::confirm(client::Client& client, OpenRepository repository, StoredRecord stored,
                                                 std::string text) {
  const Intent intent = stored.record.intents.front();
  RevisionRecord next = confirmed(stored.record);
  if (!text.empty()) next.drift = text;
  Value metadata = stored.object["metadata"];
  if (intent.kind == IntentKind::Delete) {
    if (!kube::is_deleting(stored.object)) {
      client::DeleteQuery query;
      query.uid = stored.uid();
      SLIPWAY_CO_TRY_VOID(co_await client::remove(client, kRecords, stored.key(), std::move(query)));
      SLIPWAY_CO_TRY(going, co_await get_record(client, stored.key()));
      stored = std::move(going);
    }
    metadata = kube::without_finalizer(stored.object, kGitFinalizer)["metadata"];
  }
  if (intent.kind == IntentKind::Approve && is_highest(stored, next.revision)) metadata = with_latest(metadata, true);
  if (next.intents.empty()) next.self_lock = repository.lock(next.path, content_ref(next, repository), next.commit);
  co_return co_await put_record(client, env_.clock.now(), std::move(stored), std::move(next), metadata);
}

std::vector<StoredRecord> RecordWorker::siblings(const StoredRecord& stored) const {
  std::vector<StoredRecord> found;
  const PackageKey package = package_of(stored.object);
  for (const ObjectKey& key : keys_below(*records_, stored.key().ns, package)) {
    if (key == stored.key()) continue;
    const Value record = records_->get(key);
    if (package_of(record) != package) continue;
    if (auto read = read_record(record)) found.push_back(*std::move(read));
  }
  return found;
}

bool RecordWorker::is_highest(const StoredRecord& stored, std::int64_t revision) const {
  if (revision <= 0) return false;
  const auto others = siblings(stored);
  return std::ranges::none_of(
      others, [&](const StoredRecord& one) { return is_published(one.record.lifecycle) && one.record.revision > revision; });
}

/// An event for each note that no commit has yet; once, as each has its number.
Task<> RecordWorker::record_flips(client::Client& client, StoredRecord stored) {
  const GitNotes& notes = stored.record.notes;
  const Value about = unjudged_revision(stored);
  std::int64_t number = notes.total - static_cast<std::int64_t>(notes.pending.size());
  const auto known = told_.find(stored.key());
  const std::int64_t told = known == told_.end() ? 0 : known->second;
  for (const GitNote& one : notes.pending) {
    control::EventText text{.reason = one.key == kConditionFlip ? "ConditionFlipped" : "GateKept",
                            .message = one.text,
                            .instance = std::to_string(++number)};
    if (number <= told || (one.key != kConditionFlip && one.key != kGateKept)) continue;
    if (one.key == kGateKept) text.type = "Warning";
    const auto made = co_await control::record_event(env_, client, about, std::move(text), kRecordManager);
    if (made) told_[stored.key()] = number;
  }
}

Task<Result<Outcome>> RecordWorker::keep_up(client::Client& client, StoredRecord stored) {
  co_await record_flips(client, stored);
  const bool is_wanted = is_published(stored.record.lifecycle) && is_highest(stored, stored.record.revision);
  if (is_wanted != stored.is_latest()) {
    const Value metadata = with_latest(stored.object["metadata"], is_wanted);
    RevisionRecord same = stored.record;
    SLIPWAY_CO_TRY_VOID(co_await put_record(client, env_.clock.now(), std::move(stored), std::move(same), metadata));
    co_return Outcome::settled();
  }
  co_return Outcome::settled();
}

Task<Result<Outcome>> RecordWorker::catch_up(client::Client& client, Value object) {
  const ObjectKey key = kube::key_of(object);
  const kube::Revision version = kube::revision(object);
  Rest& rest = resting_[key];
  const Steady now = env_.clock.steady();
  if (rest.version != version) rest = {.version = version, .since = now};
  if (const Duration left = rest.since + kCatchUpRest - now; left > Duration{0}) co_return Outcome::retries_after(left);
  SLIPWAY_CO_TRY(stored, read_record(object));
  co_await record_flips(client, stored);
  const RevisionRecord& record = stored.record;
  const bool is_behind = record.exported != verdicts_digest(record) || has_notes_to_commit(record);
  if (!record.drift.empty() || kube::is_deleting(stored.object)) co_return Outcome::settled();
  if (!is_behind) co_return Outcome::settled();
  SLIPWAY_CO_TRY(repository, co_await open_repository(client, key.ns, stored.record.repository));
  SLIPWAY_CO_TRY(git, git_of(env_));
  const std::string ref = content_ref(stored.record, repository);
  SLIPWAY_CO_TRY(there, co_await git->list_refs(repository.remote, ref));
  const auto at = std::ranges::find(there.refs, ref, &GitRef::name);
  // Others have pushed to it: what they committed is merged first, when the repository is read.
  const bool has_moved = at == there.refs.end() || at->id != stored.record.commit;
  if (has_moved) co_return Outcome::retries_after(kCatchUpRest);
  SLIPWAY_CO_TRY(next, co_await exported(env_, repository, stored.record, kRecordManager));
  const Value metadata = stored.object["metadata"];
  SLIPWAY_CO_TRY_VOID(co_await put_record(client, env_.clock.now(), std::move(stored), std::move(next), metadata));
  co_return Outcome::settled();
}

}  // namespace slipway::delivery::package
