// Package strings. Positions are bytes, except where a name says runes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cue/std/packages.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace {

using Args = std::span<const Value>;

/// No text or list made by a function is longer.
constexpr std::int64_t kMaxRepeat = 1'000'000;

std::vector<std::string_view> runes_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t bytes = decode_rune(text.substr(i)).bytes;
    out.push_back(text.substr(i, bytes));
    i += bytes;
  }
  return out;
}

bool contains_rune(std::string_view set, std::string_view rune) { return set.find(rune) != std::string_view::npos; }

// --- size and parts

Value min_runes(Calls&, Args args) {
  return Value::of(static_cast<std::int64_t>(count_runes(args[0].str())) >= to_int(args[1]));
}
Value max_runes(Calls&, Args args) {
  return Value::of(static_cast<std::int64_t>(count_runes(args[0].str())) <= to_int(args[1]));
}

Value byte_at(Calls& calls, Args args) {
  std::int64_t at = to_int(args[1]);
  if (at < 0 || at >= static_cast<std::int64_t>(args[0].size)) return calls.fail("index out of range");
  return Value::of_int(static_cast<unsigned char>(args[0].str()[static_cast<std::size_t>(at)]));
}

Value byte_slice(Calls& calls, Args args) {
  std::int64_t low = to_int(args[1]);
  std::int64_t high = to_int(args[2]);
  if (low < 0 || low > high || high > static_cast<std::int64_t>(args[0].size)) return calls.fail("index out of range");
  return calls.make_bytes(args[0].str().substr(static_cast<std::size_t>(low), static_cast<std::size_t>(high - low)));
}

Value slice_runes(Calls& calls, Args args) {
  auto runes = runes_of(args[0].str());
  std::int64_t low = to_int(args[1]);
  std::int64_t high = to_int(args[2]);
  if (low < 0 || low > high || high > static_cast<std::int64_t>(runes.size())) return calls.fail("index out of range");
  std::string out;
  for (std::int64_t i = low; i < high; ++i) out += runes[static_cast<std::size_t>(i)];
  return calls.make_string(out);
}

Value runes(Calls& calls, Args args) {
  std::vector<Value> items;
  for (std::string_view rune : runes_of(args[0].str())) {
    std::uint32_t code = decode_rune(rune).code;
    items.push_back(Value::of_int(code == kBadRune ? 0xFFFD : code));
  }
  return calls.make_list(items);
}

// --- looking for

Value compare_texts(Calls&, Args args) {
  int order = args[0].str().compare(args[1].str());
  return Value::of_int(order < 0 ? -1 : order > 0 ? 1 : 0);
}
Value contains(Calls&, Args args) { return Value::of(args[0].str().find(args[1].str()) != std::string_view::npos); }
Value has_prefix(Calls&, Args args) { return Value::of(args[0].str().starts_with(args[1].str())); }
Value has_suffix(Calls&, Args args) { return Value::of(args[0].str().ends_with(args[1].str())); }

Value position(std::size_t found) {
  return Value::of_int(found == std::string_view::npos ? -1 : static_cast<std::int64_t>(found));
}
Value index(Calls&, Args args) { return position(args[0].str().find(args[1].str())); }
Value last_index(Calls&, Args args) { return position(args[0].str().rfind(args[1].str())); }

std::size_t find_any(std::string_view text, std::string_view set, bool from_end) {
  std::size_t found = std::string_view::npos;
  for (std::string_view rune : runes_of(text)) {
    if (!contains_rune(set, rune)) continue;
    found = static_cast<std::size_t>(rune.data() - text.data());
    if (!from_end) break;
  }
  return found;
}
Value index_any(Calls&, Args args) { return position(find_any(args[0].str(), args[1].str(), false)); }
Value last_index_any(Calls&, Args args) { return position(find_any(args[0].str(), args[1].str(), true)); }
Value contains_any(Calls&, Args args) {
  return Value::of(find_any(args[0].str(), args[1].str(), false) != std::string_view::npos);
}

Value count(Calls&, Args args) {
  std::string_view text = args[0].str();
  std::string_view part = args[1].str();
  if (part.empty()) return Value::of_int(static_cast<std::int64_t>(count_runes(text)) + 1);
  std::int64_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++found;
  return Value::of_int(found);
}

// --- splitting and joining

