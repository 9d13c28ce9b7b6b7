#include "store/log_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "json/text.h"
#include "store/wal_mark.h"

namespace slipway::store {
namespace {

constexpr std::int64_t kApplicationId = 0x536c6970;  // "Slip"
constexpr std::int64_t kFormat = 1;
constexpr int kBusyTimeout_ms = 5000;
constexpr std::size_t kLogHeaderSize = 100;

/// Big-endian, as SQLite writes its header.
std::int64_t header_word(std::string_view header, std::size_t offset) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | static_cast<unsigned char>(header[offset + i]);
  return word;
}

std::unexpected<Status> foreign(const std::string& path) {
  return fail(Reason::BadRequest, fmt::format("{} is not a Slipway database", path));
}

Result<void> check_identity(const std::string& path, std::int64_t application_id, std::int64_t user_version) {
  const std::int64_t format = format_of(user_version);
  if (application_id != kApplicationId) return foreign(path);
  if (format > kFormat)
    return fail(Reason::BadRequest,
                fmt::format("{} was written by a newer Slipway (format {}; this one knows {})", path, format, kFormat));
  if (format < 1) return fail(Reason::StorageReadError, fmt::format("{} is damaged: it has no format number", path));
  return {};
}

/// A database has its first page before it gets a write-ahead log (see create_tables()). One without pages beside a log has
/// lost them, and SQLite would begin anew and delete the log.
Result<bool> check_nothing_lost(sqlite3_vfs* vfs, const std::string& path) {
  if (!exists(vfs, path + "-wal")) return false;
  return fail(Reason::StorageReadError, fmt::format("{0} is damaged: it is {1}, but its write-ahead log {0}-wal is there", path,
                                                    VfsFile::open(vfs, path, SQLITE_OPEN_READONLY) ? "empty" : "missing"));
}

/// Looks at the file's header without SQLite, which might change a file that is not ours. True when there is one.
Result<bool> probe(sqlite3_vfs* vfs, const std::string& path) {
  const auto file = VfsFile::open(vfs, path, SQLITE_OPEN_READONLY);
  const std::string header = file ? file->read(kLogHeaderSize) : "";
  if (header.empty()) return check_nothing_lost(vfs, path);
  // A power cut while the database was made: its journal undoes that. SQLite must look first.
  if (exists(vfs, path + "-journal")) return false;
  if (header.size() < kLogHeaderSize || !header.starts_with(std::string_view("SQLite format 3\0", 16))) return foreign(path);
  SLIPWAY_TRY_VOID(check_identity(path, header_word(header, 68), header_word(header, 60)));
  return true;
}

std::int64_t user_version(sqlite3_vfs* vfs, const std::string& path) {
  const auto file = VfsFile::open(vfs, path, SQLITE_OPEN_READONLY);
  const std::string header = file ? file->read(kLogHeaderSize) : "";
  return header.size() < kLogHeaderSize ? 0 : header_word(header, 60);
}

/// A database that was not closed is nothing without its write-ahead log. The header is read after the log was looked for:
/// whoever closes the database takes the mark away before the log.
Result<void> check_log(sqlite3_vfs* vfs, const std::string& path) {
  const std::string log = wal_header(vfs, path);
  const std::int64_t version = user_version(vfs, path);
  const std::string_view fault = wal_fault(version, log);
  if (fault.empty()) return {};
  return fail(
      Reason::StorageReadError,
      fmt::format("{0} was not closed, and its write-ahead log {0}-wal, with what was written last, is {1}: put it back. If it "
                  "is lost, `sqlite3 {0} 'PRAGMA user_version={2}'` lets the database open as it was before that",
                  path, fault, format_of(version)));
}

bool has_shared_memory(sqlite3* connection) {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file == nullptr) return false;
  return file->pMethods != nullptr && file->pMethods->iVersion >= 2 && file->pMethods->xShmMap != nullptr;
}

std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15;
  return state ^ (state >> 29);
}

std::uint64_t mixed(std::uint64_t state, std::string_view bytes) {
  state = mixed(state, bytes.size());
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    state = mixed(state, word);
  }
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) rest |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return mixed(state, rest);
}

}  // namespace

std::int64_t row_sum(Revision revision, std::string_view key, std::optional<std::string_view> value) {
  std::uint64_t state = mixed(static_cast<std::uint64_t>(revision), key);
  if (value) state = mixed(state, *value);
  return static_cast<std::int64_t>(state & 0xffffffff);
}

