// Work of several tenants, taken in turns: of those that have any waiting, each
// gives one piece before any gives its next. What one tenant hands in keeps its
// order, and however much that is, another's first piece waits for one of it at
// most.
//
//   push(a, 1) push(a, 2) push(a, 3) push(b, 4) push(b, 5)   pop: 1 4 2 5 3
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace slipway {

/// REQUIRES of Work: it can be moved. Not for two threads at once.
template <class Work>
class FairQueue {
 public:
  void push(std::string_view tenant, Work work) {
    auto at = waiting_.find(tenant);
    if (at == waiting_.end()) {
      at = waiting_.emplace(std::string(tenant), std::deque<Work>()).first;
      turns_.push_back(at);
    }
    at->second.push_back(std::move(work));
    ++size_;
  }

  /// The next piece of the tenant whose turn it is. REQUIRES: not empty.
  Work pop() {
    return *pop_if([](const std::string&) { return true; });
  }

  /// The next piece of the first tenant in turn that `may_run` (of the tenant's name) allows; nullopt: of none. The tenants
  /// that are passed over keep their turn.
  template <class MayRun>
  std::optional<Work> pop_if(MayRun may_run) {
    const auto turn = std::ranges::find_if(turns_, [&](const auto& at) { return may_run(at->first); });
    if (turn == turns_.end()) return std::nullopt;
    const auto at = *turn;
    turns_.erase(turn);
    std::optional<Work> work(std::move(at->second.front()));
    at->second.pop_front();
    if (at->second.empty()) {
      waiting_.erase(at);  // a tenant without work costs nothing
    } else {
      turns_.push_back(at);
    }
    --size_;
    return work;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// Tenants with work.
  std::size_t tenants() const { return waiting_.size(); }

 private:
  using Waiting = std::map<std::string, std::deque<Work>, std::less<>>;

  Waiting waiting_;  // none of them empty
  std::deque<typename Waiting::iterator> turns_;
  std::size_t size_ = 0;
};

}  // namespace slipway