// At most `limit` parts, all when negative; `keep` bytes of the separator stay with the part before it.
std::vector<std::string> split_parts(std::string_view text, std::string_view by, std::int64_t limit, std::size_t keep) {
  std::vector<std::string> out;
  if (limit == 0) return out;
  auto is_last = [&] { return limit > 0 && static_cast<std::int64_t>(out.size()) == limit - 1; };
  if (by.empty()) {
    auto all = runes_of(text);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is_last()) {
        out.emplace_back(text.substr(static_cast<std::size_t>(all[i].data() - text.data())));
        break;
      }
      out.emplace_back(all[i]);
    }
    return out;
  }
  for (std::size_t at = text.find(by); at != std::string_view::npos && !is_last(); at = text.find(by)) {
    out.emplace_back(text.substr(0, at + keep));
    text.remove_prefix(at + by.size());
  }
  out.emplace_back(text);
  return out;
}

Value split(Calls& calls, Args args) { return make_texts(calls, split_parts(args[0].str(), args[1].str(), -1, 0)); }
Value split_n(Calls& calls, Args args) {
  return make_texts(calls, split_parts(args[0].str(), args[1].str(), to_int(args[2]), 0));
}
Value split_after(Calls& calls, Args args) {
  return make_texts(calls, split_parts(args[0].str(), args[1].str(), -1, args[1].size));
}
Value split_after_n(Calls& calls, Args args) {
  return make_texts(calls, split_parts(args[0].str(), args[1].str(), to_int(args[2]), args[1].size));
}

Value fields(Calls& calls, Args args) {
  std::vector<std::string> out;
  bool inside = false;
  for (std::string_view rune : runes_of(args[0].str())) {
    if (is_space(decode_rune(rune).code)) {
      inside = false;
      continue;
    }
    if (!std::exchange(inside, true)) out.emplace_back();
    out.back() += rune;
  }
  return make_texts(calls, out);
}

Value join(Calls& calls, Args args) {
  std::vector<std::string_view> parts;
  Value error;
  if (!texts_of(calls, args[0], parts, error)) return error;
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += args[1].str();
    out += parts[i];
  }
  return calls.make_string(out);
}

Value repeat(Calls& calls, Args args) {
  std::int64_t times = to_int(args[1]);
  if (times < 0) return calls.fail("strings: negative Repeat count");
  if (times > kMaxRepeat) return calls.fail(fmt::format("count {} exceeds limit of {}", times, kMaxRepeat));
  if (times * static_cast<std::int64_t>(args[0].size) > 64 * kMaxRepeat) return calls.fail("result is too long");
  std::string out;
  for (std::int64_t i = 0; i < times; ++i) out += args[0].str();
  return calls.make_string(out);
}

Value replace(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  std::string_view old = args[1].str();
  std::int64_t left = to_int(args[3]);
  if (left < 0) left = INT64_MAX;
  std::string out;
  if (old.empty()) {
    auto all = runes_of(text);
    for (std::size_t i = 0; i <= all.size(); ++i) {
      if (left-- > 0) out += args[2].str();
      if (i < all.size()) out += all[i];
    }
    return calls.make_string(out);
  }
  for (std::size_t at = text.find(old); at != std::string_view::npos && left > 0; at = text.find(old), --left) {
    out += text.substr(0, at);
    out += args[2].str();
    text.remove_prefix(at + old.size());
  }
  return calls.make_string(out + std::string(text));
}

// --- trimming and letters

std::string_view trimmed(std::string_view text, const std::function<bool(std::string_view)>& drops, bool left, bool right) {
  auto all = runes_of(text);
  std::size_t begin = 0;
  std::size_t end = all.size();
  while (left && begin < end && drops(all[begin])) ++begin;
  while (right && end > begin && drops(all[end - 1])) --end;
  if (begin == end) return {};
  return {all[begin].data(), static_cast<std::size_t>(all[end - 1].data() + all[end - 1].size() - all[begin].data())};
}

Value trim_set(Calls& calls, Args args, bool left, bool right) {
  std::string_view set = args[1].str();
  return calls.make_string(trimmed(args[0].str(), [set](std::string_view r) { return contains_rune(set, r); }, left, right));
}
Value trim(Calls& calls, Args args) { return trim_set(calls, args, true, true); }
Value trim_left(Calls& calls, Args args) { return trim_set(calls, args, true, false); }
Value trim_right(Calls& calls, Args args) { return trim_set(calls, args, false, true); }
Value trim_space(Calls& calls, Args args) {
  return calls.make_string(
      trimmed(args[0].str(), [](std::string_view r) { return is_space(decode_rune(r).code); }, true, true));
}
Value trim_prefix(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  return calls.make_string(text.starts_with(args[1].str()) ? text.substr(args[1].size) : text);
}
Value trim_suffix(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  return calls.make_string(text.ends_with(args[1].str()) ? text.substr(0, text.size() - args[1].size) : text);
}

