#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "json/text.h"
#include "json/utf8.h"
#include "kube/protobuf.h"
#include "kube/protobuf_table.h"
#include "kube/protobuf_wire.h"

namespace slipway::kube {
namespace {

using json::Value;

constexpr std::size_t kMaxRawJsonDepth = 500;  // with the messages around it, still within json::Limits

std::unexpected<Status> bad(std::string message) { return fail(Reason::BadRequest, "protobuf: " + std::move(message)); }

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = static_cast<unsigned char>(text.front()) < 0x80 ? 1 : json::utf8_character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

/// A field of the wire that the message knows.
struct Known {
  std::size_t field = 0;  // index in ProtoMessage::fields
  std::size_t place = 0;  // among the fields of the wire
  WireField wire;

  bool operator<(const Known& other) const { return field != other.field ? field < other.field : place < other.place; }
};

/// One field's occurrences, in their order on the wire.
using Occurrences = std::span<const Known>;

class Decoder {
 public:
  /// The members of a message, into the object being built. Embedded messages use the object around them.
  Result<void> members(const ProtoMessage& message, std::string_view bytes, std::size_t depth, json::ObjectBuilder& out) const;
  /// An object in its envelope.
  Result<Value> envelope(std::string_view body, const GroupVersionKind& otherwise, std::size_t depth) const;

 private:
  Result<std::vector<Known>> sorted_fields(const ProtoMessage& message, std::string_view bytes) const;
  Result<std::optional<Value>> field(const ProtoField& field, Occurrences seen, std::size_t depth) const;
  Result<Value> repeated(const ProtoField& field, Occurrences seen, std::size_t depth) const;
  Result<Value> map(const ProtoField& field, Occurrences seen, std::size_t depth) const;
  Result<Value> element(const ProtoField& field, const WireField& wire, std::size_t depth) const;
  Result<std::optional<Value>> message(const ProtoMessage& message, std::string_view bytes, std::size_t depth) const;
  Result<std::optional<Value>> special(const ProtoMessage& message, std::string_view bytes, std::size_t depth) const;
  Result<std::optional<Value>> one_of_two(const ProtoMessage& message, std::string_view bytes, std::size_t depth) const;
};

Result<Value> text_value(std::string_view bytes) {
  if (!is_utf8(bytes)) return bad("a string is not valid UTF-8");
  return Value(bytes);
}

Result<Value> scalar(ProtoType type, const WireField& wire) {
  const WireType expected = type == ProtoType::String || type == ProtoType::Bytes ? WireType::Bytes
                            : type == ProtoType::Double                           ? WireType::Fixed64
                                                                                  : WireType::Varint;
  if (wire.type != expected) return bad(fmt::format("field {} has the wrong wire type", wire.number));
  switch (type) {
    case ProtoType::String:
      return text_value(wire.bytes);
    case ProtoType::Bytes:
      return Value(base64_encode(wire.bytes));
    case ProtoType::Bool:
      return Value(wire.value != 0);
    case ProtoType::Int32:
      return Value(static_cast<std::int32_t>(wire.value));
    case ProtoType::Int64:
      return Value(static_cast<std::int64_t>(wire.value));
    case ProtoType::Double: {
      const auto number = std::bit_cast<double>(wire.value);
      if (!std::isfinite(number)) return bad("a number is not finite");
      return Value(number);
    }
    case ProtoType::Message:
      break;
  }
  return bad("a scalar was expected");
}

bool is_zero(const Value& value) {
  return value == Value(0) || value == Value(false) || (value.is_string() && value.as_string().empty());
}

/// The bytes of a message that stands on the wire once; of one in several pieces their concatenation, which by the rules of
/// protobuf is their merge.
Result<std::string_view> joined(Occurrences seen, std::string& room) {
  for (const Known& one : seen) {
    if (one.wire.type != WireType::Bytes) return bad(fmt::format("field {} has the wrong wire type", one.wire.number));
  }
  if (seen.size() == 1) return seen.front().wire.bytes;
  for (const Known& one : seen) room += one.wire.bytes;
  return std::string_view(room);
}

/// The fields of a special message, the last of each number.
struct Pieces {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::string_view text;  // of the bytes field with the highest number
  bool is_malformed = false;
};

Pieces pieces_of(std::string_view bytes) {
  Pieces out;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.type == WireType::Bytes) out.text = field.bytes;
    if (field.type == WireType::Varint && field.number == 1) out.first = field.value;
    if (field.type == WireType::Varint && field.number == 2) out.second = field.value;
  }
  out.is_malformed = reader.is_malformed();
  return out;
}

