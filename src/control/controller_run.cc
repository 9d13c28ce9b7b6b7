#include "control/controller_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>

#include "base/check.h"
#include "control/events.h"
#include "control/object_writes.h"
#include "kube/api_group.h"

namespace slipway::control {

namespace {

/// How long a reconcile waits for the cache to show what the last one has written, before its object is put off.
constexpr Duration kWaitForWrites = std::chrono::seconds{30};
/// A tenant that uses less than the workers divided by this is never kept waiting by those that use more.
constexpr std::size_t kSharesOfWorkers = 4;
/// Type of the condition, and reason of the event, of an object whose reconcile goes on failing.
constexpr const char* kReconcileError = "ReconcileError";
constexpr int kMaxConditionTries = 3;  // to write that condition while others write the object

ObjectKey key_of_change(const Value& before, const Value& after) { return kube::key_of(after.is_null() ? before : after); }

}  // namespace

/// Watches on the home cluster hold leases for the controller's life.
class ControllerRun::HomeWatches : public Watches {
 public:
  explicit HomeWatches(ControllerRun& run) : run_(run) {}

  Informer& primary(const Resource& resource) override {
    Informer& kept = keep(resource, Form::Whole, [&queue = run_.queue_](const Value& before, const Value& after) {
      queue.add(key_of_change(before, after));
    });
    if (!std::exchange(has_primary_, true)) run_.primary_ = &kept;
    return kept;
  }

  Informer& also(const Resource& resource, Mapper mapper) override {
    return changes(
        resource,
        [mapper = std::move(mapper)](const Value& before, const Value& after) {
          std::set<ObjectKey> keys;
          for (const Value* state : {&before, &after}) {
            if (state->is_null()) continue;
            for (ObjectKey& key : mapper(*state)) keys.insert(std::move(key));
          }
          return std::vector<ObjectKey>(keys.begin(), keys.end());
        },
        Form::Whole);
  }

  Informer& changes(const Resource& resource, ChangeMapper mapper, Form form) override {
    Informer& kept =
        keep(resource, form, [&queue = run_.queue_, mapper = std::move(mapper)](const Value& before, const Value& after) {
          for (const ObjectKey& key : mapper(before, after)) queue.add(key);
        });
    if (run_.primary_ == nullptr) run_.primary_ = &kept;
    return kept;
  }

  Informer& cache(const Resource& resource) override { return keep(resource, Form::Whole, nullptr); }

  InformerLease lease(const std::string& cluster, const Resource& resource, Form form) override {
    InformerPool* pool = run_.caches_(cluster);
    return pool == nullptr ? InformerLease() : pool->take(resource, form);
  }

  const std::string& home() const override { return run_.home_; }
  Clusters& clusters() override { return run_.clusters_; }

  /// The controller's watch() has ended.
  void complete() {
    is_complete_ = true;
    for (auto& [lease, handler] : std::exchange(waiting_, {})) lease->on_change(std::move(handler));
  }

  std::function<void(const ObjectKey&)> enqueue() override {
    return [&queue = run_.queue_](const ObjectKey& key) { queue.add(key); };
  }

 private:
  /// A cache may have its objects already, and handlers are told of them at once: they are added when watch() has ended and
  /// the controller knows all its caches.
  Informer& keep(const Resource& resource, Form form, Informer::Handler handler) {
    InformerLease taken = lease(run_.home_, resource, form);
    SLIPWAY_CHECK(static_cast<bool>(taken), "the home of a controller is known");
    run_.own_caches_.push_back(std::move(taken));
    InformerLease& kept = run_.own_caches_.back();
    if (!handler) return *kept;
    if (is_complete_) {
      kept.on_change(std::move(handler));
    } else {
      waiting_.emplace_back(&kept, std::move(handler));
    }
    return *kept;
  }