Result<std::string_view> LogRow::text() const {
  const std::string_view text = statement_.text(2);
  if (row_sum(revision_, key_, text) != statement_.integer(3))
    return fail(Reason::StorageReadError, fmt::format("revision {} is damaged", revision_));
  return text;
}

Result<std::unique_ptr<LogFile>> LogFile::open(Options options) {
  if (options.vfs == nullptr) options.vfs = sqlite3_vfs_find(nullptr);
  std::unique_ptr<LogFile> file(new LogFile(std::move(options)));
  const Options& wanted = file->options_;
  SLIPWAY_TRY(is_there, probe(wanted.vfs, wanted.path));
  if (wanted.is_read_only) {
    if (!is_there && !exists(wanted.vfs, wanted.path))
      return fail(Reason::NotFound, fmt::format("no such file: {}", wanted.path));
  } else {
    SLIPWAY_TRY(lock, WriterLock::take(wanted.vfs, wanted.path, wanted.pid));
    file->lock_ = std::move(lock);
  }
  SLIPWAY_TRY_VOID(check_log(wanted.vfs, wanted.path));
  SLIPWAY_TRY_VOID(file->connect(!is_there));
  // Without shared memory the connection itself keeps everybody else out.
  if (file->lock_ && has_shared_memory(file->connection_->get())) SLIPWAY_TRY_VOID(file->lock_->hold_database());
  if (!file->is_read_only()) {
    if (auto done = file->mark_open(); !done) return file->read_failure(done.error());
  }
  return file;
}

LogFile::~LogFile() { close(); }

std::unexpected<Status> LogFile::read_failure(const SqliteError& error) const {
  switch (error.primary()) {
    case SQLITE_NOTADB:
      return foreign(path());
    case SQLITE_CORRUPT:
      return fail(Reason::StorageReadError, fmt::format("{} is damaged: {}", path(), error.message));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(Reason::Conflict, fmt::format("{} is in use by another process", path()));
    case SQLITE_FULL:
      return fail(Reason::ServiceUnavailable, fmt::format("cannot open {}: disk full", path()));
    case SQLITE_IOERR:
      return fail(Reason::ServiceUnavailable,
                  fmt::format("cannot open {}: {} (SQLite error {})", path(), error.message, error.code));
    default:
      return fail(Reason::InternalError,
                  fmt::format("cannot open {}: {} (SQLite error {})", path(), error.message, error.code));
  }
}

Result<void> LogFile::connect(bool may_be_new) {
  const int flags = options_.is_read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  auto connection = Connection::open(path(), flags, options_.vfs);
  if (!connection) return read_failure(connection.error());
  connection_ = std::move(*connection);
  remove_log_on_close(false);
  if (auto done = configure(); !done) return read_failure(done.error());
  if (may_be_new) SLIPWAY_TRY_VOID(check_format());
  if (auto done = prepare(); !done) return read_failure(done.error());
  return {};
}

SqliteResult<void> LogFile::configure() {
  sqlite3_busy_timeout(connection_->get(), kBusyTimeout_ms);
  sqlite3_wal_hook(
      connection_->get(),
      [](void* context, sqlite3*, const char*, int pages) {
        auto* self = static_cast<LogFile*>(context);
        if (pages < self->wal_pages_) self->checkpointed_pages_ = 0;  // it was moved whole and begins anew
        self->wal_pages_ = pages;
        return SQLITE_OK;
      },
      this);
  if (!has_shared_memory(connection_->get())) SLIPWAY_SQL(connection_->execute("PRAGMA locking_mode=EXCLUSIVE"));
  return connection_->execute("PRAGMA synchronous=FULL; PRAGMA secure_delete=FAST");
}

/// A new file gets its tables; one that a journal had to bring back is looked at now.
Result<void> LogFile::check_format() {
  const auto tables = connection_->integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return read_failure(tables.error());
  const auto application_id = connection_->integer("PRAGMA application_id");
  if (!application_id) return read_failure(application_id.error());
  if (*tables > 0 || *application_id != 0) {
    const auto format = connection_->integer("PRAGMA user_version");
    if (!format) return read_failure(format.error());
    return check_identity(path(), *application_id, *format);
  }
  if (options_.is_read_only) return fail(Reason::NotFound, fmt::format("{} is empty", path()));
  if (auto done = create_tables(); !done) return read_failure(done.error());
  return {};
}

