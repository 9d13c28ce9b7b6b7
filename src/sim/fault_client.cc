#include "sim/fault_client.h"

#include <fmt/format.h>

namespace slipway::sim {
namespace {

using client::Reply;
using client::Request;
using client::Verb;
using client::Watch;
using client::WatchEvent;

bool is_write(const Request& request) {
  return request.verb != Verb::Get && request.verb != Verb::List && request.verb != Verb::Watch;
}

bool kills_controllers(FaultKind kind) { return kind == FaultKind::CrashControllers || kind == FaultKind::CrashBoth; }

/// Waits for the answer of an exchange in the caller's process.
Task<Result<Reply>> receive(std::shared_ptr<Exchange> exchange) {
  while (!exchange->result) co_await exchange->done.wait();
  co_return std::move(*exchange->result);
}

}  // namespace

/// A watch whose server side lives in another process.
class FaultWatch : public Watch {
 public:
  /// `faulty` is null for one that no fault strikes.
  FaultWatch(World* faulty, std::shared_ptr<Channel> channel, Env& env)
      : faulty_(faulty), channel_(std::move(channel)), env_(env) {}
  ~FaultWatch() override { channel_->is_closed = true; }

  void close() override {
    channel_->is_closed = true;
    channel_->send(std::vector<WatchEvent>{});  // the regular end, for a pending next()
  }

  Task<Result<std::vector<WatchEvent>>> next() override {
    while (channel_->batches.empty()) co_await channel_->arrived.wait();
    while (faulty_ != nullptr && faulty_->stale_until_ > env_.clock.steady()) {
      co_await sleep_until(env_, faulty_->stale_until_);
    }
    auto batch = std::move(channel_->batches.front());
    channel_->batches.pop_front();
    co_return batch;
  }

 private:
  World* faulty_;
  std::shared_ptr<Channel> channel_;
  Env& env_;
};

Task<FaultKind> FaultClient::at(Moment moment, std::string who, std::string what, bool writes) {
  const bool was_dying = world_.are_controllers_dying();
  const FaultKind kind = was_dying ? FaultKind::None : world_.faults_.at(moment, who, what, writes);
  if (kind == FaultKind::None && !was_dying) co_return kind;
  if (!was_dying) world_.strike(kind, server_);
  Env& env = world_.controllers_domain_.env();
  if (was_dying || kills_controllers(kind)) {
    Signal never(env);
    co_await never.wait();
  }
  if (kind == FaultKind::CrashServer) co_await yield(env);  // the world kills it between two steps
  co_return kind;
}

std::string FaultClient::title(const Request& request) const {
  const bool is_edge = &server_ != &world_.hub_;
  return is_edge ? fmt::format("{}: {}", server_.name(), request.to_string()) : request.to_string();
}

Task<Result<Reply>> FaultClient::call(Request request) {
  const std::string who = request.user_agent.empty() ? "unnamed" : request.user_agent;
  const std::string what = title(request);
  const bool writes = is_write(request);
  const FaultKind before = co_await at(Moment::BeforeSend, who, what, writes);
  if (before == FaultKind::Unavailable) co_return fail(Reason::ServiceUnavailable, "injected: refused");
  if (before == FaultKind::Conflict) co_return fail(Reason::Conflict, "injected: another writer was faster");
  auto exchange = std::make_shared<Exchange>(world_.controllers_domain_.env());
  server_.submit(std::move(request), exchange);
  auto result = co_await receive(exchange);
  const FaultKind after = co_await at(Moment::AfterEffect, who, what, writes);
  if (after == FaultKind::LostAnswer) co_return fail(Reason::Timeout, "injected: the answer was lost");
  if (after == FaultKind::CrashServer) co_return fail(Reason::ServiceUnavailable, "injected: the connection was reset");
  co_return result;
}

Task<Result<std::unique_ptr<Watch>>> FaultClient::watch(Request request) {
  const std::string who = request.user_agent.empty() ? "unnamed" : request.user_agent;
  const FaultKind before = co_await at(Moment::BeforeSend, who, title(request), false);
  if (before == FaultKind::Unavailable) co_return fail(Reason::ServiceUnavailable, "injected: refused");
  Env& env = world_.controllers_domain_.env();
  auto channel = std::make_shared<Channel>(env);
  server_.open_watch(std::move(request), channel);
  co_return std::make_unique<FaultWatch>(&world_, channel, env);
}

Task<Result<Reply>> PatientClient::call(Request request) {
  Env& env = caller_.env();
  while (true) {
    auto exchange = std::make_shared<Exchange>(env);
    server_.submit(request, exchange);
    auto result = co_await receive(exchange);
    const bool is_passing =
        !result && (result.error().reason == Reason::ServiceUnavailable || result.error().reason == Reason::Timeout);
    if (!is_passing) co_return result;
    co_await sleep_for(env, std::chrono::seconds{1});
  }
}

Task<Result<std::unique_ptr<Watch>>> PatientClient::watch(Request request) {
  Env& env = caller_.env();
  auto channel = std::make_shared<Channel>(env);
  server_.open_watch(std::move(request), channel);
  co_return std::make_unique<FaultWatch>(nullptr, channel, env);
}

}  // namespace slipway::sim
