// What a promotion changes in a repository, as a pure function: every field of a YAML file that carries the marker of an
// environment is set to a version, and nothing else changes by a byte. Follows Weave GitOps' RFC "Markers in YAML Comments for
// Application Promotion" (implemented in pipeline-controller 0.0.4):
//
//   version: 6.2.0 # {"$promotion": "default:podinfo:prod"}
//
// The value is NAMESPACE:PIPELINE:ENVIRONMENT. As Flux's image markers have it, it may end in ":name" or ":tag": of a version
// that is an image ("registry/app:1.2"), the part before or after the last colon is set. DIVERGES: the RFC has no such endings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/git.h"

namespace slipway::delivery::pipeline {

/// Which markers are meant.
struct MarkerKey {
  std::string ns;
  std::string pipeline;
  std::string environment;

  std::string to_string() const;  // "default:podinfo:prod"
};

/// A field that carries the marker.
struct MarkedField {
  std::string file;
  std::size_t line = 1;
  std::string from;  // its value before
  std::string to;

  bool operator==(const MarkedField&) const = default;
};

struct MarkedEdit {
  std::vector<GitChange> changes;    // whole new content of the files that change
  std::vector<MarkedField> set;      // by file and line
  std::vector<MarkedField> current;  // those that had the value already
  /// Why something could not be set, each with file and line: the file does not parse, the marker stands at no single field.
  /// Nothing of such a file is changed.
  std::vector<std::string> problems;

  bool has_marker() const { return !set.empty() || !current.empty() || !problems.empty(); }
};

/// Files without content, and those whose name does not end in .yaml or .yml, are passed over. A field keeps its quotes; one
/// without gets some where the version would be read as something else than text (1.10, 1e3).
MarkedEdit set_marked_fields(const std::vector<GitFile>& files, const MarkerKey& key, std::string_view version);

// The names of trailers (git-interpret-trailers) of a promotion's commit and pull request. The key is what finds them again.
constexpr std::string_view kPromotionTrailer = "Slipway-Promotion";
constexpr std::string_view kPipelineTrailer = "Slipway-Pipeline";
constexpr std::string_view kEnvironmentTrailer = "Slipway-Environment";
constexpr std::string_view kVersionTrailer = "Slipway-Version";

/// What is said about a promotion in git and at a forge.
struct PromotionText {
  std::string app;
  std::string version;
  std::string key;
  MarkerKey marker;

  std::string subject() const;   // "promote podinfo 6.2.0 to prod"
  std::string trailers() const;  // four lines
  std::string message() const;   // subject, empty line, trailers
};

/// The value of the last line "NAME: value" of a commit's message or a pull request's description; empty when there is none.
std::string trailer_of(std::string_view text, std::string_view name);

}  // namespace slipway::delivery::pipeline
