// A disk in memory for SQLite, with the faults of a real one. Every file has a cached image (what reads see) and a durable one
// (what a power cut leaves); a write becomes durable by a sync, and until then a cut keeps, loses or tears it, by the seed.
// A failed sync does the same to what it should have written. Images are shared copy-on-write, so that thousands of worlds can
// start from one snapshot. Used by one thread at a time; must outlive the connections that use it. There is no shared memory:
// WAL needs `locking_mode=EXCLUSIVE`, which the store chooses by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct sqlite3_vfs;

namespace slipway::store {

class MemoryDisk;

class MemoryVfs {
 public:
  /// The content of all files at one moment, as reads see it; cheap to copy and to restore into any number of disks.
  class Snapshot {
   public:
    Snapshot() = default;

   private:
    friend class MemoryVfs;
    std::shared_ptr<const void> images_;
  };

  /// Registers itself with SQLite under a name of its own, until destroyed. The seed decides what failed syncs leave.
  explicit MemoryVfs(std::uint64_t seed = 1);
  MemoryVfs(const MemoryVfs&) = delete;
  MemoryVfs& operator=(const MemoryVfs&) = delete;
  ~MemoryVfs();

  /// For Env::vfs.
  sqlite3_vfs* vfs();

  /// The power is cut and comes back: open files are dead (every use fails), unsynced writes are each kept, lost or torn.
  /// Pending faults are forgotten; a full disk stays full.
  void crash(std::uint64_t seed);
  /// The process is killed: open files are dead, nothing written is lost, locks are released.
  void kill();
  /// The next `count` writes, truncations and syncs fail with an I/O error; a failed write may have written a part.
  void fail_next(std::size_t count) { fail_after(0, count); }
  /// As fail_next, once `skip` more operations have gone well.
  void fail_after(std::size_t skip, std::size_t count);
  /// The next `count` syncs fail.
  void fail_syncs(std::size_t count);
  /// While full, files cannot grow: SQLITE_FULL.
  void set_full(bool is_full);
  /// Dies in the middle: after `operations` more writes, truncations and syncs every use fails, until crash() or restore().
  void cut_power_after(std::size_t operations);
  /// Whether cut_power_after() has struck.
  bool is_off() const;

  Snapshot snapshot() const;
  /// The disk has this content and no other, all of it durable; open files are dead, faults are cleared.
  void restore(const Snapshot& snapshot);

  /// Writes, truncations and syncs so far.
  std::uint64_t operations() const;
  std::uint64_t syncs() const;
  bool exists(const std::string& path) const;
  /// Bytes of a file as reads see it; empty when absent.
  std::string content(const std::string& path) const;
  /// Puts a durable file there.
  void set_content(const std::string& path, const std::string& bytes);

 private:
  std::unique_ptr<MemoryDisk> disk_;
  std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
};

}  // namespace slipway::store
