#include <algorithm>

#include "krm/package.h"

namespace slipway::krm {
namespace {

// [a-z], [!a-z], [^a-z] at the front of `glob`; npos when it is no class.
std::size_t match_class(std::string_view glob, char c, bool& matches) {
  std::size_t at = 1;
  const bool is_negated = at < glob.size() && (glob[at] == '!' || glob[at] == '^');
  if (is_negated) ++at;
  const std::size_t stop = glob.find(']', at + 1);
  if (stop == std::string_view::npos) return stop;
  bool found = false;
  for (; at < stop; ++at) {
    if (at + 2 < stop && glob[at + 1] == '-') {
      found = found || (glob[at] <= c && c <= glob[at + 2]);
      at += 2;
    } else {
      found = found || glob[at] == c;
    }
  }
  matches = found != is_negated && c != '/';
  return stop + 1;
}

constexpr int kMostSteps = 100'000;

bool match(std::string_view glob, std::string_view path, int& steps) {
  while (!glob.empty()) {
    if (--steps < 0) return false;
    if (glob.starts_with("**")) {
      const std::string_view rest = glob.substr(glob.starts_with("**/") ? 3 : 2);
      if (match(rest, path, steps)) return true;
      for (std::size_t i = 0; i < path.size(); ++i) {
        const bool may_start = !glob.starts_with("**/") || path[i] == '/';
        if (may_start && match(rest, path.substr(i + 1), steps)) return true;
      }
      return false;
    }
    if (glob.front() == '*') {
      for (std::size_t i = 0;; ++i) {
        if (match(glob.substr(1), path.substr(i), steps)) return true;
        if (i >= path.size() || path[i] == '/') return false;
      }
    }
    if (path.empty()) return false;
    bool is_match = glob.front() == path.front();
    std::size_t width = 1;
    if (glob.front() == '?') is_match = path.front() != '/';
    if (glob.front() == '\\' && glob.size() > 1) {
      is_match = glob[1] == path.front();
      width = 2;
    }
    if (glob.front() == '[') {
      const std::size_t past = match_class(glob, path.front(), is_match);
      if (past != std::string_view::npos) width = past;
    }
    if (!is_match) return false;
    glob.remove_prefix(width);
    path.remove_prefix(1);
  }
  return path.empty();
}

}  // namespace

bool matches_glob(std::string_view glob, std::string_view path) {
  int steps = kMostSteps;
  return match(glob, path, steps);
}

Ignore::Ignore(std::string_view text) {
  while (!text.empty()) {
    const std::size_t stop = text.find('\n');
    std::string_view line = text.substr(0, stop);
    text = stop == std::string_view::npos ? std::string_view() : text.substr(stop + 1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    Pattern made;
    if (line.front() == '!') {
      made.is_negated = true;
      line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
      made.is_for_folders = true;
      line.remove_suffix(1);
    }
    made.is_anchored = line.contains('/');
    if (line.starts_with('/')) line.remove_prefix(1);
    made.glob = line;
    if (!made.glob.empty()) patterns_.push_back(std::move(made));
  }
}

bool Ignore::names(std::string_view path, bool is_folder) const {
  bool is_named = false;
  const std::size_t slash = path.rfind('/');
  const std::string_view base = slash == std::string_view::npos ? path : path.substr(slash + 1);
  for (const Pattern& pattern : patterns_) {
    if (pattern.is_for_folders && !is_folder) continue;
    if (matches_glob(pattern.glob, pattern.is_anchored ? path : base)) is_named = !pattern.is_negated;
  }
  return is_named;
}

bool Ignore::ignores(std::string_view path) const {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (names(path.substr(0, slash), true)) return true;
  }
  return names(path, false);
}

}  // namespace slipway::krm
