// Package path: paths as text, by the rules of Unix, Plan 9 or Windows (Go's path/filepath of old). Nothing is looked up.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cue/std/packages.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace path_package {
namespace {

using Args = std::span<const Value>;

struct System {
  char separator = '/';
  char list_separator = ':';
  bool is_windows = false;
  bool is_plan9 = false;

  bool is_separator(char c) const { return c == '/' || (is_windows && c == '\\'); }
};

/// The argument that names the system, "unix" when it was left off.
std::optional<System> system_of(Args args, std::size_t index) {
  std::string_view name = index < args.size() ? args[index].str() : std::string_view("unix");
  if (name == "unix") return System{};
  if (name == "plan9") return System{'/', '\0', false, true};
  if (name == "windows") return System{'\\', ';', true, false};
  return std::nullopt;
}
Value unknown_system(Calls& calls) { return calls.fail("unsupported os: want unix, windows or plan9"); }

// "c:" or "\\host\share".
std::size_t volume_size(const System& system, std::string_view path) {
  if (!system.is_windows || path.size() < 2) return 0;
  char drive = static_cast<char>(path[0] | 0x20);
  if (path[1] == ':' && drive >= 'a' && drive <= 'z') return 2;
  auto sep = [&](std::size_t i) { return system.is_separator(path[i]); };
  std::size_t size = path.size();
  if (size < 5 || !sep(0) || !sep(1) || sep(2) || path[2] == '.') return 0;
  for (std::size_t n = 3; n < size - 1; ++n) {
    if (!sep(n)) continue;
    ++n;
    if (sep(n) || path[n] == '.') return 0;
    while (n < size && !sep(n)) ++n;
    return n;
  }
  return 0;
}

std::string from_slash(const System& system, std::string text) {
  if (system.is_windows) std::replace(text.begin(), text.end(), '/', '\\');
  return text;
}
std::string to_slash(const System& system, std::string text) {
  if (system.is_windows) std::replace(text.begin(), text.end(), '\\', '/');
  return text;
}

std::string clean(const System& system, std::string_view original) {
  std::size_t volume = volume_size(system, original);
  std::string_view path = original.substr(volume);
  std::string head(original.substr(0, volume));
  if (path.empty()) return from_slash(system, volume > 1 && head[1] != ':' ? head : head + ".");
  bool is_rooted = system.is_separator(path[0]);
  std::string out;
  if (is_rooted) out += system.separator;
  std::size_t fixed = out.size();  // what ".." may not take away
  for (std::size_t r = is_rooted ? 1 : 0; r < path.size();) {
    std::size_t end = r;
    while (end < path.size() && !system.is_separator(path[end])) ++end;
    std::string_view part = path.substr(r, end - r);
    r = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && out.size() > fixed) {
      out.resize(out.size() - 1);
      while (out.size() > fixed && out.back() != system.separator) out.pop_back();
      if (out.size() > fixed) out.pop_back();
      continue;
    }
    if (part == ".." && is_rooted) continue;
    if (out.size() > (is_rooted ? 1u : 0u)) out += system.separator;
    out += part;
    if (part == "..") fixed = out.size();
  }
  return from_slash(system, head + (out.empty() ? "." : out));
}

bool is_absolute(const System& system, std::string_view path) {
  if (system.is_plan9) return path.starts_with('/') || path.starts_with('#');
  if (!system.is_windows) return path.starts_with('/');
  std::size_t volume = volume_size(system, path);
  return volume > 0 && volume < path.size() && system.is_separator(path[volume]);
}

std::string base(const System& system, std::string_view path) {
  if (path.empty()) return ".";
  path.remove_prefix(volume_size(system, path));
  while (path.size() > 0 && system.is_separator(path.back())) path.remove_suffix(1);
  std::size_t at = path.size();
  while (at > 0 && !system.is_separator(path[at - 1])) --at;
  path.remove_prefix(at);
  return path.empty() ? std::string(1, system.separator) : std::string(path);
}

std::size_t file_start(const System& system, std::string_view path) {
  std::size_t volume = volume_size(system, path);
  std::size_t at = path.size();
  while (at > volume && !system.is_separator(path[at - 1])) --at;
  return at;
}

