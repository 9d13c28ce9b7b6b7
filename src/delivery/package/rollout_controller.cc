#include "delivery/package/rollout_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "control/author_right.h"
#include "control/object_writes.h"
#include "delivery/package/kind.h"
#include "delivery/package/repository_access.h"
#include "delivery/package/rollout_world.h"

namespace slipway::delivery::package {
namespace {

using control::Outcome;
using json::Value;

/// A commit that could not be compared is not asked about more often.
constexpr Duration kDoubtPause = std::chrono::seconds{30};
constexpr std::size_t kMostWaits = 10;

std::string upstream_package(const kube::Object& rollout) {
  const Value& upstream = rollout["spec"]["upstream"];
  return package_id(kube::ns(rollout), upstream["repo"].as_string(), upstream["package"].as_string());
}

bool is_same_for_rollouts(const kube::Object& before, const kube::Object& after) {
  if (before.is_null() || after.is_null()) return false;
  for (const char* field : {"lifecycle", "revision", "commit", "digest", "intents", "upstreamLock", "votes"}) {
    if (before["spec"][field] != after["spec"][field]) return false;
  }
  const Value& was = before["metadata"];
  const Value& is = after["metadata"];
  return was["labels"] == is["labels"] && was["annotations"] == is["annotations"] &&
         was["deletionTimestamp"] == is["deletionTimestamp"];
}

}  // namespace

RolloutController::RolloutController(const ControllerContext& context, std::shared_ptr<RecordIndex> records)
    : env_(context.env),
      http_(context.http),
      acts_as_(context.acts_as),
      records_(records),
      policies_(context.env, std::move(records)),
      wall_(context.env.clock) {}

void RolloutController::watch(control::Watches& watches) {
  rollouts_ = &watches.primary(kRollouts);
  records_->attach(watches);
  watches.changes(kRecords, [this](const Value& before, const Value& after) { return woken_by(before, after); });
  policies_.attach(watches, [this](std::string_view ns) { return rollouts_in(ns); });
  repositories_ = &watches.changes(kRepositories, [this](const Value& before, const Value& after) {
    if (before["spec"] == after["spec"]) return std::vector<Key>{};
    return rollouts_in(kube::ns(after.is_null() ? before : after));
  });
  reports_.attach(watches, [this, enqueue = watches.enqueue()] {
    for (const Key& key : rollouts_->keys()) enqueue(key);
  });
}

std::vector<kube::ObjectKey> RolloutController::rollouts_in(std::string_view ns) const {
  std::vector<Key> keys;
  for (const Key& key : rollouts_->keys(ns)) keys.push_back(key);
  return keys;
}

std::vector<kube::ObjectKey> RolloutController::woken_by(const kube::Object& before, const kube::Object& after) const {
  if (is_same_for_rollouts(before, after)) return {};
  const kube::Object& one = after.is_null() ? before : after;
  std::vector<Key> keys;
  const Value& lock = one["spec"]["upstreamLock"]["git"];
  for (const auto& [key, rollout] : rollouts_->objects(kube::ns(one))) {
    const kube::Object repository = repositories_->get({key.ns, rollout["spec"]["upstream"]["repo"].str()});
    const auto place = place_of(repository, rollout["spec"]["upstream"]["package"].as_string());
    const bool follows = place && plain_url(lock["repo"].as_string()) == plain_url(place->url) &&
                         plain_path(lock["directory"].as_string()) == plain_path(place->path);
    if (follows || package_id(one) == upstream_package(rollout)) keys.push_back(key);
  }
  return keys;
}

Task<Outcome> RolloutController::reconcile(control::Reconcile& run) {
  Rollout rollout{.object = rollouts_->get(run.key)};
  if (rollout.object.is_null() || kube::is_deleting(rollout.object)) {
    if (!rollout.object.is_null()) asked_.erase(std::string(kube::uid(rollout.object)));
    co_return Outcome::settled();
  }
  auto spec = json::decode<PackageRolloutSpec>(rollout.object["spec"], "spec", {.allow_unknown = true});
  if (!spec) co_return co_await refuse(run, rollout.object, spec.error().message);
  if (const std::vector<Cause> causes = check(*spec); !causes.empty())
    co_return co_await refuse(run, rollout.object, causes.front().field + ": " + causes.front().message);
  const Value status = rollout.object["status"].is_object() ? rollout.object["status"] : Value::empty_object();
  auto recorded = json::decode<PackageRolloutStatus>(status, "status", {.allow_unknown = true});
  // Without its record nothing may be approved: what was may not be known.
  if (!recorded) co_return co_await refuse(run, rollout.object, "the status cannot be read: " + recorded.error().message);
  rollout.spec = *std::move(spec);
  rollout.spec.upstream.package = plain_path(rollout.spec.upstream.package);
  rollout.record = *recorded;
  std::vector<Doubt> doubts;
  look(rollout, doubts);
  if (co_await settle(run, doubts)) look(rollout, doubts);
  const RolloutDecision decision = decide(rollout.spec, rollout.record, rollout.world);
  if (auto may = co_await check_rights(run, rollout, decision); !may) {
    const Author author = author_of(rollout.object, acts_as_);
    if (!control::lacks_right(may.error(), author.get())) co_return Outcome::failed(std::move(may).error());
    const Outcome told = co_await refuse(run, rollout.object, control::lacks_right_text(may.error(), *author),
                                         control::lacks_right_cause(*author));
    co_return told.kind == Outcome::Kind::Failed ? told : Outcome::retries_after(control::kAuthorRightPause);
  }
  auto stored = co_await store(run, rollout, decision);
  if (!stored) co_return Outcome::failed(std::move(stored).error());
  auto done = co_await carry_out(run, rollout, decision);
  if (!done) co_return Outcome::failed(std::move(done).error());
  std::optional<Time> wake = decision.wake;
  for (const auto& [key, asked] : asked_[std::string(kube::uid(rollout.object))]) {
    const bool is_open = std::ranges::any_of(
        decision.effects, [&](const RolloutEffect& one) { return one.kind == RolloutEffect::Kind::Ask && one.target == key; });
    if (!is_open) continue;
    const bool is_decided = !asked.next;
    const Time due = is_decided ? wall_.now().time() : *asked.next;
    wake = wake ? std::min(*wake, due) : due;
  }
  if (!doubts.empty() && !wake) wake = wall_.now().time() + kDoubtPause;
  if (!wake) co_return Outcome::settled();
  co_return Outcome::retries_after(std::max<Duration>(*wake - wall_.now().time(), std::chrono::milliseconds{1}));
}

void RolloutController::look(Rollout& rollout, std::vector<Doubt>& doubts) {
  const std::string ns(kube::ns(rollout.object));
  const Upstream& upstream = rollout.spec.upstream;
  const auto place = place_of(repositories_->get({ns, upstream.repo}), upstream.package);
  doubts.clear();
  rollout.world = {.now = wall_.now(), .newest_upstream = records_->newest(ns, {upstream.repo, upstream.package})};
  if (rollout.world.newest_upstream < upstream.revision) {
    rollout.world.no_upstream =
        place ? fmt::format("package {}/{} has no published revision {}", upstream.repo, upstream.package, upstream.revision)
              : fmt::format("Repository {} is not there, or cannot be used", upstream.repo);
  }
  for (const auto& [key, asked] : asked_[std::string(kube::uid(rollout.object))]) rollout.world.answers[key] = asked.verdict;
  rollout.followers = place ? records_->from_upstream(ns, place->url, place->path) : std::vector<RecordIndex::Known>{};
  const RolloutSight sight{
      .sync =
          [&](const StoredRecord& published) {
            const RevisionRecord& record = published.record;
            const auto where = place_of(repositories_->get({ns, record.repository}), record.path);
            if (!where) return SyncView{.text = fmt::format("repository {} cannot be read", record.repository)};
            SyncView view = package::look(reports_.of(where->url), *where, record.commit, ancestry_);
            for (const std::string& commit : view.unknown) doubts.push_back({record.repository, commit, record.commit});
            return view;
          },
      .objection =
          [&](const StoredRecord& proposal) {
            const ApproveDecision said = policies_.decide(proposal, rollout.world.now);
            const bool agrees = said.kind == ApproveDecision::Kind::NotAsked || said.kind == ApproveDecision::Kind::Approve;
            return agrees ? std::string() : said.text.empty() ? std::string("its policies do not agree") : said.text;
          },
      .now = rollout.world.now};
  rollout.world.targets = targets_of(rollout.spec, rollout.followers, sight);
}

/// Asks Git about commits that clusters report. True: something is known now that was not.
Task<bool> RolloutController::settle(control::Reconcile& run, std::vector<Doubt> doubts) {
  bool is_news = false;
  for (const Doubt& doubt : doubts) {
    if (env_.git == nullptr) co_return is_news;
    const auto last = unanswered_.find(doubt);
    if (last != unanswered_.end() && env_.clock.steady() < last->second + kDoubtPause) continue;
    unanswered_[doubt] = env_.clock.steady();
    auto repository = co_await open_repository(run.client, run.key.ns, doubt.repository);
    if (!repository) continue;
    auto answer = co_await env_.git->is_ancestor(repository->remote, doubt.published, doubt.reported);
    if (!answer && answer.error().reason == Reason::NotFound) {
      auto fetched = co_await env_.git->fetch(repository->remote, repository->branch_ref());
      if (fetched) answer = co_await env_.git->is_ancestor(repository->remote, doubt.published, doubt.reported);
    }
    if (!answer || !*answer) continue;
    ancestry_.insert({doubt.reported, doubt.published});
    unanswered_.erase(doubt);
    is_news = true;
  }
  co_return is_news;
}

Task<Result<void>> RolloutController::store(control::Reconcile& run, Rollout rollout, RolloutDecision decision) {
  const Value status = rollout_status(rollout.object, decision, rollout.world.targets, env_.clock.now());
  auto written = co_await control::write_status(run.client, kRollouts, rollout.object, status, kRolloutManager);
  if (!written) co_return fail(std::move(written).error());
  co_return Result<void>{};
}

Task<Outcome> RolloutController::refuse(control::Reconcile& run, kube::Object object, std::string why, std::string reason) {
  const Time now = env_.clock.now();
  const Value conditions =
      kube::set_condition(object["status"]["conditions"], {"Ready", "False", std::move(reason), std::move(why)}, now);
  auto told = co_await control::write_status(run.client, kRollouts, object, object["status"].with("conditions", conditions),
                                             kRolloutManager);
  if (!told && told.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(told).error());
  co_return Outcome::settled();
}

Value rollout_status(const kube::Object& object, const RolloutDecision& decision, const std::vector<TargetView>& targets,
                     Time now) {
  PackageRolloutStatus status;
  static_cast<RolloutRecord&>(status) = decision.record;
  for (const TargetView& one : targets) {
    ++status.targets;
    status.approved += one.is_approved() ? 1 : 0;
    status.healthy += one.state == TargetState::Healthy ? 1 : 0;
    status.failed += one.state == TargetState::Failed ? 1 : 0;
  }
  std::vector<std::string> waits = decision.waits;
  if (waits.size() > kMostWaits) {
    const std::size_t more = waits.size() - kMostWaits;
    waits.resize(kMostWaits);
    waits.push_back(fmt::format("and {} more", more));
  }
  const std::string phase(json::enum_name(decision.record.phase));
  const bool is_live = decision.record.phase == RolloutPhase::Progressing || decision.record.phase == RolloutPhase::BackingOut;
  std::string text = joined(waits, "; ");
  const std::string& said = decision.record.message;  // the wait of a stopped rollout has it too
  if (!text.contains(said)) text = said + (text.empty() ? "" : "; " + text);
  Value conditions = object["status"]["conditions"];
  conditions = kube::set_condition(conditions, {"Ready", "True", "Valid", "the rollout is followed"}, now);
  conditions = kube::set_condition(conditions, {"Progressing", is_live ? "True" : "False", phase, text}, now);
  return json::encode(status).with("conditions", conditions);
}

}  // namespace slipway::delivery::package
