// Values while an expression runs. Lists, maps and objects are either made by the expression or a view of a JSON value with its
// type, whose parts are converted when they are read. An error is a value too: it travels through operators until && or ||
// absorbs it (cel-spec, "Evaluation").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/type.h"
#include "json/value.h"

namespace slipway::cel {

class Budget;
struct Value;
using Items = std::vector<Value>;
using Entries = std::vector<std::pair<Value, Value>>;

/// A value of an extension library.
class Opaque {
 public:
  virtual ~Opaque() = default;
  virtual std::string_view type_name() const = 0;
  virtual bool equals(const Opaque& other) const = 0;
};

struct Value {
  Kind kind = Kind::Null;
  std::int32_t nanos = 0;  // of Timestamp, 0 to 999,999,999
  union {
    std::int64_t integer = 0;  // Int; Timestamp: seconds since 1970; Duration: nanoseconds
    std::uint64_t natural;     // Uint
    double real;               // Double
    bool truth;                // Bool
  };
  json::Value json{};                        // String, Bytes, text of Error; List, Map and Object that come from JSON
  TypePtr type{};                            // of the latter (may be null: dyn); the type a Type value names
  std::shared_ptr<const Items> items{};      // of a List made here, of an Optional (none or one)
  std::shared_ptr<const Entries> entries{};  // of a Map made here
  std::shared_ptr<const Opaque> opaque{};

  bool is(Kind wanted) const { return kind == wanted; }
  bool is_error() const { return kind == Kind::Error; }
  bool is_true() const { return kind == Kind::Bool && truth; }
  bool is_false() const { return kind == Kind::Bool && !truth; }
  /// Text of a String, Bytes or Error. Valid while this value lives.
  std::string_view text() const { return json.as_string(); }
};

Value make_bool(bool value);
Value make_int(std::int64_t value);
Value make_uint(std::uint64_t value);
Value make_double(double value);
Value make_string(std::string_view value);
Value make_bytes(std::string_view value);
Value make_list(Items items);
Value make_map(Entries entries);
Value make_timestamp(std::int64_t seconds, std::int32_t nanos);
Value make_duration(std::int64_t nanoseconds);
Value make_type(TypePtr type);
Value optional_value(std::optional<Value> value);
Value make_opaque(std::shared_ptr<const Opaque> value);
Value make_error(std::string_view message);
/// "no such overload"
Value no_overload();

/// A JSON value read as `type`; as what it is where the two do not fit or `type` is null or dyn.
Value from_json(const json::Value& value, const TypePtr& type);

/// Items of a List, entries of a Map or Object; 0 otherwise.
std::size_t size(const Value& value);
/// REQUIRES: a List, index below size().
Value item(const Value& list, std::size_t index);
/// All items of a List.
Items items_of(const Value& list);
/// The entries of a Map or Object, in order.
Entries entries_of(const Value& map);
/// The entry of a Map or Object. Numbers that are equal are the same key.
std::optional<Value> find(const Value& map, const Value& key);
/// The member by the name rules use.
std::optional<Value> find_field(const Value& map, std::string_view name);
/// The one value in an Optional; null when there is none.
const Value* content(const Value& optional);

/// Equality over all types: numbers by amount, different types are unequal, lists by their identity. `budget` (may be null)
/// limits the work; when it is exhausted the answer means nothing.
bool equal(const Value& left, const Value& right, Budget* budget = nullptr);
/// Whether two items of a list are the same item, by its keys.
bool has_equal_keys(const Value& left, const Value& right, const std::vector<std::string>& keys);
/// -1, 0, 1; nothing when they have no order (NaN among them).
std::optional<int> compare(const Value& left, const Value& right);

/// The type a value has, as type(x) gives it: without parameters.
TypePtr runtime_type(const Value& value);
/// Whether the value is zero or empty (optional.ofNonZeroValue).
bool is_zero(const Value& value);

/// Characters (code points) of UTF-8 text; bytes that are no UTF-8 count one each.
std::size_t character_count(std::string_view text);
std::vector<std::string_view> characters(std::string_view text);

}  // namespace slipway::cel
