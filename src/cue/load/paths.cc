#include "cue/load/paths.h"

#include <vector>

namespace slipway::cue::load {
namespace {

std::vector<std::string_view> elements(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    std::size_t end = path.find('/');
    std::string_view one = path.substr(0, end);
    if (!one.empty()) out.push_back(one);
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  return out;
}

}  // namespace

std::string normal(std::string_view path) {
  bool is_absolute = path.starts_with('/');
  std::vector<std::string_view> out;
  for (std::string_view one : elements(path)) {
    if (one == ".") continue;
    if (one == ".." && !out.empty() && out.back() != "..") {
      out.pop_back();
    } else if (one != ".." || !is_absolute) {
      out.push_back(one);
    }
  }
  std::string text = is_absolute ? "/" : "";
  for (std::size_t i = 0; i < out.size(); ++i) text += (i > 0 ? "/" : "") + std::string(out[i]);
  return text.empty() ? "." : text;
}

std::string joined(std::string_view folder, std::string_view path) {
  return path.starts_with('/') ? normal(path) : normal(std::string(folder) + "/" + std::string(path));
}

std::string shown(std::string_view path, std::string_view cwd) {
  std::vector<std::string_view> from = elements(cwd);
  std::vector<std::string_view> to = elements(path);
  std::size_t same = 0;
  while (same < from.size() && same < to.size() && from[same] == to[same]) ++same;
  if (same == 0 && !from.empty()) return std::string(path);
  std::string out = same == from.size() ? "./" : "";
  for (std::size_t i = same; i < from.size(); ++i) out += "../";
  for (std::size_t i = same; i < to.size(); ++i) out += (i > same ? "/" : "") + std::string(to[i]);
  return out;
}

std::string_view last_element(std::string_view path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string parent(std::string_view path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : slash == 0 ? "/" : std::string(path.substr(0, slash));
}

namespace {

bool matches_element(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (matches_element(pattern.substr(1), text.substr(i))) return true;
    }
    return false;
  }
  if (text.empty()) return false;
  if (pattern[0] == '?') return matches_element(pattern.substr(1), text.substr(1));
  if (pattern[0] == '[') {
    std::size_t end = pattern.find(']', 1);
    if (end == std::string_view::npos) return false;
    std::string_view set = pattern.substr(1, end - 1);
    bool negated = set.starts_with('^');
    if (negated) set.remove_prefix(1);
    bool found = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
      bool is_range = i + 2 < set.size() && set[i + 1] == '-';
      found = found || (is_range ? text[0] >= set[i] && text[0] <= set[i + 2] : text[0] == set[i]);
      i += is_range ? 2 : 0;
    }
    return found != negated && matches_element(pattern.substr(end + 1), text.substr(1));
  }
  if (pattern[0] == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
  return pattern[0] == text[0] && matches_element(pattern.substr(1), text.substr(1));
}

bool matches_elements(const std::vector<std::string_view>& pattern, std::size_t p, const std::vector<std::string_view>& path,
                      std::size_t t) {
  if (p == pattern.size()) return t == path.size();
  if (pattern[p] == "**") {
    for (std::size_t i = t; i <= path.size(); ++i) {
      if (matches_elements(pattern, p + 1, path, i)) return true;
    }
    return false;
  }
  return t < path.size() && matches_element(pattern[p], path[t]) && matches_elements(pattern, p + 1, path, t + 1);
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view path) {
  return matches_elements(elements(pattern), 0, elements(path), 0);
}

}  // namespace slipway::cue::load
