// Concrete values as data: JSON text, and trees of JSON values.
#include <cmath>

#include "cue/eval/evaluator.h"
#include "cue/export/field_order.h"
#include "cue/syntax/unicode.h"
#include "json/text.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {

/// As json::parse reads.
constexpr int kMaxDataDepth = 1000;
/// A value of a tree, with its part of the lists around it.
constexpr std::uint64_t kTreeBytes = 48;

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kDigits[word >> (18 - 6 * k) & 63];
  }
  return out;
}

// What is no UTF-8 becomes U+FFFD, byte by byte, as in printed JSON.
json::Value text_value(std::string_view text) {
  if (is_utf8(text)) return json::Value(text);
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Rune rune = decode_rune(text.substr(i));
    append_utf8(out, rune.code == kBadRune ? 0xFFFD : rune.code);
    i += rune.bytes;
  }
  return json::Value(out);
}

}  // namespace

std::string Evaluator::to_json(const Value& value, Value& error) {
  std::string out;
  return write_json(out, value, error, FieldOrder::Shown) ? out : std::string();
}

std::string Evaluator::to_unordered_json(const Value& value, Value& error) {
  std::string out;
  return write_json(out, value, error, FieldOrder::Any) ? out : std::string();
}

json::Value Evaluator::to_data(const Value& value, Value& error) {
  json::Value out;
  std::uint64_t bytes = 0;
  return read_data(value, out, error, FieldOrder::Shown, bytes, 0) ? out : json::Value();
}

json::Value Evaluator::to_unordered_data(const Value& value, Value& error) {
  json::Value out;
  std::uint64_t bytes = 0;
  return read_data(value, out, error, FieldOrder::Any, bytes, 0) ? out : json::Value();
}

// The scalar, struct or list that data is to be made of. A bottom, and why in `error`, when there is none.
Value Evaluator::data_value(const Value& raw, Value& error) {
  if (over_budget()) return error = ended();
  if (raw.is_vertex()) complete(raw.vertex);
  Value value = make_concrete(raw, raw.is_vertex() ? raw.vertex->pos : 0);
  if (value.is_bottom()) {
    if (value.bottom->is_open) value = lacks_there(value, "incomplete value {0}");
    auto* reason = arena_.make<Bottom>(*value.bottom);
    if (raw.is_vertex() && raw.vertex->base.tag == Value::Tag::Type) reason->node = raw.vertex;
    return error = Value::of(reason);
  }
  if (value.tag == Value::Tag::Builtin) return error = bottom(Code::Incomplete, "incomplete value {0}", 0, value);
  if (value.is_vertex() && deref(value.vertex)->child_error != nullptr)
    return error = Value::of(deref(value.vertex)->child_error);
  return value;
}

// The fields of a list or struct that data is made of, and more; `ordered` keeps them where they are not in order themselves.
std::span<Vertex* const> Evaluator::data_fields(Vertex* v, std::vector<Vertex*>& ordered, FieldOrder order) {
  if (order == FieldOrder::Any || v->base.tag == Value::Tag::List) return {v->arcs.begin(), v->arcs.size()};
  ordered = fields_in_order(*this, v);
  return ordered;
}

// Whether a field is part of the data. A required one that is not there is none, and sets `error`.
bool Evaluator::is_data_field(const Vertex* field, const Vertex* in, Value& error) {
  const bool is_list = in->base.tag == Value::Tag::List;
  if (field->mark == ArcMark::Required && !is_list)
    error = bottom(Code::Incomplete, "field is required but not present", field->pos);
  return field->mark == ArcMark::Member && (is_list ? field->label.is_index() : field->label.is_regular());
}

bool Evaluator::write_json(std::string& out, const Value& raw, Value& error, FieldOrder order) {
  if (stack_.is_used_up() && !stack_.is_wide()) {
    bool done = false;
    if (stack_.call([&] { done = write_json(out, raw, error, order); })) return done;
  }
  Value value = data_value(raw, error);
  if (value.is_bottom()) return false;
  // A growing text lies twice in memory for a moment.
  if (!has_room(2 * (out.size() + value.size)) || !spend(value.size / kBytesPerStep)) {
    error = ended();
    return false;
  }
  switch (value.tag) {
    case Value::Tag::Null:
      out += "null";
      return true;
    case Value::Tag::Bool:
      out += value.boolean ? "true" : "false";
      return true;
    case Value::Tag::Int:
    case Value::Tag::Number:
      out += data_text(value);
      return true;
    case Value::Tag::String:
      json::print_to(out, json::Value(value.str()));
      return true;
    case Value::Tag::Bytes:
      out += '"' + base64(value.str()) + '"';
      return true;
    default:
      break;
  }
  Vertex* v = deref(value.vertex);
  std::vector<Vertex*> ordered;
  const bool is_list = v->base.tag == Value::Tag::List;
  bool is_first = true;
  out += is_list ? '[' : '{';
  for (Vertex* field : data_fields(v, ordered, order)) {
    if (!is_data_field(field, v, error)) {
      if (error.is_bottom()) return false;
      continue;
    }
    if (!std::exchange(is_first, false)) out += ',';
    if (!is_list) {
      json::print_to(out, json::Value(labels_.text(field->label)));
      out += ':';
    }
    if (!write_json(out, Value::of(field), error, order)) return false;
  }
  out += is_list ? ']' : '}';
  return true;
}

bool Evaluator::read_data(const Value& raw, json::Value& out, Value& error, FieldOrder order, std::uint64_t& bytes, int depth) {
  Value value = data_value(raw, error);
  if (value.is_bottom()) return false;
  if (depth > kMaxDataDepth) {
    error = bottom(Code::Eval, kTooDeep, raw.is_vertex() ? raw.vertex->pos : 0);
    if (raw.is_vertex()) just_made(error)->node = raw.vertex;
    return false;
  }
  bytes += kTreeBytes + value.size;
  if (!has_room(bytes) || !spend(value.size / kBytesPerStep)) {
    error = ended();
    return false;
  }
  switch (value.tag) {
    case Value::Tag::Null:
      return true;
    case Value::Tag::Bool:
      out = json::Value(value.boolean);
      return true;
    case Value::Tag::Int:
      out = json::Value(value.integer);
      return true;
    case Value::Tag::Number:
      out = json::Value::number(data_text(value));
      if (std::isinf(out.as_double())) error = bottom(Code::Eval, "number {0} is out of range", 0, value);
      return !error.is_bottom();
    case Value::Tag::String:
      out = text_value(value.str());
      return true;
    case Value::Tag::Bytes:
      out = json::Value(base64(value.str()));
      return true;
    default:
      break;
  }
  Vertex* v = deref(value.vertex);
  std::vector<Vertex*> ordered;
  json::ArrayBuilder items;
  json::ObjectBuilder members(v->base.tag == Value::Tag::List ? 0 : v->elements);
  for (Vertex* field : data_fields(v, ordered, order)) {
    json::Value inner;
    const bool is_part = is_data_field(field, v, error);
    if (error.is_bottom() || (is_part && !read_data(Value::of(field), inner, error, order, bytes, depth + 1))) return false;
    if (!is_part) continue;
    if (v->base.tag == Value::Tag::List) {
      items.add(std::move(inner));
    } else {
      members.add(labels_.text(field->label), std::move(inner));
    }
  }
  out = v->base.tag == Value::Tag::List ? items.build() : members.build();
  return true;
}

}  // namespace slipway::cue
