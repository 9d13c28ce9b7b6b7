#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "json/text.h"
#include "kube/protobuf.h"
#include "kube/protobuf_table.h"
#include "kube/protobuf_wire.h"

namespace slipway::kube {
namespace {

using json::Value;

std::unexpected<Status> bad(std::string_view where, std::string_view what) {
  return fail(Reason::BadRequest, fmt::format("protobuf: {}: {}", where, what));
}

/// Writes a message's fields in the order of their numbers, as Go does.
class Encoder {
 public:
  Result<void> members(const ProtoMessage& message, const Value& object, std::size_t depth, std::string& out) const;

 private:
  Result<void> field(const ProtoField& field, const Value& value, std::size_t depth, std::string& out) const;
  Result<void> map(const ProtoField& field, const Value& value, std::size_t depth, std::string& out) const;
  Result<void> single(const ProtoField& field, std::uint32_t number, const Value& value, std::size_t depth,
                      std::string& out) const;
  Result<void> message(const ProtoMessage& message, const Value& value, std::size_t depth, std::string& out) const;
  Result<void> one_of_two(const ProtoMessage& message, const Value& value, std::size_t depth, std::string& out) const;
};

Result<void> Encoder::members(const ProtoMessage& message, const Value& object, std::size_t depth, std::string& out) const {
  if (depth > kMaxProtobufDepth) return bad(message.name, fmt::format("nested deeper than {} messages", kMaxProtobufDepth));
  if (!object.is_object()) return bad(message.name, "an object was expected");
  for (const ProtoField& one : message.fields) {
    if (one.is_embedded) {
      std::string inner;
      SLIPWAY_TRY_VOID(members(*one.message, object, depth + 1, inner));
      write_bytes_field(out, one.number, inner);
      continue;
    }
    const Value* value = object.find(one.name);
    const bool is_kept_null = one.message != nullptr && one.message->form == ProtoForm::Json;
    if (value == nullptr || (value->is_null() && !is_kept_null)) continue;
    if (const auto done = field(one, *value, depth, out); !done) return done;
  }
  return {};
}

Result<void> Encoder::field(const ProtoField& field, const Value& value, std::size_t depth, std::string& out) const {
  if (field.shape == ProtoField::Shape::Map) return map(field, value, depth, out);
  if (field.shape == ProtoField::Shape::Single) return single(field, field.number, value, depth, out);
  if (!value.is_array()) return bad(field.name, "a list was expected");
  for (const Value& item : value.items()) {
    if (const auto done = single(field, field.number, item, depth, out); !done) return done;
  }
  return {};
}

/// Entries in the order of their keys, as Go writes them.
Result<void> Encoder::map(const ProtoField& field, const Value& value, std::size_t depth, std::string& out) const {
  if (!value.is_object()) return bad(field.name, "a map was expected");
  std::vector<std::string_view> keys;
  for (const auto [key, unused] : value.members()) keys.push_back(key);
  std::ranges::sort(keys);
  for (const std::string_view key : keys) {
    std::string entry;
    write_bytes_field(entry, 1, key);
    if (const auto done = single(field, 2, value[key], depth, entry); !done) return done;
    write_bytes_field(out, field.number, entry);
  }
  return {};
}

Result<void> Encoder::single(const ProtoField& field, std::uint32_t number, const Value& value, std::size_t depth,
                             std::string& out) const {
  switch (field.type) {
    case ProtoType::String:
      if (!value.is_string()) return bad(field.name, "a string was expected");
      write_bytes_field(out, number, value.as_string());
      return {};
    case ProtoType::Bytes: {
      std::string bytes;
      if (!value.is_string() || !base64_decode(value.as_string(), bytes)) return bad(field.name, "base64 was expected");
      write_bytes_field(out, number, bytes);
      return {};
    }
    case ProtoType::Bool:
      if (!value.is_bool()) return bad(field.name, "true or false was expected");
      write_varint_field(out, number, value.as_bool() ? 1 : 0);
      return {};
    case ProtoType::Int32:
    case ProtoType::Int64: {
      constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
      const std::int64_t whole = value.as_int(kNone);
      if (whole == kNone || (field.type == ProtoType::Int32 && whole != static_cast<std::int32_t>(whole))) {
        return bad(field.name, "a whole number was expected");
      }
      write_varint_field(out, number, static_cast<std::uint64_t>(whole));
      return {};
    }
    case ProtoType::Double:
      if (!value.is_number()) return bad(field.name, "a number was expected");
      write_double_field(out, number, value.as_double());
      return {};
    case ProtoType::Message: {
      std::string inner;
      if (const auto done = message(*field.message, value, depth + 1, inner); !done) return done;
      write_bytes_field(out, number, inner);
      return {};
    }
  }
  return {};
}

Result<void> write_time(const ProtoMessage& message, const Value& value, std::string& out) {
  if (value.is_null()) return {};
  SLIPWAY_TRY(time, parse_rfc3339(value.as_string()));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = message.form == ProtoForm::MicroTime ? (time - seconds).count() : 0;
  write_varint_field(out, 1, static_cast<std::uint64_t>(seconds.time_since_epoch().count()));
  write_varint_field(out, 2, static_cast<std::uint64_t>(micros * 1000));
  return {};
}

Result<void> write_int_or_string(const ProtoMessage& message, const Value& value, std::string& out) {
  if (!value.is_string() && !value.is_int()) return bad(message.name, "a number or a string was expected");
  write_varint_field(out, 1, value.is_string() ? 1 : 0);
  write_varint_field(out, 2, static_cast<std::uint64_t>(value.as_int()));
  write_bytes_field(out, 3, value.as_string());
  return {};
}

Result<void> Encoder::message(const ProtoMessage& message, const Value& value, std::size_t depth, std::string& out) const {
  switch (message.form) {
    case ProtoForm::Object:
      return members(message, value, depth, out);
    case ProtoForm::Time:
    case ProtoForm::MicroTime:
      return write_time(message, value, out);
    case ProtoForm::Duration: {
      SLIPWAY_TRY(duration, parse_duration(value.as_string()));
      write_varint_field(out, 1, static_cast<std::uint64_t>(duration.count() * 1000));
      return {};
    }
    case ProtoForm::Quantity:
      write_bytes_field(out, 1, value.is_number() ? value.number_text() : value.str());
      return {};
    case ProtoForm::IntOrString:
      return write_int_or_string(message, value, out);
    case ProtoForm::Json:
    case ProtoForm::RawExtension:
      if (message.form == ProtoForm::Json || !value.is_null()) write_bytes_field(out, 1, json::print(value));
      return {};
    case ProtoForm::List: {
      if (!value.is_array()) return bad(message.name, "a list was expected");
      return field(message.fields.front(), value, depth, out);
    }
    case ProtoForm::SchemaOrArray:
    case ProtoForm::SchemaOrBool:
    case ProtoForm::SchemaOrStrings:
      return one_of_two(message, value, depth, out);
  }
  return {};
}

Result<void> Encoder::one_of_two(const ProtoMessage& message, const Value& value, std::size_t depth, std::string& out) const {
  const bool is_bool = message.form == ProtoForm::SchemaOrBool;
  json::ObjectBuilder object;
  if (is_bool) object.add("allows", value.is_bool() ? value.as_bool() : true);  // a schema allows what it describes
  if (value.is_object()) object.add("schema", value);
  if (value.is_array()) object.add(message.form == ProtoForm::SchemaOrArray ? "jSONSchemas" : "property", value);
  return members(message, object.build(), depth, out);
}

std::string in_envelope(std::string_view api_version, std::string_view kind, std::string_view raw) {
  std::string type;
  write_bytes_field(type, 1, api_version);
  write_bytes_field(type, 2, kind);
  std::string out(kProtobufMagic);
  out.reserve(raw.size() + type.size() + 24);
  write_bytes_field(out, 1, type);
  write_bytes_field(out, 2, raw);
  write_bytes_field(out, 3, "");
  write_bytes_field(out, 4, "");
  return out;
}

}  // namespace

bool has_protobuf(const GroupVersionKind& kind) { return protobuf_message(kind) != nullptr; }

Result<std::string> encode_protobuf(const Value& object) {
  SLIPWAY_TRY(kind, GroupVersionKind::of(object));
  const ProtoMessage* message = protobuf_message(kind);
  if (message == nullptr) {
    return fail(Reason::NotAcceptable, fmt::format("{} of {} has no protobuf form", kind.kind, kind.api_version()));
  }
  std::string raw;
  SLIPWAY_TRY_VOID(Encoder().members(*message, object, 1, raw));
  return in_envelope(kind.api_version(), kind.kind, raw);
}

Result<std::string> encode_protobuf_event(std::string_view type, const Value& object) {
  SLIPWAY_TRY(inner, encode_protobuf(object));
  std::string extension;
  write_bytes_field(extension, 1, inner);
  std::string event;
  write_bytes_field(event, 1, type);
  write_bytes_field(event, 2, extension);
  // As upstream, the event's own envelope names no kind.
  const std::string body = in_envelope("", "", event);
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(body.size() >> shift);
  return frame + body;
}

}  // namespace slipway::kube
