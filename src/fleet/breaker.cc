#include "fleet/breaker.h"

#include <fmt/format.h>

#include "client/backoff.h"

namespace slipway::fleet {

namespace {

constexpr client::Backoff kProbes{std::chrono::seconds{1}, std::chrono::seconds{30}};

/// The transport failed, or a proxy before a server that is not there: nothing that a living API server says about a request.
bool is_silence(Reason reason) { return reason == Reason::ServiceUnavailable || reason == Reason::Timeout; }

}  // namespace

BreakerClient::BreakerClient(Env& env, std::string cluster, std::shared_ptr<client::Client> inner,
                             std::function<void()> changed)
    : env_(env), cluster_(std::move(cluster)), inner_(std::move(inner)), changed_(std::move(changed)) {}

Task<Result<client::Reply>> BreakerClient::call(client::Request request) {
  SLIPWAY_CO_TRY_VOID(admit());
  auto reply = co_await inner_->call(std::move(request));
  learn(reply);
  co_return reply;
}

Task<Result<std::unique_ptr<client::Watch>>> BreakerClient::watch(client::Request request) {
  SLIPWAY_CO_TRY_VOID(admit());
  auto opened = co_await inner_->watch(std::move(request));
  learn(opened);
  co_return opened;
}

Result<void> BreakerClient::admit() {
  if (reach_.is_reachable) return {};
  const Steady now = env_.clock.steady();
  if (now >= next_probe_) {
    next_probe_ = now + kProbes.after(probes_++);  // one probe; the others wait for what it finds
    return {};
  }
  return fail(Reason::ServiceUnavailable, fmt::format("cluster {} is out of reach: {}", cluster_, reach_.problem.message));
}

template <class Answer>
void BreakerClient::learn(const Result<Answer>& answer) {
  if (answer || !is_silence(answer.error().reason)) return answered();
  failed(answer.error());
}

void BreakerClient::answered() {
  failures_ = 0;
  probes_ = 0;
  if (reach_.is_reachable) return;
  reach_ = {};
  env_.log.info("cluster answers again", {{"cluster", cluster_}});
  if (changed_) changed_();
}

void BreakerClient::failed(const Status& error) {
  reach_.problem = error;
  if (++failures_ < kFailures || !reach_.is_reachable) return;
  reach_.is_reachable = false;
  reach_.since = env_.clock.steady();
  next_probe_ = reach_.since + kProbes.after(probes_++);
  env_.log.warn("cluster is out of reach", {{"cluster", cluster_}, {"error", error.message}});
  if (changed_) changed_();
}

}  // namespace slipway::fleet
