#include "base/zstd.h"

#include <zstd.h>

#include <memory>

#include "base/check.h"

namespace slipway {
namespace {

/// The fast ones suffice: what is alike is found in the dictionary.
constexpr int kLevel = 1;
/// Space for texts that is kept from one to the next.
constexpr std::size_t kKeptSpace = std::size_t{256} << 10U;

/// `size` bytes to write to, with no more than kKeptSpace beyond that.
char* space(std::string& scratch, std::size_t size) {
  if (scratch.size() > kKeptSpace && size <= kKeptSpace) scratch = {};
  if (scratch.size() < size) scratch.resize(size);
  return scratch.data();
}

}  // namespace

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

struct ZstdDictionary::Impl {
  explicit Impl(std::string_view text)
      : packing(ZSTD_createCDict(text.data(), text.size(), kLevel)), unpacking(ZSTD_createDDict(text.data(), text.size())) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    ZSTD_freeCDict(packing);
    ZSTD_freeDDict(unpacking);
  }

  ZSTD_CDict* packing;
  ZSTD_DDict* unpacking;
};

ZstdDictionary::ZstdDictionary(std::string_view text) : impl_(std::make_unique<const Impl>(text)) {
  SLIPWAY_CHECK(impl_->packing != nullptr && impl_->unpacking != nullptr, "no memory for a dictionary");
}
ZstdDictionary::~ZstdDictionary() = default;

struct ZstdPacker::Impl {
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    ZSTD_freeCCtx(packing);
    ZSTD_freeDCtx(unpacking);
  }

  ZSTD_CCtx* packing = ZSTD_createCCtx();
  ZSTD_DCtx* unpacking = ZSTD_createDCtx();
  std::string frame{};
  std::string text{};
};

ZstdPacker::ZstdPacker() : impl_(std::make_unique<Impl>()) {}
ZstdPacker::~ZstdPacker() = default;

std::string_view ZstdPacker::pack(std::string_view text, const ZstdDictionary* dictionary) {
  const std::size_t bound = ZSTD_compressBound(text.size());
  char* to = space(impl_->frame, bound);
  const std::size_t size =
      dictionary == nullptr
          ? ZSTD_compressCCtx(impl_->packing, to, bound, text.data(), text.size(), kLevel)
          : ZSTD_compress_usingCDict(impl_->packing, to, bound, text.data(), text.size(), dictionary->impl_->packing);
  SLIPWAY_CHECK(ZSTD_isError(size) == 0U, ZSTD_getErrorName(size));
  return {to, size};
}

std::string_view ZstdPacker::unpack(std::string_view frame, const ZstdDictionary* dictionary) {
  const unsigned long long bound = ZSTD_getFrameContentSize(frame.data(), frame.size());
  SLIPWAY_CHECK(bound < ZSTD_CONTENTSIZE_ERROR, "no frame of ours");
  char* to = space(impl_->text, bound);
  const std::size_t size = dictionary == nullptr ? ZSTD_decompressDCtx(impl_->unpacking, to, bound, frame.data(), frame.size())
                                                 : ZSTD_decompress_usingDDict(impl_->unpacking, to, bound, frame.data(),
                                                                              frame.size(), dictionary->impl_->unpacking);
  SLIPWAY_CHECK(ZSTD_isError(size) == 0U, ZSTD_getErrorName(size));
  return {to, size};
}

}  // namespace slipway
