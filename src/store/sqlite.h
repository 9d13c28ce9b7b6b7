// SQLite's C interface with owners: a connection, prepared statements, a transaction. Failures are an SqliteError, whose codes
// are SQLite's extended ones; LogFile turns them into a Status. A connection is used by one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace slipway::store {

struct SqliteError {
  int code = SQLITE_OK;  // extended, e.g. SQLITE_IOERR_WRITE
  std::string message;   // e.g. "disk I/O error"

  int primary() const { return code & 0xff; }
};

template <class T>
using SqliteResult = std::expected<T, SqliteError>;

class Connection {
 public:
  /// `flags` as for sqlite3_open_v2; `vfs` nullptr: SQLite's default.
  static SqliteResult<Connection> open(const std::string& path, int flags, sqlite3_vfs* vfs);

  /// Runs statements without results.
  SqliteResult<void> execute(const char* sql);
  /// The first column of the first row, or 0 without a row.
  SqliteResult<std::int64_t> integer(const char* sql);
  SqliteError error() const;
  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  sqlite3* get() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement. Bound text and blobs are not copied: they must live until reset().
class Statement {
 public:
  Statement() = default;
  static SqliteResult<Statement> prepare(const Connection& connection, const char* sql);

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view text);
  Statement& bind_null(int index);
  /// True when there is a row.
  SqliteResult<bool> step();
  /// For statements without rows: steps and resets.
  SqliteResult<void> run();
  void reset() { sqlite3_reset(handle_.get()); }

  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  /// Valid until the next step. Blobs are text too.
  std::string_view text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// Rolls back when destroyed before commit() succeeded.
class Transaction {
 public:
  static SqliteResult<Transaction> begin(Connection& connection);
  /// All reads until its end see one state.
  static SqliteResult<Transaction> begin_reading(Connection& connection);
  Transaction(Transaction&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  SqliteResult<void> commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

}  // namespace slipway::store

// SLIPWAY_SQL(expression): returns its SqliteError. SLIPWAY_SQL_LET(name, expression) binds the value.
#define SLIPWAY_SQL(expression) \
  if (auto sql_outcome = (expression); !sql_outcome) return std::unexpected(std::move(sql_outcome).error())
#define SLIPWAY_SQL_LET(name, expression)                                         \
  auto name##_outcome = (expression);                                             \
  if (!name##_outcome) return std::unexpected(std::move(name##_outcome).error()); \
  auto& name = *name##_outcome
