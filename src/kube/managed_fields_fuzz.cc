// managedFields come from any client: no list may crash the decoder, and what it accepts must be written so that it reads back
// as the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/text.h"
#include "kube/managed_fields.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using slipway::kube::FieldSet;
  using slipway::kube::ManagedFields;
  const auto value = slipway::json::parse({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  if (const auto fields = FieldSet::from_fields_v1(*value)) {
    const auto again = FieldSet::from_fields_v1(fields->to_fields_v1());
    SLIPWAY_CHECK(again.has_value() && *again == *fields);
    SLIPWAY_CHECK(slipway::kube::overlap(fields->to_fields_v1(), *fields).covers);
  }
  if (auto managed = ManagedFields::decode(*value)) {
    managed->cap_updaters();
    const auto again = ManagedFields::decode(managed->encode());
    SLIPWAY_CHECK(again.has_value() && again->encode() == managed->encode());
  }
  return 0;
}
