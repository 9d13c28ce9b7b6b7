#include "serve/source_limit.h"

namespace slipway::serve {

std::string SourceLimit::source_of(std::string_view peer_address) {
  return std::string(peer_address.substr(0, peer_address.rfind(':')));
}

std::deque<Steady>& SourceLimit::refusals_of(const std::string& source, Steady now) {
  const auto drop_old = [&](std::deque<Steady>& of) {
    while (!of.empty() && of.front() + kWindow <= now) of.pop_front();
  };
  if (refused_.size() >= kMaxSources && !refused_.contains(source)) {
    for (auto at = refused_.begin(); at != refused_.end();) {
      drop_old(at->second);
      at = at->second.empty() ? refused_.erase(at) : std::next(at);
    }
  }
  const bool is_full = refused_.size() >= kMaxSources && !refused_.contains(source);
  std::deque<Steady>& times = refused_[is_full ? std::string() : source];
  drop_old(times);
  return times;
}

bool SourceLimit::is_over(const std::string& source, Steady now) {
  const bool is_known = refused_.contains(source) || refused_.size() >= kMaxSources;
  return is_known && refusals_of(source, now).size() >= kMaxRefused;
}

void SourceLimit::add_refused(const std::string& source, Steady now) { refusals_of(source, now).push_back(now); }

}  // namespace slipway::serve