/// With a rollback journal: the first page, by which a file is known as ours, is in the database itself from the start.
SqliteResult<void> LogFile::create_tables() {
  // Objects of one or two kilobytes leave too much of a smaller page empty; larger ones make a single write longer.
  SLIPWAY_SQL(connection_->execute("PRAGMA page_size=8192"));
  SLIPWAY_SQL_LET(transaction, Transaction::begin(*connection_));
  SLIPWAY_SQL(connection_->execute(fmt::format(R"(
    PRAGMA application_id={};
    PRAGMA user_version={};
    CREATE TABLE log(revision INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT, sum INTEGER NOT NULL);
    CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    INSERT INTO meta VALUES('compacted', 1), ('counted', 1), ('rows', 0), ('recoveries', 0))",
                                               kApplicationId, kFormat)
                                       .c_str()));
  return transaction.commit();
}

SqliteResult<void> LogFile::prepare() {
  if (!options_.is_read_only) {
    SLIPWAY_SQL(connection_->execute("PRAGMA journal_mode=WAL"));
    SLIPWAY_SQL(recover());
    SLIPWAY_SQL_LET(insert, Statement::prepare(*connection_, "INSERT INTO log VALUES(?1, ?2, ?3, ?4)"));
    insert_ = std::move(insert);
    SLIPWAY_SQL_LET(deletion, Statement::prepare(*connection_, "DELETE FROM log WHERE revision = ?1"));
    delete_ = std::move(deletion);
    SLIPWAY_SQL_LET(set, Statement::prepare(*connection_, "UPDATE meta SET value = ?1 WHERE name = ?2"));
    set_meta_ = std::move(set);
  }
  return {};
}

/// What an earlier process left in the write-ahead log is moved, and the log begun anew, before a reader sees it. Its last sync
/// may have failed: then the log is whole in the system's cache but not on the disk, and a power cut would bring back an older
/// state, or lose commits written behind the hole.
SqliteResult<void> LogFile::recover() {
  SLIPWAY_SQL(meta("compacted"));  // opens the write-ahead log
  int frames = 0;
  const int code = sqlite3_wal_checkpoint_v2(connection_->get(), "main", SQLITE_CHECKPOINT_PASSIVE, &frames, nullptr);
  // Readers beside us and a full disk must not keep the store from opening.
  if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_FULL) return {};
  if (code != SQLITE_OK) return std::unexpected(connection_->error());
  if (frames <= 0) return {};
  return connection_->execute("UPDATE meta SET value = value + 1 WHERE name = 'recoveries'");
}

