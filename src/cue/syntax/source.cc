#include "cue/syntax/source.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::cue {

Pos SourceMap::add(std::string_view file, std::string_view text) {
  Pos base = next_;
  entries_.push_back({base, file, text});
  next_ += static_cast<Pos>(text.size()) + 1;
  return base;
}

Location SourceMap::locate(Pos pos) const {
  auto after = std::upper_bound(entries_.begin(), entries_.end(), pos, [](Pos p, const Entry& e) { return p < e.base; });
  if (pos == 0 || after == entries_.begin()) return {};
  const Entry& entry = *(after - 1);
  std::string_view before = entry.text.substr(0, pos - entry.base);
  // The end of a file belongs to its last line.
  bool is_end = before.size() == entry.text.size() && before.ends_with('\n');
  if (is_end) before.remove_suffix(1);
  auto newline = before.rfind('\n');
  int column =
      static_cast<int>(newline == std::string_view::npos ? before.size() : before.size() - newline - 1) + (is_end ? 2 : 1);
  int line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  return {entry.file, line, column};
}

std::string SourceMap::describe(Pos pos) const {
  Location at = locate(pos);
  return at.line == 0 ? std::string() : fmt::format("{}:{}:{}", at.file, at.line, at.column);
}

std::string_view SourceMap::text_at(Pos pos) const {
  auto after = std::upper_bound(entries_.begin(), entries_.end(), pos, [](Pos p, const Entry& e) { return p < e.base; });
  if (pos == 0 || after == entries_.begin()) return {};
  const Entry& entry = *(after - 1);
  return pos - entry.base <= entry.text.size() ? entry.text.substr(pos - entry.base) : std::string_view();
}

}  // namespace slipway::cue
