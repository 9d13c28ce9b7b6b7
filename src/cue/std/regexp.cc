// Package regexp.
#include "cue/std/regexp.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <cctype>
#include <map>

#include "base/count.h"
#include "cue/std/packages.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {

namespace {

// What RE2 reads otherwise than Go: (?<name>…) is (?P<name>…), and there is no \C for a single byte (it
// becomes an escape that is none either).
std::string as_go_reads(std::string_view pattern) {
  std::string out;
  bool is_in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      if (pattern[i + 1] == 'Q') {  // up to \E all is as it is
        std::size_t end = std::min(pattern.find("\\E", i), pattern.size());
        out += pattern.substr(i, end - i);
        i = end - 1;
        continue;
      }
      out += c;
      out += pattern[i + 1] == 'C' ? std::string("\\\uE000") : std::string(1, pattern[i + 1]);
      ++i;
      continue;
    }
    if (c == '[') is_in_class = true;
    if (c == ']') is_in_class = false;
    out += c;
    bool is_named = c == '(' && !is_in_class && pattern.substr(i).starts_with("(?<") && i + 3 < pattern.size() &&
                    pattern[i + 3] != '=' && pattern[i + 3] != '!';
    if (!is_named) continue;
    out += "?P";
    ++i;
  }
  return out;
}

}  // namespace

std::shared_ptr<const re2::RE2> compile_regexp(std::string_view pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  return std::make_shared<const RE2>(as_go_reads(pattern), options);
}

std::uint64_t match_steps(const re2::RE2& expression, std::size_t bytes) {
  constexpr std::uint64_t kLooksPerStep = 512;
  return bytes * static_cast<std::uint64_t>(std::max(expression.ProgramSize(), 1)) / kLooksPerStep;
}

std::string describe_regexp_error(const re2::RE2& expression) {
  std::string what = expression.error();
  if (auto colon = what.find(": "); colon != std::string::npos) what.resize(colon);
  if (what == "missing )") what = "missing closing )";
  if (what == "missing ]") what = "missing closing ]";
  if (what == "no argument for repetition operator") what = "missing argument to repetition operator";
  std::string part = expression.error_arg();
  if (part == "\\\uE000") part = "\\C";
  return fmt::format("error parsing regexp: {}: `{}`", what, part);
}

namespace {

/// One match: the whole and its groups; a group that took no part has no data.
using Match = std::vector<re2::StringPiece>;

std::string_view text_of(const re2::StringPiece& piece) {
  return piece.data() == nullptr ? std::string_view() : std::string_view(piece.data(), piece.size());
}

/// Calls `take` with matches that do not overlap, until it says no; at most `limit` when that is not negative. An empty match
/// next to the one before is left out. False when the budget has ended: a search may look at all that is left of the text.
template <class Take>
bool for_each_match(Calls& calls, const re2::RE2& expression, std::string_view text, std::int64_t limit, Take take) {
  constexpr std::size_t kBytesPerSearch = 1024;  // for one step
  if (!calls.spend(match_steps(expression, text.size()))) return false;
  re2::StringPiece whole(text.data(), text.size());
  int groups = expression.NumberOfCapturingGroups() + 1;
  std::size_t at = 0;
  std::size_t last_end = std::string_view::npos;
  for (std::int64_t count = 0; at <= text.size() && (limit < 0 || count < limit);) {
    if (!calls.spend(1 + (text.size() - at) / kBytesPerSearch)) return false;
    Match match(static_cast<std::size_t>(groups));
    if (!expression.Match(whole, at, text.size(), RE2::UNANCHORED, match.data(), groups)) break;
    auto begin = static_cast<std::size_t>(match[0].data() - text.data());
    std::size_t end = begin + match[0].size();
    bool is_empty = match[0].empty();
    if (!is_empty || begin != last_end) {
      ++count;
      if (!take(match)) return true;
    }
    last_end = end;
    at = is_empty ? (end < text.size() ? end + decode_rune(text.substr(end)).bytes : text.size() + 1) : end;
  }
  return true;
}

Value no_match(Calls& calls) { return calls.fail("no match"); }

Value groups_of(Calls& calls, const Match& match) {
  std::vector<std::string> texts;
  for (const re2::StringPiece& piece : match) texts.emplace_back(text_of(piece));
  return make_texts(calls, texts);
}

Value named_groups_of(Calls& calls, const re2::RE2& expression, const Match& match) {
  std::vector<Calls::Member> members;
  for (const auto& [index, name] : expression.CapturingGroupNames())
    members.push_back({name, calls.make_string(text_of(match[static_cast<std::size_t>(index)]))});
  return calls.make_struct(members);
}

enum class Want : std::uint8_t { Text, Groups, Named };

Value show_match(Calls& calls, const re2::RE2& expression, const Match& match, Want want) {
  if (want == Want::Text) return calls.make_string(text_of(match[0]));
  return want == Want::Groups ? groups_of(calls, match) : named_groups_of(calls, expression, match);
}

Value find_one(Calls& calls, std::span<const Value> args, Want want) {
  Value error;
  const re2::RE2* expression = calls.regexp(args[0].str(), error);
  if (expression == nullptr) return error;
  Value found;
  const bool is_done = for_each_match(calls, *expression, args[1].str(), 1, [&](const Match& match) {
    found = show_match(calls, *expression, match, want);
    return false;
  });
  return !is_done ? calls.ended() : found.is_none() ? no_match(calls) : found;
}

Value find_many(Calls& calls, std::span<const Value> args, Want want) {
  Value error;
  const re2::RE2* expression = calls.regexp(args[0].str(), error);
  if (expression == nullptr) return error;
  std::vector<Value> items;
  bool has_room = true;
  const bool is_done = for_each_match(calls, *expression, args[1].str(), to_int(args[2]), [&](const Match& match) {
    items.push_back(show_match(calls, *expression, match, want));
    has_room = calls.has_room(items.size() * kItemBytes);
    return has_room;
  });
  if (!is_done || !has_room) return calls.ended();
  return items.empty() ? no_match(calls) : calls.make_list(items);
}

Value valid(Calls& calls, std::span<const Value> args) {
  Value error;
  return calls.regexp(args[0].str(), error) == nullptr ? error : Value::of(true);
}
Value find(Calls& calls, std::span<const Value> args) { return find_one(calls, args, Want::Text); }
Value find_submatch(Calls& calls, std::span<const Value> args) { return find_one(calls, args, Want::Groups); }
Value find_named(Calls& calls, std::span<const Value> args) { return find_one(calls, args, Want::Named); }
Value find_all(Calls& calls, std::span<const Value> args) { return find_many(calls, args, Want::Text); }
Value find_all_submatch(Calls& calls, std::span<const Value> args) { return find_many(calls, args, Want::Groups); }
Value find_all_named(Calls& calls, std::span<const Value> args) { return find_many(calls, args, Want::Named); }

Value is_match(Calls& calls, std::span<const Value> args) {
  Value error;
  const re2::RE2* expression = calls.regexp(args[0].str(), error);
  if (expression == nullptr) return error;
  std::string_view text = args[1].str();
  if (!calls.spend(match_steps(*expression, text.size()))) return calls.ended();
  return Value::of(RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression));
}

