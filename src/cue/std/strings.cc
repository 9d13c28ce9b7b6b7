// Package strings. Positions are bytes, except where a name says runes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "cue/std/packages.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace strings_package {
namespace {

using Args = std::span<const Value>;

/// No text is repeated more often.
constexpr std::int64_t kMaxRepeat = 1'000'000;

// Time proportional to both, whatever they are.
std::size_t find_text(std::string_view text, std::string_view part) {
  if (part.empty()) return 0;
  const void* found = ::memmem(text.data(), text.size(), part.data(), part.size());
  return found == nullptr ? std::string_view::npos : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// The same from the end: of both turned round.
std::size_t find_last_text(Calls& calls, std::string_view text, std::string_view part) {
  if (part.size() > text.size() || !calls.has_room(text.size() + part.size())) return std::string_view::npos;
  const std::string turned(text.rbegin(), text.rend());
  const std::string wanted(part.rbegin(), part.rend());
  const std::size_t found = find_text(turned, wanted);
  return found == std::string_view::npos ? found : text.size() - found - part.size();
}

std::size_t count_parts(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = find_text(text, part); at != std::string_view::npos; at = find_text(text, part)) {
    text.remove_prefix(at + part.size());
    ++count;
  }
  return count;
}

/// Calls `look` with the characters of a text, until it says no. A byte that is no UTF-8 is one.
template <class Look>
void for_each_rune(std::string_view text, Look look) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = decode_rune(text.substr(i)).bytes;
    if (!look(text.substr(i, bytes))) return;
    i += bytes;
  }
}

/// The characters of a text, to be looked up.
class RuneSet {
 public:
  RuneSet(Calls& calls, std::string_view text) {
    if (!calls.has_room(text.size() * sizeof(std::string_view))) return;
    for_each_rune(text, [this](std::string_view rune) {
      runes_.push_back(rune);
      return true;
    });
    std::ranges::sort(runes_);
  }
  bool contains(std::string_view rune) const { return std::ranges::binary_search(runes_, rune); }

 private:
  std::vector<std::string_view> runes_;
};

std::size_t offset_in(std::string_view text, std::string_view part) {
  return static_cast<std::size_t>(part.data() - text.data());
}

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
  const std::string_view text = args[0].str();
  const std::int64_t low = to_int(args[1]);
  const std::int64_t high = to_int(args[2]);
  if (low < 0 || low > high || high > static_cast<std::int64_t>(count_runes(text))) return calls.fail("index out of range");
  std::size_t begin = low == 0 ? 0 : text.size();
  std::size_t end = high == 0 ? 0 : text.size();
  std::int64_t number = 0;
  for_each_rune(text, [&](std::string_view rune) {
    if (number == low) begin = offset_in(text, rune);
    if (number == high) end = offset_in(text, rune);
    return number++ < high;
  });
  return Value::string(text.substr(begin, end - begin));
}

Value runes(Calls& calls, Args args) {
  std::vector<Value> items;
  if (!calls.has_room(count_runes(args[0].str()) * kItemBytes)) return calls.ended();
  for_each_rune(args[0].str(), [&](std::string_view rune) {
    const std::uint32_t code = decode_rune(rune).code;
    items.push_back(Value::of_int(code == kBadRune ? 0xFFFD : code));
    return true;
  });
  return calls.make_list(items);
}

// --- looking for

Value compare_texts(Calls&, Args args) {
  int order = args[0].str().compare(args[1].str());
  return Value::of_int(order < 0 ? -1 : order > 0 ? 1 : 0);
}
Value contains(Calls&, Args args) { return Value::of(find_text(args[0].str(), args[1].str()) != std::string_view::npos); }
Value has_prefix(Calls&, Args args) { return Value::of(args[0].str().starts_with(args[1].str())); }
Value has_suffix(Calls&, Args args) { return Value::of(args[0].str().ends_with(args[1].str())); }

Value position(std::size_t found) {
  return Value::of_int(found == std::string_view::npos ? -1 : static_cast<std::int64_t>(found));
}
Value index(Calls&, Args args) { return position(find_text(args[0].str(), args[1].str())); }
Value last_index(Calls& calls, Args args) { return position(find_last_text(calls, args[0].str(), args[1].str())); }

