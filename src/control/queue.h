// The work queue of one controller (client-go's rate-limited delaying queue): a set of keys. Adding a queued key changes
// nothing, adding one that is being worked on queues it again when that is done, a delayed add is superseded by an earlier one.
//
// Tenants take turns. A tenant is a namespace; cluster-scoped keys are one tenant. Keys of one tenant come in the order in
// which they were added, and a tenant with many keys delays another by one key only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/env.h"
#include "base/fair_queue.h"
#include "client/backoff.h"
#include "kube/object.h"

namespace slipway::control {

using kube::ObjectKey;

class Queue {
 public:
  /// client-go's default item rate limiter, but for its end (1,000 s there).
  static constexpr client::Backoff kDefaultBackoff{std::chrono::milliseconds{5}, std::chrono::minutes{5}};

  explicit Queue(Env& env, client::Backoff backoff = kDefaultBackoff);

  void add(const ObjectKey& key);
  void add_after(const ObjectKey& key, Duration after);
  /// add_after with the key's next back-off, plus up to 10 % jitter.
  void add_backed_off(const ObjectKey& key);
  /// Resets the key's back-off.
  void forget(const ObjectKey& key);
  /// The first key of the first tenant in turn that `may_run` allows, or nullopt. It counts as being worked on until done().
  std::optional<ObjectKey> take_if(const std::function<bool(const std::string& tenant)>& may_run);
  /// The next key, whoever its tenant is.
  Task<ObjectKey> take();
  void done(const ObjectKey& key);
  /// Notified when a key was added, and when one is done.
  Signal& changed() { return changed_; }

  bool is_idle() const { return ready_.empty() && working_.empty(); }
  std::size_t size() const { return ready_.size(); }

 private:
  using Due = std::multimap<Steady, const ObjectKey*>;

  void set_timer();
  void add_due();

  Env& env_;
  client::Backoff backoff_;
  Signal changed_;
  FairQueue<ObjectKey> ready_;
  std::set<ObjectKey> dirty_;  // queued, or to be queued again when done
  std::set<ObjectKey> working_;
  std::map<ObjectKey, Due::iterator> delayed_;
  Due due_;                       // keys of delayed_
  std::unique_ptr<Timer> timer_;  // of the first of them: many keys wait, and a timer is larger than a place in a map
  Steady timer_when_{};
  std::map<ObjectKey, int> failures_;
};

}  // namespace slipway::control
