// Any client sends any bytes as protobuf. Nothing may crash; what decodes encodes again, and comes back the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/protobuf.h"
#include "kube/protobuf_table.h"

namespace {

using slipway::kube::GroupVersionKind;

void there_and_back(const slipway::json::Value& object, const GroupVersionKind& kind) {
  const auto bytes = slipway::kube::encode_protobuf(object);
  if (!bytes) return;  // e.g. an embedded object that no message holds
  const auto again = slipway::kube::decode_protobuf(*bytes, kind);
  if (again) SLIPWAY_CHECK(*again == object);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(slipway::kube::decode_protobuf(bytes));
  const GroupVersionKind kinds[] = {{"apps", "v1", "Deployment"},
                                    {"", "v1", "Pod"},
                                    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                                    {"", "v1", "Status"}};
  for (const GroupVersionKind& kind : kinds) {
    const auto object = slipway::kube::decode_protobuf_as(bytes, kind);
    if (object) there_and_back(*object, kind);
  }
  return 0;
}
