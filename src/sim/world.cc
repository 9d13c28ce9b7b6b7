#include "sim/world.h"

#include <fmt/format.h>

#include "sim/fault_client.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kDatabase = "/data/cluster.db";

constexpr std::size_t kMostBatchesOnTheWay = 4;
constexpr Duration kLookAtReaderEvery = 100ms;

plane::ApiServer::Options server_options(const WorldOptions& of) {
  plane::ApiServer::Options options;
  options.store.path = kDatabase;
  options.store.history_changes = of.history_changes;
  options.server.watch_batch = of.watch_batch;
  return options;
}

std::unexpected<Status> refused() { return fail(Reason::ServiceUnavailable, "connection refused"); }

}  // namespace

World::World(WorldOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      order_(options_.seed ^ 0x5eed),
      faults_(options_.faults),
      machine_domain_("machine", {random_, files_, no_processes_, nullptr, log_, metrics_}),
      supervisors_(machine_domain_, files_),
      fault_files_(files_, *this),
      fault_processes_(supervisors_, *this),
      server_domain_("server", {random_, files_, no_processes_, disk_.vfs(), log_, metrics_}),
      controllers_domain_("controllers", {random_, fault_files_, fault_processes_, nullptr, log_, metrics_}),
      user_domain_("user", {random_, files_, no_processes_, nullptr, log_, metrics_}),
      domains_{&server_domain_, &controllers_domain_, &user_domain_, &machine_domain_},
      user_(std::make_unique<PatientClient>(*this)) {
  fault_processes_.attach(controllers_domain_.env());
  if (options_.image != nullptr) disk_.restore(options_.image->snapshot());
  if (!options_.is_shuffled) return;
  for (Domain* domain : domains_) {
    domain->queue().set_pick([this](std::size_t ready) { return order_.next() % ready; });
  }
}

World::~World() {
  for (Domain* domain : {&user_domain_, &controllers_domain_, &server_domain_, &machine_domain_}) domain->die();
}

void World::start() {
  start_server();
  SLIPWAY_CHECK(run_until([this] { return api_ != nullptr; }, 1min), "the server did not start");
  start_controllers();
}

void World::start_server() {
  is_server_starting_ = true;
  auto open = [](World& world) -> Task<> {
    auto opened = co_await plane::ApiServer::open(world.server_domain_.env(), server_options(world.options_));
    world.is_server_starting_ = false;
    if (opened) {
      world.api_ = std::move(*opened);
    } else {
      SLIPWAY_CHECK(opened.error().reason == Reason::ServiceUnavailable, opened.error().message);
      world.server_restart_ = world.now_ + world.options_.restart_delay;  // the disk is failing: try again
    }
  };
  server_domain_.spawn(open(*this));
}

void World::stop_server() {
  server_domain_.die();
  // Before the store is destroyed, which would close its file in order.
  const std::uint64_t dice = random_.next();
  if (dice % 2 == 0) {
    disk_.crash(dice);  // the power was cut: unsynced writes are kept, lost or torn
  } else {
    disk_.kill();  // only the process died
  }
  api_.reset();
  is_server_starting_ = false;
  for (const auto& weak : std::exchange(in_flight_, {})) {
    if (const auto exchange = weak.lock()) exchange->answer(fail(Reason::ServiceUnavailable, "connection reset"));
  }
  for (const auto& weak : std::exchange(channels_, {})) {
    if (const auto channel = weak.lock()) channel->send(fail(Reason::ServiceUnavailable, "connection reset"));
  }
}

void World::start_controllers() {
  controllers_client_ = std::make_unique<FaultClient>(*this);
  controllers_ = std::make_unique<plane::Controllers>(controllers_domain_.env(), *controllers_client_, options_.controllers);
  controllers_->start();
}

bool World::pass(Moment moment, std::string_view what, bool is_write) {
  if (are_controllers_dying()) return false;
  const FaultKind kind = faults_.at(moment, "slipway-pod", what, is_write);
  if (kind == FaultKind::None) return true;
  strike(kind);
  const bool is_refused = kind == FaultKind::Unavailable || kind == FaultKind::Conflict || kind == FaultKind::LostAnswer;
  return !is_refused && !are_controllers_dying();
}

void World::strike(FaultKind kind) {
  switch (kind) {
    case FaultKind::CrashControllers:
    case FaultKind::CrashServer:
    case FaultKind::CrashBoth:
      pending_crash_ = kind;
      return;
    case FaultKind::CutWatches:
      for (const auto& weak : std::exchange(channels_, {})) {
        if (const auto channel = weak.lock()) channel->send(fail(Reason::ServiceUnavailable, "injected: the watch was cut"));
      }
      return;
    case FaultKind::StaleCache:
      stale_until_ = now_ + 5s;
      return;
    case FaultKind::DiskFails:
      disk_.fail_next(1);
      return;
    case FaultKind::DiskFull:
      disk_.set_full(true);
      disk_recovers_ = now_ + 5s;
      return;
    case FaultKind::WallForwardHour:
    case FaultKind::WallBackHour:
    case FaultKind::WallForwardDay:
    case FaultKind::WallBackDay:
      for (Domain* domain : domains_) domain->clock().step_wall(*wall_step(kind));
      return;
    case FaultKind::None:
    case FaultKind::LostAnswer:
    case FaultKind::Unavailable:
    case FaultKind::Conflict:
      return;
  }
}

void World::crash(FaultKind kind) {
  if (kind != FaultKind::CrashServer) {
    controllers_domain_.die();
    controllers_.reset();
    controllers_client_.reset();
    controllers_restart_ = now_ + options_.restart_delay;
  }
  if (kind != FaultKind::CrashControllers) {
    stop_server();
    server_restart_ = now_ + options_.restart_delay;
  }
}

bool World::step(Steady limit) {
  if (const auto kind = std::exchange(pending_crash_, std::nullopt)) crash(*kind);
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    if (options_.is_shuffled) turn_ = order_.next();
    Domain& domain = *domains_[turn_++ % domains_.size()];
    if (domain.queue().run_one()) return true;
  }
  if (options_.is_shuffled) {  // random turns may have missed a ready one
    for (Domain* domain : domains_) {
      if (domain->queue().run_one()) return true;
    }
  }
  std::optional<Steady> next;
  const auto consider = [&next](std::optional<Steady> when) {
    if (when && (!next || *when < *next)) next = when;
  };
  for (Domain* domain : domains_) consider(domain->clock().next());
  consider(server_restart_);
  consider(controllers_restart_);
  consider(disk_recovers_);
  if (!next || *next > limit) return false;
  now_ = std::max(now_, *next);
  for (Domain* domain : domains_) domain->clock().move_to(now_);
  const auto is_due = [this](std::optional<Steady>& when) {
    if (!when || *when > now_) return false;
    when.reset();
    return true;
  };
  if (is_due(disk_recovers_)) disk_.set_full(false);
  if (is_due(server_restart_)) start_server();
  if (is_due(controllers_restart_)) start_controllers();
  return true;
}

