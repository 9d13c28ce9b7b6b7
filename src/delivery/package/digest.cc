#include "delivery/package/digest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "json/text.h"

namespace slipway::delivery::package {
namespace {

constexpr std::string_view kKptfilePath = "Kptfile";

/// A line that ends a block: the next key of the document, or its end. Not: indented lines, comments, items of a list that
/// stands at the key's own indentation, empty lines.
bool begins_member(std::string_view line) {
  if (line.starts_with("---") || line.starts_with("...")) return true;
  return !line.empty() && !std::string_view(" \t#-\r").contains(line.front());
}

bool is_status(std::string_view line) {
  for (const std::string_view key : {"status:", "\"status\":", "'status':"}) {
    if (line.starts_with(key) && (line.size() == key.size() || kBlanks.contains(line[key.size()]))) return true;
  }
  return false;
}

/// The lines but those of the status block.
std::string without_block(std::string_view text) {
  std::string out;
  bool is_inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (begins_member(trimmed(line, "\r\n"))) is_inside = is_status(line);
    if (!is_inside) out += line;
    at = end;
  }
  return out;
}

/// Members sorted, so that the text says the value only.
json::Value sorted(const json::Value& value) {
  if (value.is_array()) {
    json::ArrayBuilder out;
    for (const json::Value& item : value.items()) out.add(sorted(item));
    return out.build();
  }
  if (!value.is_object()) return value;
  std::map<std::string, json::Value> members;
  for (const auto [key, member] : value.members()) members.emplace(key, sorted(member));
  json::ObjectBuilder out;
  for (auto& [key, member] : members) out.add(key, std::move(member));
  return out.build();
}

/// Matches by a table: fits[i][j] says whether pattern[i..] matches path[j..]. So the cost is their product, whatever the
/// stars.
class Glob {
 public:
  Glob(std::string_view pattern, std::string_view path)
      : pattern_(pattern), path_(path), fits_((pattern.size() + 1) * (path.size() + 1)) {}

  bool matches() {
    for (std::size_t i = pattern_.size() + 1; i-- > 0;) {
      for (std::size_t j = path_.size() + 1; j-- > 0;) at(i, j) = judge(i, j) ? 1 : 0;
    }
    return at(0, 0) != 0;
  }

 private:
  char& at(std::size_t i, std::size_t j) { return fits_[i * (path_.size() + 1) + j]; }
  bool judge(std::size_t i, std::size_t j) {
    if (i == pattern_.size()) return j == path_.size();
    const bool has_more = j < path_.size();
    if (pattern_.substr(i).starts_with("**/") && at(i + 3, j) != 0) return true;
    if (pattern_.substr(i).starts_with("**")) return at(i + 2, j) != 0 || (has_more && at(i, j + 1) != 0);
    if (pattern_[i] == '*') return at(i + 1, j) != 0 || (has_more && path_[j] != '/' && at(i, j + 1) != 0);
    const bool is_one = has_more && (pattern_[i] == path_[j] || (pattern_[i] == '?' && path_[j] != '/'));
    return is_one && at(i + 1, j + 1) != 0;
  }

  std::string_view pattern_;
  std::string_view path_;
  std::vector<char> fits_;
};

}  // namespace

std::string without_status(std::string_view kptfile) {
  const auto whole = json::parse_yaml(kptfile);
  if (!whole || !whole->is_object()) return std::string(kptfile);
  if (!whole->has("status")) return std::string(kptfile);
  const json::Value wanted = whole->without("status");
  std::string text = without_block(kptfile);
  const auto rest = json::parse_yaml(text);
  const bool is_exact = rest && (*rest == wanted || (rest->is_null() && wanted.empty()));
  return is_exact ? text : json::print(sorted(wanted));
}

std::string file_digest(std::string_view path, std::string_view bytes) {
  return path == kKptfilePath ? sha256_hex(without_status(bytes)) : sha256_hex(bytes);
}

std::string digest_of(const std::map<std::string, std::string>& file_digests) {
  std::string lines;
  for (const auto& [path, digest] : file_digests) {
    lines += path;
    lines += '\0';
    lines += digest;
    lines += '\n';
  }
  return fmt::format("sha256:{}", sha256_hex(lines));
}

ContentView::ContentView(const Files& files) {
  for (const auto& [path, bytes] : files) file_digests_.emplace(path, file_digest(path, bytes));
  digest_ = digest_of(file_digests_);
}

std::string ContentView::scope(std::span<const std::string> patterns) const {
  std::map<std::string, std::string> digests;
  for (const auto& [path, digest] : file_digests_) {
    const bool is_inside = std::ranges::any_of(patterns, [&](const std::string& one) { return matches_pattern(one, path); });
    if (is_inside) digests.emplace(path, digest);
  }
  return digest_of(digests);
}

std::string content_digest(const Files& files) { return ContentView(files).digest(); }

std::string scope_digest(const Files& files, std::span<const std::string> patterns) {
  return ContentView(files).scope(patterns);
}

bool matches_pattern(std::string_view pattern, std::string_view path) { return Glob(pattern, path).matches(); }

}  // namespace slipway::delivery::package
