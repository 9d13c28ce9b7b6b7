// One writer per database: a lock on the file beside it ("<database>-lock"), taken through the VFS, so that it works on real
// files and on the simulated disk alike. The system gives it back when its holder dies, however it dies. The file's text tells
// others who the holder is. A second lock, on the database itself, holds when that file is moved or removed.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace slipway::store {

/// A file opened through a VFS, without a database around it.
class VfsFile {
 public:
  /// nullptr when it cannot be opened. `flags` as for sqlite3_open_v2.
  static std::unique_ptr<VfsFile> open(sqlite3_vfs* vfs, const std::string& path, int flags);
  VfsFile(const VfsFile&) = delete;
  VfsFile& operator=(const VfsFile&) = delete;
  ~VfsFile();

  /// Up to `count` bytes from the start; shorter at the end of the file or on failure.
  std::string read(std::size_t count) { return read_at(0, count); }
  std::string read_at(std::uint64_t offset, std::size_t count);
  /// In bytes; 0 on failure.
  std::uint64_t size();
  /// Replaces the content. False when that failed.
  bool write(std::string_view content);
  /// SQLite's lock RESERVED. False when another handle or process holds it.
  bool lock_exclusively();

 private:
  explicit VfsFile(std::string path) : path_(std::move(path)) {}

  std::string path_;  // the VFS keeps a pointer to it
  std::unique_ptr<char[]> memory_;
  sqlite3_file* file_ = nullptr;
};

/// Whether a file is there (an empty one does not count).
bool exists(sqlite3_vfs* vfs, const std::string& path);

class WriterLock {
 public:
  /// Conflict naming the holder's pid when the database is held; InternalError when the lock file cannot be made.
  static Result<WriterLock> take(sqlite3_vfs* vfs, const std::string& database, std::int64_t pid);
  /// Takes the lock on the database itself: RESERVED, which no connection needs in WAL mode and which keeps no reader away.
  /// Call it once the database is in that mode. Conflict when another process has it.
  Result<void> hold_database();
  /// Gives that one back, so that the last connection can put its write-ahead log away.
  void release_database() { database_file_.reset(); }

 private:
  WriterLock(sqlite3_vfs* vfs, std::string database, std::unique_ptr<VfsFile> file)
      : vfs_(vfs), database_(std::move(database)), file_(std::move(file)) {}

  sqlite3_vfs* vfs_;
  std::string database_;
  std::unique_ptr<VfsFile> file_;
  std::unique_ptr<VfsFile> database_file_;
};

}  // namespace slipway::store
