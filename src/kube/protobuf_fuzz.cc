// Any client sends any bytes as protobuf. Nothing may crash; what decodes encodes again, and comes back the same.
#include <cstddef>
#include <cstdint>
#include <string>
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

/// Any message of the table: the first two bytes say which.
GroupVersionKind any_kind(const std::uint8_t* data) {
  const auto messages = slipway::kube::protobuf_messages();
  const std::string_view name = messages[(data[0] + 256U * data[1]) % messages.size()].name;
  const std::size_t kind = name.rfind('.');
  const std::size_t version = name.rfind('.', kind - 1);
  const std::string group(name.substr(0, version));
  return {group == "core" ? "" : group, std::string(name.substr(version + 1, kind - version - 1)),
          std::string(name.substr(kind + 1))};
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
  if (size < 2) return 0;
  const GroupVersionKind kind = any_kind(data);
  if (const auto object = slipway::kube::decode_protobuf_as(bytes.substr(2), kind)) there_and_back(*object, kind);
  return 0;
}
