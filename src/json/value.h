// An immutable JSON value with shared structure. A copy is a reference; an edit returns a new value that shares what it does not
// touch. Key order is kept as written, integers and doubles are kept apart, and a number that is neither exactly keeps its
// text, so a document round-trips. Values may be read from several threads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::json {

enum class Type : std::uint8_t { Null, Bool, Int, Double, Number, String, Array, Object };

class Value;
struct Member;
class Members;

class Value {
 public:
  Value() noexcept;  // null
  Value(std::nullptr_t) noexcept : Value() {}
  Value(bool value) noexcept;
  Value(int value) noexcept : Value(static_cast<std::int64_t>(value)) {}
  Value(std::int64_t value) noexcept;
  Value(double value) noexcept;
  Value(const char* text) : Value(std::string_view(text)) {}
  Value(const std::string& text) : Value(std::string_view(text)) {}
  Value(std::string_view text);
  Value(const Value& other) noexcept;
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other) noexcept;
  Value& operator=(Value&& other) noexcept;
  ~Value();

  /// A number by its JSON text: Int when it fits 64 bits, Double when that gives the text back, else Number.
  static Value number(std::string_view text);
  static Value empty_object();
  static Value empty_array();

  Type type() const noexcept;
  bool is_null() const noexcept { return type() == Type::Null; }
  bool is_bool() const noexcept { return type() == Type::Bool; }
  bool is_int() const noexcept { return type() == Type::Int; }
  /// Int, Double or Number.
  bool is_number() const noexcept { return type() == Type::Int || type() == Type::Double || type() == Type::Number; }
  bool is_string() const noexcept { return type() == Type::String; }
  bool is_array() const noexcept { return type() == Type::Array; }
  bool is_object() const noexcept { return type() == Type::Object; }

  /// The typed reads give the fallback when the type differs.
  bool as_bool(bool fallback = false) const noexcept;
  std::int64_t as_int(std::int64_t fallback = 0) const noexcept;
  double as_double(double fallback = 0) const noexcept;
  /// Valid while this value (not a copy of it) is alive and unchanged. Empty when not a string.
  std::string_view as_string() const noexcept;
  std::string str() const { return std::string(as_string()); }
  /// JSON text of a number, as it will be written.
  std::string number_text() const;

  /// Members of an object, or items of an array; 0 otherwise.
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  /// nullptr when absent, or not an object. Valid while this value is alive and unchanged.
  const Value* find(std::string_view key) const noexcept;
  bool has(std::string_view key) const noexcept { return find(key) != nullptr; }
  /// The member, or a null that lives for ever.
  const Value& operator[](std::string_view key) const noexcept;
  const Value& operator[](const char* key) const noexcept { return (*this)[std::string_view(key)]; }
  /// The item, or a null that lives for ever.
  const Value& item(std::size_t index) const noexcept;
  /// Members in order; empty when not an object.
  Members members() const noexcept;
  /// Items in order; empty when not an array.
  std::span<const Value> items() const noexcept;

  /// A new object with the member set (in place if present, else last). A non-object counts as an empty object.
  Value with(std::string_view key, Value value) const;
  Value without(std::string_view key) const;
  /// `with` along a path of keys, making objects on the way.
  Value with_path(std::initializer_list<std::string_view> path, Value value) const;
  /// `without` along a path; objects that become empty stay.
  Value without_path(std::initializer_list<std::string_view> path) const;
  /// A new array; a non-array counts as empty.
  Value with_item(std::size_t index, Value value) const;
  Value appended(Value value) const;

  /// Deep equality: member order does not count, Int 1 equals Double 1.0 (as JSON numbers).
  bool operator==(const Value& other) const noexcept;
  /// The same node: equal without looking.
  bool is_same(const Value& other) const noexcept;
  /// Bytes on the heap reachable from here, shared parts counted once per reach.
  std::size_t memory_bytes() const noexcept;

 private:
  friend class ObjectBuilder;
  friend class ArrayBuilder;
  friend class Members;
  struct Access;
  // Sixteen bytes: a tag and an inline scalar, short string (<= 14 bytes) or pointer to a counted node.
  alignas(8) unsigned char bytes_[16];
};

class Key;

/// Builds an object. Setting a key again replaces its value in place.
class ObjectBuilder {
 public:
  ObjectBuilder() = default;
  explicit ObjectBuilder(std::size_t expected) { members_.reserve(expected); }
  ObjectBuilder& set(std::string_view key, Value value);
  /// For keys known to be new (parsers): no search.
  ObjectBuilder& add(std::string_view key, Value value);
  bool empty() const { return members_.empty(); }
  /// The builder is empty afterwards.
  Value build();

 private:
  std::vector<std::pair<Value, Value>> members_;
};

class ArrayBuilder {
 public:
  ArrayBuilder& add(Value value) {
    items_.push_back(std::move(value));
    return *this;
  }
  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  Value build();

 private:
  std::vector<Value> items_;
};

/// object({{"kind", "Job"}, {"spec", object({…})}})
Value object(std::initializer_list<std::pair<std::string_view, Value>> members);
Value array(std::initializer_list<Value> items);
Value array(std::span<const Value> items);
Value array(std::span<const std::string> items);

/// One member of an object while iterating.
struct MemberView {
  std::string_view key;
  const Value& value;
};

/// Iterates the members of an object: for (auto [key, value] : v.members()).
class Members {
 public:
  class iterator {
   public:
    using value_type = MemberView;
    using difference_type = std::ptrdiff_t;
    MemberView operator*() const;
    iterator& operator++();
    iterator operator++(int);
    bool operator==(const iterator& other) const = default;

   private:
    friend class Members;
    const Member* at_ = nullptr;
  };
  iterator begin() const;
  iterator end() const;
  std::size_t size() const { return size_; }

 private:
  friend class Value;
  const Member* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace slipway::json
