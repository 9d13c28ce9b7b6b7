#include "kube/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/text.h"

namespace slipway::kube {
namespace {

using Notation = Quantity::Notation;
using Wide = unsigned __int128;

constexpr int kNanoDigits = 9;
constexpr std::size_t kMaxDigits = 29 + kNanoDigits;                                                // of an amount in nanos
constexpr std::string_view kDecimalSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};  // 10^-9, 10^-6, …
constexpr std::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

Wide power(unsigned base, int exponent) {
  Wide out = 1;
  while (exponent-- > 0) out *= base;
  return out;
}

Wide max_nanos() { return power(10, static_cast<int>(kMaxDigits)); }

struct Parts {
  bool is_negative = false;
  std::string whole;     // without leading zeros
  std::string fraction;  // as written
  std::string_view suffix;
};

std::optional<Parts> split(std::string_view text) {
  Parts parts;
  std::size_t at = 0;
  if (text.starts_with('-') || text.starts_with('+')) parts.is_negative = text[at++] == '-';
  while (at < text.size() && text[at] == '0') ++at;
  while (at < text.size() && is_digit(text[at])) parts.whole += text[at++];
  if (at < text.size() && text[at] == '.') {
    ++at;
    while (at < text.size() && is_digit(text[at])) parts.fraction += text[at++];
  }
  parts.suffix = text.substr(at);
  while (at < text.size() && std::string_view("eEinumkKMGTP").find(text[at]) != std::string_view::npos) ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at != text.size()) return std::nullopt;
  return parts;
}

struct Scale {
  Notation notation = Notation::DecimalSI;
  int exponent = 0;  // of 10, or of 2 for BinarySI
};

std::optional<Scale> scale_of(std::string_view suffix) {
  for (std::size_t i = 0; i < std::size(kDecimalSuffixes); ++i) {
    if (suffix == kDecimalSuffixes[i]) return Scale{Notation::DecimalSI, static_cast<int>(i) * 3 - kNanoDigits};
  }
  for (std::size_t i = 1; i < std::size(kBinarySuffixes); ++i) {
    if (suffix == kBinarySuffixes[i]) return Scale{Notation::BinarySI, static_cast<int>(i) * 10};
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return std::nullopt;
  std::string_view digits = suffix.substr(1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return Scale{Notation::DecimalExponent, exponent};
}

Wide number(std::string_view digits) {
  Wide out = 0;
  for (const char c : digits) out = out * 10 + static_cast<unsigned>(c - '0');
  return out;
}

/// 12.3456 at 10^-6: the digits 123456 shifted by -6 - 4 + 9 places, that is 12345.6 nanos, rounded up.
Wide decimal_nanos(const Parts& parts, int exponent) {
  std::string digits = parts.whole + parts.fraction;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return 0;
  const auto shift = static_cast<std::int64_t>(exponent) - static_cast<std::int64_t>(parts.fraction.size()) + kNanoDigits;
  const auto size = static_cast<std::int64_t>(digits.size()) + shift;
  if (size > static_cast<std::int64_t>(kMaxDigits)) return max_nanos();
  if (shift >= 0) return number(digits) * power(10, static_cast<int>(shift));
  if (size <= 0) return 1;
  const std::string_view kept = std::string_view(digits).substr(0, static_cast<std::size_t>(size));
  const bool rounds_up = digits.find_first_not_of('0', kept.size()) != std::string::npos;
  return number(kept) + (rounds_up ? 1 : 0);
}

/// Capped at 2^63 - 1 units, as upstream.
Wide binary_nanos(const Parts& parts, int exponent) {
  constexpr std::size_t kFractionDigits = 18;
  const Wide cap = static_cast<Wide>(std::numeric_limits<std::int64_t>::max()) * power(10, kNanoDigits);
  const Wide factor = Wide{1} << exponent;
  if (parts.whole.size() > 19 || number(parts.whole) * factor > cap / power(10, kNanoDigits)) return cap;
  const std::string_view digits = std::string_view(parts.fraction).substr(0, kFractionDigits);
  const bool has_more = parts.fraction.find_first_not_of('0', digits.size()) != std::string::npos;
  const Wide divisor = power(10, static_cast<int>(digits.size()));
  const Wide product = number(digits) * factor;
  const Wide rest = (product % divisor) * power(10, kNanoDigits);
  const Wide fraction =
      (product / divisor) * power(10, kNanoDigits) + rest / divisor + (rest % divisor != 0 || has_more ? 1 : 0);
  return std::min(number(parts.whole) * factor * power(10, kNanoDigits) + fraction, cap);
}

std::string digits_of(Wide value) {
  std::string out;
  do {
    out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  return out;
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  const auto parts = text.empty() ? std::nullopt : split(text);
  if (!parts) return fail(Reason::BadRequest, std::string(kRule));
  const auto scale = scale_of(parts->suffix);
  if (!scale) return fail(Reason::BadRequest, "unable to parse quantity's suffix");
  Notation notation = scale->notation;
  const Wide nanos =
      notation == Notation::BinarySI ? binary_nanos(*parts, scale->exponent) : decimal_nanos(*parts, scale->exponent);
  if (notation == Notation::BinarySI && nanos != 0 && nanos < power(10, kNanoDigits)) notation = Notation::DecimalSI;
  return Quantity(parts->is_negative ? -static_cast<__int128>(nanos) : static_cast<__int128>(nanos), notation);
}

std::string Quantity::to_string() const {
  if (nanos_ == 0) return "0";
  const std::string sign = nanos_ < 0 ? "-" : "";
  auto amount = static_cast<Wide>(nanos_ < 0 ? -nanos_ : nanos_);
  const Wide unit = power(10, kNanoDigits);
  if (notation_ == Notation::BinarySI && amount % unit == 0 && amount >= unit * 1024) {
    amount /= unit;
    std::size_t step = 0;
    while (amount % 1024 == 0 && step + 1 < std::size(kBinarySuffixes)) {
      amount /= 1024;
      ++step;
    }
    return sign + digits_of(amount) + std::string(kBinarySuffixes[step]);
  }
  std::size_t step = 0;
  while (amount % 1000 == 0 && (notation_ == Notation::DecimalExponent || step + 1 < std::size(kDecimalSuffixes))) {
    amount /= 1000;
    ++step;
  }
  const int exponent = static_cast<int>(step) * 3 - kNanoDigits;
  if (notation_ != Notation::DecimalExponent) return sign + digits_of(amount) + std::string(kDecimalSuffixes[step]);
  return sign + digits_of(amount) + (exponent == 0 ? "" : "e" + std::to_string(exponent));
}

std::int64_t Quantity::scaled(int exponent) const {
  const auto amount = static_cast<Wide>(nanos_ < 0 ? -nanos_ : nanos_);
  const int shift = exponent + kNanoDigits;
  Wide out = 0;
  if (shift >= 0) {
    const Wide divisor = power(10, std::min(shift, static_cast<int>(kMaxDigits)));
    out = amount / divisor + (amount % divisor != 0 ? 1 : 0);
  } else {
    const Wide factor = power(10, std::min(-shift, 19));
    out = amount > max_nanos() / factor ? max_nanos() : amount * factor;
  }
  const auto limit = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  const auto size = static_cast<std::int64_t>(std::min(out, limit));
  return nanos_ < 0 ? -size : size;
}

}  // namespace slipway::kube
