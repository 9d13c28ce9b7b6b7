// What is piped into a command.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace slipway::cli {

/// Reads to the end; blocks until then.
inline std::string standard_input() {
  std::string text;
  std::array<char, 65536> bytes{};
  for (std::size_t size = 0; (size = std::fread(bytes.data(), 1, bytes.size(), stdin)) > 0;) text.append(bytes.data(), size);
  return text;
}

}  // namespace slipway::cli
