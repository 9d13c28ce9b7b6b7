#include "os/disk_usage.h"

#include <fts.h>
#include <sys/stat.h>

namespace slipway::os {
namespace {

/// What st_blocks counts, whatever the block size of the file system.
constexpr std::int64_t kBlockBytes = 512;

}  // namespace

std::int64_t disk_usage(const std::string& folder) {
  std::string path = folder;
  char* const roots[] = {path.data(), nullptr};
  FTS* const walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, nullptr);
  if (walk == nullptr) return 0;
  std::int64_t bytes = 0;
  while (const FTSENT* entry = fts_read(walk)) {
    const bool is_counted = entry->fts_info == FTS_D || entry->fts_info == FTS_F || entry->fts_info == FTS_SL ||
                            entry->fts_info == FTS_SLNONE || entry->fts_info == FTS_DEFAULT;
    if (is_counted && entry->fts_level > 0) bytes += entry->fts_statp->st_blocks * kBlockBytes;
  }
  fts_close(walk);
  return bytes;
}

}  // namespace slipway::os
