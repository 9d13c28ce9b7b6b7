#include "cel/time_text.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace slipway::cel {
namespace {

/// Reads fixed pieces of a text; any miss makes it fail for good.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  int digits(std::size_t count) {
    if (text_.size() < count) return fail();
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return fail();
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return value;
  }
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  bool at_digit() const { return !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; }
  bool is_done() const { return text_.empty(); }
  bool is_good() const { return is_good_; }
  int fail() {
    is_good_ = false;
    return 0;
  }

 private:
  std::string_view text_;
  bool is_good_ = true;
};

std::int32_t fraction(Reader& in) {
  std::int32_t nanos = 0;
  std::int32_t unit = 100'000'000;
  if (!in.at_digit()) in.fail();
  while (in.is_good() && in.at_digit()) {
    nanos += in.digits(1) * unit;
    unit /= 10;
  }
  return nanos;
}

struct Unit {
  std::string_view name;
  std::int64_t nanos;
};
constexpr std::array<Unit, 8> kUnits{{{"ns", 1},
                                      {"us", 1'000},
                                      {"\xC2\xB5s", 1'000},
                                      {"\xCE\xBCs", 1'000},
                                      {"ms", 1'000'000},
                                      {"s", 1'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"h", 3'600'000'000'000}}};

std::int64_t unit_of(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.nanos;
  }
  return 0;
}

}  // namespace

std::optional<Instant> parse_timestamp(std::string_view text) {
  using namespace std::chrono;
  Reader in(text);
  const int y = in.digits(4);
  in.expect('-');
  const int m = in.digits(2);
  in.expect('-');
  const int d = in.digits(2);
  const year_month_day date{year(y), month(static_cast<unsigned>(m)), day(static_cast<unsigned>(d))};
  if (!in.is_good() || !date.ok()) return std::nullopt;
  Instant out{.seconds = sys_days(date).time_since_epoch() / days(1) * 86400, .nanos = 0};
  if (in.is_done()) return out;
  if (!in.take('T') && !in.take('t')) return std::nullopt;
  const int hour = in.digits(2);
  in.expect(':');
  const int minute = in.digits(2);
  in.expect(':');
  const int second = in.digits(2);
  if (in.take('.')) out.nanos = fraction(in);
  std::int64_t offset = 0;
  if (!in.take('Z') && !in.take('z')) {
    const bool is_west = in.take('-');
    if (!is_west) in.expect('+');
    const int hours = in.digits(2);
    in.expect(':');
    offset = (hours * 60 + in.digits(2)) * 60 * (is_west ? -1 : 1);
  }
  if (!in.is_good() || !in.is_done() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  out.seconds += hour * 3600 + minute * 60 + second - offset;
  if (out.seconds < kFirstSecond || out.seconds > kLastSecond) return std::nullopt;
  return out;
}

std::string print_timestamp(Instant time) {
  using namespace std::chrono;
  const sys_seconds at{seconds(time.seconds)};
  const auto date = floor<days>(at);
  const year_month_day ymd(date);
  const std::int64_t rest = (at - date).count();
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(ymd.year()), static_cast<unsigned>(ymd.month()),
                  static_cast<unsigned>(ymd.day()), rest / 3600, rest / 60 % 60, rest % 60);
  if (time.nanos != 0) {
    std::string digits = fmt::format("{:09}", time.nanos);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += '.' + digits;
  }
  return text + 'Z';
}

std::optional<std::int64_t> parse_go_duration(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  __int128 total = 0;
  while (!text.empty()) {
    __int128 whole = 0;
    __int128 part = 0;
    __int128 scale = 1;
    std::size_t at = 0;
    std::size_t digits = 0;
    const auto is_digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    for (; is_digit(); ++at, ++digits) {
      whole = whole * 10 + (text[at] - '0');
      if (whole > INT64_MAX) return std::nullopt;
    }
    if (at < text.size() && text[at] == '.') {
      for (++at; is_digit(); ++at, ++digits) {
        if (scale >= 1'000'000'000'000'000) continue;
        part = part * 10 + (text[at] - '0');
        scale *= 10;
      }
    }
    if (digits == 0) return std::nullopt;
    const std::size_t begin = at;
    while (at < text.size() && text[at] != '.' && (text[at] < '0' || text[at] > '9')) ++at;
    const std::int64_t unit = unit_of(text.substr(begin, at - begin));
    if (unit == 0) return std::nullopt;
    total += whole * unit + part * unit / scale;
    if (total > INT64_MAX) return std::nullopt;
    text.remove_prefix(at);
  }
  return static_cast<std::int64_t>(is_negative ? -total : total);
}

std::string print_duration(std::int64_t nanoseconds) {
  const bool is_negative = nanoseconds < 0;
  const auto amount = is_negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  std::string text = fmt::format("{}{}", is_negative ? "-" : "", amount / 1'000'000'000);
  if (const auto rest = amount % 1'000'000'000; rest != 0) {
    std::string digits = fmt::format("{:09}", rest);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += '.' + digits;
  }
  return text + 's';
}

std::optional<std::int64_t> parse_zone(std::string_view text) {
  if (text.empty() || text == "UTC" || text == "Z" || text == "GMT" || text == "Etc/UTC") return 0;
  Reader in(text);
  const bool is_west = in.take('-');
  if (!is_west) in.take('+');
  const int hours = in.digits(2);
  in.expect(':');
  const int minutes = in.digits(2);
  if (!in.is_good() || !in.is_done()) return std::nullopt;
  return (hours * 60 + minutes) * 60 * (is_west ? -1 : 1);
}

std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    std::uint32_t six = 0;
    if (c >= 'A' && c <= 'Z')
      six = static_cast<std::uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      six = static_cast<std::uint32_t>(c - 'a' + 26);
    else if (c >= '0' && c <= '9')
      six = static_cast<std::uint32_t>(c - '0' + 52);
    else if (c == '+' || c == '-')
      six = 62;
    else if (c == '/' || c == '_')
      six = 63;
    else if (c == '\n' || c == '\r')
      continue;
    else
      return std::nullopt;
    bits = (bits << 6) | six;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 0xFF);
    }
  }
  if (count >= 6) return std::nullopt;
  return out;
}

}  // namespace slipway::cel
