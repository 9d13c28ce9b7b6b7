#include "cluster/pod_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/digest.h"
#include "cluster/names.h"

namespace slipway::cluster {

namespace {

/// As many characters as generateName adds.
constexpr std::size_t kSuffix = 5;
constexpr std::size_t kMaxBase = 63 - 1 - kSuffix;

std::string pod_name(const kube::Object& set, std::int64_t number) {
  std::string base(kube::name(set).substr(0, kMaxBase));
  while (base.ends_with('-') || base.ends_with('.')) base.pop_back();
  return base + "-" + name_hash(fmt::format("{}/{}", kube::uid(set), number)).substr(0, kSuffix);
}

}  // namespace

PodNumbers PodNumbers::of(const kube::Object& set) {
  const std::string_view text = kube::annotation(set, kPodNumbers);
  PodNumbers numbers;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, numbers.next);
  if (error != std::errc{} || at == end || *at != '@' || numbers.next < 0) return {};
  const auto [rest, other_error] = std::from_chars(at + 1, end, numbers.seen);
  return other_error == std::errc{} && rest == end ? numbers : PodNumbers{};
}

std::string PodNumbers::to_string() const { return fmt::format("{}@{}", next, seen); }

std::vector<std::string> next_pod_names(const kube::Object& set, std::int64_t count, const IsTaken& is_taken,
                                        std::int64_t& next_number) {
  std::vector<std::string> names;
  std::set<std::string> chosen;
  while (static_cast<std::int64_t>(names.size()) < count) {
    std::string name = pod_name(set, next_number++);
    if (is_taken(name) || !chosen.insert(name).second) continue;
    names.push_back(std::move(name));
  }
  return names;
}

PodNumbers with_taken_names(PodNumbers numbers, const kube::Object& set, std::int64_t reach, const IsTaken& is_taken) {
  const std::int64_t end = numbers.next + reach;
  for (std::int64_t number = numbers.next; number < end; ++number) {
    if (is_taken(pod_name(set, number))) numbers.next = number + 1;
  }
  return numbers;
}

PodNumbers& KnownPodNumbers::of(const kube::Object& set, std::size_t pods, const IsTaken& is_taken) {
  Known& known = known_[kube::key_of(set)];
  const PodNumbers written = PodNumbers::of(set);
  if (known.uid != kube::uid(set)) {
    const std::int64_t reach = set["spec"]["replicas"].as_int(1) + static_cast<std::int64_t>(pods);
    known = {std::string(kube::uid(set)), with_taken_names(written, set, reach, is_taken)};
  }
  known.numbers.next = std::max(known.numbers.next, written.next);
  return known.numbers;
}

}  // namespace slipway::cluster
