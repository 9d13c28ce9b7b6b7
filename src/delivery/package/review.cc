#include "delivery/package/review.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/package/kind.h"
#include "krm/diff.h"
#include "krm/package.h"

namespace slipway::delivery::package {
namespace {

bool is_word(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_'; }

std::string replaced(std::string_view text, std::string_view word, std::string_view by) {
  if (word.empty()) return std::string(text);
  std::string made;
  std::size_t at = 0;
  for (std::size_t found = 0; (found = text.find(word, found)) != std::string_view::npos;) {
    const std::size_t end = found + word.size();
    const bool is_whole = (found == 0 || !is_word(text[found - 1])) && (end == text.size() || !is_word(text[end]));
    if (is_whole) {
      made += text.substr(at, found - at);
      made += by;
      at = end;
    }
    found = end;
  }
  made += text.substr(at);
  return made;
}

/// The root's member of that name, with the lines below it, cut out.
std::string without_member(const std::string& text, std::string_view member) {
  std::string made;
  bool is_inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const bool is_below = line.starts_with(' ') || line.starts_with('-') || trimmed(line).empty();
    if (!is_below) is_inside = line.starts_with(std::string(member) + ":");
    if (!is_inside) made += line;
    at = end;
  }
  return made;
}

std::size_t changed_files(std::string_view diff) {
  std::size_t count = diff.starts_with("diff --git") ? 1 : 0;
  for (std::size_t at = 0; (at = diff.find("\ndiff --git", at)) != std::string_view::npos; ++at) ++count;
  return count;
}

}  // namespace

std::map<std::string, std::string> without_verdicts(std::map<std::string, std::string> files) {
  for (auto& [path, text] : files) {
    if (path != krm::kKptfile && !path.ends_with("/" + std::string(krm::kKptfile))) continue;
    text = without_member(text, "status");
  }
  return files;
}

Task<Result<Review>> review_of(client::Client& client, std::string ns, ShownRevision revision) {
  const std::string fields =
      fmt::format("spec.repository={},spec.packageName={}", revision.spec.repository, revision.spec.package_name);
  SLIPWAY_CO_TRY(all, co_await fetch_revisions(client, ns, fields, ""));
  Review made{.revision = revision};
  std::int64_t newest = 0;
  for (const ShownRevision& one : all) {
    if (one.name() == revision.name() || !is_published(one.lifecycle()) || one.spec.revision <= newest) continue;
    if (is_published(revision.lifecycle()) && one.spec.revision > revision.spec.revision) continue;
    newest = one.spec.revision;
    made.before = one.name();
  }
  ShownFiles before;
  if (!made.before.empty()) {
    SLIPWAY_CO_TRY(found, co_await fetch_files(client, ns, made.before));
    before = std::move(found);
  }
  SLIPWAY_CO_TRY(after, co_await fetch_files(client, ns, revision.name()));
  made.diff = krm::diff(without_verdicts(std::move(before.files)), without_verdicts(std::move(after.files)));
  co_return made;
}

std::string plain_diff(const Review& review) {
  const RevisionSpec& spec = review.revision.spec;
  const std::string_view leaf = std::string_view(spec.package_name).substr(spec.package_name.rfind('/') + 1);
  std::string diff = review.diff;
  for (const json::Value& owner : review.revision.object["metadata"]["ownerReferences"].items()) {
    if (owner["kind"].as_string() != kVariantKind.kind) continue;
    diff = replaced(diff, fmt::format("{}.{}", kVariantKind.kind, owner["name"].as_string()), "PackageVariant.‹variant›");
  }
  return replaced(replaced(diff, spec.repository, "‹repository›"), leaf, "‹package›");
}

std::vector<ReviewGroup> grouped(std::vector<Review> reviews) {
  std::ranges::sort(reviews, {}, [](const Review& one) { return one.revision.name(); });
  std::map<std::string, ReviewGroup> by_diff;
  for (Review& one : reviews) {
    const std::string plain = plain_diff(one);
    ReviewGroup& group = by_diff[plain];
    if (group.members.empty()) {
      group.id = sha256_hex(plain).substr(0, 8);
      group.diff = one.diff;
    }
    group.members.push_back(std::move(one));
  }
  std::vector<ReviewGroup> groups;
  for (auto& [plain, group] : by_diff) groups.push_back(std::move(group));
  std::ranges::sort(groups, [](const ReviewGroup& a, const ReviewGroup& b) {
    return a.members.size() != b.members.size() ? a.members.size() > b.members.size() : a.id < b.id;
  });
  return groups;
}

std::string groups_text(const std::vector<ReviewGroup>& groups) {
  constexpr std::size_t kMostNames = 20;
  std::string text;
  for (const ReviewGroup& group : groups) {
    const std::size_t files = changed_files(group.diff);
    text += fmt::format("== {}: {} revision{}, {} file{}\n", group.id, group.members.size(),
                        group.members.size() == 1 ? "" : "s", files, files == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(kMostNames, group.members.size()); ++i) {
      const Review& one = group.members[i];
      text += fmt::format("   {}{}\n", one.revision.name(), one.before.empty() ? " (new)" : "");
    }
    if (group.members.size() > kMostNames) text += fmt::format("   and {} more\n", group.members.size() - kMostNames);
    text += group.diff.empty() ? "nothing changes\n" : group.diff;
  }
  return text;
}

}  // namespace slipway::delivery::package