Result<Value> time_value(const Pieces& pieces, bool has_micros) {
  constexpr std::int64_t kYear1 = -62'135'596'800;
  constexpr std::int64_t kYear10000 = 253'402'300'800;
  const auto seconds = static_cast<std::int64_t>(pieces.first);
  const auto nanos = static_cast<std::int32_t>(pieces.second);
  if (seconds < kYear1 || seconds >= kYear10000) return bad("a time is outside the years 1 to 9999");
  if (nanos < 0 || nanos >= 1'000'000'000) return bad("the fraction of a time is outside one second");
  const Time time{std::chrono::seconds(seconds) + Duration(nanos / 1000)};
  return Value(has_micros ? to_rfc3339_micro(time) : to_rfc3339(time));
}

Result<void> Decoder::members(const ProtoMessage& message, std::string_view bytes, std::size_t depth,
                              json::ObjectBuilder& out) const {
  if (depth > kMaxProtobufDepth) return bad(fmt::format("nested deeper than {} messages", kMaxProtobufDepth));
  SLIPWAY_TRY(known, sorted_fields(message, bytes));
  const std::span<const Known> all(known);
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin + 1;
    while (end < all.size() && all[end].field == all[begin].field) ++end;
    const ProtoField& one = message.fields[all[begin].field];
    const Occurrences seen = all.subspan(begin, end - begin);
    begin = end;
    if (one.is_embedded) {
      std::string room;
      SLIPWAY_TRY(inner, joined(seen, room));
      SLIPWAY_TRY_VOID(members(*one.message, inner, depth + 1, out));
      continue;
    }
    SLIPWAY_TRY(value, field(one, seen, depth));
    if (value) out.add(one.name, std::move(*value));
  }
  return {};
}

/// By field, each field's in wire order. Unknown fields are dropped.
Result<std::vector<Known>> Decoder::sorted_fields(const ProtoMessage& message, std::string_view bytes) const {
  std::vector<Known> known;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    const ProtoField* found = message.field(field.number);
    if (found == nullptr) continue;
    const auto index = static_cast<std::size_t>(found - message.fields.data());
    known.push_back({.field = index, .place = known.size(), .wire = field});
  }
  if (reader.is_malformed()) return bad(fmt::format("malformed bytes in {}", message.name));
  if (!std::is_sorted(known.begin(), known.end())) std::sort(known.begin(), known.end());
  return known;
}

/// Nothing when JSON would not have the member.
Result<std::optional<Value>> Decoder::field(const ProtoField& field, Occurrences seen, std::size_t depth) const {
  if (field.shape == ProtoField::Shape::Repeated) {
    SLIPWAY_TRY(items, repeated(field, seen, depth));
    if (items.empty()) return std::nullopt;
    return items;
  }
  if (field.shape == ProtoField::Shape::Map) {
    SLIPWAY_TRY(entries, map(field, seen, depth));
    return entries;
  }
  if (field.type == ProtoType::Message) {
    std::string room;
    SLIPWAY_TRY(bytes, joined(seen, room));
    return message(*field.message, bytes, depth + 1);
  }
  SLIPWAY_TRY(value, scalar(field.type, seen.back().wire));
  if (!field.keeps_zero && is_zero(value)) return std::nullopt;
  return value;
}

Result<Value> Decoder::repeated(const ProtoField& field, Occurrences seen, std::size_t depth) const {
  json::ArrayBuilder items;
  const bool may_pack = field.type == ProtoType::Int32 || field.type == ProtoType::Int64 || field.type == ProtoType::Bool;
  for (const Known& one : seen) {
    if (may_pack && one.wire.type == WireType::Bytes) {
      WireReader packed(one.wire.bytes);
      WireField item{.number = one.wire.number, .type = WireType::Varint, .value = 0, .bytes = {}};
      while (packed.next_varint(item.value)) {
        SLIPWAY_TRY(value, scalar(field.type, item));
        items.add(std::move(value));
      }
      if (packed.is_malformed()) return bad(fmt::format("malformed numbers in {}", field.name));
      continue;
    }
    SLIPWAY_TRY(value, element(field, one.wire, depth));
    items.add(std::move(value));
  }
  return items.build();
}