bool World::run_until(const std::function<bool()>& holds, Duration limit) {
  const Steady end = now_ + limit;
  while (!holds()) {
    if (!step(end)) return false;
  }
  return true;
}

void World::run_until_quiet(Duration settle) {
  const Steady end = now_ + settle;
  while (step(end)) {
  }
  // Every clock stands at the last event; bring them to one moment.
  now_ = end;
  for (Domain* domain : domains_) domain->clock().move_to(now_);
}

void World::run(Task<> task, Duration limit) {
  auto is_done = std::make_shared<bool>(false);
  auto run = [](Task<> inner, std::shared_ptr<bool> done) -> Task<> {
    co_await std::move(inner);
    *done = true;
  };
  user_domain_.spawn(run(std::move(task), is_done));
  SLIPWAY_CHECK(run_until([&] { return *is_done; }, limit), "the user's script did not end");
}

void World::submit(client::Request request, std::shared_ptr<Exchange> exchange) {
  if (!api_) {
    exchange->answer(refused());
    return;
  }
  std::erase_if(in_flight_, [](const auto& weak) { return weak.expired(); });
  in_flight_.push_back(exchange);
  auto serve = [](World& world, client::Request what, std::shared_ptr<Exchange> answer_to) -> Task<> {
    auto result = co_await world.api_->server().call(std::move(what));
    answer_to->answer(std::move(result));
  };
  server_domain_.spawn(serve(*this, std::move(request), std::move(exchange)));
}

void World::open_watch(client::Request request, std::shared_ptr<Channel> channel) {
  if (!api_) {
    channel->send(refused());
    return;
  }
  std::erase_if(channels_, [](const auto& weak) { return weak.expired(); });
  channels_.push_back(channel);
  server_domain_.spawn(pump(std::move(request), std::move(channel)));
}

Task<> World::pump(client::Request request, std::shared_ptr<Channel> channel) {
  auto watch = co_await api_->server().watch(std::move(request));
  if (!watch) {
    channel->send(fail(watch.error()));
    co_return;
  }
  while (!channel->is_closed) {
    auto batch = co_await (*watch)->next();
    const bool is_end = !batch || batch->empty();
    channel->send(std::move(batch));
    if (is_end) co_return;
    // A reader that does not read fills the connection; what it has not seen stays in the store's history, or falls out of it.
    while (!channel->is_closed && channel->batches.size() >= kMostBatchesOnTheWay) {
      co_await sleep_for(server_domain_.env(), kLookAtReaderEvery);
    }
  }
}

void World::compact() {
  if (!api_) return;
  auto forget = [](store::Store& store) -> Task<> { co_await store.compact(store.revision()); };
  server_domain_.spawn(forget(api_->store()));
}

std::vector<kube::Object> World::objects(const kube::Resource& resource) {
  std::vector<kube::Object> found;
  auto list = [](World& world, kube::Resource of, std::vector<kube::Object>& into) -> Task<> {
    auto listed = co_await client::list(world.user(), of, {});
    SLIPWAY_CHECK(listed.has_value(), listed.error().message);
    for (const json::Value& item : (*listed)["items"].items()) into.push_back(item);
  };
  run(list(*this, resource, found));
  return found;
}

Image Image::bootstrapped() {
  WorldOptions options;
  options.controllers.pods = plane::PodRuntimeKind::None;
  World world(std::move(options));
  world.start();
  world.run_until_quiet(std::chrono::seconds{1});
  SLIPWAY_CHECK(world.server() != nullptr);
  return Image(world.disk().snapshot());
}

}  // namespace slipway::sim
