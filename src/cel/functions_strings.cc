// Text: the standard functions, cel-go's strings library and Kubernetes' regex library. Places count characters, not bytes.
// Work is paid for by length, as cel-go counts it.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "cel/library.h"
#include "cel/text_format.h"

namespace slipway::cel {
namespace {

bool pay(const Call& call, std::size_t bytes) { return call.budget.spend(bytes / 10); }

Value size_of_text(const Call& call) {
  pay(call, call[0].text().size());
  return make_int(static_cast<std::int64_t>(character_count(call[0].text())));
}
Value size_of_bytes(const Call& call) { return make_int(static_cast<std::int64_t>(call[0].text().size())); }
Value contains(const Call& call) {
  pay(call, call[0].text().size() * std::max<std::size_t>(call[1].text().size(), 1) / 10);
  return make_bool(call[0].text().find(call[1].text()) != std::string_view::npos);
}
Value starts_with(const Call& call) { return make_bool(call[0].text().starts_with(call[1].text())); }
Value ends_with(const Call& call) { return make_bool(call[0].text().ends_with(call[1].text())); }

/// Runs `use` with the pattern of the call, compiled now unless it is a constant.
Value with_pattern(const Call& call, auto use) {
  pay(call, call[0].text().size() * (call[1].text().size() / 4 + 1));
  if (call.regex != nullptr) return use(*call.regex);
  const re2::RE2 regex(call[1].text(), re2::RE2::Quiet);
  if (!regex.ok()) return make_error(fmt::format("error parsing regexp: {}", regex.error()));
  return use(regex);
}
Value matches(const Call& call) {
  return with_pattern(call, [&](const re2::RE2& regex) { return make_bool(re2::RE2::PartialMatch(call[0].text(), regex)); });
}
Value find_first(const Call& call) {
  return with_pattern(call, [&](const re2::RE2& regex) {
    re2::StringPiece found;
    const re2::StringPiece text(call[0].text().data(), call[0].text().size());
    if (!regex.Match(text, 0, text.size(), re2::RE2::UNANCHORED, &found, 1)) return make_string("");
    return make_string(std::string_view(found.data(), found.size()));
  });
}
Value find_all(const Call& call) {
  const std::int64_t most = call.args.size() > 2 ? call[2].integer : -1;
  return with_pattern(call, [&](const re2::RE2& regex) {
    Items out;
    const re2::StringPiece text(call[0].text().data(), call[0].text().size());
    for (std::size_t at = 0; at <= text.size() && (most < 0 || static_cast<std::int64_t>(out.size()) < most);) {
      re2::StringPiece found;
      if (!regex.Match(text, at, text.size(), re2::RE2::UNANCHORED, &found, 1)) break;
      out.push_back(make_string(std::string_view(found.data(), found.size())));
      const auto end = static_cast<std::size_t>(found.data() - text.data()) + found.size();
      at = found.empty() ? end + 1 : end;
    }
    return make_list(std::move(out));
  });
}

using Characters = std::vector<std::string_view>;
std::string joined(const Characters& all, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out += all[i];
  return out;
}
Value out_of_range(std::int64_t index) { return make_error(fmt::format("index out of range: {}", index)); }

Value char_at(const Call& call) {
  const Characters all = characters(call[0].text());
  const std::int64_t index = call[1].integer;
  if (index < 0 || index > static_cast<std::int64_t>(all.size())) return out_of_range(index);
  return make_string(index == static_cast<std::int64_t>(all.size()) ? std::string_view()
                                                                    : all[static_cast<std::size_t>(index)]);
}

bool is_at(const Characters& text, std::size_t at, const Characters& part) {
  return at + part.size() <= text.size() &&
         std::equal(part.begin(), part.end(), text.begin() + static_cast<std::ptrdiff_t>(at));
}
Value index_of(const Call& call) {
  pay(call, call[0].text().size());
  const Characters text = characters(call[0].text());
  const Characters part = characters(call[1].text());
  const std::int64_t from = call.args.size() > 2 ? call[2].integer : 0;
  if (from < 0 || from > static_cast<std::int64_t>(text.size())) return out_of_range(from);
  for (auto at = static_cast<std::size_t>(from); at + part.size() <= text.size(); ++at) {
    if (is_at(text, at, part)) return make_int(static_cast<std::int64_t>(at));
  }
  return make_int(-1);
}
Value last_index_of(const Call& call) {
  pay(call, call[0].text().size());
  const Characters text = characters(call[0].text());
  const Characters part = characters(call[1].text());
  const std::int64_t from = call.args.size() > 2 ? call[2].integer : static_cast<std::int64_t>(text.size());
  if (from < 0 || from > static_cast<std::int64_t>(text.size())) return out_of_range(from);
  for (std::int64_t at = from; at >= 0; --at) {
    if (is_at(text, static_cast<std::size_t>(at), part)) return make_int(at);
  }
  return make_int(-1);
}

Value changed_case(const Call& call, char first, char last) {
  std::string out(call[0].text());
  for (char& c : out) {
    if (c >= first && c <= last) c = static_cast<char>(c ^ 0x20);
  }
  return make_string(out);
}
Value lower_ascii(const Call& call) { return changed_case(call, 'A', 'Z'); }
Value upper_ascii(const Call& call) { return changed_case(call, 'a', 'z'); }

Value replace(const Call& call) {
  const std::string_view text = call[0].text();
  const std::string_view old = call[1].text();
  std::int64_t left = call.args.size() > 3 ? call[3].integer : -1;
  std::string out;
  std::size_t at = 0;
  while (left != 0) {
    // An empty text is found before each character and at the end.
    const std::size_t found = text.find(old, at);
    if (found == std::string_view::npos) break;
    out += text.substr(at, found - at);
    out += call[2].text();
    if (!pay(call, call[2].text().size() + 10)) break;
    at = found + old.size();
    --left;
    if (!old.empty()) continue;
    if (at >= text.size()) break;
    const std::size_t length = characters(text.substr(at, 4)).front().size();
    out += text.substr(at, length);
    at += length;
  }
  if (at < text.size()) out += text.substr(at);
  return make_string(out);
}

Value split(const Call& call) {
  const std::string_view text = call[0].text();
  const std::string_view separator = call[1].text();
  const std::int64_t most = call.args.size() > 2 ? call[2].integer : -1;
  if (!pay(call, text.size() * 10)) return Value{};
  Items out;
  if (most == 0) return make_list(std::move(out));
  const auto is_last = [&] { return most > 0 && static_cast<std::int64_t>(out.size()) == most - 1; };
  std::size_t at = 0;
  if (separator.empty()) {
    while (at < text.size() && !is_last()) {
      const std::string_view one = characters(text.substr(at, 4)).front();
      out.push_back(make_string(one));
      at += one.size();
    }
    if (at < text.size()) out.push_back(make_string(text.substr(at)));
    return make_list(std::move(out));
  }
  while (!is_last()) {
    const std::size_t found = text.find(separator, at);
    if (found == std::string_view::npos) break;
    out.push_back(make_string(text.substr(at, found - at)));
    at = found + separator.size();
  }
  out.push_back(make_string(text.substr(at)));
  return make_list(std::move(out));
}

Value substring(const Call& call) {
  const Characters all = characters(call[0].text());
  const auto count = static_cast<std::int64_t>(all.size());
  const std::int64_t begin = call[1].integer;
  const std::int64_t end = call.args.size() > 2 ? call[2].integer : count;
  if (begin < 0 || begin > count) return out_of_range(begin);
  if (end < 0 || end > count) return out_of_range(end);
  if (begin > end) return make_error(fmt::format("invalid substring range. start: {}, end: {}", begin, end));
  return make_string(joined(all, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)));
}

/// Unicode White_Space.
bool is_space(std::string_view one) {
  if (one.size() == 1) return one[0] == ' ' || (one[0] >= '\t' && one[0] <= '\r');
  static constexpr std::string_view kSpaces[] = {"\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\xA8",
                                                 "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
  if (one.size() == 3 && one.starts_with("\xE2\x80") && one[2] >= '\x80' && one[2] <= '\x8A') return true;
  return std::ranges::find(kSpaces, one) != std::end(kSpaces);
}
Value trim(const Call& call) {
  const Characters all = characters(call[0].text());
  std::size_t begin = 0;
  std::size_t end = all.size();
  while (begin < end && is_space(all[begin])) ++begin;
  while (end > begin && is_space(all[end - 1])) --end;
  return make_string(joined(all, begin, end));
}
Value reverse_text(const Call& call) {
  Characters all = characters(call[0].text());
  std::ranges::reverse(all);
  return make_string(joined(all, 0, all.size()));
}

Value join(const Call& call) {
  const std::string_view separator = call.args.size() > 1 ? call[1].text() : std::string_view();
  std::string out;
  bool is_first = true;
  for (const Value& one : items_of(call[0])) {
    if (!one.is(Kind::String)) return no_overload();
    if (!pay(call, separator.size() + one.text().size() + 10)) break;
    if (!std::exchange(is_first, false)) out += separator;
    out += one.text();
  }
  return make_string(out);
}

Value quote(const Call& call) {
  static constexpr std::string_view kSpecial = "\a\b\f\n\r\t\v\\\"";
  static constexpr std::string_view kLetters = "abfnrtv\\\"";
  std::string out = "\"";
  for (const std::string_view one : characters(call[0].text())) {
    const auto special = one.size() == 1 ? kSpecial.find(one[0]) : std::string_view::npos;
    if (special != std::string_view::npos) {
      out += '\\';
      out += kLetters[special];
    } else if (one.size() == 1 && static_cast<unsigned char>(one[0]) >= 0x80) {
      out += "\xEF\xBF\xBD";
    } else {
      out += one;
    }
  }
  return make_string(out + '"');
}

Value format(const Call& call) {
  pay(call, call[0].text().size() + size(call[1]) * 10);
  return format_text(call[0].text(), items_of(call[1]));
}
/// The version of the library that Kubernetes offers writes powers of ten.
Value format_with_powers(const Call& call) {
  pay(call, call[0].text().size() + size(call[1]) * 10);
  return format_text(call[0].text(), items_of(call[1]), Exponent::Power);
}

constexpr Row kStringRows[] = {
    {"size", "(string) -> int", size_of_text},
    {"size", "string.() -> int", size_of_text},
    {"size", "(bytes) -> int", size_of_bytes},
    {"size", "bytes.() -> int", size_of_bytes},
    {"contains", "string.(string) -> bool", contains},
    {"startsWith", "string.(string) -> bool", starts_with},
    {"endsWith", "string.(string) -> bool", ends_with},
    {"matches", "string.(string) -> bool", matches},
    {"matches", "(string, string) -> bool", matches},
    {"find", "string.(string) -> string", find_first},
    {"findAll", "string.(string) -> list(string)", find_all},
    {"findAll", "string.(string, int) -> list(string)", find_all},
    {"charAt", "string.(int) -> string", char_at},
    {"indexOf", "string.(string) -> int", index_of},
    {"indexOf", "string.(string, int) -> int", index_of},
    {"lastIndexOf", "string.(string) -> int", last_index_of},
    {"lastIndexOf", "string.(string, int) -> int", last_index_of},
    {"lowerAscii", "string.() -> string", lower_ascii},
    {"upperAscii", "string.() -> string", upper_ascii},
    {"replace", "string.(string, string) -> string", replace},
    {"replace", "string.(string, string, int) -> string", replace},
    {"split", "string.(string) -> list(string)", split},
    {"split", "string.(string, int) -> list(string)", split},
    {"substring", "string.(int) -> string", substring},
    {"substring", "string.(int, int) -> string", substring},
    {"trim", "string.() -> string", trim},
    {"reverse", "string.() -> string", reverse_text},
    {"join", "list(string).() -> string", join},
    {"join", "list(string).(string) -> string", join},
    {"strings.quote", "(string) -> string", quote},
    {"format", "string.(list(dyn)) -> string", format},
    {"k8s.format", "string.(list(dyn)) -> string", format_with_powers},
};

}  // namespace

std::span<const Row> string_rows() { return kStringRows; }

}  // namespace slipway::cel
