#include "delivery/pipeline/version.h"

#include <algorithm>

#include "base/text.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kShortestDigest = 7;  // as git shortens commits

bool is_hexadecimal(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); });
}

std::string_view hexadecimal_part(std::string_view digest) {
  const auto colon = digest.rfind(':');
  return colon == std::string_view::npos ? digest : digest.substr(colon + 1);
}

}  // namespace

SourceRevision SourceRevision::parse(std::string_view text) {
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    return {.name = std::string(text.substr(0, at)), .digest = std::string(text.substr(at + 1))};
  }
  if (text.starts_with("sha1:") || text.starts_with("sha256:")) return {.digest = std::string(text)};
  if (const auto slash = text.rfind('/'); slash != std::string_view::npos) {
    const std::string_view tail = text.substr(slash + 1);
    const bool is_commit = (tail.size() == 40 || tail.size() == 64) && is_hexadecimal(tail);
    if (is_commit)
      return {.name = std::string(text.substr(0, slash)),
              .digest = (tail.size() == 40 ? "sha1:" : "sha256:") + std::string(tail)};
  }
  return {.name = std::string(text)};
}

std::string digest_in(std::string_view version) {
  if (std::string digest = SourceRevision::parse(version).digest; !digest.empty()) return digest;
  const auto parsed = Semver::parse(version);
  if (!parsed) return "";
  const std::string_view last = split(parsed->build, '.').back();
  return last.size() >= kShortestDigest && is_hexadecimal(last) ? std::string(last) : "";
}

bool is_same_digest(std::string_view a, std::string_view b) {
  const bool has_two_algorithms = a.find(':') != std::string_view::npos && b.find(':') != std::string_view::npos;
  if (has_two_algorithms && a.substr(0, a.find(':')) != b.substr(0, b.find(':'))) return false;
  const std::string_view x = hexadecimal_part(a);
  const std::string_view y = hexadecimal_part(b);
  const std::size_t length = std::min(x.size(), y.size());
  return length >= kShortestDigest && x.substr(0, length) == y.substr(0, length);
}

Order order(std::string_view a, std::string_view b, std::string_view a_digest, std::string_view b_digest) {
  const std::string x = a_digest.empty() ? digest_in(a) : std::string(a_digest);
  const std::string y = b_digest.empty() ? digest_in(b) : std::string(b_digest);
  const bool is_told_by_digest = !x.empty() && !y.empty();
  if (is_told_by_digest && is_same_digest(x, y)) return Order::Same;
  if (a == b && !is_told_by_digest) return Order::Same;
  const auto left = Semver::parse(SourceRevision::parse(a).name);
  const auto right = Semver::parse(SourceRevision::parse(b).name);
  if (!left || !right) return a == b ? Order::Drifted : Order::Unknown;
  if (*right != *left) return *right < *left ? Order::Older : Order::Newer;
  return is_told_by_digest || left->build != right->build ? Order::Drifted : Order::Same;
}

bool is_satisfied(std::string_view wanted, std::string_view version) {
  if (wanted == version) return true;
  const auto exact = Semver::parse(wanted);
  const auto parsed = Semver::parse(version);
  if (!parsed) return false;
  if (exact && exact->precision == 3)
    return *exact == *parsed && (exact->build.empty() || parsed->build.starts_with(exact->build));
  const auto range = Range::parse(wanted);
  return range && range->is_satisfied_by(*parsed);
}

}  // namespace slipway::delivery::pipeline
