// Frames come from strangers: no bytes may crash the reader, no message passes the limit, and the cut into pieces does not
// matter.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "net/websocket_frame.h"

namespace {

using namespace slipway::net;

constexpr std::size_t kLimit = 300;

std::vector<std::string> read(Side side, std::string_view bytes, std::size_t step) {
  FrameReader reader(side, kLimit);
  std::vector<std::string> payloads;
  std::string input;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    input += bytes.substr(at, step);
    while (true) {
      auto frame = reader.next(input);
      if (!frame) return payloads;
      if (!*frame) break;
      SLIPWAY_CHECK((*frame)->payload.size() <= kLimit);
      if ((*frame)->opcode == Opcode::close) static_cast<void>(close_code((*frame)->payload));
      payloads.push_back(std::move((*frame)->payload));
    }
    SLIPWAY_CHECK(input.size() <= kLimit + 14 + step);
  }
  return payloads;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Side side : {Side::server, Side::client}) {
    SLIPWAY_CHECK(read(side, bytes, size + 1) == read(side, bytes, 1));
    const auto mask =
        side == Side::server ? std::optional<std::uint32_t>(static_cast<std::uint32_t>(size * 2654435761U)) : std::nullopt;
    if (size <= kLimit)
      SLIPWAY_CHECK(read(side, encode_frame(Opcode::binary, bytes, mask), 5) == std::vector{std::string(bytes)});
  }
  return 0;
}
