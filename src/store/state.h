// What is durable, as reads and watchers see it: the newest value of every key, the window of history, and which rows of the
// file they no longer need. Changes come in whole groups, after the file has them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "store/history.h"
#include "store/key_map.h"
#include "store/log_file.h"
#include "store/store.h"

namespace slipway::store {

class State {
 public:
  State(Env& env, const Options& options) : options_(options), advanced_(env) {}

  /// Reads everything in the file. StorageReadError when it is damaged.
  Result<void> load(LogFile& file);
  /// Takes over a group that has become durable, wakes watchers and forgets what is beyond the window.
  void apply(std::vector<PendingWrite> writes);
  /// Forgets history up to `revision`. REQUIRES: not above revision().
  void compact(Revision revision);

  Revision revision() const { return history_.newest(); }
  /// What is newest, as far as durable.
  const KeyMap& newest() const { return newest_; }
  std::optional<Entry> get(std::string_view key) const;
  /// 0 when absent.
  Revision modified(std::string_view key) const;
  /// Calls `visit` for all keys below a prefix in their order. It must not change anything here.
  void each(std::string_view prefix, const std::function<void(std::string_view key, Entry entry)>& visit) const;
  std::size_t count(std::string_view prefix) const;
  /// Timeout (cause ResourceVersionTooLarge) ahead of revision(), Expired before the window.
  Result<void> check_revision(Revision revision) const;

  History& history() { return history_; }
  const History& history() const { return history_; }
  /// Told of each change once it is readable, before any waiter wakes.
  Followers& followers() { return *followers_; }
  /// Notified when revision() has moved.
  Signal& advanced() { return advanced_; }
  /// Rows of the file that are superseded as of history().compacted(); for one key the older come first.
  std::deque<Revision>& superseded() { return superseded_; }

  bool is_closed() const { return is_closed_; }
  /// Watchers end; reads go on.
  void close();

 private:
  void trim();
  void forget(const Record& record);

  Options options_;
  KeyMap newest_;
  History history_;
  std::deque<Revision> superseded_;
  std::shared_ptr<Followers> followers_ = std::make_shared<Followers>();
  Signal advanced_;
  bool is_closed_ = false;
};

}  // namespace slipway::store
