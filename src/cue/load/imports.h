// What files import, found and read: packages of the own module and vendored ones, with what those import in turn. Packages of
// a registry are out: an import that would need one is an error.
#pragma once

#include <optional>
#include <utility>

#include "cue/load/module.h"

namespace slipway::cue::load {

class Imports {
 public:
  explicit Imports(Module& module) : module_(module) {}

  /// Adds to `packages` what `sources` need; those there already are kept.
  std::optional<Errors> add(const std::vector<SourceText>& sources, Packages& packages);

 private:
  std::optional<Errors> add_one(const Head::Import& import, Packages& packages);
  std::optional<Errors> read(const Head::Import& import, const std::string& path, std::vector<SourceText>& files);
  Errors cycle(const Position& last) const;

  Module& module_;
  std::vector<std::pair<std::string, Position>> importing_;  // packages that are being read, and where they were asked for
};

}  // namespace slipway::cue::load
