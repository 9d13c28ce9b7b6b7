#include "sim/server_process.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kDatabase = "/data/cluster.db";

constexpr std::size_t kMostBatchesOnTheWay = 4;
constexpr Duration kLookAtReaderEvery = 100ms;

std::unexpected<Status> refused() { return fail(Reason::ServiceUnavailable, "connection refused"); }

Domain::Outside on_disk(Domain::Outside outside, store::MemoryVfs& disk) {
  outside.vfs = disk.vfs();
  return outside;
}

}  // namespace

ServerProcess::ServerProcess(const std::string& name, Domain::Outside outside, Options options)
    : options_(std::move(options)), domain_(name, on_disk(outside, disk_)) {}

void ServerProcess::start() {
  if (options_.git) git_ = options_.git(domain_.env());
  domain_.env().git = git_.get();
  auto open = [](ServerProcess& process) -> Task<> {
    plane::ApiServer::Options options;
    options.store.path = kDatabase;
    options.store.history_changes = process.options_.history_changes;
    options.server.watch_batch = process.options_.watch_batch;
    auto opened = co_await plane::ApiServer::open(process.domain_.env(), std::move(options));
    if (opened) {
      process.api_ = std::move(*opened);
      for (const char* prefix : kCounted) {
        process.followings_.push_back(process.api_->store().follow(prefix, process.births_, store::Sight::Durable));
      }
      co_return;
    }
    SLIPWAY_CHECK(opened.error().reason == Reason::ServiceUnavailable, opened.error().message);
    process.restart_ = process.domain_.env().clock.steady() + process.options_.restart_delay;  // the disk is failing: try again
  };
  domain_.spawn(open(*this));
}

void ServerProcess::stop(std::uint64_t dice) {
  domain_.die();
  // Before the store is destroyed, which would close its file in order.
  if (dice % 2 == 0) {
    disk_.crash(dice);  // the power was cut: unsynced writes are kept, lost or torn
  } else {
    disk_.kill();  // only the process died
  }
  followings_.clear();
  api_.reset();
  domain_.env().git = nullptr;
  git_.reset();
  restart_.reset();
  for (const auto& weak : std::exchange(in_flight_, {})) {
    if (const auto exchange = weak.lock()) exchange->answer(fail(Reason::ServiceUnavailable, "connection reset"));
  }
  for (const auto& weak : std::exchange(channels_, {})) {
    if (const auto channel = weak.lock()) channel->send(fail(Reason::ServiceUnavailable, "connection reset"));
  }
}

void ServerProcess::crash(std::uint64_t dice, Steady now) {
  stop(dice);
  if (!is_away_) restart_ = now + options_.restart_delay;
}

void ServerProcess::go_away(std::uint64_t dice) {
  is_away_ = true;
  stop(dice);
}

void ServerProcess::come_back() {
  if (is_away_) start();
  is_away_ = false;
}

void ServerProcess::fill_disk(Steady end) {
  disk_.set_full(true);
  disk_recovers_ = end;
}

void ServerProcess::cut_watches() {
  for (const auto& weak : std::exchange(channels_, {})) {
    if (const auto channel = weak.lock()) channel->send(fail(Reason::ServiceUnavailable, "injected: the watch was cut"));
  }
}

void ServerProcess::compact() {
  if (!api_) return;
  auto forget = [](store::Store& store) -> Task<> { co_await store.compact(store.revision()); };
  domain_.spawn(forget(api_->store()));
}

void ServerProcess::submit(client::Request request, std::shared_ptr<Exchange> exchange) {
  if (!api_) {
    exchange->answer(refused());
    return;
  }
  std::erase_if(in_flight_, [](const auto& weak) { return weak.expired(); });
  in_flight_.push_back(exchange);
  auto serve = [](ServerProcess& process, client::Request what, std::shared_ptr<Exchange> answer_to) -> Task<> {
    auto result = co_await process.api_->server().call(std::move(what));
    answer_to->answer(std::move(result));
  };
  domain_.spawn(serve(*this, std::move(request), std::move(exchange)));
}

void ServerProcess::open_watch(client::Request request, std::shared_ptr<Channel> channel) {
  if (!api_) {
    channel->send(refused());
    return;
  }
  std::erase_if(channels_, [](const auto& weak) { return weak.expired(); });
  channels_.push_back(channel);
  domain_.spawn(pump(std::move(request), std::move(channel)));
}

Task<> ServerProcess::pump(client::Request request, std::shared_ptr<Channel> channel) {
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
      co_await sleep_for(domain_.env(), kLookAtReaderEvery);
    }
  }
}

std::optional<Steady> ServerProcess::next() const {
  if (!restart_ || !disk_recovers_) return restart_ ? restart_ : disk_recovers_;
  return std::min(*restart_, *disk_recovers_);
}

void ServerProcess::tick(Steady now) {
  if (disk_recovers_ && *disk_recovers_ <= now) {
    disk_recovers_.reset();
    disk_.set_full(false);
  }
  if (restart_ && *restart_ <= now) {
    restart_.reset();
    start();
  }
}

}  // namespace slipway::sim
