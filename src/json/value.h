// An immutable JSON value with shared structure. A copy is a reference; an edit returns a new value that shares what it does
// not touch. Key order is kept as written, integers and doubles are kept apart, and a number that is neither exactly keeps its
// text, so a document round-trips. Values may be read from several threads.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::json {

enum class Type : std::uint8_t { Null, Bool, Int, Double, Number, String, Array, Object };

class Members;
struct Node;

class Value {
 public:
  constexpr Value() noexcept = default;  // null
  constexpr Value(std::nullptr_t) noexcept {}
  /// Bool, or Int; an unsigned number beyond 63 bits becomes a Number.
  template <std::integral T>
  Value(T value) noexcept : Value(from_integral(value)) {}
  /// NaN and infinities are no JSON: they print as null.
  Value(double value) noexcept;
  Value(const char* text) : Value(std::string_view(text)) {}
  Value(const std::string& text) : Value(std::string_view(text)) {}
  Value(std::string_view text);
  Value(const Value& other) noexcept : low_(other.low_), high_(other.high_) { retain(); }
  Value(Value&& other) noexcept : low_(std::exchange(other.low_, 0)), high_(std::exchange(other.high_, 0)) {}
  Value& operator=(const Value& other) noexcept { return *this = Value(other); }
  Value& operator=(Value&& other) noexcept {
    Value taken(std::move(other));
    std::swap(low_, taken.low_);
    std::swap(high_, taken.high_);
    return *this;
  }
  ~Value() { release(); }

  /// A number by its JSON text: Int when it fits 64 bits, Double when that gives the text back, else Number.
  /// REQUIRES: valid JSON number text.
  static Value number(std::string_view text);
  static Value empty_object() noexcept { return Value(0, word(Tag::Object)); }
  static Value empty_array() noexcept { return Value(0, word(Tag::Array)); }

  Type type() const noexcept {
    constexpr Type kTypes[] = {Type::Null,   Type::Bool,   Type::Int,    Type::Double, Type::Number, Type::String,
                               Type::String, Type::Number, Type::String, Type::Array,  Type::Object, Type::Object};
    return kTypes[high_ >> 56];
  }
  bool is_null() const noexcept { return type() == Type::Null; }
  bool is_bool() const noexcept { return type() == Type::Bool; }
  bool is_int() const noexcept { return type() == Type::Int; }
  /// Int, Double or Number.
  bool is_number() const noexcept { return type() == Type::Int || type() == Type::Double || type() == Type::Number; }
  bool is_string() const noexcept { return type() == Type::String; }
  bool is_array() const noexcept { return type() == Type::Array; }
  bool is_object() const noexcept { return type() == Type::Object; }

  /// The typed reads give the fallback when the type differs. as_int takes any number that is whole and fits.
  bool as_bool(bool fallback = false) const noexcept;
  std::int64_t as_int(std::int64_t fallback = 0) const noexcept;
  double as_double(double fallback = 0) const noexcept;
  /// Valid while this value (not a copy of it) is alive and unchanged. Empty when not a string.
  inline std::string_view as_string() const noexcept;
  std::string str() const { return std::string(as_string()); }
  /// JSON text of a number, as it will be written.
  std::string number_text() const;

  /// Members of an object, or items of an array; 0 otherwise.
  std::size_t size() const noexcept { return is_array() || is_object() ? length() : 0; }
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
  Value with_path(std::initializer_list<std::string_view> path, Value value) const {
    return with_path(std::span<const std::string_view>(path.begin(), path.size()), std::move(value));
  }
  Value with_path(std::span<const std::string_view> path, Value value) const;
  /// `without` along a path; objects that become empty stay.
  Value without_path(std::initializer_list<std::string_view> path) const {
    return without_path(std::span<const std::string_view>(path.begin(), path.size()));
  }
  Value without_path(std::span<const std::string_view> path) const;
  /// A new array; a non-array counts as empty. with_item appends when `index` is not below size().
  Value with_item(std::size_t index, Value value) const;
  Value without_item(std::size_t index) const;
  /// Puts the item before the one at `index`, or last.
  Value inserted(std::size_t index, Value value) const;
  Value appended(Value value) const { return inserted(size(), std::move(value)); }

  /// Deep equality: member order does not count, Int 1 equals Double 1.0 (as JSON numbers).
  bool operator==(const Value& other) const noexcept;
  /// The same node: equal without looking.
  bool is_same(const Value& other) const noexcept { return low_ == other.low_ && high_ == other.high_; }
  /// Bytes on the heap reachable from here with the allocator's overhead, shared parts counted once per reach.
  std::size_t memory_bytes() const noexcept;
  /// Containers nested in each other: 0 for a scalar, 1 for {} and [].
  std::size_t depth() const;

