// Semantic versions (semver.org 2.0, read as loosely as Helm reads them), and the ranges of them that Helm and Flux take.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::delivery {

struct Semver {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::vector<std::string> pre{};  // dot-separated identifiers after "-"
  std::string build{};             // after "+"
  /// Numbers that were written, 1 to 3: "1.2" has two.
  int precision = 3;

  /// "v1.2.3-rc.1+build.7"; the "v", minor and patch may be missing. nullopt for anything else.
  static std::optional<Semver> parse(std::string_view text);
  /// Precedence: build metadata does not count.
  std::weak_ordering operator<=>(const Semver& other) const;
  bool operator==(const Semver& other) const { return (*this <=> other) == 0; }
  /// Without build metadata and "v".
  std::string to_string() const;
};

/// A range as Helm and Flux take it (Masterminds/semver): comparators joined by blanks or commas, alternatives by "||", hyphen
/// ranges, "^", "~", wildcards. A pre-release satisfies only comparators that name one.
class Range {
 public:
  /// "" and "*" are any release. nullopt when it is no range.
  static std::optional<Range> parse(std::string_view text);
  bool is_satisfied_by(const Semver& version) const;

 private:
  struct Comparator {
    Semver least;                 // at least this…
    std::optional<Semver> below;  // …and less than this; absent: no end
    bool excludes_least = false;
    bool includes_below = false;
    bool is_negated = false;
    bool allows_pre = false;
  };
  static std::optional<Comparator> comparator(std::string_view text);
  static bool holds(const Comparator& one, const Semver& version);

  std::vector<std::vector<Comparator>> alternatives_;
};

}  // namespace slipway::delivery