Result<Value> Decoder::map(const ProtoField& field, Occurrences seen, std::size_t depth) const {
  json::ObjectBuilder entries;
  for (const Known& one : seen) {
    if (one.wire.type != WireType::Bytes) return bad(fmt::format("field {} has the wrong wire type", one.wire.number));
    std::string_view key;
    std::optional<WireField> content;
    WireReader reader(one.wire.bytes);
    for (WireField part; reader.next(part);) {
      if (part.number == 1 && part.type == WireType::Bytes) key = part.bytes;
      if (part.number == 2) content = part;
    }
    if (reader.is_malformed() || !is_utf8(key)) return bad(fmt::format("malformed entry of {}", field.name));
    // An entry without a value holds the type's zero.
    const bool is_text = field.type == ProtoType::Message || field.type == ProtoType::String || field.type == ProtoType::Bytes;
    const WireField zero{.number = 2, .type = is_text ? WireType::Bytes : WireType::Varint, .value = 0, .bytes = {}};
    SLIPWAY_TRY(value, element(field, content.value_or(zero), depth));
    entries.set(key, std::move(value));
  }
  return entries.build();
}

/// An item of a list or a value of a map: always there, null at least.
Result<Value> Decoder::element(const ProtoField& field, const WireField& wire, std::size_t depth) const {
  if (field.type != ProtoType::Message) return scalar(field.type, wire);
  if (wire.type != WireType::Bytes) return bad(fmt::format("field {} has the wrong wire type", wire.number));
  SLIPWAY_TRY(value, message(*field.message, wire.bytes, depth + 1));
  return value.value_or(Value());
}

Result<std::optional<Value>> Decoder::message(const ProtoMessage& message, std::string_view bytes, std::size_t depth) const {
  if (message.form != ProtoForm::Object) return special(message, bytes, depth);
  json::ObjectBuilder out;
  SLIPWAY_TRY_VOID(members(message, bytes, depth, out));
  return out.build();
}

Result<std::optional<Value>> Decoder::special(const ProtoMessage& message, std::string_view bytes, std::size_t depth) const {
  const Pieces pieces = pieces_of(bytes);
  if (pieces.is_malformed) return bad(fmt::format("malformed bytes in {}", message.name));
  switch (message.form) {
    case ProtoForm::Time:
    case ProtoForm::MicroTime: {
      if (bytes.empty()) return std::nullopt;  // Go's zero time
      SLIPWAY_TRY(time, time_value(pieces, message.form == ProtoForm::MicroTime));
      return time;
    }
    case ProtoForm::Duration:
      return Value(slipway::to_string(Duration(static_cast<std::int64_t>(pieces.first) / 1000)));
    case ProtoForm::Quantity: {
      SLIPWAY_TRY(text, text_value(pieces.text.empty() ? "0" : pieces.text));
      return text;
    }
    case ProtoForm::IntOrString: {
      if (pieces.first == 0) return Value(static_cast<std::int32_t>(pieces.second));
      SLIPWAY_TRY(text, text_value(pieces.text));
      return text;
    }
    case ProtoForm::Json:
    case ProtoForm::RawExtension: {
      if (pieces.text.empty()) return std::nullopt;
      if (message.form == ProtoForm::RawExtension && pieces.text.starts_with(kProtobufMagic)) {
        SLIPWAY_TRY(object, envelope(pieces.text, {}, depth));
        return object;
      }
      SLIPWAY_TRY(value, json::parse(pieces.text, {.max_bytes = kMaxProtobufBytes, .max_depth = kMaxRawJsonDepth}));
      if (value.is_null() && message.form == ProtoForm::RawExtension) return std::nullopt;
      return value;
    }
    case ProtoForm::List: {
      json::ObjectBuilder out;
      SLIPWAY_TRY_VOID(members(message, bytes, depth, out));
      const Value object = out.build();
      return object.empty() ? Value::empty_array() : object[message.fields.front().name];
    }
    case ProtoForm::SchemaOrArray:
    case ProtoForm::SchemaOrBool:
    case ProtoForm::SchemaOrStrings:
      return one_of_two(message, bytes, depth);
    case ProtoForm::Object:
      break;
  }
  return bad("an unknown form");
}

