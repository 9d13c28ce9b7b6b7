#include "store/lazy_value.h"

#include "base/check.h"
#include "json/text.h"

namespace slipway::store {
namespace {

/// Beyond what the server lets in.
constexpr json::Limits kLimits{.max_bytes = std::size_t{1} << 30, .max_depth = 2000};

}  // namespace

LazyValue LazyValue::from_text(std::string_view text) {
  LazyValue lazy;
  lazy.source_ = std::make_shared<Source>();
  lazy.source_->text = text;
  lazy.has_value_ = true;
  return lazy;
}

Result<json::Value> LazyValue::get() const {
  SLIPWAY_CHECK(has_value_);
  if (!source_) return value_;
  if (!source_->is_parsed) {
    auto value = json::parse(source_->text, kLimits);
    if (!value) return fail(Reason::StorageReadError, std::move(value.error().message));
    source_->value = std::move(*value);
    source_->is_parsed = true;
    source_->text = std::string();
  }
  value_ = source_->value;
  source_.reset();
  return value_;
}

Result<std::optional<json::Value>> LazyValue::get_optional() const {
  if (!has_value_) return std::optional<json::Value>();
  SLIPWAY_TRY(value, get());
  return std::optional<json::Value>(std::move(value));
}

}  // namespace slipway::store
