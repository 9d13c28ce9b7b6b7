// The Zstandard format (RFC 8878): decompression of large records, which KubeVela keeps in it, and compression of many small
// texts that are alike, each a frame of its own, by a dictionary that they share.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

/// Of one frame or several, one after the other. Nullopt when it is no Zstandard data, or more than `max_bytes` come out.
std::optional<std::string> unzstd(std::string_view data, std::size_t max_bytes);

/// What texts have in common: any of them, one after the other. Takes four times the size of its text, about.
class ZstdDictionary {
 public:
  explicit ZstdDictionary(std::string_view text);
  ~ZstdDictionary();
  ZstdDictionary(const ZstdDictionary&) = delete;
  ZstdDictionary& operator=(const ZstdDictionary&) = delete;

 private:
  friend class ZstdPacker;
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

/// Keeps what compressing takes (some hundred KiB) from one text to the next. For one thread.
class ZstdPacker {
 public:
  ZstdPacker();
  ~ZstdPacker();
  ZstdPacker(const ZstdPacker&) = delete;
  ZstdPacker& operator=(const ZstdPacker&) = delete;

  /// One frame, valid until the next call. `dictionary` may be null; unpack() needs the same.
  std::string_view pack(std::string_view text, const ZstdDictionary* dictionary);
  /// Valid until the next call. REQUIRES: a frame of pack().
  std::string_view unpack(std::string_view frame, const ZstdDictionary* dictionary);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipway
