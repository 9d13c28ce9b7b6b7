// Positions and diagnostics. A position is a 32-bit offset into all the texts of a program laid one after another, so it costs
// four bytes in every node; file, line and column are computed when an error is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cue {

/// 0 is "nowhere".
using Pos = std::uint32_t;

struct Location {
  std::string_view file;
  int line = 0;    // from 1; 0 when unknown
  int column = 0;  // from 1, in bytes
};

/// The texts of a program. The texts are owned elsewhere and must outlive it.
class SourceMap {
 public:
  /// Returns the position of the first byte.
  Pos add(std::string_view file, std::string_view text);
  Location locate(Pos pos) const;
  /// "file:line:column", or empty for nowhere.
  std::string describe(Pos pos) const;
  /// The text from a position to the end of its file; empty for nowhere.
  std::string_view text_at(Pos pos) const;

 private:
  struct Entry {
    Pos base;
    std::string_view file;
    std::string_view text;
  };
  std::vector<Entry> entries_;
  Pos next_ = 1;
};

/// One thing wrong with a text: found by scanner, parser or compiler.
struct Diagnostic {
  Pos pos = 0;
  std::string message;
  Pos other = 0;          // a second place that takes part, or 0
  std::string path = {};  // of the field it is in, where that is told
};
using Diagnostics = std::vector<Diagnostic>;

}  // namespace slipway::cue
