// Kubernetes' quantity, format and semver libraries (k8s.io/apiserver/pkg/cel/library).
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "cel/library.h"
#include "cel/named_format.h"

namespace slipway::cel {
namespace {

using Nanos = __int128;
constexpr Nanos kUnit = 1'000'000'000;
// Amounts beyond this are refused, so that sums cannot overflow.
constexpr Nanos kMost = static_cast<Nanos>(1) << 120;

/// An amount in 10^-9. (kube::Quantity knows notations too, which rules do not see; this room lies below kube.)
class QuantityValue final : public Opaque {
 public:
  explicit QuantityValue(Nanos value) : nanos(value) {}
  std::string_view type_name() const override { return "kubernetes.Quantity"; }
  bool equals(const Opaque& other) const override { return nanos == static_cast<const QuantityValue&>(other).nanos; }
  const Nanos nanos;
};

/// The factor of a suffix in 10^-9, or of an exponent; nothing when it is none.
std::optional<Nanos> factor_of(std::string_view suffix) {
  static constexpr std::array<std::pair<std::string_view, int>, 10> kDecimal{
      {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
  static constexpr std::array<std::string_view, 6> kBinary{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  int exponent = 99;
  for (const auto& [name, power] : kDecimal) {
    if (name == suffix) exponent = power;
  }
  for (std::size_t i = 0; i < kBinary.size(); ++i) {
    if (kBinary[i] == suffix) return kUnit << (10 * (i + 1));
  }
  if (exponent == 99 && suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E')) {
    std::string_view digits = suffix.substr(1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (code != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  }
  if (exponent == 99 || exponent > 27) return std::nullopt;
  Nanos factor = kUnit;
  for (int i = 0; i < exponent; ++i) factor *= 10;
  for (int i = 0; i > exponent && factor > 0; --i) factor /= 10;
  return factor;
}

std::optional<Nanos> parse_quantity(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto factor = factor_of(text.substr(end));
  const std::string_view number = text.substr(0, end);
  if (!factor || number.find_first_of("0123456789") == std::string_view::npos || std::ranges::count(number, '.') > 1)
    return std::nullopt;
  Nanos total = 0;
  Nanos part = *factor;
  bool is_inexact = false;
  bool is_fraction = false;
  for (const char c : number) {
    if (c == '.') {
      is_fraction = true;
      continue;
    }
    const int digit = c - '0';
    if (!is_fraction) {
      if (total > kMost / 10) return std::nullopt;
      total = total * 10 + digit * *factor;
    } else {
      is_inexact |= part % 10 != 0 && digit != 0;
      part /= 10;
      total += digit * part;
    }
    if (total > kMost) return std::nullopt;
  }
  if (is_inexact) ++total;  // rounds up, away from zero
  return is_negative ? -total : total;
}

Value make_quantity(Nanos nanos) {
  if (nanos > kMost || nanos < -kMost) return make_error("quantity overflow");
  return make_opaque(std::make_shared<const QuantityValue>(nanos));
}
Nanos nanos_of(const Value& value) {
  return value.is(Kind::Int) ? static_cast<Nanos>(value.integer) * kUnit
                             : static_cast<const QuantityValue&>(*value.opaque).nanos;
}

Value quantity(const Call& call) {
  const auto nanos = parse_quantity(call[0].text());
  if (!nanos) return make_error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  return make_quantity(*nanos);
}
Value is_quantity(const Call& call) { return make_bool(parse_quantity(call[0].text()).has_value()); }
Value sign(const Call& call) {
  const Nanos nanos = nanos_of(call[0]);
  return make_int(nanos < 0 ? -1 : nanos > 0 ? 1 : 0);
}
bool is_whole(Nanos nanos) { return nanos % kUnit == 0 && nanos / kUnit <= INT64_MAX && nanos / kUnit >= INT64_MIN; }
Value is_integer(const Call& call) { return make_bool(is_whole(nanos_of(call[0]))); }
Value as_integer(const Call& call) {
  if (!is_whole(nanos_of(call[0]))) return make_error("cannot convert value to integer");
  return make_int(static_cast<std::int64_t>(nanos_of(call[0]) / kUnit));
}
Value as_float(const Call& call) { return make_double(static_cast<double>(nanos_of(call[0])) / 1e9); }
Value add(const Call& call) { return make_quantity(nanos_of(call[0]) + nanos_of(call[1])); }
Value subtract(const Call& call) { return make_quantity(nanos_of(call[0]) - nanos_of(call[1])); }
Value compare_quantities(const Call& call) {
  const Nanos left = nanos_of(call[0]);
  const Nanos right = nanos_of(call[1]);
  return make_int(left < right ? -1 : left > right ? 1 : 0);
}
Value is_more(const Call& call) { return make_bool(nanos_of(call[0]) > nanos_of(call[1])); }
Value is_less(const Call& call) { return make_bool(nanos_of(call[0]) < nanos_of(call[1])); }

class FormatValue final : public Opaque {
 public:
  explicit FormatValue(const NamedFormat& row) : format(row) {}
  std::string_view type_name() const override { return "kubernetes.NamedFormat"; }
  bool equals(const Opaque& other) const override { return &format == &static_cast<const FormatValue&>(other).format; }
  const NamedFormat& format;
};

template <std::size_t kIndex>
Value format_at(const Call&) {
  return make_opaque(std::make_shared<const FormatValue>(named_formats()[kIndex]));
}
Value format_named(const Call& call) {
  for (const NamedFormat& row : named_formats()) {
    if (row.name == call[0].text()) return optional_value(make_opaque(std::make_shared<const FormatValue>(row)));
  }
  return optional_value(std::nullopt);
}
Value format_validate(const Call& call) {
  call.budget.spend(call[1].text().size() / 10 + 1);
  const auto faults = static_cast<const FormatValue&>(*call[0].opaque).format.validate(call[1].text());
  if (faults.empty()) return optional_value(std::nullopt);
  Items items;
  for (const std::string& fault : faults) items.push_back(make_string(fault));
  return optional_value(make_list(std::move(items)));
}

struct Semver {
  std::array<std::uint64_t, 3> core{};
  std::vector<std::string> pre;
};

/// Numbers by amount and below words; no identifiers at all are above any.
int compare_pre(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  if (left.empty() || right.empty()) return left.empty() == right.empty() ? 0 : left.empty() ? 1 : -1;
  const auto is_number = [](const std::string& text) { return text.find_first_not_of("0123456789") == std::string::npos; };
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i] == right[i]) continue;
    if (is_number(left[i]) != is_number(right[i])) return is_number(left[i]) ? -1 : 1;
    if (is_number(left[i]) && left[i].size() != right[i].size()) return left[i].size() < right[i].size() ? -1 : 1;
    return left[i] < right[i] ? -1 : 1;
  }
  return left.size() == right.size() ? 0 : left.size() < right.size() ? -1 : 1;
}
int compare_semver(const Semver& left, const Semver& right) {
  if (left.core != right.core) return left.core < right.core ? -1 : 1;
  return compare_pre(left.pre, right.pre);
}

class SemverValue final : public Opaque {
 public:
  explicit SemverValue(Semver value) : version(std::move(value)) {}
  std::string_view type_name() const override { return "kubernetes.Semver"; }
  bool equals(const Opaque& other) const override {
    return compare_semver(version, static_cast<const SemverValue&>(other).version) == 0;
  }
  const Semver version;
};
const Semver& version_of(const Value& value) { return static_cast<const SemverValue&>(*value.opaque).version; }

/// Drops a leading v and leading zeros, fills missing parts with 0.
std::string normalised_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_of("-+"), text.size());
  std::string_view core = text.substr(0, end);
  std::string out;
  std::size_t parts = 0;
  for (bool is_last = false; !is_last; ++parts) {
    const auto dot = core.find('.');
    is_last = dot == std::string_view::npos;
    std::string_view number = core.substr(0, dot);
    while (number.size() > 1 && number[0] == '0') number.remove_prefix(1);
    out += fmt::format("{}{}", parts == 0 ? "" : ".", number);
    if (!is_last) core.remove_prefix(dot + 1);
  }
  for (; parts < 3; ++parts) out += ".0";
  return out + std::string(text.substr(end));
}

std::optional<Semver> parse_semver(const Call& call) {
  static const re2::RE2 kPattern(
      R"(^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$)");
  const bool is_loose = call.args.size() > 1 && call[1].truth;
  const std::string text = is_loose ? normalised_version(call[0].text()) : std::string(call[0].text());
  Semver out;
  std::string pre;
  if (!re2::RE2::FullMatch(text, kPattern, &out.core[0], &out.core[1], &out.core[2], &pre)) return std::nullopt;
  for (std::size_t begin = 0; !pre.empty() && begin <= pre.size();) {
    const std::size_t dot = std::min(pre.find('.', begin), pre.size());
    out.pre.push_back(pre.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return out;
}

Value semver(const Call& call) {
  auto version = parse_semver(call);
  return version ? make_opaque(std::make_shared<const SemverValue>(std::move(*version)))
                 : make_error("No Major.Minor.Patch elements found");
}
Value is_semver(const Call& call) { return make_bool(parse_semver(call).has_value()); }
template <std::size_t kIndex>
Value version_part(const Call& call) {
  return make_int(static_cast<std::int64_t>(version_of(call[0]).core[kIndex]));
}
Value compare_versions(const Call& call) { return make_int(compare_semver(version_of(call[0]), version_of(call[1]))); }
Value is_newer(const Call& call) { return make_bool(compare_semver(version_of(call[0]), version_of(call[1])) > 0); }
Value is_older(const Call& call) { return make_bool(compare_semver(version_of(call[0]), version_of(call[1])) < 0); }

constexpr Row kScalarRows[] = {
    {"quantity", "(string) -> kubernetes.Quantity", quantity},
    {"isQuantity", "(string) -> bool", is_quantity},
    {"sign", "kubernetes.Quantity.() -> int", sign},
    {"isInteger", "kubernetes.Quantity.() -> bool", is_integer},
    {"asInteger", "kubernetes.Quantity.() -> int", as_integer},
    {"asApproximateFloat", "kubernetes.Quantity.() -> double", as_float},
    {"add", "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", add},
    {"add", "kubernetes.Quantity.(int) -> kubernetes.Quantity", add},
    {"sub", "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", subtract},
    {"sub", "kubernetes.Quantity.(int) -> kubernetes.Quantity", subtract},
    {"compareTo", "kubernetes.Quantity.(kubernetes.Quantity) -> int", compare_quantities},
    {"isGreaterThan", "kubernetes.Quantity.(kubernetes.Quantity) -> bool", is_more},
    {"isLessThan", "kubernetes.Quantity.(kubernetes.Quantity) -> bool", is_less},
    {"format.named", "(string) -> optional(kubernetes.NamedFormat)", format_named},
    {"validate", "kubernetes.NamedFormat.(string) -> optional(list(string))", format_validate},
    {"format.dns1123Label", "() -> kubernetes.NamedFormat", format_at<0>},
    {"format.dns1123Subdomain", "() -> kubernetes.NamedFormat", format_at<1>},
    {"format.dns1035Label", "() -> kubernetes.NamedFormat", format_at<2>},
    {"format.qualifiedName", "() -> kubernetes.NamedFormat", format_at<3>},
    {"format.dns1123LabelPrefix", "() -> kubernetes.NamedFormat", format_at<4>},
    {"format.dns1123SubdomainPrefix", "() -> kubernetes.NamedFormat", format_at<5>},
    {"format.dns1035LabelPrefix", "() -> kubernetes.NamedFormat", format_at<6>},
    {"format.labelValue", "() -> kubernetes.NamedFormat", format_at<7>},
    {"format.uri", "() -> kubernetes.NamedFormat", format_at<8>},
    {"format.uuid", "() -> kubernetes.NamedFormat", format_at<9>},
    {"format.byte", "() -> kubernetes.NamedFormat", format_at<10>},
    {"format.date", "() -> kubernetes.NamedFormat", format_at<11>},
    {"format.datetime", "() -> kubernetes.NamedFormat", format_at<12>},
    {"semver", "(string) -> kubernetes.Semver", semver},
    {"semver", "(string, bool) -> kubernetes.Semver", semver},
    {"isSemver", "(string) -> bool", is_semver},
    {"isSemver", "(string, bool) -> bool", is_semver},
    {"major", "kubernetes.Semver.() -> int", version_part<0>},
    {"minor", "kubernetes.Semver.() -> int", version_part<1>},
    {"patch", "kubernetes.Semver.() -> int", version_part<2>},
    {"compareTo", "kubernetes.Semver.(kubernetes.Semver) -> int", compare_versions},
    {"isGreaterThan", "kubernetes.Semver.(kubernetes.Semver) -> bool", is_newer},
    {"isLessThan", "kubernetes.Semver.(kubernetes.Semver) -> bool", is_older},
};

}  // namespace

std::span<const Row> scalar_rows() { return kScalarRows; }

}  // namespace slipway::cel