std::string directory(const System& system, std::string_view path) {
  std::size_t volume = volume_size(system, path);
  std::string dir = clean(system, path.substr(volume, file_start(system, path) - volume));
  if (dir == "." && volume > 2) return std::string(path.substr(0, volume));
  return std::string(path.substr(0, volume)) + dir;
}

std::string join(const System& system, std::span<const std::string_view> parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    if (out.empty()) {
      out = parts[i];
      // "c:" and a relative path stay relative to that drive.
      if (system.is_windows && out.size() == 2 && out[1] == ':') {
        while (i + 1 < parts.size() && parts[i + 1].empty()) ++i;
        if (i + 1 < parts.size()) out += parts[++i];
      }
      continue;
    }
    out += system.separator;
    out += parts[i];
  }
  if (out.empty()) return "";
  if (!system.is_windows) return clean(system, out);
  std::string cleaned = clean(system, out);
  // Joining must not make a share out of what was none.
  std::string_view first;
  for (std::string_view part : parts) {
    if (!part.empty()) {
      first = part;
      break;
    }
  }
  bool is_share = cleaned.size() > 1 && system.is_separator(cleaned[0]) && system.is_separator(cleaned[1]);
  bool had_share =
      volume_size(system, first) > 2 || (first.size() > 2 && system.is_separator(first[0]) && system.is_separator(first[1]) &&
                                         clean(system, first).starts_with("\\\\"));
  if (!is_share || had_share) return cleaned;
  return clean(system, std::string(1, system.separator) + cleaned.substr(cleaned.find_first_not_of('\\')));
}

