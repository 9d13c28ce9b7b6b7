#include "base/count.h"

#include <charconv>
#include <limits>

#include "base/text.h"

namespace slipway {

std::optional<std::int64_t> parse_count(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::int64_t leading_count(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return 0;
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc::result_out_of_range ? std::numeric_limits<std::int64_t>::max() : number;
}

}  // namespace slipway
