// The file of a store: a SQLite database whose table `log` has one row per change, and whose table `meta` says up to where
// superseded rows may have been deleted. Everything here blocks; after open() and read() the file belongs to the commit lane.
//
// Format 1. application_id "Slip", user_version 1 (while a store has it open with the mark of wal_mark.h), WAL journal,
// synchronous=FULL.
//   log(revision INTEGER PRIMARY KEY, key TEXT, value TEXT or NULL for a deletion, sum INTEGER)
//   meta(name TEXT PRIMARY KEY, value):
//     compacted   rows above this revision follow each other without a gap; at or below it there is at least the newest row of
//                 every key that existed then
//     counted     up to this revision …
//     rows        … there are so many rows (written when rows are deleted, and on close), so that lost ones are missed
//     recoveries  how often a process found a write-ahead log that its predecessor had not closed
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/object.h"
#include "store/sqlite.h"
#include "store/writer_lock.h"

namespace slipway::store {

using kube::Revision;

/// A change on its way into the file.
struct PendingWrite {
  Revision revision = 0;
  std::string key;
  std::optional<json::Value> value;  // nullopt: deletion
  std::size_t bytes = 0;             // an estimate of its memory
};

/// One row while it is visited. Its views end with the visit.
class LogRow {
 public:
  LogRow(const Statement& statement, Revision revision, std::string_view key)
      : statement_(statement), revision_(revision), key_(key) {}

  Revision revision() const { return revision_; }
  std::string_view key() const { return key_; }
  bool is_deletion() const { return statement_.is_null(2); }
  /// The value's text, checked against its sum. StorageReadError with the revision when it differs.
  Result<std::string_view> text() const;

 private:
  const Statement& statement_;
  Revision revision_;
  std::string_view key_;
};

class LogFile {
 public:
  struct Options {
    std::string path;
    sqlite3_vfs* vfs = nullptr;  // nullptr: SQLite's default
    std::int64_t pid = 0;        // written into the lock file
    bool is_read_only = false;
  };

  /// Errors as Store::open.
  static Result<std::unique_ptr<LogFile>> open(Options options);
  ~LogFile();

  const std::string& path() const { return options_.path; }
  bool is_read_only() const { return options_.is_read_only; }
  /// As the file has it.
  Revision compacted() const { return compacted_; }
  /// Visits every row, newest first, in one consistent state of the file. StorageReadError when one is missing or damaged.
  Result<void> read(const std::function<Result<void>(const LogRow&)>& visit);

  /// Adds rows and deletes superseded ones in one durable transaction, or does nothing. ServiceUnavailable when the disk fails.
  Result<void> commit(std::span<const PendingWrite> writes, std::span<const Revision> superseded, Revision compacted);
  /// Whether the write-ahead log has grown enough to be moved.
  bool wants_checkpoint() const { return wal_pages_ - checkpointed_pages_ >= kCheckpointPages; }
  /// Moves the write-ahead log into the database. A failure leaves it for the next time.
  void checkpoint();
  /// Writes the count of rows, closes the database and gives the lock back; nothing may be called afterwards.
  void close();

 private:
  static constexpr int kCheckpointPages = 1000;

  explicit LogFile(Options options) : options_(std::move(options)) {}

  Result<void> connect(bool may_be_new);
  SqliteResult<void> configure();
  Result<void> check_format();
  SqliteResult<void> create_tables();
  SqliteResult<void> prepare();
  SqliteResult<void> recover();
  SqliteResult<void> mark_open();
  void mark_closed();
  void remove_log_on_close(bool does);
  SqliteResult<void> set_user_version(std::int64_t version);
  Result<void> visit_rows(const std::function<Result<void>(const LogRow&)>& visit);
  SqliteResult<std::int64_t> meta(const char* name);
  SqliteResult<void> set_meta(std::string_view name, std::int64_t value);
  SqliteResult<void> write_count(Revision revision, std::int64_t rows);
  std::unexpected<Status> damaged(std::string_view how) const;
  SqliteResult<void> write(std::span<const PendingWrite> writes, std::span<const Revision> superseded, Revision compacted);
  std::unexpected<Status> read_failure(const SqliteError& error) const;

  Options options_;
  std::optional<WriterLock> lock_;
  std::optional<Connection> connection_;
  Statement insert_;
  Statement delete_;
  Statement set_meta_;
  std::string text_;  // of the value being written
  Revision compacted_ = 0;
  Revision newest_ = 0;    // in the file
  std::int64_t rows_ = 0;  // in the file
  bool is_counted_ = true;
  bool is_marked_ = false;      // as open (wal_mark.h)
  int wal_pages_ = 0;           // in the write-ahead log
  int checkpointed_pages_ = 0;  // of these, when they were last moved
};

/// The `sum` of a row: damage shows, malice does not.
std::int64_t row_sum(Revision revision, std::string_view key, std::optional<std::string_view> value);

}  // namespace slipway::store
