#include "base/zstd.h"

#include <zstd.h>

#include <memory>

namespace slipway {

std::optional<std::string> unzstd(std::string_view data, std::size_t max_bytes) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  if (!stream || data.empty()) return std::nullopt;
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  std::string out;
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  std::size_t left = 1;  // of the frame; 0 at its end
  while (in.pos < in.size || left != 0) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    const std::size_t begun = in.pos;
    left = ZSTD_decompressStream(stream.get(), &to, &in);
    if (ZSTD_isError(left) != 0U || out.size() + to.pos > max_bytes) return std::nullopt;
    out.append(piece, 0, to.pos);
    if (left != 0 && to.pos == 0 && in.pos == begun) return std::nullopt;  // the data ends too early
  }
  return out;
}

}  // namespace slipway
