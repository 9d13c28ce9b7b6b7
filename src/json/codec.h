// Described structs: every field of an own kind is named once, in the struct's static `describe`, and that yields the decoder,
// the encoder and a description from which the CRD schema and the reference page are made. So they cannot drift apart.
//
//   struct Retry {
//     std::int64_t limit = 0;
//     std::optional<Backoff> backoff;
//     static void describe(auto& d) {
//       d.doc("How a failed step is tried again.");
//       d.field("limit", &Retry::limit, "Retries after the first attempt.").minimum(0);
//       d.field("backoff", &Retry::backoff, "The pause between attempts.");
//     }
//   };
//
// Fields may be bool, integers, double, std::string, Time, Duration, json::Value (anything), an enum with `describe_enum`,
// another described struct, and std::optional, std::vector and std::map<std::string, …> of these. The names of an enum are
// found by its namespace:  inline auto describe_enum(Trigger) { return json::enum_names<Trigger>({{Trigger::AllFailed,
// "AllFailed"}, …}); }
//
// The fresh T{} says what an absent field means; encode leaves out what equals it, so decode(encode(x)) == x.
// Most of the work is done at run time over the tables of json/codec_shape.h.
#pragma once

#include <concepts>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "json/codec_shape.h"
#include "json/value.h"

namespace slipway::json {

/// Gives a field its rules. Each call returns *this, so that they chain.
class FieldRules {
 public:
  FieldRules(codec::Struct& owner, std::size_t index, bool for_items = false)
      : owner_(owner), index_(index), for_items_(for_items) {}

  /// Absent is an error; always written.
  FieldRules& required();
  /// Written also when it equals the value of a fresh struct.
  FieldRules& always();
  /// The value of a fresh struct is the default that the API server fills in.
  FieldRules& with_default();
  FieldRules& minimum(double least);
  FieldRules& maximum(double most);
  FieldRules& min_length(std::size_t characters);
  FieldRules& max_length(std::size_t characters);
  /// RE2 syntax. Checked by the schema of the API server, not by decode.
  FieldRules& pattern(std::string regex);
  /// The only strings allowed (an enum type brings its own).
  FieldRules& one_of(std::initializer_list<std::string_view> values);
  FieldRules& min_items(std::size_t count);
  FieldRules& max_items(std::size_t count);
  /// Of a map, or of an object held as a Value.
  FieldRules& max_properties(std::size_t count);
  /// x-kubernetes-list-type "atomic", "set" or "map" (with its keys).
  FieldRules& list_type(std::string type, std::vector<std::string> keys = {});
  /// x-kubernetes-map-type "atomic" or "granular".
  FieldRules& map_type(std::string type);
  /// x-kubernetes-int-or-string: for a Value.
  FieldRules& int_or_string();
  /// A Value that holds an object (x-kubernetes-preserve-unknown-fields).
  FieldRules& any_object();
  /// A Value that holds a whole API object (x-kubernetes-embedded-resource).
  FieldRules& embedded_resource();
  FieldRules& format(std::string name);
  /// Times are written with six digits (metav1.MicroTime).
  FieldRules& micro_time();
  /// The rules of the items of a list or the values of a map.
  FieldRules items() { return {owner_, index_, true}; }

 private:
  codec::Rules& rules();
  codec::Struct& owner_;
  std::size_t index_;
  bool for_items_;
};

/// What `T::describe` talks to.
template <class T>
class Describer {
 public:
  Describer(codec::Struct& made, const T& fresh) : made_(made), fresh_(fresh) {}

  void doc(std::string text) { made_.doc = std::move(text); }
  /// Members that no field names are kept silently rather than reported.
  void ignore_unknown() { made_.ignores_unknown = true; }
  template <class M, class B>
    requires std::derived_from<T, B>
  FieldRules field(std::string name, M B::* member, std::string doc) {
    const M& place = fresh_.*member;
    const auto offset = reinterpret_cast<const char*>(&place) - reinterpret_cast<const char*>(&fresh_);
    return {made_, codec::add_field(made_, std::move(name), std::move(doc), static_cast<std::size_t>(offset),
                                    &codec::shape_of<M>, &place)};
  }

 private:
  codec::Struct& made_;
  const T& fresh_;
};

template <class E>
codec::EnumNames enum_names(std::initializer_list<std::pair<E, std::string_view>> rows) {
  codec::EnumNames names;
  for (const auto& [value, name] : rows) names.emplace_back(static_cast<std::int64_t>(value), std::string(name));
  return names;
}

/// The wire name of a described enum's value; "" when it has none.
template <class E>
std::string_view enum_name(E value) {
  return codec::name_in(codec::shape_of<E>(), static_cast<std::int64_t>(value));
}

struct DecodeOptions {
  /// Members no field names: false = each is an error `unknown field "spec.x"`.
  bool allow_unknown = false;
};

/// Reads a struct. All errors are collected (up to a hundred): Invalid with one cause each, whose field is `path` and below,
/// e.g. "spec.steps[build].retry.limit". Checks types, ranges, lengths, counts, enums and required fields; null counts as
/// absent.
template <class T>
Result<T> decode(const Value& value, std::string path = "", DecodeOptions options = {}) {
  T result{};
  if (auto read = codec::decode_into(codec::shape_of<T>(), &result, value, std::move(path), options.allow_unknown); !read) {
    return fail(std::move(read).error());
  }
  return result;
}

/// Writes fields in the order of their description, without those that equal the fresh struct's (unless required or always).
template <class T>
Value encode(const T& object) {
  return codec::encode_from(codec::shape_of<T>(), &object, nullptr);
}

/// A described type as plain data.
struct Description {
  std::string name;      // of the field; empty at the root and for items
  std::string type;      // "boolean", "integer", "number", "string", "array", "object"; empty: anything
  std::string format;    // "int32", "int64", "double", "date-time", "duration" or as given
  std::string doc;       // of the field; of the struct at the root
  std::string type_doc;  // of the struct the field holds
  codec::Rules rules;    // required, bounds, pattern, list and map types …
  std::optional<Value> default_value;
  bool preserve_unknown = false;
  std::vector<std::string> enum_values;
  std::vector<Description> fields;   // of a struct, in order
  std::vector<Description> element;  // of a list or map: one entry
};

Description describe_shape(const codec::Shape& shape);

/// A struct that contains itself is cut off at its second level (type "object", preserve_unknown).
template <class T>
Description describe() {
  return describe_shape(codec::shape_of<T>());
}

}  // namespace slipway::json
