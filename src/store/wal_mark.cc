#include "store/wal_mark.h"

#include <sqlite3.h>

#include "store/writer_lock.h"

namespace slipway::store {
namespace {

constexpr std::size_t kWalHeaderSize = 32;
constexpr std::size_t kSummed = 24;  // bytes before the sums
constexpr std::size_t kSaltAt = 16;
constexpr std::uint32_t kMaxRenewals = 1U << 20U;  // of one log while a store is open: each moves some MiB
constexpr std::int64_t kIsMarked = 0x4000'0000;
constexpr std::uint32_t kSaltBits = 0x3f'ffff;

std::uint32_t word(std::string_view bytes, std::size_t at, bool is_big_endian) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    out = out << 8 | static_cast<unsigned char>(bytes[at + (is_big_endian ? i : 3 - i)]);
  }
  return out;
}

/// Whether the header has the sums that it says it has. Its lowest bit tells the order of the bytes that are summed.
bool is_whole(std::string_view header) {
  if (header.size() < kWalHeaderSize) return false;
  const bool is_big_endian = (word(header, 0, true) & 1) != 0;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  for (std::size_t at = 0; at < kSummed; at += 8) {
    first += word(header, at, is_big_endian) + second;
    second += word(header, at + 4, is_big_endian) + first;
  }
  return first == word(header, kSummed, true) && second == word(header, kSummed + 4, true);
}

}  // namespace

std::string wal_header(sqlite3_vfs* vfs, const std::string& database) {
  const std::string path = database + "-wal";
  const auto file = exists(vfs, path) ? VfsFile::open(vfs, path, SQLITE_OPEN_READONLY) : nullptr;
  return file ? file->read(kWalHeaderSize) : "";
}

std::int64_t with_wal_mark(std::int64_t format, std::string_view header) {
  const std::uint32_t salt = header.size() < kWalHeaderSize ? 0 : word(header, kSaltAt, true) & kSaltBits;
  return kIsMarked | std::int64_t{salt} << 8 | format;
}

std::string_view wal_fault(std::int64_t user_version, std::string_view header) {
  if (!has_wal_mark(user_version)) return "";
  if (header.size() < kWalHeaderSize) return "missing";
  const auto marked = static_cast<std::uint32_t>(user_version >> 8) & kSaltBits;
  const std::uint32_t ahead = (word(header, kSaltAt, true) - marked) & kSaltBits;
  return is_whole(header) && ahead > kMaxRenewals ? "of another database, or of another time" : "";
}

}  // namespace slipway::store
