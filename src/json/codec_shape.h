// The run-time tables behind json/codec.h: how to reach into a C++ type without knowing it. One Shape exists per type, made on
// first use and never changed. Include json/codec.h instead.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "json/value.h"

namespace slipway::json {

template <class T>
class Describer;

namespace codec {

/// What a field's value must satisfy, beyond its type.
struct Rules {
  bool required = false;
  bool always = false;
  bool has_default = false;
  bool int_or_string = false;
  bool any_object = false;
  bool embedded_resource = false;
  bool micro_time = false;
  std::optional<double> minimum, maximum;
  std::optional<std::size_t> min_length, max_length, min_items, max_items, max_properties;
  std::string pattern;
  std::string format;
  std::vector<std::string> one_of;
  std::string list_type;
  std::vector<std::string> list_map_keys;
  std::string map_type;
};

enum class Kind : std::uint8_t { Any, Bool, Integer, Double, String, Time, Duration, Enum, Optional, List, Map, Struct };

struct Shape;
using ShapeOf = const Shape& (*)();
using EnumNames = std::vector<std::pair<std::int64_t, std::string>>;

struct Field {
  std::string name;
  std::string doc;
  std::size_t offset = 0;
  ShapeOf shape = nullptr;
  Rules rules;
  Rules item_rules;
  Value fresh;  // as encoded in a fresh struct
};

struct Struct {
  std::string doc;
  bool ignores_unknown = false;
  std::vector<Field> fields;
};

using VisitItem = void (*)(void* state, const std::string& key, const void* item);

struct Shape {
  Kind kind = Kind::Any;
  // Integers: their bounds. Bool, integers, enums: access.
  std::int64_t least = 0, most = 0;
  std::int64_t (*read_int)(const void* at) = nullptr;
  void (*write_int)(void* at, std::int64_t value) = nullptr;
  EnumNames names;
  // Optional, list, map: the type inside, a new place in it (the key is for maps), and a walk over what is there.
  ShapeOf element = nullptr;
  void* (*grow)(void* at, const std::string& key) = nullptr;
  void (*each)(const void* at, void* state, VisitItem visit) = nullptr;
  Struct fields;
};

template <class T>
const Shape& shape_of();

std::size_t add_field(Struct& owner, std::string name, std::string doc, std::size_t offset, ShapeOf shape, const void* fresh);
std::string_view name_in(const Shape& shape, std::int64_t value);
Result<void> decode_into(const Shape& shape, void* at, const Value& value, std::string path, bool allow_unknown);
/// `rules` may be nullptr.
Value encode_from(const Shape& shape, const void* at, const Rules* rules);

template <class T>
struct Inside {
  static constexpr bool is_optional = false, is_list = false, is_map = false;
};
template <class T>
struct Inside<std::optional<T>> {
  using type = T;
  static constexpr bool is_optional = true, is_list = false, is_map = false;
};
template <class T>
struct Inside<std::vector<T>> {
  using type = T;
  static constexpr bool is_optional = false, is_list = true, is_map = false;
};
template <class T>
struct Inside<std::map<std::string, T>> {
  using type = T;
  static constexpr bool is_optional = false, is_list = false, is_map = true;
};

template <class T>
void shape_integer(Shape& shape) {
  shape.read_int = [](const void* at) { return static_cast<std::int64_t>(*static_cast<const T*>(at)); };
  shape.write_int = [](void* at, std::int64_t value) { *static_cast<T*>(at) = static_cast<T>(value); };
  if constexpr (std::integral<T>) {
    shape.least = static_cast<std::int64_t>(std::numeric_limits<T>::min());
    shape.most = sizeof(T) == 8 ? INT64_MAX : static_cast<std::int64_t>(std::numeric_limits<T>::max());
  }
}

template <class T>
void shape_container(Shape& shape) {
  shape.element = &shape_of<typename Inside<T>::type>;
  if constexpr (Inside<T>::is_optional) {
    shape.kind = Kind::Optional;
    shape.grow = [](void* at, const std::string&) -> void* { return &static_cast<T*>(at)->emplace(); };
    shape.each = [](const void* at, void* state, VisitItem visit) {
      if (const auto& optional = *static_cast<const T*>(at)) visit(state, {}, &*optional);
    };
  } else if constexpr (Inside<T>::is_list) {
    static_assert(!std::same_as<T, std::vector<bool>>, "use a vector of another type");
    shape.kind = Kind::List;
    shape.grow = [](void* at, const std::string&) -> void* { return &static_cast<T*>(at)->emplace_back(); };
    shape.each = [](const void* at, void* state, VisitItem visit) {
      for (const auto& item : *static_cast<const T*>(at)) visit(state, {}, &item);
    };
  } else {
    shape.kind = Kind::Map;
    shape.grow = [](void* at, const std::string& key) -> void* { return &(*static_cast<T*>(at))[key]; };
    shape.each = [](const void* at, void* state, VisitItem visit) {
      for (const auto& [key, item] : *static_cast<const T*>(at)) visit(state, key, &item);
    };
  }
}

template <class T>
Shape make_shape() {
  Shape shape;
  if constexpr (std::same_as<T, Value>) {
    shape.kind = Kind::Any;
  } else if constexpr (std::same_as<T, bool>) {
    shape.kind = Kind::Bool;
    shape_integer<T>(shape);
  } else if constexpr (std::integral<T>) {
    shape.kind = Kind::Integer;
    shape_integer<T>(shape);
  } else if constexpr (std::same_as<T, double>) {
    shape.kind = Kind::Double;
  } else if constexpr (std::same_as<T, std::string>) {
    shape.kind = Kind::String;
  } else if constexpr (std::same_as<T, Time>) {
    shape.kind = Kind::Time;
  } else if constexpr (std::same_as<T, Duration>) {
    shape.kind = Kind::Duration;
  } else if constexpr (std::is_enum_v<T>) {
    shape.kind = Kind::Enum;
    shape_integer<T>(shape);
    shape.names = describe_enum(T{});
  } else if constexpr (Inside<T>::is_optional || Inside<T>::is_list || Inside<T>::is_map) {
    shape_container<T>(shape);
  } else {
    shape.kind = Kind::Struct;
    const T fresh{};
    Describer<T> describer(shape.fields, fresh);
    T::describe(describer);
  }
  return shape;
}

template <class T>
const Shape& shape_of() {
  static const Shape shape = make_shape<T>();
  return shape;
}

}  // namespace codec
}  // namespace slipway::json