  ControllerRun& run_;
  bool is_complete_ = false;
  bool has_primary_ = false;
  std::vector<std::pair<InformerLease*, Informer::Handler>> waiting_;
};

ControllerRun::ControllerRun(Env& env, Clusters& clusters, Tasks& tasks, Caches caches, std::string home,
                             std::unique_ptr<Controller> controller)
    : env_(env),
      clusters_(clusters),
      tasks_(tasks),
      caches_(std::move(caches)),
      home_(std::move(home)),
      controller_(std::move(controller)),
      options_(controller_->options()),
      queue_(env, options_.backoff),
      hold_{options_.worker_hold, &Running::has_no_worker, &ControllerRun::free_worker},
      overdue_{options_.reconcile_timeout, &Running::is_overdue, &ControllerRun::report_overdue},
      agent_("slipway-" + controller_->name()),
      name_(controller_->name()),
      failures_(env, agent_),
      watches_(std::make_unique<HomeWatches>(*this)) {
  controller_->watch(*watches_);
  watches_->complete();
}

ControllerRun::~ControllerRun() = default;

void ControllerRun::start() {
  started_at_ = env_.clock.steady();
  tasks_.spawn(dispatch());
}

/// One task per controller takes keys and starts a child for each, so that idle workers cost nothing.
Task<> ControllerRun::dispatch() {
  co_await wait_for_caches();
  is_ready_ = true;
  for (;;) {
    auto key = next_key();
    if (!key) {
      co_await queue_.changed().wait();
      continue;
    }
    ++busy_;
    ++load_of_[key->ns].working;
    running_[*key] = {.since = env_.clock.steady()};
    arm_timer(hold_);
    arm_timer(overdue_);
    tasks_.spawn(reconcile(std::move(*key)));
  }
}

/// A tenant below its share comes first, and does not wait for a worker of the others.
std::optional<ObjectKey> ControllerRun::next_key() {
  const std::size_t share = std::max<std::size_t>(1, options_.workers / kSharesOfWorkers);
  const auto load_of = [this](const std::string& tenant) {
    const auto load = load_of_.find(tenant);
    return load == load_of_.end() ? Load{} : load->second;
  };
  if (busy_ < 2 * options_.workers) {
    const auto is_below_share = [&](const std::string& tenant) {
      const Load load = load_of(tenant);
      return load.working < share && load.waiting < options_.max_waiting;
    };
    if (auto key = queue_.take_if(is_below_share)) return key;
  }
  if (busy_ >= options_.workers) return std::nullopt;
  return queue_.take_if([&](const std::string& tenant) { return load_of(tenant).waiting < options_.max_waiting; });
}

void ControllerRun::free_worker(const ObjectKey& key, const Running&) {
  --busy_;
  Load& load = load_of_[key.ns];
  --load.working;
  ++load.waiting;
  queue_.changed().notify();
}

/// Waits for the caches that watch() has asked for. Says what it waits for when that takes longer than it should.
Task<> ControllerRun::wait_for_caches() {
  const auto warning = env_.clock.call_at(started_at_ + options_.sync_timeout, [this] {
    std::vector<Hindrance> missing;
    add_hindrances(missing);
    for (const Hindrance& each : missing) env_.log.warn(each.to_string());
  });
  // Later caches are not waited for; those of this moment may not move.
  const std::size_t wanted = own_caches_.size();
  for (std::size_t i = 0; i < wanted; ++i) co_await own_caches_[i]->wait_synced();
}

Task<> ControllerRun::reconcile(ObjectKey key) {
  if (auto node = written_.extract(key)) {
    std::vector<Written> written = node.mapped();
    if (!co_await wait_written(std::move(node.mapped()))) {
      // An old cache is not looked at: the object waits on, without holding a worker.
      written_[key] = std::move(written);
      put_off_.try_emplace(key, env_.clock.steady());
      queue_.add_backed_off(key);
      finished(key);
      co_return;
    }
  }
  put_off_.erase(key);
  const TrackingClient::Options tracking{env_.clock, agent_, env_.clock.steady() + options_.reconcile_timeout};
  Reconcile run(key, home_, clusters_, tracking);
  const Outcome outcome = co_await reconcile_guarded(run);
  note_written(key, run.take_written());
  settle(key, outcome);
  finished(key);
}

/// The only place that catches what reconciles throw. Reconciles report errors as Outcomes; an exception is a mistake of ours
/// that some object brings out, and that object alone is to fail.
Task<Outcome> ControllerRun::reconcile_guarded(Reconcile& run) {
  try {
    co_return co_await controller_->reconcile(run);
  } catch (const std::exception& thrown) {
    co_return Outcome::failed(fail(Reason::InternalError, fmt::format("the reconcile threw: {}", thrown.what())).error());
  } catch (...) {
    co_return Outcome::failed(fail(Reason::InternalError, "the reconcile threw what is no std::exception").error());
  }
}

Task<bool> ControllerRun::wait_written(std::vector<Written> written) {
  const Steady deadline = env_.clock.steady() + kWaitForWrites;
  for (const Written& write : written) {
    const auto informer = cache_of(write);
    if (informer == nullptr) continue;
    bool is_seen = true;
    if (write.revision > 0) {
      is_seen = co_await informer->wait_for(write.revision, deadline);
    } else if (!write.gone_uid.empty()) {
      is_seen = co_await informer->wait_gone(write.key, write.gone_uid, deadline);
    } else if (!write.deleted_uid.empty()) {
      is_seen = co_await informer->wait_deleted(write.key, write.deleted_uid, deadline);
    }
    if (!is_seen && !informer->is_stopped()) co_return false;
  }
  co_return true;
}

std::shared_ptr<Informer> ControllerRun::cache_of(const Written& write) const {
  const InformerPool* pool = caches_(write.cluster);
  return pool == nullptr ? nullptr : pool->find(write.resource);
}

bool ControllerRun::is_seen(const Written& write) const {
  const auto informer = cache_of(write);
  if (informer == nullptr || informer->is_stopped()) return true;
  return write.revision > 0 && informer->revision() >= write.revision;
}

/// Most writes are seen long before their object is looked at again: memory is for the others.
void ControllerRun::note_written(const ObjectKey& key, std::vector<Written> written) {
  if (!written.empty()) written_[key] = std::move(written);
  if (written_.size() < most_written_) return;
  std::erase_if(written_, [this](const auto& one) {
    return std::ranges::all_of(one.second, [this](const Written& write) { return is_seen(write); });
  });
  most_written_ = 64 + 2 * written_.size();
}

void ControllerRun::settle(const ObjectKey& key, const Outcome& outcome) {
  env_.metrics.count("slipway_reconcile_total", {{"controller", name_}}, 1);
  const std::size_t lasting = failures_.lasting();
  switch (outcome.kind) {
    case Outcome::Kind::Settled:
      note_success(key);
      break;
    case Outcome::Kind::RetriesAfter:
      note_success(key);
      queue_.add_after(key, outcome.after);
      break;
    case Outcome::Kind::Failed:
      env_.metrics.count("slipway_reconcile_errors_total", {{"controller", name_}}, 1);
      failures_.record(key, outcome.error);
      queue_.add_backed_off(key);
      if (primary_ == nullptr || !failures_.is_due_on_object(key)) break;
      if (const Value object = primary_->get(key); !object.is_null()) tasks_.spawn(record_failure(object, outcome.error));
      break;
  }
  if (failures_.lasting() == lasting) return;
  env_.metrics.gauge("slipway_reconcile_failing", {{"controller", name_}}, static_cast<double>(failures_.lasting()));
}

void ControllerRun::note_success(const ObjectKey& key) {
  queue_.forget(key);
  failures_.forget(key);
  if (primary_ == nullptr || !writes_condition()) return;
  // This process or an earlier one wrote it. Of several controllers of a kind each removes its own.
  const std::string_view message = kube::condition(primary_->get(key), kReconcileError)["message"].as_string();
  if (message.starts_with(agent_ + ": ")) tasks_.spawn(write_failure_condition(key, std::nullopt));
}

/// Kubernetes' kinds have the conditions that Kubernetes gives them, and no others.
bool ControllerRun::writes_condition() const { return !kube::is_kubernetes_group(primary_->resource().group); }

/// An event and, on kinds of our own, a condition. Beside the reconciles; its own failure is ignored, for the log has the
/// cause.
Task<> ControllerRun::record_failure(Value object, Status cause) {
  auto client = clusters_.find(home_);
  if (client == nullptr) co_return;
  const ObjectKey key = kube::key_of(object);
  EventText text{.type = "Warning", .reason = kReconcileError, .message = cause.message, .instance = name_, .is_series = true};
  static_cast<void>(co_await record_event(env_, *client, std::move(object), std::move(text), agent_));
  if (writes_condition() && failures_.is_lasting(key)) co_await write_failure_condition(key, std::move(cause));
}

/// Sets the condition ReconcileError; without a cause it is removed.
Task<> ControllerRun::write_failure_condition(ObjectKey key, std::optional<Status> cause) {
  auto client = clusters_.find(home_);
  for (int tries = 0; client != nullptr && tries < kMaxConditionTries; ++tries) {
    const auto live = co_await client::get(*client, primary_->resource(), key);
    if (!live || failures_.is_lasting(key) != cause.has_value()) co_return;
    Value status = (*live)["status"].is_object() ? (*live)["status"] : Value::empty_object();
    if (cause) {
      const kube::Condition condition{.type = kReconcileError,
                                      .status = "True",
                                      .reason = std::string(to_string(cause->reason)),
                                      .message = fmt::format("{}: {}", agent_, cause->message)};
      status = status.with("conditions", kube::set_condition(status["conditions"], condition, env_.clock.now()));
    } else {
      status = kube::without_condition(status, kReconcileError);
    }
    const auto written = co_await write_status(*client, primary_->resource(), *live, status, agent_);
    if (written || written.error().reason != Reason::Conflict) co_return;
  }
}

void ControllerRun::finished(const ObjectKey& key) {
  const auto found = running_.find(key);
  const auto load = load_of_.find(key.ns);
  if (found->second.has_no_worker) {
    --load->second.waiting;
  } else {
    --busy_;
    --load->second.working;
  }
  if (load->second.working == 0 && load->second.waiting == 0) load_of_.erase(load);
  running_.erase(found);
  if (running_.empty()) hold_.timer.reset(), overdue_.timer.reset();
  queue_.done(key);
}

void ControllerRun::arm_timer(TimeLimit& limit) {
  if (limit.timer != nullptr) return;
  std::optional<Steady> next;
  for (const auto& [key, running] : running_) {
    const Steady due = running.since + limit.after;
    if (!(running.*limit.is_past)) next = std::min(next.value_or(due), due);
  }
  if (next) limit.timer = env_.clock.call_at(*next, [this, &limit] { handle_expired(limit); });
}

void ControllerRun::handle_expired(TimeLimit& limit) {
  const auto fired = std::move(limit.timer);
  for (auto& [key, running] : running_) {
    if (running.*limit.is_past || env_.clock.steady() < running.since + limit.after) continue;
    running.*limit.is_past = true;
    (this->*limit.act)(key, running);
  }
  arm_timer(limit);
}

void ControllerRun::report_overdue(const ObjectKey& key, const Running& running) {
  env_.metrics.count("slipway_reconcile_overdue_total", {{"controller", name_}}, 1);
  env_.log.warn(hindrance(Hindrance::Kind::ReconcileOverdue, key.to_string(), running.since).to_string());
}

Hindrance ControllerRun::hindrance(Hindrance::Kind kind, std::string subject, Steady since) const {
  return {kind, controller_->name(), home_, std::move(subject), {}, since};
}

void ControllerRun::add_hindrances(std::vector<Hindrance>& to) const {
  std::set<Resource> told;
  for (const InformerLease& cache : own_caches_) {
    const bool is_missing = !is_ready_ && !cache->is_synced();
    const bool is_failing = is_ready_ && cache->failure().has_value();
    if ((!is_missing && !is_failing) || !told.insert(cache->resource()).second) continue;
    const auto kind = is_missing ? Hindrance::Kind::CacheNotSynced : Hindrance::Kind::CacheFails;
    Hindrance each = hindrance(kind, cache->resource().group_resource(), started_at_);
    if (cache->failure()) each.message = cache->failure()->message;
    to.push_back(std::move(each));
  }
  for (const auto& [key, running] : running_) {
    if (running.is_overdue) to.push_back(hindrance(Hindrance::Kind::ReconcileOverdue, key.to_string(), running.since));
  }
  for (const auto& [key, since] : put_off_) to.push_back(hindrance(Hindrance::Kind::WriteNotSeen, key.to_string(), since));
}

}  // namespace slipway::control
