// The revisioned log: every change of one embedded cluster gets the next number of one 64-bit counter. Changes are appended to
// a table in SQLite in grouped commits with synchronous=FULL; a write is acknowledged, readable and watchable only when its
// group is durable. The newest state of every key and a window of history are held in memory; the window is rebuilt from the
// file on open, so that watches go on after a restart. An empty store is at revision 1, as etcd is. Keys are made of segments,
// "/registry/GROUP/RESOURCE/…"; a watch of the first three (or below) is never bothered by the others. One logic thread uses a
// Store. The file holds Secrets: whoever may not read them must not enter its folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "kube/object.h"
#include "store/change.h"
#include "store/projection.h"

namespace slipway::store {

using kube::Revision;

/// The current (or a past) state of one key.
struct Entry {
  json::Value value;
  Revision modified = 0;  // revision of the change that made it
};

/// One write of a batch. The value must already carry its revision where the caller wants it to (see next_revision()).
struct Write {
  std::string key;
  std::optional<json::Value> value;  // nullopt: delete
  /// Revision the key must have in head state: 0 = must not exist.
  Revision expected = 0;
};

struct Range {
  std::vector<std::pair<std::string, Entry>> entries;  // by key
  Revision revision = 0;                               // of the state read
  bool has_more = false;
  std::int64_t remaining = 0;  // entries after the last one when has_more
};

struct RangeQuery {
  std::string prefix{};
  std::string start{};    // first key wanted; empty: from the prefix
  std::size_t limit = 0;  // 0: all
  Revision at = 0;        // 0: the newest durable state
  /// Which entries are wanted; empty: all. Others cost no memory and do not count for `limit`, but do for `remaining`.
  std::function<bool(std::string_view key, const Entry& entry)> wants{};
};

/// A reading of a range in pieces. All show one revision; others may write and read between two.
class Pages {
 public:
  virtual ~Pages() = default;
  /// The entries among the next `keys` keys (there may be none of them that is wanted). Range::has_more is set in the last
  /// piece only, when RangeQuery::limit was reached. Expired when history no longer reaches back to the revision. REQUIRES:
  /// keys > 0, not is_over().
  virtual Result<Range> next(std::size_t keys) = 0;
  /// The last piece was given out.
  virtual bool is_over() const = 0;
};

struct Options {
  std::string path{};                     // the database file; created when absent (its folder is not)
  std::size_t history_changes = 100'000;  // changes kept for watches and past reads
  std::size_t history_bytes = std::size_t{64} << 20;
  bool is_read_only = false;  // for looking at a folder another process may be writing; sees the state of its opening
  std::int64_t pid = 0;       // of this process: told to others who want to write the same file
};

/// A cursor over changes. Bounded: it reads the store's history, nothing is buffered per watcher.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// The next durable changes below its prefix, at most `limit`, waiting for one when there is none. `progress()` says how far
  /// it has seen. REQUIRES: limit > 0, one call at a time. Expired when the history it needs is gone (a slow reader),
  /// ServiceUnavailable after Store::close().
  virtual Task<Result<std::vector<Change>>> next(std::size_t limit) = 0;
  /// As next(), but gives an empty list at `deadline`.
  virtual Task<Result<std::vector<Change>>> next_until(std::size_t limit, Steady deadline) = 0;
  /// Every durable change up to here has been given out.
  virtual Revision progress() const = 0;
  /// A pending call ends soon with an empty list, later ones at once.
  virtual void close() = 0;
};

class Store {
 public:
  /// Opens or creates the file and loads the newest state. Errors: BadRequest for a file that is not Slipway's or of a newer
  /// format, StorageReadError for a damaged one (the message names the first revision in question), Conflict when another
  /// process holds it (the message names its pid), NotFound when only to be read and absent, ServiceUnavailable when the disk
  /// fails or is full, InternalError otherwise; nothing is changed then. A read-only store works beside a writer.
  static Result<std::unique_ptr<Store>> open(Env& env, Options options);
  virtual ~Store() = default;

  /// The newest durable revision.
  virtual Revision revision() const = 0;
  /// The revision the next appended write will get: call, build the value, append, with no suspension in between.
  virtual Revision next_revision() const = 0;
  /// The oldest revision that can still be read or watched from.
  virtual Revision compacted() const = 0;

  /// Newest durable state of a key.
  virtual std::optional<Entry> get(std::string_view key) const = 0;
  /// Newest state including writes that are not yet durable: what a write must be based on.
  virtual std::optional<Entry> get_head(std::string_view key) const = 0;
  /// State of all keys below a prefix. Expired when `at` is compacted; Timeout (cause ResourceVersionTooLarge) when `at` is
  /// ahead.
  virtual Result<Range> range(const RangeQuery& query) const = 0;
  /// As range(), in pieces. May outlive the store.
  virtual Result<std::unique_ptr<Pages>> pages(RangeQuery query) const = 0;
  /// Number of keys below a prefix, in durable state.
  virtual std::size_t count(std::string_view prefix) const = 0;

  /// Appends all writes or none, with consecutive revisions; the call up to the first suspension puts them into head state, so
  /// two appends keep their order. Returns the revision of the last write once durable. Conflict when an expectation does not
  /// hold; ServiceUnavailable when the disk fails or is full: then this write and all that were appended after it are undone
  /// (though a power cut before the next write may bring it back whole); TooManyRequests when too much waits to be written;
  /// Forbidden when opened for reading.
  virtual Task<Result<Revision>> append(std::vector<Write> writes) = 0;

  /// Feeds `projection` what is there below `prefix`, by key, as if each had just been created, then every change (see
  /// store/projection.h) until the result is destroyed, which must be before the projection.
  virtual std::unique_ptr<Following> follow(std::string prefix, Projection& projection, Sight sight) = 0;
  /// As follow() of durable state, without what is there now: for one who reads that in pages() begun at once.
  virtual std::unique_ptr<Following> follow_from_now(std::string prefix, Projection& projection) = 0;
  /// Changes after `from`. Expired when compacted, Timeout (cause ResourceVersionTooLarge) when `from` is ahead.
  virtual Result<std::unique_ptr<Watcher>> watch(std::string prefix, Revision from) = 0;
  /// Forgets history up to `revision` and deletes what it superseded from the file, in batches that other writes pass.
  virtual Task<Result<void>> compact(Revision revision) = 0;
  /// Waits until the durable revision is at least `revision` (true) or `deadline` (false).
  virtual Task<bool> wait_for(Revision revision, Steady deadline) = 0;
  /// Ends watchers and refuses writes; what was appended becomes durable first.
  virtual Task<> close() = 0;
};

}  // namespace slipway::store
