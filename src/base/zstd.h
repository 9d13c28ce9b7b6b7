// Decompression of the Zstandard format (RFC 8878), in which KubeVela keeps large records.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

/// Of one frame or several, one after the other. Nullopt when it is no Zstandard data, or more than `max_bytes` come out.
std::optional<std::string> unzstd(std::string_view data, std::size_t max_bytes);

}  // namespace slipway