/// In two steps: the first gives the log its header, whose salt the second puts into the database.
SqliteResult<void> LogFile::mark_open() {
  is_marked_ = true;
  auto done = set_user_version(with_wal_mark(kFormat, ""));
  if (done) done = set_user_version(with_wal_mark(kFormat, wal_header(options_.vfs, path())));
  if (!done) return done.error().primary() == SQLITE_FULL ? SqliteResult<void>{} : done;
  const int code = sqlite3_wal_checkpoint_v2(connection_->get(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  const int primary = code & 0xff;
  if (primary == SQLITE_OK || primary == SQLITE_BUSY || primary == SQLITE_FULL) return {};
  return std::unexpected(connection_->error());
}

/// Takes the mark away, and counts the rows. Should this fail, the older count still holds, and the mark with its log.
void LogFile::mark_closed() {
  auto transaction = Transaction::begin(*connection_);
  const bool is_counted = transaction && (is_counted_ || write_count(newest_, rows_));
  if (is_counted && set_user_version(kFormat) && transaction->commit()) remove_log_on_close(true);
}

/// Whether SQLite, when the last connection closes, moves the log into the database and removes it. While the database may have
/// the mark, nobody may.
void LogFile::remove_log_on_close(bool does) {
  sqlite3_db_config(connection_->get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, does ? 0 : 1, nullptr);
}

SqliteResult<void> LogFile::set_user_version(std::int64_t version) {
  return connection_->execute(fmt::format("PRAGMA user_version={}", version).c_str());
}

Result<void> LogFile::read(const std::function<Result<void>(const LogRow&)>& visit) {
  // One read transaction: a writer beside a read-only store must not move `compacted` between the two statements.
  const auto transaction = Transaction::begin_reading(*connection_);
  if (!transaction) return read_failure(transaction.error());
  const auto compacted = meta("compacted");
  if (!compacted) return read_failure(compacted.error());
  compacted_ = *compacted;
  if (compacted_ < 1) return damaged("it has no compacted revision");
  return visit_rows(visit);
}

Result<void> LogFile::visit_rows(const std::function<Result<void>(const LogRow&)>& visit) {
  const auto counted = meta("counted");
  const auto rows = meta("rows");
  if (!counted || !rows) return read_failure((!counted ? counted : rows).error());
  auto cursor = Statement::prepare(*connection_, "SELECT revision, key, value, sum FROM log ORDER BY revision DESC");
  if (!cursor) return read_failure(cursor.error());
  std::int64_t uncounted = 0;
  Revision expected = 0;  // 0: any
  newest_ = compacted_;
  for (rows_ = 0;; ++rows_) {
    const auto has_row = cursor->step();
    if (!has_row) return read_failure(has_row.error());
    if (!*has_row) break;
    const LogRow row(*cursor, cursor->integer(0), cursor->text(1));
    if (rows_ == 0) newest_ = std::max(newest_, row.revision());
    if (row.revision() < 2 || (rows_ > 0 && row.revision() > expected))
      return damaged(fmt::format("revision {} is out of order", row.revision()));
    if (expected > compacted_ && row.revision() != expected) return damaged(fmt::format("revision {} is missing", expected));
    expected = row.revision() - 1;
    if (row.revision() > *counted) ++uncounted;
    if (auto visited = visit(row); !visited) return damaged(visited.error().message);
  }
  if (expected > compacted_) return damaged(fmt::format("revision {} is missing", expected));
  if (rows_ - uncounted != *rows)
    return damaged(fmt::format("{} of {} rows are left up to revision {}", rows_ - uncounted, *rows, *counted));
  return {};
}

std::unexpected<Status> LogFile::damaged(std::string_view how) const {
  return fail(Reason::StorageReadError, fmt::format("{} is damaged: {}", path(), how));
}

SqliteResult<std::int64_t> LogFile::meta(const char* name) {
  SLIPWAY_SQL_LET(statement, Statement::prepare(*connection_, "SELECT value FROM meta WHERE name = ?1"));
  SLIPWAY_SQL_LET(has_row, statement.bind(1, std::string_view(name)).step());
  return has_row ? statement.integer(0) : 0;
}

SqliteResult<void> LogFile::set_meta(std::string_view name, std::int64_t value) {
  return set_meta_.bind(1, value).bind(2, name).run();
}

SqliteResult<void> LogFile::write_count(Revision revision, std::int64_t rows) {
  SLIPWAY_SQL(set_meta("counted", revision));
  return set_meta("rows", rows);
}

Result<void> LogFile::commit(std::span<const PendingWrite> writes, std::span<const Revision> superseded, Revision compacted) {
  auto done = write(writes, superseded, compacted);
  if (done) {
    is_counted_ = !superseded.empty();
    return {};
  }
  const SqliteError& error = done.error();
  const std::string why =
      error.primary() == SQLITE_FULL ? "disk full" : fmt::format("{} (SQLite error {})", error.message, error.code);
  return fail(Reason::ServiceUnavailable, fmt::format("cannot write {}: {}", path(), why));
}

SqliteResult<void> LogFile::write(std::span<const PendingWrite> writes, std::span<const Revision> superseded,
                                  Revision compacted) {
  SLIPWAY_SQL_LET(transaction, Transaction::begin(*connection_));
  for (const PendingWrite& write : writes) {
    std::optional<std::string_view> text;
    insert_.bind(1, write.revision).bind(2, write.key);
    if (write.value) {
      text_.clear();
      json::print_to(text_, *write.value);
      text = text_;
      insert_.bind(3, *text);
    } else {
      insert_.bind_null(3);
    }
    SLIPWAY_SQL(insert_.bind(4, row_sum(write.revision, write.key, text)).run());
  }
  const Revision newest = writes.empty() ? newest_ : writes.back().revision;
  std::int64_t rows = rows_ + static_cast<std::int64_t>(writes.size());
  for (const Revision revision : superseded) {
    SLIPWAY_SQL(delete_.bind(1, revision).run());
    rows -= sqlite3_changes64(connection_->get());
  }
  if (!superseded.empty()) {
    SLIPWAY_SQL(set_meta("compacted", compacted));
    SLIPWAY_SQL(write_count(newest, rows));
  }
  SLIPWAY_SQL(transaction.commit());
  newest_ = newest;
  rows_ = rows;
  return {};
}

void LogFile::checkpoint() {
  // A reader beside us may hold a part back; what fails is tried again with the next one.
  (void)sqlite3_wal_checkpoint_v2(connection_->get(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  checkpointed_pages_ = wal_pages_;
}

void LogFile::close() {
  if (connection_ && is_marked_) mark_closed();
  is_marked_ = false;
  insert_ = {};
  delete_ = {};
  set_meta_ = {};
  if (lock_) lock_->release_database();
  connection_.reset();
  lock_.reset();
}

}  // namespace slipway::store