bool same(const System& system, std::string_view a, std::string_view b) {
  if (!system.is_windows) return a == b;
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string> relative(const System& system, std::string_view base_path, std::string_view target_path) {
  std::string from = clean(system, base_path);
  std::string to = clean(system, target_path);
  std::size_t from_volume = volume_size(system, from);
  std::size_t to_volume = volume_size(system, to);
  if (same(system, to, from)) return ".";
  std::string_view b = std::string_view(from).substr(from_volume);
  std::string_view t = std::string_view(to).substr(to_volume);
  if (b == ".") b = "";
  if (b.empty() && from_volume > 2) b = "\\";
  bool b_rooted = !b.empty() && b[0] == system.separator;
  bool t_rooted = !t.empty() && t[0] == system.separator;
  if (b_rooted != t_rooted || !same(system, from.substr(0, from_volume), to.substr(0, to_volume))) return std::nullopt;
  std::size_t b0 = 0;
  std::size_t bi = 0;
  std::size_t t0 = 0;
  std::size_t ti = 0;
  while (bi < b.size() && ti < t.size()) {
    while (bi < b.size() && b[bi] != system.separator) ++bi;
    while (ti < t.size() && t[ti] != system.separator) ++ti;
    if (!same(system, t.substr(t0, ti - t0), b.substr(b0, bi - b0))) break;
    if (bi < b.size()) ++bi;
    if (ti < t.size()) ++ti;
    b0 = bi;
    t0 = ti;
  }
  if (b.substr(b0, bi - b0) == "..") return std::nullopt;
  if (b0 == b.size()) return std::string(t.substr(t0));
  std::string out = "..";
  for (char c : b.substr(b0)) {
    if (c == system.separator) out += std::string(1, system.separator) + "..";
  }
  if (t0 != t.size()) out += std::string(1, system.separator) + std::string(t.substr(t0));
  return out;
}

enum class Matching : std::uint8_t { No, Yes, Malformed };

struct ClassMatch {
  bool is_malformed = false;
  bool matches = false;
  std::size_t next = 0;  // in the pattern, behind "]"
};

// One "[…]" whose "[" stands before `at`, against one character.
ClassMatch match_class(const System& system, std::string_view pattern, std::size_t at, std::uint32_t code) {
  ClassMatch result;
  bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  auto take = [&](std::uint32_t& out) {
    if (at >= pattern.size() || pattern[at] == '-' || pattern[at] == ']') return false;
    if (pattern[at] == '\\' && !system.is_windows && ++at >= pattern.size()) return false;
    Rune rune = decode_rune(pattern.substr(at));
    out = rune.code;
    at += rune.bytes;
    return rune.code != kBadRune && at < pattern.size();
  };
  for (int ranges = 0;; ++ranges) {
    if (at < pattern.size() && pattern[at] == ']' && ranges > 0) {
      result.next = at + 1;
      break;
    }
    std::uint32_t low = 0;
    if (!take(low)) return {true, false, 0};
    std::uint32_t high = low;
    if (pattern[at] == '-' && (++at, !take(high))) return {true, false, 0};
    result.matches = result.matches || (low <= code && code <= high);
  }
  result.matches = result.matches != negated;
  return result;
}

// The whole pattern is read even when the text does not match, so that a malformed one is always found. Each place where the
// text behind a star may begin is charged: stars multiply.
Matching match(Calls& calls, const System& system, std::string_view pattern, std::string_view text, int depth) {
  std::size_t p = 0;
  std::size_t t = 0;
  bool fits = true;
  while (p < pattern.size()) {
    char c = pattern[p];
    if (c == '*') {
      while (p < pattern.size() && pattern[p] == '*') ++p;
      Matching rest = Matching::No;
      for (std::size_t at = t;; ++at) {
        const bool may_go_on = depth <= 40 && calls.spend(1 + (pattern.size() - p) / kBytesPerStep);
        Matching one = !may_go_on ? Matching::Malformed
                                  : match(calls, system, pattern.substr(p), text.substr(std::min(at, text.size())), depth + 1);
        if (one == Matching::Malformed) return one;
        if (one == Matching::Yes) rest = one;
        if (rest == Matching::Yes || at >= text.size() || text[at] == system.separator) break;
      }
      return fits ? rest : Matching::No;
    }
    bool has_text = fits && t < text.size();
    Rune rune = has_text ? decode_rune(text.substr(t)) : Rune{0, 0};
    if (c == '[') {
      ClassMatch found = match_class(system, pattern, p + 1, rune.code);
      if (found.is_malformed) return Matching::Malformed;
      fits = has_text && found.matches && text[t] != system.separator;
      p = found.next;
    } else if (c == '?') {
      fits = has_text && text[t] != system.separator;
      ++p;
    } else {
      if (c == '\\' && !system.is_windows && ++p >= pattern.size()) return Matching::Malformed;
      fits = has_text && text[t] == pattern[p];
      ++p;
      t += fits ? 1 : 0;
      continue;
    }
    t += fits ? rune.bytes : 0;
  }
  return fits && t == text.size() ? Matching::Yes : Matching::No;
}

// --- the functions

Value split_path(Calls& calls, Args args) {
  auto system = system_of(args, 1);
  if (!system) return unknown_system(calls);
  std::size_t at = file_start(*system, args[0].str());
  return make_texts(calls,
                    std::vector<std::string>{std::string(args[0].str().substr(0, at)), std::string(args[0].str().substr(at))});
}

Value split_list(Calls& calls, Args args) {
  auto system = system_of(args, 1);
  if (!system) return unknown_system(calls);
  std::vector<std::string> out;
  if (args[0].size == 0) return make_texts(calls, out);
  out.emplace_back();
  bool is_quoted = false;
  for (char c : args[0].str()) {
    if (c == '"' && system->is_windows) {
      is_quoted = !is_quoted;
    } else if (c == system->list_separator && !is_quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return make_texts(calls, out);
}

Value join_path(Calls& calls, Args args) {
  auto system = system_of(args, 1);
  if (!system) return unknown_system(calls);
  std::vector<std::string_view> parts;
  Value error;
  if (!texts_of(calls, args[0], parts, error)) return error;
  return calls.make_string(join(*system, parts));
}

Value with_text(Calls& calls, Args args, std::string (*change)(const System&, std::string_view)) {
  auto system = system_of(args, 1);
  return system ? calls.make_string(change(*system, args[0].str())) : unknown_system(calls);
}
Value clean_path(Calls& calls, Args args) { return with_text(calls, args, clean); }
Value base_path(Calls& calls, Args args) { return with_text(calls, args, base); }
Value dir_path(Calls& calls, Args args) { return with_text(calls, args, directory); }
Value volume_path(Calls& calls, Args args) {
  return with_text(calls, args,
                   [](const System& s, std::string_view p) { return std::string(p.substr(0, volume_size(s, p))); });
}
Value slash_path(Calls& calls, Args args) {
  return with_text(calls, args, [](const System& s, std::string_view p) { return to_slash(s, std::string(p)); });
}
Value native_path(Calls& calls, Args args) {
  return with_text(calls, args, [](const System& s, std::string_view p) { return from_slash(s, std::string(p)); });
}
Value extension(Calls& calls, Args args) {
  return with_text(calls, args, [](const System& s, std::string_view p) {
    for (std::size_t i = p.size(); i-- > 0 && !s.is_separator(p[i]);) {
      if (p[i] == '.') return std::string(p.substr(i));
    }
    return std::string();
  });
}

Value absolute(Calls& calls, Args args) {
  auto system = system_of(args, 1);
  return system ? Value::of(is_absolute(*system, args[0].str())) : unknown_system(calls);
}

Value resolve(Calls& calls, Args args) {
  auto system = system_of(args, 2);
  if (!system) return unknown_system(calls);
  if (is_absolute(*system, args[1].str())) return calls.make_string(clean(*system, args[1].str()));
  std::string_view parts[] = {args[0].str(), args[1].str()};
  return calls.make_string(join(*system, parts));
}

Value relative_path(Calls& calls, Args args) {
  auto system = system_of(args, 2);
  if (!system) return unknown_system(calls);
  auto out = relative(*system, args[0].str(), args[1].str());
  if (out) return calls.make_string(*out);
  return calls.fail(fmt::format("Rel: can't make {} relative to {}", args[1].str(), args[0].str()));
}

Value match_path(Calls& calls, Args args) {
  auto system = system_of(args, 2);
  if (!system) return unknown_system(calls);
  std::string_view pattern = args[0].str();
  bool has_two_stars = false;
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] == '\\' && !system->is_windows)
      ++i;
    else
      has_two_stars = has_two_stars || (pattern[i] == '*' && pattern[i + 1] == '*');
  }
  if (has_two_stars) return calls.fail("'**' is not supported in patterns as of yet");
  Matching verdict = match(calls, *system, pattern, args[1].str(), 0);
  if (!calls.spend(0)) return calls.ended();
  return verdict == Matching::Malformed ? calls.fail("syntax error in pattern") : Value::of(verdict == Matching::Yes);
}

