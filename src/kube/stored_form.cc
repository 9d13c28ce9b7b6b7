#include "kube/stored_form.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "base/time.h"
#include "kube/quantity.h"

namespace slipway::kube {
namespace {

json::Value stored_time(const json::Value& value, SchemaNode::StoredForm form) {
  const auto time = parse_rfc3339(value.as_string());
  if (!time) return value;
  const std::string text = form == SchemaNode::StoredForm::MicroTime ? to_rfc3339_micro(*time) : to_rfc3339(*time);
  return text == value.as_string() ? value : json::Value(text);
}

/// Most amounts are written canonically: seen without arithmetic on wide numbers. "250m", "128Mi" and "3" are, "1024Mi" and
/// "3000m" are not; false for what is rarer.
bool is_plainly_canonical(std::string_view text) {
  constexpr std::size_t kMaxDigits = 9;
  std::size_t digits = 0;
  std::uint32_t amount = 0;
  for (; digits < text.size() && is_digit(text[digits]); ++digits) {
    if (digits == kMaxDigits) return false;
    amount = amount * 10 + static_cast<std::uint32_t>(text[digits] - '0');
  }
  if (digits == 0 || (text.front() == '0' && text != "0")) return false;
  const std::string_view suffix = text.substr(digits);
  if (suffix.empty()) return amount % 1000 != 0 || amount == 0;
  if (suffix == "m" || suffix == "k" || suffix == "M" || suffix == "G") return amount % 1000 != 0;
  return (suffix == "Ki" || suffix == "Mi" || suffix == "Gi") && amount % 1024 != 0;
}

json::Value quantity_of(const json::Value& value) {
  if (value.is_string() && is_plainly_canonical(value.as_string())) return value;
  if (!value.is_string() && !value.is_number()) return value;
  const auto quantity = Quantity::parse(value.is_string() ? value.str() : value.number_text());
  if (!quantity) return value;
  const std::string text = quantity->to_string();
  return text == value.as_string() ? value : json::Value(text);
}

}  // namespace

json::Value in_stored_form(const json::Value& value, SchemaNode::StoredForm form) {
  switch (form) {
    case SchemaNode::StoredForm::AsSent:
      return value;
    case SchemaNode::StoredForm::Time:
    case SchemaNode::StoredForm::MicroTime:
      return value.is_string() ? stored_time(value, form) : value;
    case SchemaNode::StoredForm::Quantity:
      return quantity_of(value);
  }
  return value;
}

bool is_omitted(const json::Value& value, const SchemaNode& node) {
  if (!node.omits_zero) return false;
  switch (node.type) {
    case SchemaNode::Type::Object:
      return value.is_object() && value.empty();
    case SchemaNode::Type::Array:
      return value.is_array() && value.empty();
    case SchemaNode::Type::String:
      return value.is_string() && value.as_string().empty();
    case SchemaNode::Type::Integer:
    case SchemaNode::Type::Number:
      return value.is_number() && value.as_double() == 0;
    case SchemaNode::Type::Boolean:
      return value.is_bool() && !value.as_bool();
    case SchemaNode::Type::Any:
      return false;
  }
  return false;
}

}  // namespace slipway::kube
