// Protocol buffers at the level of bytes: tags, varints and lengths (protobuf.dev, "Encoding"). Knows no messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway::kube {

/// What a document begins with.
inline constexpr std::string_view kProtobufMagic("k8s\0", 4);

enum class WireType : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// One field as it stands on the wire.
struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::Varint;
  std::uint64_t value = 0;  // of Varint, Fixed64 and Fixed32
  std::string_view bytes;   // of Bytes; points into what is read
};

/// Reads the fields of one message in their order. Groups, which Kubernetes never used, are malformed.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  /// False at the end, and when the bytes are malformed.
  bool next(WireField& field);
  /// One bare varint, as in a packed list. False as above.
  bool next_varint(std::uint64_t& value);
  bool is_malformed() const { return is_malformed_; }

 private:
  bool read_fixed(std::size_t size, std::uint64_t& value);
  bool refuse();

  std::string_view rest_;
  bool is_malformed_ = false;
};

void write_varint(std::string& out, std::uint64_t value);
void write_varint_field(std::string& out, std::uint32_t number, std::uint64_t value);
void write_double_field(std::string& out, std::uint32_t number, double value);
void write_bytes_field(std::string& out, std::uint32_t number, std::string_view bytes);

}  // namespace slipway::kube
