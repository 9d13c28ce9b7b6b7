#include <map>
#include <set>

#include "base/check.h"
#include "control/controller.h"
#include "control/queue.h"
#include "control/tracking_client.h"

namespace slipway::control {

namespace {

ObjectKey key_of_change(const Value& before, const Value& after) { return kube::key_of(after.is_null() ? before : after); }

void add_all(Queue& queue, const std::vector<ObjectKey>& keys) {
  for (const ObjectKey& key : keys) queue.add(key);
}

/// One controller with its queue.
struct Row {
  Row(Env& env, std::unique_ptr<Controller> it) : controller(std::move(it)), queue(env), slot_free(env) {
    agent = "slipway-" + controller->name();
    metric_labels = "controller=\"" + controller->name() + "\"";
  }

  std::unique_ptr<Controller> controller;
  Queue queue;
  Signal slot_free;
  std::size_t running = 0;
  /// What the last reconcile of a key has written: to be seen before its next.
  std::map<ObjectKey, std::vector<Written>> written;
  std::string agent;
  std::string metric_labels;
};

}  // namespace

struct Runtime::Impl {
  Impl(Env& environment, Client& through) : env(environment), client(through), tasks(environment) {}

  Informer& informer(const Resource& resource);
  Task<> wait_synced();
  Task<> dispatch(Row& row);
  Task<> reconcile(Row& row, ObjectKey key);
  Task<> wait_written(std::vector<Written> written);
  void settle(Row& row, const ObjectKey& key, const Outcome& outcome);

  Env& env;
  Client& client;
  std::map<Resource, std::unique_ptr<Informer>> informers;
  std::vector<std::unique_ptr<Row>> rows;
  Tasks tasks;
  bool is_started = false;
};

namespace {

class RowWatches : public Watches {
 public:
  RowWatches(Runtime::Impl& impl, Queue& queue) : impl_(impl), queue_(queue) {}

  Informer& primary(const Resource& resource) override {
    Informer& informer = impl_.informer(resource);
    informer.add_handler(
        [&queue = queue_](const Value& before, const Value& after) { queue.add(key_of_change(before, after)); });
    return informer;
  }

  Informer& also(const Resource& resource, Mapper mapper) override {
    return changes(resource, [mapper = std::move(mapper)](const Value& before, const Value& after) {
      std::set<ObjectKey> keys;
      for (const Value* state : {&before, &after}) {
        if (state->is_null()) continue;
        for (ObjectKey& key : mapper(*state)) keys.insert(std::move(key));
      }
      return std::vector<ObjectKey>(keys.begin(), keys.end());
    });
  }

  Informer& changes(const Resource& resource, ChangeMapper mapper) override {
    Informer& informer = impl_.informer(resource);
    informer.add_handler([&queue = queue_, mapper = std::move(mapper)](const Value& before, const Value& after) {
      add_all(queue, mapper(before, after));
    });
    return informer;
  }

  Informer& cache(const Resource& resource) override { return impl_.informer(resource); }

  std::function<void(const ObjectKey&)> enqueue() override {
    return [&queue = queue_](const ObjectKey& key) { queue.add(key); };
  }

 private:
  Runtime::Impl& impl_;
  Queue& queue_;
};

}  // namespace

Watches::Mapper Watches::owner_of_kind(std::string kind) {
  return [kind = std::move(kind)](const Value& object) {
    const Value& owner = kube::controller_of(object);
    std::vector<ObjectKey> keys;
    if (owner["kind"].as_string() == kind) keys.push_back({std::string(kube::ns(object)), owner["name"].str()});
    return keys;
  };
}

Runtime::Runtime(Env& env, Client& client) : impl_(std::make_unique<Impl>(env, client)) {}
Runtime::~Runtime() = default;

void Runtime::add(std::unique_ptr<Controller> controller) {
  impl_->rows.push_back(std::make_unique<Row>(impl_->env, std::move(controller)));
  Row& row = *impl_->rows.back();
  RowWatches watches(*impl_, row.queue);
  row.controller->watch(watches);
}

Informer& Runtime::informer(const Resource& resource) { return impl_->informer(resource); }

void Runtime::start() {
  SLIPWAY_CHECK(!impl_->is_started);
  impl_->is_started = true;
  for (auto& [resource, informer] : impl_->informers) impl_->tasks.spawn(informer->run());
  for (auto& row : impl_->rows) impl_->tasks.spawn(impl_->dispatch(*row));
}

Task<> Runtime::wait_synced() { return impl_->wait_synced(); }

bool Runtime::is_idle() const {
  for (const auto& row : impl_->rows) {
    if (!row->queue.is_idle()) return false;
  }
  return true;
}

Informer& Runtime::Impl::informer(const Resource& resource) {
  auto& informer = informers[resource];
  if (informer == nullptr) {
    SLIPWAY_CHECK(!is_started, "informers are made before start()");
    informer = std::make_unique<Informer>(env, client, resource);
  }
  return *informer;
}

Task<> Runtime::Impl::wait_synced() {
  for (auto& [resource, informer] : informers) co_await informer->wait_synced();
}

/// One task per controller takes keys and starts a child for each, so that idle workers cost nothing.
Task<> Runtime::Impl::dispatch(Row& row) {
  co_await wait_synced();
  for (;;) {
    while (row.running >= row.controller->workers()) co_await row.slot_free.wait();
    ObjectKey key = co_await row.queue.take();
    ++row.running;
    tasks.spawn(reconcile(row, std::move(key)));
  }
}

Task<> Runtime::Impl::reconcile(Row& row, ObjectKey key) {
  if (auto node = row.written.extract(key)) co_await wait_written(std::move(node.mapped()));
  TrackingClient tracking(client, row.agent);
  Reconcile run{key, tracking};
  const Outcome outcome = co_await row.controller->reconcile(run);
  if (auto written = tracking.take_written(); !written.empty()) row.written[key] = std::move(written);
  settle(row, key, outcome);
  row.queue.done(key);
  --row.running;
  row.slot_free.notify();
}

Task<> Runtime::Impl::wait_written(std::vector<Written> written) {
  for (const Written& write : written) {
    const auto informer = informers.find(write.resource);
    if (informer == informers.end()) continue;
    if (write.revision > 0) {
      co_await informer->second->wait_for(write.revision);
    } else {
      co_await informer->second->wait_gone(write.key, write.gone_uid);
    }
  }
}

void Runtime::Impl::settle(Row& row, const ObjectKey& key, const Outcome& outcome) {
  env.metrics.count("slipway_reconcile_total", row.metric_labels, 1);
  switch (outcome.kind) {
    case Outcome::Kind::Settled:
      row.queue.forget(key);
      return;
    case Outcome::Kind::RetriesAfter:
      row.queue.forget(key);
      row.queue.add_after(key, outcome.after);
      return;
    case Outcome::Kind::Failed:
      env.metrics.count("slipway_reconcile_errors_total", row.metric_labels, 1);
      env.log.debug("reconcile failed",
                    {{"controller", row.agent}, {"object", key.to_string()}, {"error", outcome.error.message}});
      row.queue.add_backed_off(key);
      return;
  }
}

}  // namespace slipway::control
