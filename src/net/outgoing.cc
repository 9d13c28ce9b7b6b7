#include "net/outgoing.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::net {
namespace {

std::string host_of_tenant(const std::string& tenant, const std::string& host) { return fmt::format("{} {}", tenant, host); }

}  // namespace

Outgoing::Turn::Turn(Outgoing& owner, std::string tenant, std::string host)
    : owner_(owner), tenant_(std::move(tenant)), host_(std::move(host)), began_(owner.env_.clock.steady()) {}

Outgoing::Turn::~Turn() {
  if (!share_) return;
  --share_->calls;
  const auto host = share_->by_host.find(host_);
  if (--host->second == 0) share_->by_host.erase(host);
  share_->freed.notify();
  if (share_.use_count() == 1) owner_.shares_.erase(tenant_);
}

void Outgoing::Turn::ended(const Status* error) {
  if (!share_) return;
  const bool has_no_answer =
      error != nullptr && (error->reason == Reason::Timeout || error->reason == Reason::ServiceUnavailable);
  const bool was_long = owner_.env_.clock.steady() - began_ >= kPatience;
  // A call that gave up early says nothing about its host.
  if (has_no_answer && !was_long) return;
  owner_.silent_.note(host_of_tenant(tenant_, host_), has_no_answer);
}

Task<Result<std::unique_ptr<Outgoing::Turn>>> Outgoing::take(std::string tenant, std::string host, Steady deadline) {
  std::unique_ptr<Turn> turn(new Turn(*this, tenant, host));
  if (tenant.empty()) co_return turn;
  const auto known = shares_.find(tenant);
  std::shared_ptr<Share> share = known == shares_.end() ? nullptr : known->second.lock();
  if (!share) {
    std::erase_if(shares_, [](const auto& one) { return one.second.expired(); });  // of calls that never had a turn
    shares_[tenant] = share = std::make_shared<Share>(env_);
  }
  for (;;) {
    if (const auto silence = silent_.find(host_of_tenant(tenant, host))) {
      if (silence->until >= deadline) co_return fail(Reason::Timeout, fmt::format("{}: {}", host, silent_.text(*silence)));
      co_await sleep_until(env_, silence->until);
      continue;
    }
    const auto to_host = share->by_host.find(host);
    const std::size_t of_host = to_host == share->by_host.end() ? 0 : to_host->second;
    if (share->calls < kMaxOfTenant && of_host < kMaxOfHost) break;
    if (co_await share->freed.wait_until(deadline)) continue;
    const std::size_t calls = of_host < kMaxOfHost ? share->calls : of_host;
    co_return fail(Reason::Timeout, fmt::format("{}: no turn within the time-out: {} calls of this namespace are under way{}",
                                                host, calls, of_host < kMaxOfHost ? "" : " to this host"));
  }
  ++share->calls;
  ++share->by_host[host];
  turn->share_ = std::move(share);
  turn->began_ = env_.clock.steady();
  co_return turn;
}

}  // namespace slipway::net