constexpr auto& kPath = kParams<kString, kString>;
constexpr auto& kTwoPaths = kParams<kString, kString, kString>;

constexpr Builtin row(std::string_view name, std::span<const KindMask> params, KindMask result, Value (*call)(Calls&, Args)) {
  return {"path", name, params, result, call, false, false, {}, 1};
}
constexpr Builtin system_name(std::string_view name, std::string_view text) {
  return {"path", name, {}, kString, nullptr, false, false, text};
}

constexpr Builtin kRows[] = {
    row("Split", kPath, kList, split_path),
    {"path", "SplitList", kPath, kList, split_list},
    row("Join", kParams<kList, kString>, kString, join_path),
    row("Clean", kPath, kString, clean_path),
    row("Base", kPath, kString, base_path),
    row("Dir", kPath, kString, dir_path),
    row("Ext", kPath, kString, extension),
    row("VolumeName", kPath, kString, volume_path),
    {"path", "ToSlash", kPath, kString, slash_path},
    {"path", "FromSlash", kPath, kString, native_path},
    row("IsAbs", kPath, kBool, absolute),
    row("Resolve", kTwoPaths, kString, resolve),
    row("Rel", kTwoPaths, kString, relative_path),
    row("Match", kTwoPaths, kBool, match_path),
    system_name("Unix", "\"unix\""),
    system_name("Windows", "\"windows\""),
    system_name("Plan9", "\"plan9\""),
};

}  // namespace
}  // namespace path_package

std::span<const Builtin> path_rows() { return path_package::kRows; }

}  // namespace slipway::cue
