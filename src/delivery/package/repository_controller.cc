#include "delivery/package/repository_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cron_schedule.h"
#include "base/lookup.h"
#include "base/text.h"
#include "control/author_right.h"
#include "control/object_writes.h"
#include "delivery/package/kind.h"
#include "delivery/package/record_index.h"

namespace slipway::delivery::package {
namespace {

using control::Outcome;
using json::Value;
using kube::Object;
using kube::ObjectKey;

constexpr const char* kRepositoryManager = "slipway-package-repository";
constexpr Duration kFirstFetchPause = std::chrono::seconds{1};
constexpr Duration kLongestFetchPause = std::chrono::minutes{5};
constexpr std::size_t kMostFaultsShown = 5;

std::int64_t published_number(const Value& record) {
  const std::string_view lifecycle = record["spec"]["lifecycle"].as_string();
  const bool counts =
      lifecycle == json::enum_name(Lifecycle::Published) || lifecycle == json::enum_name(Lifecycle::DeletionProposed);
  return counts ? record["spec"]["revision"].as_int() : 0;
}

std::map<std::string, std::string> as_map(const GitRefs& refs) {
  std::map<std::string, std::string> by_name;
  for (const GitRef& one : refs.refs) {
    if (one.name.starts_with("refs/heads/") || one.name.starts_with("refs/tags/")) by_name[one.name] = one.id;
  }
  return by_name;
}

Value time_or_null(std::optional<Time> at) { return at ? Value(to_rfc3339(*at)) : Value(); }

}  // namespace

control::ControllerOptions RepositoryController::options() const {
  control::ControllerOptions options;
  options.workers = 8;
  options.reconcile_timeout = std::chrono::minutes{10};
  options.backoff = client::Backoff{kFirstFetchPause, kLongestFetchPause};
  return options;
}

void RepositoryController::watch(control::Watches& watches) {
  repositories_ = &watches.primary(kRepositories);
  records_ = &watches.changes(kRecords, [this](const Value& before, const Value& after) {
    // The branch has moved: what follows it is to be looked at.
    if (after.is_null() || before.is_null()) return std::vector<ObjectKey>{};
    const ObjectKey repository{std::string(kube::ns(after)), after["spec"]["repository"].str()};
    const std::string_view said = kube::annotation(after, kDriftAnnotation);
    const bool is_decided = !said.empty() && said != kube::annotation(before, kDriftAnnotation);
    if (is_decided) decided_.insert(repository);
    return is_decided || published_number(before) != published_number(after) ? std::vector{repository}
                                                                             : std::vector<ObjectKey>{};
  });
}

Task<Outcome> RepositoryController::reconcile(control::Reconcile& run) {
  const Object object = repositories_->get(run.key);
  if (object.is_null() || kube::is_deleting(object)) co_return co_await forget(run.client, run.key);
  const Times times = times_of(object);
  if (const Duration rest = rest_of(object, times); rest > Duration{0}) co_return Outcome::retries_after(rest);
  auto outcome = co_await read_if_due(run.client, object, times);
  co_return co_await tell(run.client, object, times, std::move(outcome));
}

Task<Outcome> RepositoryController::forget(client::Client& client, ObjectKey key) {
  known_.erase(key);
  decided_.erase(key);
  for (const Value& object : records_of(*records_, key.ns, key.name)) {
    const ObjectKey record = kube::key_of(object);
    auto gone = co_await client::remove(client, kRecords, record);
    if (!gone && gone.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(gone).error());
    auto left = co_await client::get(client, kRecords, record);
    if (!left && left.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(left).error());
    if (!left || !kube::has_finalizer(*left, kGitFinalizer)) continue;
    auto freed = co_await control::remove_finalizer(client, kRecords, *left, kGitFinalizer, kRepositoryManager);
    if (!freed) co_return Outcome::failed(std::move(freed).error());
  }
  co_return Outcome::settled();
}

RepositoryController::Times RepositoryController::times_of(const Object& object) const {
  Times times;
  const Value& sync = object["spec"]["sync"];
  const std::string_view given = trimmed(sync["schedule"].as_string());
  const std::string_view schedule = given.empty() ? kDefaultSchedule : given;
  const auto last = kube::time_of(object["status"]["lastFullSyncTime"]);
  if (const auto fault = schedule_fault(schedule)) {
    times.fault = fmt::format("spec.sync.schedule {:?}: {}", schedule, *fault);
  } else if (last) {
    times.next = CronSchedule(schedule).next(*last);
  }
  const auto once = kube::time_of(sync["runOnceAt"]);
  const bool is_heeded = object["status"]["observedRunOnceAt"] == sync["runOnceAt"];
  if (once && !is_heeded) times.run_once = once;
  return times;
}

bool RepositoryController::is_due(const Object& object, const Times& times) const {
  const auto known = known_.find(kube::key_of(object));
  const Time now = env_.clock.now();
  if (decided_.contains(kube::key_of(object))) return true;
  if (known == known_.end() || known->second.generation != kube::generation(object)) return true;
  if (known->second.left_out > 0 && known->second.again <= env_.clock.steady()) return true;
  return (times.next && *times.next <= now) || (times.run_once && *times.run_once <= now);
}

Duration RepositoryController::rest_of(const Object& object, const Times& times) const {
  if (is_due(object, times)) return Duration{0};
  return value_at(known_, kube::key_of(object)).looked + kLookRest - env_.clock.steady();
}

Task<Result<void>> RepositoryController::read_if_due(client::Client& client, Object object, Times times) {
  const ObjectKey key = kube::key_of(object);
  const Steady looked = env_.clock.steady();
  SLIPWAY_CO_TRY(git, git_of(env_));
  SLIPWAY_CO_TRY(plain, read_repository(object));
  SLIPWAY_CO_TRY(repository, co_await with_credentials(client, key.ns, plain));
  if (!is_due(object, times)) {
    SLIPWAY_CO_TRY(refs, co_await git->list_refs(repository.remote, "refs/"));
    known_[key].looked = looked;
    if (as_map(refs) == known_[key].refs) co_return Result<void>{};
  }
  const bool was_decided = decided_.erase(key) > 0;  // what is said from here on asks for another reading
  std::vector<StoredRecord> records;
  for (const Value& one : records_of(*records_, key.ns, key.name)) {
    SLIPWAY_CO_TRY(stored, read_record(one));
    records.push_back(std::move(stored));
  }
  auto reading = co_await read_repository_as_a_whole(env_, client, repository, key.ns, std::move(records), known_[key].branch);
  if (!reading && was_decided) decided_.insert(key);
  if (!reading) co_return fail(std::move(reading).error());
  const Value status = object["status"]
                           .with("lastFullSyncTime", to_rfc3339(env_.clock.now()))
                           .with("packageCount", reading->revisions)
                           .with("gitCommitHash", reading->commit);
  const bool was_once = times.run_once && *times.run_once <= env_.clock.now();
  auto written = co_await control::write_status(
      client, kRepositories, object, was_once ? status.with("observedRunOnceAt", object["spec"]["sync"]["runOnceAt"]) : status,
      kRepositoryManager);
  if (!written && written.error().reason != Reason::NotFound) co_return fail(std::move(written).error());
  // Only now: what failed above is done again.
  const int left_out = reading->is_whole ? 0 : known_[key].left_out + 1;
  known_[key] = {.generation = kube::generation(object),
                 .looked = looked,
                 .refs = std::move(reading->refs),
                 .branch = {.tip = reading->commit, .packages = std::move(reading->packages)},
                 .faults = std::move(reading->faults),
                 .left_out = left_out,
                 .again = env_.clock.steady() + client::Backoff{kFirstFetchPause, kLongestFetchPause}.after(left_out - 1)};
  co_return Result<void>{};
}

Task<Outcome> RepositoryController::tell(client::Client& client, Object object, Times times, Result<void> outcome) {
  // A conflict is the cache's lag: nothing of the repository's.
  if (!outcome && outcome.error().reason == Reason::Conflict) co_return Outcome::retries_after(kFirstFetchPause);
  auto newest = co_await client::get(client, kRepositories, kube::key_of(object));
  if (!newest && newest.error().reason == Reason::NotFound) co_return Outcome::settled();
  if (!newest) co_return Outcome::failed(std::move(newest).error());
  const Known& known = known_[kube::key_of(object)];
  std::vector<std::string> shown(known.faults.begin(), known.faults.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                                  known.faults.size(), kMostFaultsShown)));
  if (!times.fault.empty()) shown.insert(shown.begin(), times.fault);
  kube::Condition ready{"Ready", "True", "Ready", shown.empty() ? "Repository Ready" : joined(shown, "; ")};
  const Author author = author_of(object);
  const bool lacks = !outcome && control::lacks_right(outcome.error(), author.get());
  if (!outcome) ready = {"Ready", "False", lacks ? control::lacks_right_cause(*author) : "Error", outcome.error().message};
  const Times after = times_of(*newest);
  Value status = (*newest)["status"].with("observedGeneration", kube::generation(*newest));
  status = after.next ? status.with("nextFullSyncTime", time_or_null(after.next)) : status.without("nextFullSyncTime");
  status = status.with("conditions", control::observed_status(*newest, status, {ready}, env_.clock.now())["conditions"]);
  auto written = co_await control::write_status(client, kRepositories, *newest, status, kRepositoryManager);
  if (!written && written.error().reason == Reason::Conflict) co_return Outcome::retries_after(kFirstFetchPause);
  if (lacks) co_return Outcome::retries_after(control::kAuthorRightPause);
  if (!outcome) co_return Outcome::failed(std::move(outcome).error());
  if (!written && written.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(written).error());
  Duration wait = kLookEvery;
  if (known.left_out > 0) wait = std::clamp<Duration>(known.again - env_.clock.steady(), kFirstFetchPause, wait);
  for (const auto& at : {after.next, after.run_once}) {
    if (at) wait = std::clamp<Duration>(*at - env_.clock.now(), kFirstFetchPause, wait);
  }
  co_return Outcome::retries_after(wait);
}

}  // namespace slipway::delivery::package
