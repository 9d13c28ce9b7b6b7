#include "sim/world.h"

#include <fmt/format.h>

#include "sim/fault_client.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;

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
      web_(*this),
      hub_("server", {random_, files_, no_processes_, nullptr, log_, metrics_}, server_options(*this)),
      controllers_domain_("controllers", {random_, fault_files_, fault_processes_, nullptr, log_, metrics_}),
      edge_controllers_domain_("controllers of the edge", {random_, files_, no_processes_, nullptr, log_, metrics_}),
      user_domain_("user", {random_, files_, no_processes_, nullptr, log_, metrics_}),
      domains_{&hub_.domain(), &controllers_domain_, &user_domain_, &machine_domain_},
      user_(std::make_unique<PatientClient>(user_domain_, hub_)) {
  fault_processes_.attach(controllers_domain_.env());
  options_.controllers.http = &web_;
  if (options_.has_edge) {
    ServerProcess::Options options_of_edge = server_options(*this);
    options_of_edge.git = nullptr;
    edge_ = std::make_unique<ServerProcess>(kEdge, Domain::Outside{random_, files_, no_processes_, nullptr, log_, metrics_},
                                            std::move(options_of_edge));
    domains_.push_back(&edge_->domain());
    domains_.push_back(&edge_controllers_domain_);
    edge_user_ = std::make_unique<PatientClient>(user_domain_, *edge_);
    edge_client_ = std::make_unique<PatientClient>(edge_controllers_domain_, *edge_);
  }
  for (ServerProcess* server : servers()) {
    if (options_.image != nullptr) server->disk().restore(options_.image->snapshot());
  }
  if (!options_.is_shuffled) return;
  for (Domain* domain : domains_) {
    domain->queue().set_pick([this](std::size_t ready) { return order_.next() % ready; });
  }
}

ServerProcess::Options World::server_options(World& world) {
  const WorldOptions& of = world.options_;
  ServerProcess::Options made{
      .history_changes = of.history_changes, .watch_batch = of.watch_batch, .restart_delay = of.restart_delay};
  if (of.git) {
    made.git = [&world](Env& env) { return std::make_unique<FaultGit>(world.options_.git(env), world.server_gate_); };
  }
  return made;
}

World::~World() {
  user_domain_.die();
  edge_controllers_domain_.die();
  controllers_domain_.die();
  for (ServerProcess* server : servers()) server->domain().die();
  machine_domain_.die();
}

std::vector<ServerProcess*> World::servers() {
  if (!edge_) return {&hub_};
  return {&hub_, edge_.get()};
}

void World::start() {
  for (ServerProcess* server : servers()) {
    server->start();
    SLIPWAY_CHECK(run_until([&] { return server->api() != nullptr; }, 1min), "the server did not start");
  }
  if (edge_) {
    edge_controllers_ = std::make_unique<plane::Controllers>(
        edge_controllers_domain_.env(), *edge_client_,
        plane::Controllers::Options{.pods = plane::PodRuntimeKind::Simulated, .data_dir = "", .families = {}});
    edge_controllers_->start();
  }
  start_controllers();
}

void World::start_controllers() {
  if (options_.git) {
    Gate& gate = *this;
    git_ = std::make_unique<FaultGit>(options_.git(controllers_domain_.env()), gate);
    controllers_domain_.env().git = git_.get();
  }
  if (options_.programs) {
    Gate& gate = *this;
    programs_ = std::make_unique<FaultPrograms>(options_.programs(controllers_domain_.env()), gate);
    controllers_domain_.env().programs = programs_.get();
  }
  controllers_client_ = std::make_unique<FaultClient>(*this, hub_);
  controllers_ = std::make_unique<plane::Controllers>(controllers_domain_.env(), *controllers_client_, options_.controllers);
  if (edge_) controllers_->fleet().add_remote(kEdge, std::make_shared<FaultClient>(*this, *edge_));
  controllers_->start();
}

bool World::pass(Moment moment, std::string_view what, bool is_write) {
  if (are_controllers_dying()) return false;
  const std::string_view who = what.starts_with("HTTP ") ? "slipway-probe" : "slipway-pod";
  const FaultKind kind = faults_.at(moment, who, what, is_write);
  if (kind == FaultKind::None) return true;
  strike(kind);
  const bool is_refused = kind == FaultKind::Unavailable || kind == FaultKind::Conflict || kind == FaultKind::LostAnswer;
  return !is_refused && !are_controllers_dying();
}

bool World::ServerGate::pass(Moment moment, std::string_view what, bool is_write) {
  if (world_.is_server_dying()) return false;
  const FaultKind kind = world_.faults_.at(moment, "slipway-server", what, is_write);
  if (kind == FaultKind::None) return true;
  world_.strike(kind);
  const bool is_refused = kind == FaultKind::Unavailable || kind == FaultKind::Conflict || kind == FaultKind::LostAnswer;
  return !is_refused && !world_.is_server_dying();
}

void World::strike(FaultKind kind, ServerProcess& server) {
  switch (kind) {
    case FaultKind::CrashControllers:
    case FaultKind::CrashServer:
    case FaultKind::CrashBoth:
      pending_crash_ = Crash{kind, &server};
      return;
    case FaultKind::CutWatches:
      for (ServerProcess* each : servers()) each->cut_watches();
      return;
    case FaultKind::StaleCache:
      stale_until_ = now_ + 5s;
      return;
    case FaultKind::DiskFails:
      server.disk().fail_next(1);
      return;
    case FaultKind::DiskFull:
      server.fill_disk(now_ + 5s);
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

void World::crash(Crash what) {
  if (what.kind != FaultKind::CrashServer) {
    controllers_domain_.die();
    controllers_.reset();
    controllers_client_.reset();
    git_.reset();
    programs_.reset();
    controllers_restart_ = now_ + options_.restart_delay;
  }
  if (what.kind != FaultKind::CrashControllers) what.server->crash(random_.next(), now_);
}

bool World::step(Steady limit) {
  if (const auto what = std::exchange(pending_crash_, std::nullopt)) crash(*what);
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
  for (ServerProcess* server : servers()) consider(server->next());
  consider(controllers_restart_);
  if (!next || *next > limit) return false;
  now_ = std::max(now_, *next);
  for (Domain* domain : domains_) domain->clock().move_to(now_);
  for (ServerProcess* server : servers()) server->tick(now_);
  if (controllers_restart_ && *controllers_restart_ <= now_) {
    controllers_restart_.reset();
    start_controllers();
  }
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

std::vector<kube::Object> World::objects(const kube::Resource& resource, client::Client& client) {
  std::vector<kube::Object> found;
  auto list = [](client::Client& by, kube::Resource of, std::vector<kube::Object>& into) -> Task<> {
    auto listed = co_await client::list(by, of, {});
    SLIPWAY_CHECK(listed.has_value(), listed.error().message);
    for (const json::Value& item : (*listed)["items"].items()) into.push_back(item);
  };
  run(list(client, resource, found));
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