/// A schema, or else the other field: the JSON is the one that is there.
Result<std::optional<Value>> Decoder::one_of_two(const ProtoMessage& message, std::string_view bytes, std::size_t depth) const {
  json::ObjectBuilder builder;
  SLIPWAY_TRY_VOID(members(message, bytes, depth, builder));
  const Value object = builder.build();
  if (const Value* schema = object.find("schema")) return *schema;
  if (message.form == ProtoForm::SchemaOrBool) return Value(object["allows"].as_bool());
  const Value* list = object.find(message.form == ProtoForm::SchemaOrArray ? "jSONSchemas" : "property");
  if (list == nullptr) return std::nullopt;
  return *list;
}

Result<Value> Decoder::envelope(std::string_view body, const GroupVersionKind& otherwise, std::size_t depth) const {
  if (!body.starts_with(kProtobufMagic)) return bad("the body does not begin with the bytes of Kubernetes' envelope");
  std::string_view raw;
  std::string_view type;
  WireReader reader(body.substr(kProtobufMagic.size()));
  for (WireField field; reader.next(field);) {
    if (field.type != WireType::Bytes) continue;
    if (field.number == 1) type = field.bytes;
    if (field.number == 2) raw = field.bytes;
    if (field.number == 3 && !field.bytes.empty()) return bad("the envelope's content is encoded, which is not supported");
  }
  std::string_view api_version;
  std::string_view kind;
  WireReader type_reader(type);
  for (WireField field; type_reader.next(field);) {
    if (field.number == 1) api_version = field.bytes;
    if (field.number == 2) kind = field.bytes;
  }
  if (reader.is_malformed() || type_reader.is_malformed() || !is_utf8(api_version) || !is_utf8(kind)) {
    return bad("the envelope is malformed");
  }
  GroupVersionKind named = otherwise;
  if (!api_version.empty() && !kind.empty()) {
    const std::size_t slash = api_version.find('/');
    const bool is_core = slash == api_version.npos;
    named = {.group = std::string(is_core ? "" : api_version.substr(0, slash)),
             .version = std::string(is_core ? api_version : api_version.substr(slash + 1)),
             .kind = std::string(kind)};
  }
  if (named.kind.empty()) return fail(Reason::BadRequest, "Object 'Kind' is missing in the protobuf body");
  const ProtoMessage* message = protobuf_message(named);
  if (message == nullptr) {
    return fail(Reason::BadRequest,
                fmt::format("no kind \"{}\" is registered for version \"{}\" in protobuf", named.kind, named.api_version()));
  }
  json::ObjectBuilder out;
  if (!kind.empty()) out.add("kind", kind);
  if (!api_version.empty()) out.add("apiVersion", api_version);
  SLIPWAY_TRY_VOID(members(*message, raw, depth + 1, out));
  return out.build();
}

}  // namespace

Result<Value> decode_protobuf(std::string_view body, const GroupVersionKind& otherwise) {
  if (body.size() > kMaxProtobufBytes) {
    return fail(Reason::RequestEntityTooLarge, fmt::format("limit is {}", kMaxProtobufBytes));
  }
  return Decoder().envelope(body, otherwise, 0);
}

Result<Value> decode_protobuf_as(std::string_view raw, const GroupVersionKind& kind) {
  if (raw.size() > kMaxProtobufBytes) {
    return fail(Reason::RequestEntityTooLarge, fmt::format("limit is {}", kMaxProtobufBytes));
  }
  const ProtoMessage* message = protobuf_message(kind);
  if (message == nullptr) {
    return fail(Reason::BadRequest,
                fmt::format("no kind \"{}\" is registered for version \"{}\" in protobuf", kind.kind, kind.api_version()));
  }
  json::ObjectBuilder out;
  if (kind.kind != "WatchEvent") out.add("kind", kind.kind).add("apiVersion", kind.api_version());
  SLIPWAY_TRY_VOID(Decoder().members(*message, raw, 1, out));
  return out.build();
}

}  // namespace slipway::kube
