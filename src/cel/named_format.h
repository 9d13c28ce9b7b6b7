// The formats that format.named("…") knows, worded as k8s.io/apimachinery/pkg/util/validation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cel {

struct NamedFormat {
  std::string_view name;
  /// What is wrong with the text; empty when it fits.
  std::vector<std::string> (*validate)(std::string_view text);
};

/// In the order of the functions format.dns1123Label() and so on; see functions_scalars.cc.
std::span<const NamedFormat> named_formats();

}  // namespace slipway::cel