bool is_name_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// $1, ${1}, $name and ${name} as Go's Expand: a name is the longest run of letters, digits and underscores.
void expand(std::string& out, std::string_view with, const re2::RE2& expression, const Match& match) {
  while (!with.empty()) {
    std::size_t dollar = with.find('$');
    out += with.substr(0, dollar);
    if (dollar == std::string_view::npos) return;
    with.remove_prefix(dollar + 1);
    if (with.starts_with('$')) {
      out += '$';
      with.remove_prefix(1);
      continue;
    }
    bool is_braced = with.starts_with('{');
    std::string_view rest = is_braced ? with.substr(1) : with;
    std::size_t size = 0;
    while (size < rest.size() && is_name_byte(rest[size])) ++size;
    if (size == 0 || (is_braced && (size >= rest.size() || rest[size] != '}'))) {
      out += '$';
      continue;
    }
    std::string name(rest.substr(0, size));
    with = rest.substr(size + (is_braced ? 1 : 0));
    std::size_t group = match.size();
    if (name.find_first_not_of("0123456789") == std::string::npos) {
      group = name.size() < 6 ? static_cast<std::size_t>(leading_count(name)) : match.size();
    } else if (auto found = expression.NamedCapturingGroups().find(name); found != expression.NamedCapturingGroups().end()) {
      group = static_cast<std::size_t>(found->second);
    }
    if (group < match.size()) out += text_of(match[group]);
  }
}

Value replace(Calls& calls, std::span<const Value> args, bool is_literal) {
  Value error;
  const re2::RE2* expression = calls.regexp(args[0].str(), error);
  if (expression == nullptr) return error;
  std::string_view text = args[1].str();
  std::string out;
  std::size_t at = 0;
  bool has_room = true;
  const bool is_done = for_each_match(calls, *expression, text, -1, [&](const Match& match) {
    auto begin = static_cast<std::size_t>(match[0].data() - text.data());
    out += text.substr(at, begin - at);
    if (is_literal) {
      out += args[2].str();
    } else {
      expand(out, args[2].str(), *expression, match);
    }
    at = begin + match[0].size();
    has_room = calls.has_room(2 * (out.size() + text.size() - at + args[2].size));
    return has_room;
  });
  if (!is_done || !has_room) return calls.ended();
  out += text.substr(at);
  return calls.make_string(out);
}
Value replace_all(Calls& calls, std::span<const Value> args) { return replace(calls, args, false); }
Value replace_all_literal(Calls& calls, std::span<const Value> args) { return replace(calls, args, true); }

Value quote_meta(Calls& calls, std::span<const Value> args) {
  if (!calls.has_room(4 * std::uint64_t{args[0].size})) return calls.ended();
  std::string out;
  for (char c : args[0].str()) {
    if (std::string_view(R"(\.+*?()|[]{}^$)").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return calls.make_string(out);
}

constexpr auto& kOne = kParams<kString>;
constexpr auto& kTwo = kParams<kString, kString>;
constexpr auto& kCounted = kParams<kString, kString, kInt>;
constexpr auto& kThree = kParams<kString, kString, kString>;

constexpr Builtin kRows[] = {
    {"regexp", "Valid", kOne, kBool, valid, false, true},
    {"regexp", "Find", kTwo, kString, find},
    {"regexp", "FindAll", kCounted, kList, find_all},
    {"regexp", "FindSubmatch", kTwo, kList, find_submatch},
    {"regexp", "FindAllSubmatch", kCounted, kList, find_all_submatch},
    {"regexp", "FindNamedSubmatch", kTwo, kStruct, find_named},
    {"regexp", "FindAllNamedSubmatch", kCounted, kList, find_all_named},
    {"regexp", "Match", kTwo, kBool, is_match, false, true},
    {"regexp", "QuoteMeta", kOne, kString, quote_meta},
    {"regexp", "ReplaceAll", kThree, kString, replace_all},
    {"regexp", "ReplaceAllLiteral", kThree, kString, replace_all_literal},
};

}  // namespace

std::span<const Builtin> regexp_rows() { return kRows; }

}  // namespace slipway::cue
