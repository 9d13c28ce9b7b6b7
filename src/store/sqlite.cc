#include "store/sqlite.h"

#include "base/check.h"

namespace slipway::store {

SqliteResult<Connection> Connection::open(const std::string& path, int flags, sqlite3_vfs* vfs) {
  Connection connection;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, vfs == nullptr ? nullptr : vfs->zName);
  connection.handle_.reset(handle);
  if (handle == nullptr) return std::unexpected(SqliteError{SQLITE_NOMEM, "out of memory"});
  if (code != SQLITE_OK) return std::unexpected(connection.error());
  sqlite3_extended_result_codes(handle, 1);
  return connection;
}

SqliteError Connection::error() const { return {sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get())}; }

SqliteResult<void> Connection::execute(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return std::unexpected(error());
  return {};
}

SqliteResult<std::int64_t> Connection::integer(const char* sql) {
  SLIPWAY_SQL_LET(statement, Statement::prepare(*this, sql));
  SLIPWAY_SQL_LET(has_row, statement.step());
  return has_row ? statement.integer(0) : 0;
}

SqliteResult<Statement> Statement::prepare(const Connection& connection, const char* sql) {
  Statement statement;
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v3(connection.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, nullptr) != SQLITE_OK)
    return std::unexpected(connection.error());
  statement.handle_.reset(handle);
  return statement;
}

Statement& Statement::bind(int index, std::int64_t value) {
  SLIPWAY_CHECK(sqlite3_bind_int64(handle_.get(), index, value) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  SLIPWAY_CHECK(sqlite3_bind_text64(handle_.get(), index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_null(int index) {
  SLIPWAY_CHECK(sqlite3_bind_null(handle_.get(), index) == SQLITE_OK);
  return *this;
}

SqliteResult<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* connection = sqlite3_db_handle(handle_.get());
  return std::unexpected(SqliteError{sqlite3_extended_errcode(connection), sqlite3_errmsg(connection)});
}

SqliteResult<void> Statement::run() {
  auto stepped = step();
  reset();
  if (!stepped) return std::unexpected(std::move(stepped).error());
  return {};
}

std::string_view Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(bytes == nullptr ? 0 : size)};
}

SqliteResult<Transaction> Transaction::begin(Connection& connection) {
  SLIPWAY_SQL(connection.execute("BEGIN IMMEDIATE"));
  return Transaction(connection);
}

SqliteResult<Transaction> Transaction::begin_reading(Connection& connection) {
  SLIPWAY_SQL(connection.execute("BEGIN"));
  return Transaction(connection);
}

SqliteResult<void> Transaction::commit() {
  SLIPWAY_SQL(connection_->execute("COMMIT"));
  connection_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back by itself.
  if (connection_ != nullptr && connection_->in_transaction()) (void)connection_->execute("ROLLBACK");
}

}  // namespace slipway::store
