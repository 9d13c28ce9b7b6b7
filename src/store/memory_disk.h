// The model behind MemoryVfs, without SQLite: files of copy-on-write pages with a cached and a durable image, names that may
// outrun what a power cut would leave, and injected faults. See memory_vfs.h for what it guarantees.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/manual_env.h"

namespace slipway::store {

/// Bytes in pages that are shared with other images until written.
class DiskImage {
 public:
  static constexpr std::size_t kPage = 4096;

  std::uint64_t size() const { return size_; }
  void resize(std::uint64_t size);
  void write(std::uint64_t offset, std::string_view bytes);
  /// Bytes beyond the end are zeros; returns how many were not.
  std::size_t read(std::uint64_t offset, char* into, std::size_t count) const;
  /// Takes over the pages that `length` bytes at `offset` lie in.
  void take_pages(const DiskImage& from, std::uint64_t offset, std::size_t length);

 private:
  using Page = std::array<char, kPage>;
  Page& writable(std::size_t index);

  std::vector<std::shared_ptr<Page>> pages_;  // nullptr: zeros
  std::uint64_t size_ = 0;
};

/// What the content of a name is; a name may be given a new one while the old is still open.
struct DiskFile {
  /// A write or truncation that no sync has covered.
  struct Unsynced {
    bool is_truncation = false;
    std::uint64_t offset = 0;  // or the new size
    std::string bytes;
  };

  DiskImage cached;
  DiskImage durable;
  std::vector<Unsynced> unsynced;
  /// SQLite's lock levels of those who have it open, by handle.
  std::map<const void*, int> locks;

  void write(std::uint64_t offset, std::string_view bytes);
  void truncate(std::uint64_t size);
  void sync();
  /// Each unsynced change is kept, lost or torn in the durable image.
  void settle(Random& random);
};

class MemoryDisk {
 public:
  enum class Outcome : std::uint8_t { Ok, Failed, Full, Dead };
  using Images = std::map<std::string, DiskImage>;

  explicit MemoryDisk(std::uint64_t seed) : random_(seed) {}

  /// nullptr when absent and not to be created.
  std::shared_ptr<DiskFile> find(const std::string& path) const;
  std::shared_ptr<DiskFile> create(const std::string& path);
  void remove(const std::string& path, bool is_synced);

  /// For a handle opened in `epoch`; Dead once the power was cut or the process killed since.
  Outcome write(DiskFile& file, std::uint64_t epoch, std::uint64_t offset, std::string_view bytes);
  Outcome truncate(DiskFile& file, std::uint64_t epoch, std::uint64_t size);
  Outcome sync(DiskFile& file, std::uint64_t epoch);
  /// All names outlive a power cut as they are now (the folder is synced).
  void sync_names();
  bool is_alive(std::uint64_t epoch) const { return epoch == epoch_ && !is_off_; }
  std::uint64_t epoch() const { return epoch_; }

  void crash(std::uint64_t seed);
  void kill();
  Images images() const;
  void restore(const Images& images);
  void fail_after(std::size_t skip, std::size_t count);
  void fail_syncs(std::size_t count) { failing_syncs_ = count; }
  void cut_power_after(std::size_t operations) { off_at_ = operations_ + operations; }
  void set_full(bool is_full) { is_full_ = is_full; }
  bool is_off() const { return is_off_; }
  std::uint64_t operations() const { return operations_; }
  std::uint64_t syncs() const { return syncs_; }

 private:
  static constexpr std::uint64_t kNever = UINT64_MAX;
  /// What a name means to reads, and what it would mean after a power cut.
  struct Name {
    std::shared_ptr<DiskFile> current;
    std::shared_ptr<DiskFile> durable;
  };

  Outcome count_operation(std::uint64_t epoch);
  void settle_name(Name& name, Random& random);
  void reset_faults();

  std::map<std::string, Name> names_;
  SeededRandom random_;
  std::uint64_t operations_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t fail_from_ = kNever;
  std::uint64_t fail_to_ = kNever;
  std::uint64_t off_at_ = kNever;
  std::size_t failing_syncs_ = 0;
  bool is_full_ = false;
  bool is_off_ = false;
};

}  // namespace slipway::store