 private:
  friend struct Layout;
  // Counted ones last. A short string or number text (<= 14 bytes) lies in the value itself; a static string is one of the
  // well-known Kubernetes names of keys.cc, and a NamedObject has only such keys; empty containers have no node.
  enum class Tag : std::uint8_t {
    Null,
    Bool,
    Int,
    Double,
    ShortNumber,
    ShortString,
    StaticString,
    LongNumber,
    LongString,
    Array,
    Object,
    NamedObject
  };

  constexpr Value(std::uint64_t low, std::uint64_t high) noexcept : low_(low), high_(high) {}
  static constexpr std::uint64_t word(Tag tag) { return std::uint64_t{static_cast<std::uint8_t>(tag)} << 56; }
  Tag tag() const noexcept { return static_cast<Tag>(high_ >> 56); }
  std::uint32_t length() const noexcept { return static_cast<std::uint32_t>(high_); }
  Node* node() const noexcept { return reinterpret_cast<Node*>(low_); }
  bool is_counted() const noexcept { return high_ >= word(Tag::LongNumber) && low_ != 0; }
  inline void retain() const noexcept;
  inline void release() noexcept;
  static Value large_unsigned(std::uint64_t value) noexcept;
  static void destroy(Tag tag, Node* node, std::size_t size) noexcept;

  template <std::integral T>
  static Value from_integral(T value) noexcept {
    if constexpr (std::same_as<T, bool>) return Value(value ? 1 : 0, word(Tag::Bool));
    if constexpr (sizeof(T) == 8 && !std::is_signed_v<T>) {
      if (value > static_cast<T>(INT64_MAX)) return large_unsigned(value);
    }
    return Value(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), word(Tag::Int));
  }

  // Sixteen bytes. The top byte of high_ is the tag. Scalars and node pointers are in low_; the length of strings and
  // containers in the lower half of high_. Inline text starts at the first byte of low_, its length is byte 14, unused bytes
  // are zero, so equal inline texts have equal words.
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
};

/// What a counted value points to; its content follows it in memory (see json/layout.h), its size is in the value.
struct Node {
  std::atomic<std::uint32_t> references;
};

/// One of the names of keys.cc.
std::string_view well_known_name(std::uint16_t id) noexcept;

inline std::string_view Value::as_string() const noexcept {
  const Tag kind = tag();
  if (kind == Tag::ShortString) return {reinterpret_cast<const char*>(this), static_cast<std::uint8_t>(high_ >> 48)};
  if (kind == Tag::LongString) return {reinterpret_cast<const char*>(node() + 1), length()};
  if (kind == Tag::StaticString) return {reinterpret_cast<const char*>(low_), length()};
  return {};
}

inline void Value::retain() const noexcept {
  if (is_counted()) node()->references.fetch_add(1, std::memory_order_relaxed);
}

inline void Value::release() noexcept {
  if (is_counted() && node()->references.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(tag(), node(), length());
}

/// Builds an object. Setting a key again replaces its value in place.
class ObjectBuilder {
 public:
  ObjectBuilder() = default;
  explicit ObjectBuilder(std::size_t expected) { pairs_.reserve(expected * 2); }
  /// Starts with the members of an object.
  explicit ObjectBuilder(const Value& from);
  ObjectBuilder& set(std::string_view key, Value value);
  /// For keys known to be new (parsers): no search.
  ObjectBuilder& add(std::string_view key, Value value);
  bool empty() const { return pairs_.empty(); }
  /// The builder is empty afterwards.
  Value build();

 private:
  std::vector<Value> pairs_;  // key, value, key, value …
  bool may_repeat_ = false;   // set() stops searching in a big builder; build() then joins repeated keys
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

/// Iterates the members of an object: for (auto [key, value] : v.members()). Valid while the object is alive and unchanged.
class Members {
 public:
  class iterator {
   public:
    using value_type = MemberView;
    using difference_type = std::ptrdiff_t;
    MemberView operator*() const { return {keys_ ? keys_[at_].as_string() : well_known_name(ids_[at_]), values_[at_]}; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++at_;
      return old;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    friend class Members;
    friend class Value;
    const Value* values_ = nullptr;
    const Value* keys_ = nullptr;         // of an Object
    const std::uint16_t* ids_ = nullptr;  // of a NamedObject
    std::size_t at_ = 0;
  };
  iterator begin() const { return first_; }
  iterator end() const {
    iterator last = first_;
    last.at_ = size_;
    return last;
  }
  std::size_t size() const { return size_; }

 private:
  friend class Value;
  iterator first_;
  std::size_t size_ = 0;
};

/// Lets test failures show values as JSON.
void PrintTo(const Value& value, std::ostream* out);

}  // namespace slipway::json
