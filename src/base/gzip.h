// Compression in the gzip format (RFC 1952), for records that would be large as text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

/// The same bytes for the same input: without a time or a name in the head.
std::string gzip(std::string_view bytes);
/// The same, with a comment of up to `unit` - 1 bytes in the head (FCOMMENT) that makes its size a multiple of `unit`.
std::string gzip_padded(std::string_view bytes, std::size_t unit);
/// Of one gzip member or several, one after the other. Nullopt when it is no gzip data, or more than `max_bytes` come out.
std::optional<std::string> gunzip(std::string_view data, std::size_t max_bytes);

}  // namespace slipway