enum class End : std::uint8_t { First, Last };

Value find_any(Calls& calls, Args args, End wanted) {
  const RuneSet set(calls, args[1].str());
  std::size_t found = std::string_view::npos;
  for_each_rune(args[0].str(), [&](std::string_view rune) {
    if (!set.contains(rune)) return true;
    found = offset_in(args[0].str(), rune);
    return wanted == End::Last;
  });
  return position(found);
}
Value index_any(Calls& calls, Args args) { return find_any(calls, args, End::First); }
Value last_index_any(Calls& calls, Args args) { return find_any(calls, args, End::Last); }
Value contains_any(Calls& calls, Args args) { return Value::of(find_any(calls, args, End::First).integer >= 0); }

Value count(Calls&, Args args) {
  std::string_view text = args[0].str();
  std::string_view part = args[1].str();
  if (part.empty()) return Value::of_int(static_cast<std::int64_t>(count_runes(text)) + 1);
  return Value::of_int(static_cast<std::int64_t>(count_parts(text, part)));
}

// --- splitting and joining

// At most `limit` parts, all when negative; `keep` bytes of the separator stay with the part before it.
Value split_parts(Calls& calls, Args args, std::int64_t limit, std::size_t keep) {
  std::string_view text = args[0].str();
  const std::string_view by = args[1].str();
  if (limit == 0) return calls.make_list({});
  const std::size_t count = by.empty() ? count_runes(text) : count_parts(text, by) + 1;
  const std::size_t most = limit < 0 ? count : std::min(count, static_cast<std::size_t>(limit));
  if (!calls.has_room(most * (kItemBytes + sizeof(std::string_view)))) return calls.ended();
  std::vector<std::string_view> out;
  out.reserve(most);
  while (out.size() + 1 < most) {
    const std::size_t size = by.empty() ? decode_rune(text).bytes : find_text(text, by);
    out.push_back(text.substr(0, size + keep));
    text.remove_prefix(size + by.size());
  }
  if (most > 0) out.push_back(text);
  return make_texts(calls, out);
}

Value split(Calls& calls, Args args) { return split_parts(calls, args, -1, 0); }
Value split_n(Calls& calls, Args args) { return split_parts(calls, args, to_int(args[2]), 0); }
Value split_after(Calls& calls, Args args) { return split_parts(calls, args, -1, args[1].size); }
Value split_after_n(Calls& calls, Args args) { return split_parts(calls, args, to_int(args[2]), args[1].size); }

Value fields(Calls& calls, Args args) {
  const std::string_view text = args[0].str();
  std::vector<std::string_view> out;
  std::size_t begin = std::string_view::npos;  // of the field that goes on
  bool has_room = true;
  for_each_rune(text, [&](std::string_view rune) {
    const bool was_inside = begin != std::string_view::npos;
    if (is_space(decode_rune(rune).code)) {
      if (was_inside) out.push_back(text.substr(begin, offset_in(text, rune) - begin));
      begin = std::string_view::npos;
    } else if (!was_inside) {
      begin = offset_in(text, rune);
      has_room = calls.has_room((out.size() + 1) * kItemBytes);
    }
    return has_room;
  });
  if (begin != std::string_view::npos) out.push_back(text.substr(begin));
  return has_room ? make_texts(calls, out) : calls.ended();
}

/// Fills in a text that `take_text` gave room for.
class TextWriter {
 public:
  TextWriter(Calls& calls, std::uint64_t size) : begin_(calls.take_text(size)), at_(begin_) {}
  bool has_room() const { return begin_ != nullptr; }
  void add(std::string_view text) { at_ = std::ranges::copy(text, at_).out; }
  Value text() const { return Value::string({begin_, static_cast<std::size_t>(at_ - begin_)}); }

 private:
  char* begin_;
  char* at_;
};

Value join(Calls& calls, Args args) {
  std::vector<std::string_view> parts;
  Value error;
  if (!texts_of(calls, args[0], parts, error)) return error;
  std::uint64_t size = parts.empty() ? 0 : (parts.size() - 1) * std::uint64_t{args[1].size};
  for (std::string_view part : parts) size += part.size();
  TextWriter out(calls, size);
  if (!out.has_room()) return calls.ended();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.add(args[1].str());
    out.add(parts[i]);
  }
  return out.text();
}

