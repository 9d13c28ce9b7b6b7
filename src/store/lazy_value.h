// A value that may still be the text it has in the file, until it is needed: a store opens without parsing what no caller looks
// at. Copies share the text and the parsing. Used by one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace slipway::store {

class LazyValue {
 public:
  /// No value: a deletion, or nothing before.
  LazyValue() = default;
  LazyValue(json::Value value) : value_(std::move(value)), has_value_(true) {}
  LazyValue(std::optional<json::Value> value) : has_value_(value.has_value()) {
    if (value) value_ = std::move(*value);
  }
  /// REQUIRES: text that was printed from a value.
  static LazyValue from_text(std::string_view text);

  bool has_value() const { return has_value_; }
  /// REQUIRES: has_value(). StorageReadError when the text is no JSON after all.
  Result<json::Value> get() const;
  /// As get(), or nothing.
  Result<std::optional<json::Value>> get_optional() const;

 private:
  /// Shared by the copies; the text goes when it has been parsed.
  struct Source {
    std::string text;
    json::Value value;
    bool is_parsed = false;
  };

  mutable json::Value value_;
  mutable std::shared_ptr<Source> source_;  // nullptr: value_ is the value
  bool has_value_ = false;
};

}  // namespace slipway::store
