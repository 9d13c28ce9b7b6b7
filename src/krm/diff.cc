#include "krm/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace slipway::krm {
namespace {

constexpr std::ptrdiff_t kMostEdits = 3000;
constexpr std::size_t kContext = 3;

struct Edit {
  char sign = ' ';
  std::string_view line;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> made;
  while (!text.empty()) {
    const std::size_t stop = text.find('\n');
    made.push_back(text.substr(0, stop == std::string_view::npos ? text.size() : stop + 1));
    text.remove_prefix(made.back().size());
  }
  return made;
}

using Lines = std::vector<std::string_view>;

// Myers' greedy search. The furthest place on each diagonal, one row per number of edits, tells the way back.
std::vector<std::vector<std::ptrdiff_t>> search(const Lines& a, const Lines& b) {
  const auto n = static_cast<std::ptrdiff_t>(a.size());
  const auto m = static_cast<std::ptrdiff_t>(b.size());
  std::vector<std::vector<std::ptrdiff_t>> rows;
  std::vector<std::ptrdiff_t> furthest(2 * static_cast<std::size_t>(std::min(n + m, kMostEdits)) + 3, 0);
  const auto middle = static_cast<std::ptrdiff_t>(furthest.size() / 2);
  for (std::ptrdiff_t edits = 0; edits <= std::min(n + m, kMostEdits); ++edits) {
    rows.push_back(furthest);
    for (std::ptrdiff_t k = -edits; k <= edits; k += 2) {
      const auto at = [&](std::ptrdiff_t d) -> std::ptrdiff_t& { return furthest[static_cast<std::size_t>(middle + d)]; };
      std::ptrdiff_t x = k == -edits || (k != edits && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      std::ptrdiff_t y = x - k;
      while (x < n && y >= 0 && y < m && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(y)]) {
        ++x;
        ++y;
      }
      at(k) = x;
      if (x >= n && y >= m) return rows;
    }
  }
  return {};
}

std::vector<Edit> edits_of(const Lines& a, const Lines& b) {
  std::vector<Edit> made;
  const auto rows = search(a, b);
  if (rows.empty()) {
    for (std::string_view line : a) made.push_back({'-', line});
    for (std::string_view line : b) made.push_back({'+', line});
    return made;
  }
  auto x = static_cast<std::ptrdiff_t>(a.size());
  auto y = static_cast<std::ptrdiff_t>(b.size());
  for (auto edits = static_cast<std::ptrdiff_t>(rows.size()) - 1; edits >= 0; --edits) {
    const auto& furthest = rows[static_cast<std::size_t>(edits)];
    const auto middle = static_cast<std::ptrdiff_t>(furthest.size() / 2);
    const auto at = [&](std::ptrdiff_t d) { return furthest[static_cast<std::size_t>(middle + d)]; };
    const std::ptrdiff_t k = x - y;
    const std::ptrdiff_t before = k == -edits || (k != edits && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const std::ptrdiff_t from_x = edits == 0 ? 0 : at(before);
    const std::ptrdiff_t from_y = edits == 0 ? 0 : from_x - before;
    while (x > from_x && y > from_y) {
      --y;
      made.push_back({' ', a[static_cast<std::size_t>(--x)]});
    }
    if (edits == 0) break;
    if (x == from_x) {
      made.push_back({'+', b[static_cast<std::size_t>(--y)]});
    } else {
      made.push_back({'-', a[static_cast<std::size_t>(--x)]});
    }
  }
  std::ranges::reverse(made);
  return made;
}

std::string range(std::size_t start, std::size_t count) {
  return count == 1 ? fmt::format("{}", start + 1) : fmt::format("{},{}", count == 0 ? start : start + 1, count);
}

bool is_text(std::string_view text) { return !text.contains('\0'); }

}  // namespace

std::string diff_text(std::string_view before, std::string_view after) {
  const std::vector<Edit> edits = edits_of(lines_of(before), lines_of(after));
  std::string made;
  std::size_t old_line = 0;
  std::size_t new_line = 0;
  for (std::size_t i = 0; i < edits.size();) {
    if (edits[i].sign == ' ') {
      ++old_line, ++new_line, ++i;
      continue;
    }
    // A hunk: up to three equal lines before, and as long as changes are no more than six lines apart.
    const std::size_t lead = std::min(kContext, i);
    std::size_t end = i;
    for (std::size_t k = i, quiet = 0; k < edits.size() && quiet <= 2 * kContext; ++k) {
      quiet = edits[k].sign == ' ' ? quiet + 1 : 0;
      if (quiet == 0) end = k + 1;
    }
    const std::size_t stop = std::min(end + kContext, edits.size());
    std::size_t begin = i - lead;
    while (begin < i && edits[begin].sign != ' ') ++begin;
    std::string body;
    std::size_t removed = 0;
    std::size_t added = 0;
    for (std::size_t k = begin; k < stop; ++k) {
      removed += edits[k].sign != '+' ? 1 : 0;
      added += edits[k].sign != '-' ? 1 : 0;
      body += edits[k].sign;
      body += edits[k].line;
      if (!edits[k].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    made +=
        fmt::format("@@ -{} +{} @@\n{}", range(old_line - (i - begin), removed), range(new_line - (i - begin), added), body);
    for (; i < stop; ++i) {
      old_line += edits[i].sign != '+' ? 1 : 0;
      new_line += edits[i].sign != '-' ? 1 : 0;
    }
  }
  return made;
}

std::string diff(const Files& before, const Files& after) {
  std::set<std::string> paths;
  for (const Files* files : {&before, &after}) {
    for (const auto& [path, text] : *files) paths.insert(path);
  }
  std::string made;
  for (const std::string& path : paths) {
    const auto old = before.find(path);
    const auto now = after.find(path);
    const bool is_new = old == before.end();
    const bool is_gone = now == after.end();
    if (!is_new && !is_gone && old->second == now->second) continue;
    made += fmt::format("diff --git a/{} b/{}\n", path, path);
    if (is_new) made += "new file mode 100644\n";
    if (is_gone) made += "deleted file mode 100644\n";
    const std::string_view from = is_new ? std::string_view() : std::string_view(old->second);
    const std::string_view to = is_gone ? std::string_view() : std::string_view(now->second);
    if (!is_text(from) || !is_text(to)) {
      made += fmt::format("Binary files a/{} and b/{} differ\n", path, path);
      continue;
    }
    const std::string hunks = diff_text(from, to);
    if (hunks.empty()) continue;
    made += fmt::format("--- {}\n+++ {}\n{}", is_new ? "/dev/null" : "a/" + path, is_gone ? "/dev/null" : "b/" + path, hunks);
  }
  return made;
}

}  // namespace slipway::krm
