#include "cluster/namespace_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipway::cluster {

namespace {

using json::Value;

/// The text of one condition while something is the matter, and while nothing is.
struct Row {
  const char* type;
  const char* reason_true;
  const char* reason_false;
  const char* message_false;
};
constexpr Row kDiscovery{"NamespaceDeletionDiscoveryFailure", "DiscoveryFailed", "ResourcesDiscovered",
                         "All resources successfully discovered"};
constexpr Row kParsing{"NamespaceDeletionGroupVersionParsingFailure", "GroupVersionParsingFailed", "ParsedGroupVersions",
                       "All legacy kube types successfully parsed"};
constexpr Row kContent{"NamespaceDeletionContentFailure", "ContentDeletionFailed", "ContentDeleted",
                       "All content successfully deleted, may be waiting on finalization"};
constexpr Row kRemaining{"NamespaceContentRemaining", "SomeResourcesRemain", "ContentRemoved",
                         "All content successfully removed"};
constexpr Row kFinalizers{"NamespaceFinalizersRemaining", "SomeFinalizersRemain", "ContentHasNoFinalizers",
                          "All content-preserving finalizers finished"};

std::string remaining_text(const NamespaceRemains& remains) {
  std::vector<std::string> parts;
  for (const auto& [resource, count] : remains.resources) {
    parts.push_back(fmt::format("{} has {} resource instances", resource, count));
  }
  return parts.empty() ? "" : fmt::format("Some resources are remaining: {}", fmt::join(parts, ", "));
}

std::string finalizers_text(const NamespaceRemains& remains) {
  std::vector<std::string> parts;
  for (const auto& [finalizer, count] : remains.finalizers) {
    parts.push_back(fmt::format("{} in {} resource instances", finalizer, count));
  }
  return parts.empty() ? "" : fmt::format("Some content in the namespace has finalizers remaining: {}", fmt::join(parts, ", "));
}

std::string content_text(const NamespaceRemains& remains) {
  const auto& failures = remains.content_failures;
  if (failures.empty()) return "";
  return fmt::format("Failed to delete all resource types, {} remaining: {}", failures.size(), fmt::join(failures, ", "));
}

std::string discovery_text(const NamespaceRemains& remains) {
  if (remains.discovery_failure.empty()) return "";
  return fmt::format("Discovery failed for some groups, 1 failing: {}", remains.discovery_failure);
}

}  // namespace

void NamespaceRemains::add(const kube::Resource& resource, const Value& left) {
  if (left.empty()) return;
  resources[fmt::format("{}.{}", resource.plural, resource.group)] += left.size();
  for (const Value& object : left.items()) {
    for (const Value& finalizer : object["metadata"]["finalizers"].items()) ++finalizers[finalizer.str()];
  }
}

Value namespace_conditions(const Value& before, const NamespaceRemains& remains, Time now) {
  Value conditions = before;
  const auto tell = [&](const Row& row, const std::string& trouble) {
    const bool is_true = !trouble.empty();
    conditions = kube::set_condition(conditions,
                                     {row.type, is_true ? "True" : "False", is_true ? row.reason_true : row.reason_false,
                                      is_true ? trouble : row.message_false},
                                     now);
  };
  tell(kDiscovery, discovery_text(remains));
  tell(kParsing, "");
  tell(kContent, content_text(remains));
  tell(kRemaining, remaining_text(remains));
  tell(kFinalizers, finalizers_text(remains));
  return conditions;
}

}  // namespace slipway::cluster
