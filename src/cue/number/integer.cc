#include "cue/number/integer.h"

#include <algorithm>

namespace slipway::cue {
namespace {

void trim(std::vector<std::uint32_t>& words) {
  while (!words.empty() && words.back() == 0) words.pop_back();
}

void multiply_add(std::vector<std::uint32_t>& words, std::uint32_t factor, std::uint32_t carry) {
  for (std::uint32_t& word : words) {
    std::uint64_t wide = static_cast<std::uint64_t>(word) * factor + carry;
    word = static_cast<std::uint32_t>(wide);
    carry = static_cast<std::uint32_t>(wide >> 32);
  }
  if (carry != 0) words.push_back(carry);
}

std::uint32_t divide_small(std::vector<std::uint32_t>& words, std::uint32_t by) {
  std::uint64_t rest = 0;
  for (std::size_t i = words.size(); i-- > 0;) {
    std::uint64_t wide = rest << 32 | words[i];
    words[i] = static_cast<std::uint32_t>(wide / by);
    rest = wide % by;
  }
  trim(words);
  return static_cast<std::uint32_t>(rest);
}

// Two's complement over `size` words.
std::vector<std::uint32_t> complement_form(const Integer& value, std::size_t size) {
  std::vector<std::uint32_t> out = value.words;
  out.resize(size, 0);
  if (!value.is_negative) return out;
  std::uint64_t carry = 1;
  for (std::uint32_t& word : out) {
    carry += static_cast<std::uint32_t>(~word);
    word = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return out;
}

Integer from_complement(std::vector<std::uint32_t> words, bool is_negative) {
  Integer out;
  out.is_negative = is_negative;
  if (is_negative) {
    std::uint64_t carry = 1;
    for (std::uint32_t& word : words) {
      carry += static_cast<std::uint32_t>(~word);
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  trim(words);
  out.words = std::move(words);
  return out;
}

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

}  // namespace

std::size_t Integer::bit_count() const {
  if (words.empty()) return 0;
  return words.size() * 32 - static_cast<std::size_t>(__builtin_clz(words.back()));
}

bool Integer::bit(std::size_t index) const {
  std::size_t size = std::max(words.size(), index / 32 + 1) + 1;
  return (complement_form(*this, size)[index / 32] >> (index % 32) & 1) != 0;
}

Integer to_integer(const Decimal& value) {
  Decimal plain = whole(value);
  Integer out;
  for (char c : plain.digits) multiply_add(out.words, 10, static_cast<std::uint32_t>(c - '0'));
  trim(out.words);
  out.is_negative = plain.is_negative && !out.is_zero();
  return out;
}

Decimal to_decimal(const Integer& value) {
  Decimal out;
  Integer magnitude = value;
  magnitude.is_negative = false;
  out.digits = print_integer(magnitude, 10);
  out.is_negative = value.is_negative;
  return out;
}

std::optional<Integer> parse_integer(std::string_view digits, int base) {
  Integer out;
  if (digits.starts_with('-') || digits.starts_with('+')) {
    out.is_negative = digits[0] == '-';
    digits.remove_prefix(1);
  }
  if (digits.empty()) return std::nullopt;
  for (char c : digits) {
    if (base <= 36 && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    std::size_t digit = kDigits.find(c);
    if (digit >= static_cast<std::size_t>(base)) return std::nullopt;
    multiply_add(out.words, static_cast<std::uint32_t>(base), static_cast<std::uint32_t>(digit));
  }
  trim(out.words);
  out.is_negative = out.is_negative && !out.is_zero();
  return out;
}

std::string print_integer(const Integer& value, int base) {
  if (value.is_zero()) return "0";
  std::vector<std::uint32_t> rest = value.words;
  std::string out;
  while (!rest.empty()) out += kDigits[divide_small(rest, static_cast<std::uint32_t>(base))];
  if (value.is_negative) out += '-';
  std::reverse(out.begin(), out.end());
  return out;
}

Integer combine_bits(BitOp op, const Integer& a, const Integer& b) {
  std::size_t size = std::max(a.words.size(), b.words.size()) + 1;
  std::vector<std::uint32_t> left = complement_form(a, size);
  std::vector<std::uint32_t> right = complement_form(b, size);
  for (std::size_t i = 0; i < size; ++i) {
    left[i] = op == BitOp::And   ? left[i] & right[i]
              : op == BitOp::Or  ? left[i] | right[i]
              : op == BitOp::Xor ? left[i] ^ right[i]
                                 : left[i] & ~right[i];
  }
  bool is_negative = left.back() >> 31 != 0;
  return from_complement(std::move(left), is_negative);
}

Integer shift_left(const Integer& value, std::size_t bits) {
  Integer out;
  out.is_negative = value.is_negative;
  out.words.assign(bits / 32, 0);
  std::uint32_t carry = 0;
  std::size_t by = bits % 32;
  for (std::uint32_t word : value.words) {
    out.words.push_back(word << by | carry);
    carry = by == 0 ? 0 : word >> (32 - by);
  }
  if (carry != 0) out.words.push_back(carry);
  trim(out.words);
  return out;
}

Integer shift_right(const Integer& value, std::size_t bits) {
  std::size_t size = value.words.size() + 1;
  std::vector<std::uint32_t> words = complement_form(value, size);
  std::uint32_t fill = value.is_negative ? 0xFFFFFFFF : 0;
  std::size_t skip = bits / 32;
  std::size_t by = bits % 32;
  auto at = [&](std::size_t i) { return i < size ? words[i] : fill; };
  std::vector<std::uint32_t> out;
  for (std::size_t i = skip; i <= std::max(skip, size); ++i)
    out.push_back(by == 0 ? at(i) : at(i) >> by | at(i + 1) << (32 - by));
  return from_complement(std::move(out), value.is_negative);
}

}  // namespace slipway::cue
