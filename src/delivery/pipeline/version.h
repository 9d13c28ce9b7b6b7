// Versions as delivery knows them: the semantic version of a chart or an image tag (semver.org 2.0, read as loosely as Helm
// reads it), the range that a HelmRelease or an OCIRepository may ask for, and the revision of a Flux source ("main@sha1:…").
// Order comes from semantic versions only; identity comes from digests where both sides have one. Build metadata says which
// content it is
// ("1.0.0+a1e7a997235b") and never which is newer.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::delivery::pipeline {

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

/// A Flux revision: `name` is a branch, tag or version, `digest` is "sha1:…" or "sha256:…"; either may be empty. The old form
/// "main/<sha>" is read too.
struct SourceRevision {
  std::string name{};
  std::string digest{};

  static SourceRevision parse(std::string_view text);
};

/// The digest that a version's text names: that of a revision, or the hexadecimal digits which Flux appends as build metadata
/// (at least 7; "1.5.0+build.7" names none). Empty when there is none.
std::string digest_in(std::string_view version);

/// Whether two digests name the same content; either may be shortened to no fewer than 7 digits, and lack the algorithm.
bool is_same_digest(std::string_view a, std::string_view b);

/// How `b` stands to `a`.
enum class Order : std::uint8_t {
  Older,
  Same,
  Newer,
  Drifted,  // equal precedence and other content
  Unknown,  // neither digests nor versions tell: another commit of a branch
};
/// Digests given apart count before those in the texts.
Order order(std::string_view a, std::string_view b, std::string_view a_digest = "", std::string_view b_digest = "");

/// Whether a version is what `wanted` (a version, a range, or "" for any) asks for. Exact texts and build metadata count:
/// wanted "1.5.0" is satisfied by "1.5.0+a1e7a997235b".
bool is_satisfied(std::string_view wanted, std::string_view version);

}  // namespace slipway::delivery::pipeline