enum class Which : std::uint8_t { All, FirstOfWords };

Value mapped(Calls& calls, std::string_view text, std::uint32_t (*change)(std::uint32_t), Which which) {
  std::string out;
  bool is_first = true;
  for (std::string_view rune : runes_of(text)) {
    std::uint32_t code = decode_rune(rune).code;
    if (code == kBadRune) {
      out += which == Which::All ? std::string_view("\xEF\xBF\xBD") : rune;
    } else {
      append_utf8(out, which == Which::All || is_first ? change(code) : code);
    }
    is_first = is_space(code);
  }
  return calls.make_string(out);
}
Value upper(Calls& calls, Args args) { return mapped(calls, args[0].str(), to_upper, Which::All); }
Value lower(Calls& calls, Args args) { return mapped(calls, args[0].str(), to_lower, Which::All); }
Value title(Calls& calls, Args args) { return mapped(calls, args[0].str(), to_title, Which::FirstOfWords); }
Value camel(Calls& calls, Args args) { return mapped(calls, args[0].str(), to_lower, Which::FirstOfWords); }

constexpr auto& kText = kParams<kString>;
constexpr auto& kTextInt = kParams<kString, kInt>;
constexpr auto& kTwo = kParams<kString, kString>;
constexpr auto& kTwoInt = kParams<kString, kString, kInt>;
constexpr auto& kTextTwoInts = kParams<kString, kInt, kInt>;
constexpr auto& kReplace = kParams<kString, kString, kString, kInt>;
constexpr auto& kListText = kParams<kList, kString>;
constexpr auto &kBytesInt = kParams < kString | kBytes, kInt > ;
constexpr auto &kBytesTwoInts = kParams < kString | kBytes, kInt, kInt > ;

constexpr Builtin kRows[] = {
    {"strings", "MinRunes", kTextInt, kBool, min_runes, false, true},
    {"strings", "MaxRunes", kTextInt, kBool, max_runes, false, true},
    {"strings", "ByteAt", kBytesInt, kInt, byte_at},
    {"strings", "ByteSlice", kBytesTwoInts, kBytes, byte_slice},
    {"strings", "SliceRunes", kTextTwoInts, kString, slice_runes},
    {"strings", "Runes", kText, kList, runes},
    {"strings", "Compare", kTwo, kInt, compare_texts},
    {"strings", "Contains", kTwo, kBool, contains, false, true},
    {"strings", "ContainsAny", kTwo, kBool, contains_any, false, true},
    {"strings", "HasPrefix", kTwo, kBool, has_prefix, false, true},
    {"strings", "HasSuffix", kTwo, kBool, has_suffix, false, true},
    {"strings", "Index", kTwo, kInt, index},
    {"strings", "LastIndex", kTwo, kInt, last_index},
    {"strings", "IndexAny", kTwo, kInt, index_any},
    {"strings", "LastIndexAny", kTwo, kInt, last_index_any},
    {"strings", "Count", kTwo, kInt, count},
    {"strings", "Split", kTwo, kList, split},
    {"strings", "SplitN", kTwoInt, kList, split_n},
    {"strings", "SplitAfter", kTwo, kList, split_after},
    {"strings", "SplitAfterN", kTwoInt, kList, split_after_n},
    {"strings", "Fields", kText, kList, fields},
    {"strings", "Join", kListText, kString, join},
    {"strings", "Repeat", kTextInt, kString, repeat},
    {"strings", "Replace", kReplace, kString, replace},
    {"strings", "Trim", kTwo, kString, trim},
    {"strings", "TrimLeft", kTwo, kString, trim_left},
    {"strings", "TrimRight", kTwo, kString, trim_right},
    {"strings", "TrimSpace", kText, kString, trim_space},
    {"strings", "TrimPrefix", kTwo, kString, trim_prefix},
    {"strings", "TrimSuffix", kTwo, kString, trim_suffix},
    {"strings", "ToUpper", kText, kString, upper},
    {"strings", "ToLower", kText, kString, lower},
    {"strings", "ToTitle", kText, kString, title},
    {"strings", "ToCamel", kText, kString, camel},
};

}  // namespace

std::span<const Builtin> strings_rows() { return kRows; }

}  // namespace slipway::cue
