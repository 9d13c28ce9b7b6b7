// The window of past changes, newest state excluded: what watchers read and what takes a range back to an earlier revision.
// Records have consecutive revisions. Beside the whole, each bucket (the keys of one resource) has a list of its own changes,
// so that a watcher never looks at those of other resources, and listeners, so that it is not woken by them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "kube/object.h"
#include "store/lazy_value.h"

namespace slipway::store {

using kube::Revision;

/// One change as history keeps it.
struct Record {
  Revision revision = 0;
  Revision previous_revision = 0;  // 0: there was none
  std::string key;
  LazyValue value;     // none: deleted
  LazyValue previous;  // none: created
  std::size_t bytes = 0;
};

/// The first three segments, those of a resource: "/registry/batch/jobs/" of "/registry/batch/jobs/ns/name". Empty when there
/// are not as many: such a key or prefix belongs to no bucket.
std::string_view bucket_of(std::string_view key);

class Bucket {
 public:
  /// Notifies `listener` once per group commit that changed it, until it is removed. Each watcher has a signal of its own, so
  /// that one can be closed without waking the others.
  void add_listener(Signal& listener) { listeners_.push_back(&listener); }
  void remove_listener(Signal& listener) { std::erase(listeners_, &listener); }
  /// Changes above this revision are all here.
  Revision trimmed() const { return trimmed_; }

 private:
  friend class History;
  void notify() const {
    for (Signal* listener : listeners_) listener->notify();
  }

  std::deque<Revision> revisions_;
  Revision trimmed_ = 0;
  std::vector<Signal*> listeners_;
  bool is_touched_ = false;
};

class History {
 public:
  /// Before anything else: the window is empty and begins after `revision`.
  void start(Revision revision) { newest_ = compacted_ = revision; }
  /// REQUIRES: the next revision.
  void push(Record record);
  /// Puts a record in front (loading). REQUIRES: the revision compacted() has; that goes one down.
  Record& prepend(Record record);

  /// Changes above are in the window.
  Revision compacted() const { return compacted_; }
  Revision newest() const { return newest_; }
  std::size_t size() const { return records_.size(); }
  std::size_t bytes() const { return bytes_; }

  /// Forgets records up to `revision`; calls `forgotten` for each.
  template <class Forgotten>
  void trim(Revision revision, Forgotten forgotten);

  /// What a watcher of `prefix` waits on: its resource's bucket, or everything when the prefix is shorter. Stays valid.
  Bucket& bucket(std::string_view prefix);
  /// Calls `visit(record)` for the changes below `prefix` after `from` in order, until it returns false.
  template <class Visit>
  void each_after(std::string_view prefix, Revision from, Visit visit) const;
  /// Wakes those who wait for buckets that changed since the last call.
  void notify_changed();
  /// Wakes everybody (the store is closed).
  void notify_all();

 private:
  const Bucket* find_bucket(std::string_view prefix) const;
  const Record& at(Revision revision) const { return records_[static_cast<std::size_t>(revision - compacted_ - 1)]; }
  void drop_front();

  std::deque<Record> records_;
  Revision compacted_ = 0;
  Revision newest_ = 0;
  std::size_t bytes_ = 0;
  std::map<std::string, Bucket, std::less<>> buckets_;
  Bucket everything_;  // has no list of its own: it is records_
  std::vector<Bucket*> touched_;
};

template <class Forgotten>
void History::trim(Revision revision, Forgotten forgotten) {
  while (!records_.empty() && records_.front().revision <= revision) {
    forgotten(records_.front());
    drop_front();
  }
}

template <class Visit>
void History::each_after(std::string_view prefix, Revision from, Visit visit) const {
  const auto offer = [&](const Record& record) { return !record.key.starts_with(prefix) || visit(record); };
  from = std::max(from, compacted_);
  if (bucket_of(prefix).empty()) {
    for (Revision revision = from + 1; revision <= newest_; ++revision) {
      if (!offer(at(revision))) return;
    }
    return;
  }
  const Bucket* bucket = find_bucket(prefix);
  if (bucket == nullptr) return;
  const auto& revisions = bucket->revisions_;
  for (auto next = std::upper_bound(revisions.begin(), revisions.end(), from); next != revisions.end(); ++next) {
    if (!offer(at(*next))) return;
  }
}

}  // namespace slipway::store
