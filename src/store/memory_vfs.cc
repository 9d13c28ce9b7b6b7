#include "store/memory_vfs.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "store/memory_disk.h"

namespace slipway::store {
namespace {

using Outcome = MemoryDisk::Outcome;

/// An open file; lives in the memory SQLite hands to xOpen.
struct Handle : sqlite3_file {
  MemoryDisk* disk = nullptr;
  std::shared_ptr<DiskFile> file;
  std::string path;
  std::uint64_t epoch = 0;
  bool deletes_on_close = false;
  bool syncs_folder = false;  // with its next sync, as SQLite's own VFS does for journals

  bool is_alive() const { return disk->is_alive(epoch); }
};

Handle& handle_of(sqlite3_file* file) { return *static_cast<Handle*>(file); }
MemoryDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<MemoryDisk*>(vfs->pAppData); }

int code_of(Outcome outcome, int failure) {
  switch (outcome) {
    case Outcome::Ok:
      return SQLITE_OK;
    case Outcome::Full:
      return SQLITE_FULL;
    case Outcome::Failed:
    case Outcome::Dead:
      return failure;
  }
  return failure;
}

int file_close(sqlite3_file* file) {
  Handle& handle = handle_of(file);
  handle.file->locks.erase(&handle);
  if (handle.deletes_on_close && handle.is_alive()) handle.disk->remove(handle.path, true);
  handle.~Handle();
  return SQLITE_OK;
}

int file_read(sqlite3_file* file, void* into, int count, sqlite3_int64 offset) {
  const Handle& handle = handle_of(file);
  if (!handle.is_alive()) return SQLITE_IOERR_READ;
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t got = handle.file->cached.read(static_cast<std::uint64_t>(offset), static_cast<char*>(into), wanted);
  return got == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int file_write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  const Handle& handle = handle_of(file);
  const std::string_view view(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
  return code_of(handle.disk->write(*handle.file, handle.epoch, static_cast<std::uint64_t>(offset), view), SQLITE_IOERR_WRITE);
}

int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  const Handle& handle = handle_of(file);
  return code_of(handle.disk->truncate(*handle.file, handle.epoch, static_cast<std::uint64_t>(size)), SQLITE_IOERR_TRUNCATE);
}

int file_sync(sqlite3_file* file, int) {
  Handle& handle = handle_of(file);
  const Outcome outcome = handle.disk->sync(*handle.file, handle.epoch);
  if (outcome == Outcome::Ok && std::exchange(handle.syncs_folder, false)) handle.disk->sync_names();
  return code_of(outcome, SQLITE_IOERR_FSYNC);
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  const Handle& handle = handle_of(file);
  if (!handle.is_alive()) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>(handle.file->cached.size());
  return SQLITE_OK;
}

int file_lock(sqlite3_file* file, int level) {
  Handle& handle = handle_of(file);
  if (!handle.is_alive()) return SQLITE_IOERR_LOCK;
  for (const auto& [other, held] : handle.file->locks) {
    if (other == &handle) continue;
    const bool is_refused = level == SQLITE_LOCK_EXCLUSIVE ? held >= SQLITE_LOCK_SHARED
                            : level == SQLITE_LOCK_SHARED  ? held >= SQLITE_LOCK_PENDING
                                                           : held >= SQLITE_LOCK_RESERVED;
    if (is_refused) return SQLITE_BUSY;
  }
  int& own = handle.file->locks[&handle];
  own = std::max(own, level);
  return SQLITE_OK;
}

int file_unlock(sqlite3_file* file, int level) {
  Handle& handle = handle_of(file);
  if (level == SQLITE_LOCK_NONE) {
    handle.file->locks.erase(&handle);
  } else if (const auto at = handle.file->locks.find(&handle); at != handle.file->locks.end()) {
    at->second = std::min(at->second, level);
  }
  return SQLITE_OK;
}

int file_check_reserved(sqlite3_file* file, int* is_reserved) {
  const Handle& handle = handle_of(file);
  *is_reserved = 0;
  for (const auto& [other, held] : handle.file->locks) {
    if (held >= SQLITE_LOCK_RESERVED) *is_reserved = 1;
  }
  return SQLITE_OK;
}

int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int file_sector_size(sqlite3_file*) { return 512; }
int file_characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int disk_open(sqlite3_vfs* vfs, const char* path, sqlite3_file* memory, int flags, int* out_flags) {
  memory->pMethods = nullptr;
  MemoryDisk& disk = disk_of(vfs);
  if (disk.is_off()) return SQLITE_CANTOPEN;
  std::shared_ptr<DiskFile> file = path == nullptr ? std::make_shared<DiskFile>() : disk.find(path);
  if (!file) {
    if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    file = disk.create(path);
  }
  auto* handle = new (memory) Handle;
  handle->pMethods = &kMethods;
  handle->disk = &disk;
  handle->file = std::move(file);
  handle->path = path == nullptr ? "" : path;
  handle->epoch = disk.epoch();
  handle->deletes_on_close = path != nullptr && (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  handle->syncs_folder = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int disk_delete(sqlite3_vfs* vfs, const char* path, int is_synced) {
  MemoryDisk& disk = disk_of(vfs);
  if (disk.is_off()) return SQLITE_IOERR_DELETE;
  if (!disk.find(path)) return SQLITE_IOERR_DELETE_NOENT;
  disk.remove(path, is_synced != 0);
  return SQLITE_OK;
}

int disk_access(sqlite3_vfs* vfs, const char* path, int, int* is_there) {
  const auto file = disk_of(vfs).find(path);
  // As SQLite's own: an empty file does not count as a journal.
  *is_there = file != nullptr && file->cached.size() > 0 ? 1 : 0;
  return SQLITE_OK;
}

int disk_full_path(sqlite3_vfs*, const char* path, int size, char* out) {
  if (std::strlen(path) >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::strcpy(out, path);
  return SQLITE_OK;
}

/// Seeds SQLite's own generator (WAL salts, never a result).
int disk_randomness(sqlite3_vfs*, int count, char* out) {
  for (int i = 0; i < count; ++i) out[i] = static_cast<char>(i * 37 + 11);
  return count;
}

int disk_sleep(sqlite3_vfs*, int microseconds) { return microseconds; }

int disk_time(sqlite3_vfs*, double* julian_day) {
  *julian_day = 2461041.5;
  return SQLITE_OK;
}

}  // namespace

MemoryVfs::MemoryVfs(std::uint64_t seed)
    : disk_(std::make_unique<MemoryDisk>(seed)),
      name_(fmt::format("slipway-memory-{}", static_cast<const void*>(this))),
      vfs_(std::make_unique<sqlite3_vfs>()) {
  *vfs_ = {};
  vfs_->iVersion = 1;
  vfs_->szOsFile = sizeof(Handle);
  vfs_->mxPathname = 512;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = disk_.get();
  vfs_->xOpen = disk_open;
  vfs_->xDelete = disk_delete;
  vfs_->xAccess = disk_access;
  vfs_->xFullPathname = disk_full_path;
  vfs_->xRandomness = disk_randomness;
  vfs_->xSleep = disk_sleep;
  vfs_->xCurrentTime = disk_time;
  SLIPWAY_CHECK(sqlite3_vfs_register(vfs_.get(), 0) == SQLITE_OK);
}

MemoryVfs::~MemoryVfs() { sqlite3_vfs_unregister(vfs_.get()); }

sqlite3_vfs* MemoryVfs::vfs() { return vfs_.get(); }
void MemoryVfs::crash(std::uint64_t seed) { disk_->crash(seed); }
void MemoryVfs::kill() { disk_->kill(); }
void MemoryVfs::fail_after(std::size_t skip, std::size_t count) { disk_->fail_after(skip, count); }
void MemoryVfs::fail_syncs(std::size_t count) { disk_->fail_syncs(count); }
void MemoryVfs::set_full(bool is_full) { disk_->set_full(is_full); }
void MemoryVfs::cut_power_after(std::size_t operations) { disk_->cut_power_after(operations); }
bool MemoryVfs::is_off() const { return disk_->is_off(); }
std::uint64_t MemoryVfs::operations() const { return disk_->operations(); }
std::uint64_t MemoryVfs::syncs() const { return disk_->syncs(); }
bool MemoryVfs::exists(const std::string& path) const { return disk_->find(path) != nullptr; }

MemoryVfs::Snapshot MemoryVfs::snapshot() const {
  Snapshot snapshot;
  snapshot.images_ = std::make_shared<const MemoryDisk::Images>(disk_->images());
  return snapshot;
}

void MemoryVfs::restore(const Snapshot& snapshot) {
  const auto* images = static_cast<const MemoryDisk::Images*>(snapshot.images_.get());
  disk_->restore(images == nullptr ? MemoryDisk::Images{} : *images);
}

std::string MemoryVfs::content(const std::string& path) const {
  const auto file = disk_->find(path);
  if (!file) return {};
  std::string bytes(file->cached.size(), '\0');
  file->cached.read(0, bytes.data(), bytes.size());
  return bytes;
}

void MemoryVfs::set_content(const std::string& path, const std::string& bytes) {
  const auto file = disk_->create(path);
  file->write(0, bytes);
  file->sync();
  disk_->sync_names();
}

}  // namespace slipway::store
