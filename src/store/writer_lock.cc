#include "store/writer_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace slipway::store {
namespace {

constexpr std::string_view kHolder = "pid ";

/// "pid 4711\n" → "4711"; empty when it says nothing of the kind.
std::string holder_of(const std::string& content) {
  if (!content.starts_with(kHolder)) return {};
  std::string digits = content.substr(kHolder.size());
  digits.erase(std::find_if_not(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }), digits.end());
  return digits;
}

}  // namespace

std::unique_ptr<VfsFile> VfsFile::open(sqlite3_vfs* vfs, const std::string& path, int flags) {
  std::unique_ptr<VfsFile> result(new VfsFile(path));
  const auto size = static_cast<std::size_t>(vfs->szOsFile);
  result->memory_ = std::make_unique<char[]>(size);
  auto* file = reinterpret_cast<sqlite3_file*>(result->memory_.get());
  int given = 0;
  const int code = vfs->xOpen(vfs, result->path_.c_str(), file, flags | SQLITE_OPEN_MAIN_DB, &given);
  if (code != SQLITE_OK) {
    if (file->pMethods != nullptr) file->pMethods->xClose(file);
    return nullptr;
  }
  result->file_ = file;
  // SQLite's own VFS falls back to reading when it may not write.
  if ((flags & SQLITE_OPEN_READWRITE) != 0 && (given & SQLITE_OPEN_READONLY) != 0) return nullptr;
  return result;
}

VfsFile::~VfsFile() {
  if (file_ == nullptr) return;
  file_->pMethods->xUnlock(file_, SQLITE_LOCK_NONE);
  file_->pMethods->xClose(file_);
}

std::uint64_t VfsFile::size() {
  sqlite3_int64 size = 0;
  return file_->pMethods->xFileSize(file_, &size) == SQLITE_OK ? static_cast<std::uint64_t>(size) : 0;
}

std::string VfsFile::read_at(std::uint64_t offset, std::size_t count) {
  const std::uint64_t end = size();
  std::string bytes(offset < end ? std::min<std::uint64_t>(count, end - offset) : 0, '\0');
  if (bytes.empty()) return bytes;
  const auto from = static_cast<sqlite3_int64>(offset);
  if (file_->pMethods->xRead(file_, bytes.data(), static_cast<int>(bytes.size()), from) != SQLITE_OK) return {};
  return bytes;
}

bool VfsFile::write(std::string_view content) {
  return file_->pMethods->xTruncate(file_, 0) == SQLITE_OK &&
         file_->pMethods->xWrite(file_, content.data(), static_cast<int>(content.size()), 0) == SQLITE_OK;
}

bool VfsFile::lock_exclusively() {
  return file_->pMethods->xLock(file_, SQLITE_LOCK_SHARED) == SQLITE_OK &&
         file_->pMethods->xLock(file_, SQLITE_LOCK_RESERVED) == SQLITE_OK;
}

bool exists(sqlite3_vfs* vfs, const std::string& path) {
  int is_there = 0;
  return vfs->xAccess(vfs, path.c_str(), SQLITE_ACCESS_EXISTS, &is_there) == SQLITE_OK && is_there != 0;
}

Result<WriterLock> WriterLock::take(sqlite3_vfs* vfs, const std::string& database, std::int64_t pid) {
  auto file = VfsFile::open(vfs, database + "-lock", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!file)
    return fail(Reason::InternalError, fmt::format("cannot open {}-lock: the folder must be writable by this user", database));
  if (!file->lock_exclusively()) {
    const std::string holder = holder_of(file->read(64));
    return fail(Reason::Conflict, fmt::format("{} is in use by another process{}", database,
                                              holder.empty() ? "" : fmt::format(" (pid {})", holder)));
  }
  // Only for the message of others: on a full disk the lock holds all the same.
  (void)file->write(fmt::format("{}{}\n", kHolder, pid));
  WriterLock lock(vfs, database, std::move(file));
  // Looked at before anything is changed. While the file beside it was where it belongs no other process can have it.
  if (exists(vfs, database)) {
    SLIPWAY_TRY_VOID(lock.hold_database());
    lock.release_database();
  }
  return lock;
}

Result<void> WriterLock::hold_database() {
  auto file = VfsFile::open(vfs_, database_, SQLITE_OPEN_READWRITE);
  if (!file) return fail(Reason::InternalError, fmt::format("cannot open {}: it must be writable by this user", database_));
  if (!file->lock_exclusively()) return fail(Reason::Conflict, fmt::format("{} is in use by another process", database_));
  database_file_ = std::move(file);
  return {};
}

}  // namespace slipway::store
