// Versions as delivery knows them: the semantic version of a chart or an image tag, the range that a HelmRelease or an
// OCIRepository may ask for (both in delivery/family/semver.h), and the revision of a Flux source ("main@sha1:…"). Order comes
// from semantic versions only; identity comes from digests where both sides have one. Build metadata says which content it is
// ("1.0.0+a1e7a997235b") and never which is newer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "delivery/family/semver.h"

namespace slipway::delivery::pipeline {

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
