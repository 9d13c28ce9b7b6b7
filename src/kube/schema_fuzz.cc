// A CRD brings any schema, a client any object: {"schema": …, "object": …}. Nothing may crash; pruning and defaulting come to
// rest after one pass, and what is pruned once stays so.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/text.h"
#include "kube/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = slipway::json;
  using slipway::kube::Schema;
  const auto input = json::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!input) return 0;
  const auto schema = Schema::compile((*input)["schema"]);
  if (!schema) return 0;
  const json::Value pruned = (*schema)->prune((*input)["object"]);
  SLIPWAY_CHECK((*schema)->prune(pruned).is_same(pruned));
  const json::Value filled = (*schema)->fill_defaults(pruned);
  SLIPWAY_CHECK((*schema)->fill_defaults(filled) == filled);
  SLIPWAY_CHECK((*schema)->validate(filled, &filled).empty());
  static_cast<void>((*schema)->validate(filled));
  return 0;
}
