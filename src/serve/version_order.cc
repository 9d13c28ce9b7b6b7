#include "serve/version_order.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <tuple>

namespace slipway::serve {
namespace {

// kube-apiserver's priorities, highest first.
constexpr std::array<std::string_view, 22> kGroups{"",
                                                   "apiregistration.k8s.io",
                                                   "apps",
                                                   "events.k8s.io",
                                                   "authentication.k8s.io",
                                                   "authorization.k8s.io",
                                                   "autoscaling",
                                                   "batch",
                                                   "certificates.k8s.io",
                                                   "networking.k8s.io",
                                                   "policy",
                                                   "rbac.authorization.k8s.io",
                                                   "storage.k8s.io",
                                                   "admissionregistration.k8s.io",
                                                   "apiextensions.k8s.io",
                                                   "scheduling.k8s.io",
                                                   "coordination.k8s.io",
                                                   "node.k8s.io",
                                                   "discovery.k8s.io",
                                                   "resource.k8s.io",
                                                   "flowcontrol.apiserver.k8s.io",
                                                   "internal.apiserver.k8s.io"};

struct Parsed {
  int stability = 0;  // 2 stable, 1 beta, 0 alpha
  std::uint64_t major = 0;
  std::uint64_t minor = 0;  // of "v1beta2"
  auto operator<=>(const Parsed&) const = default;
};

bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{};
}

/// nullopt for what is no "vN", "vNbetaM" or "vNalphaM".
std::optional<Parsed> parse(std::string_view text) {
  Parsed version;
  if (!text.starts_with('v')) return std::nullopt;
  text.remove_prefix(1);
  if (!take_number(text, version.major)) return std::nullopt;
  version.stability = 2;
  if (text.empty()) return version;
  version.stability = text.starts_with("beta") ? 1 : 0;
  const std::string_view word = version.stability == 1 ? "beta" : "alpha";
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  if (!take_number(text, version.minor) || !text.empty()) return std::nullopt;
  return version;
}

std::ptrdiff_t rank(std::string_view group) { return std::ranges::find(kGroups, group) - kGroups.begin(); }

}  // namespace

bool NewerVersionFirst::operator()(std::string_view a, std::string_view b) const {
  const auto left = parse(a);
  const auto right = parse(b);
  if (left.has_value() != right.has_value()) return left.has_value();
  if (!left) return a < b;
  return *left > *right;
}

bool GroupOrder::operator()(std::string_view a, std::string_view b) const {
  return std::tuple(rank(a), a) < std::tuple(rank(b), b);
}

}  // namespace slipway::serve
