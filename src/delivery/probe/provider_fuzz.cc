// Answers come from foreign servers: whatever the bytes, every row ends in a measurement or an error. The first byte picks it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "delivery/probe/provider.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  using namespace slipway::delivery::probe;
  if (size == 0) return 0;
  const Provider& provider = providers()[data[0] % providers().size()];
  if (provider.extract == nullptr) return 0;
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto extracted = provider.extract(body, {});
  if (!extracted) {
    SLIPWAY_CHECK(!extracted.error().message.empty(), provider.name);
    return 0;
  }
  for (const Reducer reducer : {Reducer::Only, Reducer::All, Reducer::Avg}) {
    const auto value = reduced(*extracted, {}, reducer);
    SLIPWAY_CHECK(value.has_value() || !value.error().message.empty(), provider.name);
  }
  return 0;
}
