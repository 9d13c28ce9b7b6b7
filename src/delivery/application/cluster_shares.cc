#include "delivery/application/cluster_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

using json::Value;

std::optional<std::int64_t> percent_of(std::string_view text) {
  if (!text.ends_with('%')) return {};
  text.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > 100) return {};
  return number;
}

bool matches(const ShareEntry& entry, const ClusterEntry& cluster) {
  return std::ranges::all_of(entry.selector, [&](const auto& label) {
    const auto found = cluster.labels.find(label.first);
    return found != cluster.labels.end() && found->second == label.second;
  });
}

/// How many each entry runs; 0 for those without a share.
std::vector<std::int64_t> share_entries(const std::vector<ShareEntry>& entries, std::int64_t declared) {
  std::vector<std::int64_t> runs;
  std::vector<std::size_t> by_remainder;
  std::int64_t sum = 0, given = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::int64_t percent = entries[i].percent.value_or(0);
    sum += percent;
    runs.push_back(declared * percent / 100);
    given += runs.back();
    if (percent > 0) by_remainder.push_back(i);
  }
  std::ranges::sort(by_remainder, [&](std::size_t a, std::size_t b) {
    const std::int64_t left_a = declared * *entries[a].percent % 100, left_b = declared * *entries[b].percent % 100;
    if (left_a != left_b) return left_a > left_b;
    return std::pair(entries[a].name(), a) < std::pair(entries[b].name(), b);
  });
  std::int64_t spare = (declared * sum + 50) / 100 - given;
  for (const std::size_t entry : by_remainder) {
    if (spare-- <= 0) break;
    ++runs[entry];
  }
  return runs;
}

}  // namespace

std::string ShareEntry::name() const {
  std::vector<std::string> labels;
  for (const auto& [key, value] : selector) labels.push_back(fmt::format("{}={}", key, value));
  return labels.empty() ? "everything" : joined(labels, ",");
}

Result<std::vector<ShareEntry>> read_shares(const Value& placement) {
  std::vector<ShareEntry> entries;
  std::int64_t sum = 0;
  for (const Value& one : placement.items()) {
    ShareEntry entry;
    if (!one["clusterSelector"].is_object()) {
      return fail(Reason::Invalid,
                  fmt::format("placement[{}].clusterSelector: Required value: labels of clusters", entries.size()));
    }
    for (const auto& [key, value] : one["clusterSelector"].members()) entry.selector[std::string(key)] = value.str();
    if (one.has("replicas")) {
      entry.percent = percent_of(one["replicas"].as_string());
      if (!entry.percent) {
        return fail(Reason::Invalid,
                    fmt::format("placement[{}].replicas: {} is no whole percentage from 0% to 100%", entries.size(),
                                one["replicas"].is_string() ? one["replicas"].str() : json::print(one["replicas"])));
      }
      sum += *entry.percent;
    }
    entries.push_back(std::move(entry));
  }
  if (sum > 100) {
    return fail(Reason::Invalid,
                fmt::format("placement: the shares are {} % of the replicas together, more than there are", sum));
  }
  return entries;
}

std::vector<std::vector<std::string>> clusters_of(const std::vector<ShareEntry>& entries,
                                                  const std::vector<ClusterEntry>& clusters) {
  std::vector<std::vector<std::string>> chosen(entries.size());
  for (const ClusterEntry& cluster : clusters) {
    const auto first = std::ranges::find_if(entries, [&](const ShareEntry& entry) { return matches(entry, cluster); });
    if (first != entries.end()) chosen[static_cast<std::size_t>(first - entries.begin())].push_back(cluster.name);
  }
  for (auto& names : chosen) std::ranges::sort(names);
  return chosen;
}

std::map<std::string, std::int64_t> share_replicas(const std::vector<ShareEntry>& entries,
                                                   const std::vector<std::vector<std::string>>& clusters,
                                                   std::int64_t declared) {
  const std::vector<std::int64_t> runs = share_entries(entries, declared);
  std::map<std::string, std::int64_t> shares;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto count = static_cast<std::int64_t>(clusters[i].size());
    for (std::int64_t at = 0; at < count; ++at) {
      const std::int64_t part = runs[i] / count + (at < runs[i] % count ? 1 : 0);
      shares[clusters[i][static_cast<std::size_t>(at)]] = entries[i].percent ? part : declared;
    }
  }
  return shares;
}

}  // namespace slipway::delivery::application
