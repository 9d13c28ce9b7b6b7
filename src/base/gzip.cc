#include "base/gzip.h"

#include <zlib.h>

#include "base/check.h"

namespace slipway {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, and a gzip head (zlib.h, deflateInit2)
constexpr std::size_t kPiece = std::size_t{16} << 10;

Bytef* bytes_of(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  const int begun = deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY);
  SLIPWAY_CHECK(begun == Z_OK, "no memory to compress");
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = bytes_of(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = bytes_of(out);
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  SLIPWAY_CHECK(ended == Z_STREAM_END, "deflateBound is too small");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string gzip_padded(std::string_view bytes, std::size_t unit) {
  constexpr std::size_t kFlags = 3;
  constexpr std::size_t kHead = 10;
  constexpr char kHasComment = 16;
  std::string out = gzip(bytes);
  const std::size_t missing = (unit - out.size() % unit) % unit;
  if (missing == 0) return out;
  out[kFlags] = kHasComment;
  return out.insert(kHead, std::string(missing - 1, ' ') + '\0');
}

std::optional<std::string> gunzip(std::string_view data, std::size_t max_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) return std::nullopt;
  stream.next_in = bytes_of(data);
  stream.avail_in = static_cast<uInt>(data.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= max_bytes) {
    const std::size_t before = out.size();
    out.resize(before + kPiece);
    stream.next_out = bytes_of(std::string_view(out).substr(before));
    stream.avail_out = static_cast<uInt>(kPiece);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (state == Z_OK && out.size() == before) break;                                 // the data ends too early
    if (state == Z_STREAM_END && stream.avail_in > 0) state = inflateReset(&stream);  // another member follows
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || out.size() > max_bytes) return std::nullopt;
  return out;
}

}  // namespace slipway
