#include "delivery/family/semver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace slipway::delivery {
namespace {

bool is_number(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!is_number(text) || error != std::errc{}) return std::nullopt;
  return value;
}

bool is_identifier(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-'; });
}

/// Numbers are less than words and compare as numbers.
std::weak_ordering compare_identifiers(std::string_view a, std::string_view b) {
  if (is_number(a) != is_number(b)) return is_number(a) ? std::weak_ordering::less : std::weak_ordering::greater;
  if (is_number(a) && a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

/// The next version at which the number of that precision goes up: 2 of "1.2.3" is "1.3.0".
Semver bumped(const Semver& version, int precision) {
  Semver next{.major = version.major};
  if (precision == 1) ++next.major;
  if (precision > 1) next.minor = version.minor + (precision == 2 ? 1 : 0);
  if (precision > 2) next.patch = version.patch + 1;
  return next;
}

bool is_wildcard(std::string_view part) { return part == "*" || part == "x" || part == "X"; }

/// "1.2.x" as "1.2"; "*" as "". Numbers behind a wildcard do not count.
std::string without_wildcards(std::string_view text) {
  const auto parts = split(text, '.');
  const auto first = std::ranges::find_if(parts, is_wildcard);
  if (!std::ranges::all_of(first, parts.end(), [](std::string_view part) { return is_wildcard(part) || is_number(part); }))
    return std::string(text);
  return fmt::format("{}", fmt::join(parts.begin(), first, "."));
}

}  // namespace

std::optional<Semver> Semver::parse(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  Semver made;
  if (const auto plus = text.find('+'); plus != std::string_view::npos) {
    made.build = text.substr(plus + 1);
    if (!std::ranges::all_of(split(made.build, '.'), is_identifier)) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    for (const std::string_view part : split(text.substr(dash + 1), '.')) {
      if (!is_identifier(part)) return std::nullopt;
      made.pre.emplace_back(part);
    }
    text = text.substr(0, dash);
  }
  const auto parts = split(text, '.');
  if (parts.size() > 3) return std::nullopt;
  std::uint64_t* const places[] = {&made.major, &made.minor, &made.patch};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = number(parts[i]);
    if (!value) return std::nullopt;
    *places[i] = *value;
  }
  made.precision = static_cast<int>(parts.size());
  return made;
}

std::weak_ordering Semver::operator<=>(const Semver& other) const {
  if (const auto numbers = std::tie(major, minor, patch) <=> std::tie(other.major, other.minor, other.patch); numbers != 0) {
    return numbers;
  }
  // A release comes after its pre-releases.
  if (pre.empty() || other.pre.empty()) return pre.empty() <=> other.pre.empty();
  return std::lexicographical_compare_three_way(pre.begin(), pre.end(), other.pre.begin(), other.pre.end(),
                                                compare_identifiers);
}

std::string Semver::to_string() const {
  const std::string numbers = fmt::format("{}.{}.{}", major, minor, patch);
  return pre.empty() ? numbers : fmt::format("{}-{}", numbers, fmt::join(pre, "."));
}

std::optional<Range::Comparator> Range::comparator(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("=<>!~^"), text.size());
  const std::string_view op = text.substr(0, digits);
  const std::string rest = without_wildcards(trimmed(text.substr(digits)));
  Comparator made;
  if (rest.empty()) return op.empty() || op == "=" || op == "~" || op == "^" || op == ">=" ? std::optional(made) : std::nullopt;
  const auto version = Semver::parse(rest);
  if (!version) return std::nullopt;
  made.allows_pre = !version->pre.empty();
  made.least = *version;
  const Semver next = bumped(*version, version->precision);
  if (op.empty() || op == "=" || op == "!=") {
    made.below = version->precision == 3 ? *version : next;
    made.includes_below = version->precision == 3;
    made.is_negated = op == "!=";
  } else if (op == ">") {
    made.excludes_least = version->precision == 3;
    if (version->precision < 3) made.least = next;
  } else if (op == "<" || op == "<=" || op == "=<") {
    made.least = Semver{.pre = {"0"}};
    made.below = op == "<" || version->precision == 3 ? *version : next;
    made.includes_below = op != "<" && version->precision == 3;
  } else if (op == "~" || op == "~>") {
    made.below = bumped(*version, std::min(version->precision, 2));
  } else if (op == "^") {
    const int fixed = version->major > 0 || version->precision == 1 ? 1 : version->minor > 0 || version->precision == 2 ? 2 : 3;
    made.below = bumped(*version, fixed);
  } else if (op != ">=" && op != "=>") {
    return std::nullopt;
  }
  return made;
}

std::optional<Range> Range::parse(std::string_view text) {
  Range made;
  while (true) {
    const auto bar = text.find("||");
    std::vector<Comparator>& all = made.alternatives_.emplace_back();
    std::vector<std::string> words;
    std::string spaced(text.substr(0, bar));
    std::ranges::replace(spaced, ',', ' ');
    for (const std::string_view word : split(spaced, ' ')) {
      if (word.empty()) continue;
      const bool is_continued = !words.empty() && words.back().find_first_not_of("=<>!~^") == std::string::npos;
      if (is_continued) {
        words.back() += word;
      } else {
        words.emplace_back(word);
      }
    }
    if (words.size() == 3 && words[1] == "-") words = {">=" + words[0], "<=" + words[2]};
    if (words.empty()) words = {"*"};
    for (const std::string& word : words) {
      const auto one = comparator(word);
      if (!one) return std::nullopt;
      all.push_back(*one);
    }
    if (bar == std::string_view::npos) return made;
    text.remove_prefix(bar + 2);
  }
}

bool Range::holds(const Comparator& one, const Semver& version) {
  if (!version.pre.empty() && !one.allows_pre) return false;
  const bool is_above = one.excludes_least ? version > one.least : version >= one.least;
  const bool is_below = !one.below || version < *one.below || (one.includes_below && version == *one.below);
  return (is_above && is_below) != one.is_negated;
}

bool Range::is_satisfied_by(const Semver& version) const {
  return std::ranges::any_of(alternatives_, [&](const std::vector<Comparator>& all) {
    return std::ranges::all_of(all, [&](const Comparator& one) { return holds(one, version); });
  });
}

}  // namespace slipway::delivery