Value repeat(Calls& calls, Args args) {
  std::int64_t times = to_int(args[1]);
  if (times < 0) return calls.fail("strings: negative Repeat count");
  if (times > kMaxRepeat) return calls.fail(fmt::format("count {} exceeds limit of {}", times, kMaxRepeat));
  TextWriter out(calls, static_cast<std::uint64_t>(times) * args[0].size);
  if (!out.has_room()) return calls.ended();
  for (std::int64_t i = 0; i < times; ++i) out.add(args[0].str());
  return out.text();
}

Value replace(Calls& calls, Args args) {
  std::string_view text = args[0].str();
  std::string_view old = args[1].str();
  const std::uint64_t found = old.empty() ? count_runes(text) + 1 : count_parts(text, old);
  const std::int64_t wanted = to_int(args[3]);
  std::uint64_t left = wanted < 0 ? found : std::min(found, static_cast<std::uint64_t>(wanted));
  TextWriter out(calls, text.size() - left * old.size() + left * args[2].size);
  if (!out.has_room()) return calls.ended();
  for (bool is_first = true; left > 0; --left, is_first = false) {
    // Between all characters, or where the old text is.
    const std::size_t at = !old.empty() ? find_text(text, old) : is_first ? 0 : std::size_t{decode_rune(text).bytes};
    out.add(text.substr(0, at));
    out.add(args[2].str());
    text.remove_prefix(at + old.size());
  }
  out.add(text);
  return out.text();
}

// --- trimming and letters

Value trimmed(std::string_view text, const std::function<bool(std::string_view)>& drops, bool left, bool right) {
  std::size_t begin = text.size();
  std::size_t end = 0;
  for_each_rune(text, [&](std::string_view rune) {
    if (drops(rune)) return true;
    begin = std::min(begin, offset_in(text, rune));
    end = offset_in(text, rune) + rune.size();
    return right;
  });
  if (!left) begin = 0;
  if (!right) end = text.size();
  return Value::string(begin < end ? text.substr(begin, end - begin) : std::string_view());
}

Value trim_set(Calls& calls, Args args, bool left, bool right) {
  const RuneSet set(calls, args[1].str());
  return trimmed(args[0].str(), [&](std::string_view rune) { return set.contains(rune); }, left, right);
}
Value trim(Calls& calls, Args args) { return trim_set(calls, args, true, true); }
Value trim_left(Calls& calls, Args args) { return trim_set(calls, args, true, false); }
Value trim_right(Calls& calls, Args args) { return trim_set(calls, args, false, true); }
Value trim_space(Calls&, Args args) {
  return trimmed(args[0].str(), [](std::string_view rune) { return is_space(decode_rune(rune).code); }, true, true);
}
Value trim_prefix(Calls&, Args args) {
  std::string_view text = args[0].str();
  return Value::string(text.starts_with(args[1].str()) ? text.substr(args[1].size) : text);
}
Value trim_suffix(Calls&, Args args) {
  std::string_view text = args[0].str();
  return Value::string(text.ends_with(args[1].str()) ? text.substr(0, text.size() - args[1].size) : text);
}

enum class Which : std::uint8_t { All, FirstOfWords };

Value mapped(Calls& calls, std::string_view text, std::uint32_t (*change)(std::uint32_t), Which which) {
  // A character may become one of more bytes.
  if (!calls.has_room(4 * text.size())) return calls.ended();
  std::string out;
  bool is_first = true;
  for_each_rune(text, [&](std::string_view rune) {
    std::uint32_t code = decode_rune(rune).code;
    if (code == kBadRune) {
      out += which == Which::All ? std::string_view("\xEF\xBF\xBD") : rune;
    } else {
      append_utf8(out, which == Which::All || is_first ? change(code) : code);
    }
    is_first = is_space(code);
    return true;
  });
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
    instant({"strings", "ByteAt", kBytesInt, kInt, byte_at}),
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
}  // namespace strings_package

std::span<const Builtin> strings_rows() { return strings_package::kRows; }

}  // namespace slipway::cue
