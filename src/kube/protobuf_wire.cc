#include "kube/protobuf_wire.h"

#include <bit>

namespace slipway::kube {
namespace {

constexpr int kMaxVarintBits = 64;
constexpr std::uint64_t kMaxFieldNumber = (std::uint64_t{1} << 29) - 1;

void write_tag(std::string& out, std::uint32_t number, WireType type) {
  write_varint(out, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}

}  // namespace

bool WireReader::refuse() {
  is_malformed_ = true;
  rest_ = {};
  return false;
}

bool WireReader::next_varint(std::uint64_t& value) {
  if (rest_.empty()) return false;
  value = 0;
  for (int shift = 0; shift < kMaxVarintBits; shift += 7) {
    if (rest_.empty()) return refuse();
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) return true;
  }
  return refuse();
}

bool WireReader::read_fixed(std::size_t size, std::uint64_t& value) {
  if (rest_.size() < size) return refuse();
  value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{static_cast<std::uint8_t>(rest_[i])} << (8 * i);
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::next(WireField& field) {
  std::uint64_t tag = 0;
  if (!next_varint(tag)) return false;
  const std::uint64_t number = tag >> 3;
  if (number == 0 || number > kMaxFieldNumber) return refuse();
  field = {.number = static_cast<std::uint32_t>(number), .type = WireType::Varint, .value = 0, .bytes = {}};
  switch (tag & 7) {
    case 0:
      return next_varint(field.value) || refuse();
    case 1:
      field.type = WireType::Fixed64;
      return read_fixed(8, field.value);
    case 2: {
      field.type = WireType::Bytes;
      std::uint64_t size = 0;
      if (!next_varint(size) || size > rest_.size()) return refuse();
      field.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
    case 5:
      field.type = WireType::Fixed32;
      return read_fixed(4, field.value);
    default:
      return refuse();
  }
}

void write_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void write_varint_field(std::string& out, std::uint32_t number, std::uint64_t value) {
  write_tag(out, number, WireType::Varint);
  write_varint(out, value);
}

void write_double_field(std::string& out, std::uint32_t number, double value) {
  write_tag(out, number, WireType::Fixed64);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(bits >> shift);
}

void write_bytes_field(std::string& out, std::uint32_t number, std::string_view bytes) {
  write_tag(out, number, WireType::Bytes);
  write_varint(out, bytes.size());
  out += bytes;
}

}  // namespace slipway::kube
