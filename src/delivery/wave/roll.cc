#include "delivery/wave/roll.h"

#include <fmt/format.h>

namespace slipway::delivery::wave {

std::string gate_key(std::optional<std::int64_t> batch, Moment at, const std::string& name) {
  return fmt::format("{}/{}/{}", batch ? std::to_string(*batch) : "-", json::enum_name(at), name);
}

}  // namespace slipway::delivery::wave
