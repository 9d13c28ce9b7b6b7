// The messages of the Kubernetes API as a table: per message its fields, with number, JSON name and type. Made from
// protobuf_fields.inc, which tools/gen_protobuf.cc writes; read once per process, immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"

namespace slipway::kube {

struct ProtoMessage;

enum class ProtoType : std::uint8_t { String, Bool, Int32, Int64, Double, Bytes, Message };

struct ProtoField {
  enum class Shape : std::uint8_t { Single, Repeated, Map };  // maps have string keys

  std::uint32_t number = 0;
  ProtoType type = ProtoType::String;
  Shape shape = Shape::Single;
  bool keeps_zero = false;   // a scalar that JSON has even when it is zero: a pointer in Go, or written always
  bool is_embedded = false;  // its members stand in the JSON of the message around it
  std::string_view name;     // in JSON
  const ProtoMessage* message = nullptr;
};

/// How a message looks in JSON. Object: by its fields. The others are the special types of apimachinery and apiextensions.
enum class ProtoForm : std::uint8_t {
  Object,
  Time,
  MicroTime,
  Duration,
  Quantity,
  IntOrString,
  Json,           // a field with JSON text
  RawExtension,   // likewise, or an object in its own envelope
  List,           // Go's named lists of strings
  SchemaOrArray,  // JSONSchemaPropsOrArray and its two siblings
  SchemaOrBool,
  SchemaOrStrings,
};

struct ProtoMessage {
  std::string_view name;  // "core.v1.PodSpec"
  ProtoForm form = ProtoForm::Object;
  std::vector<ProtoField> fields;  // by number

  /// nullptr when there is none.
  const ProtoField* field(std::uint32_t number) const;
};

/// Sorted by name.
std::span<const ProtoMessage> protobuf_messages();
/// "core.v1.Pod" for v1 Pod; the kinds every group has (DeleteOptions, Status, WatchEvent …) are those of meta/v1. nullptr when
/// there is none.
const ProtoMessage* protobuf_message(const GroupVersionKind& kind);
/// By name; nullptr when there is none.
const ProtoMessage* protobuf_message(std::string_view name);
/// "core.v1.Pod": how a kind of Kubernetes' own groups is called in proto packages and in the field tables.
std::string protobuf_name(const GroupVersionKind& kind);

}  // namespace slipway::kube
