// format: members in the order of kyaml's formatter (names first, then what kyaml ranks, the rest by the alphabet), and lists
// that kyaml calls unordered sorted.
#include <algorithm>
#include <array>
#include <numeric>

#include "krm/fn/rows.h"

namespace slipway::krm::fn {
namespace {

// kyaml's precedence of field names; facts of its field order.
constexpr std::array kRanked{std::string_view("name"),
                             std::string_view("generateName"),
                             std::string_view("namespace"),
                             std::string_view("clusterName"),
                             std::string_view("apiVersion"),
                             std::string_view("kind"),
                             std::string_view("metadata"),
                             std::string_view("type"),
                             std::string_view("labels"),
                             std::string_view("annotations"),
                             std::string_view("spec"),
                             std::string_view("status"),
                             std::string_view("stringData"),
                             std::string_view("data"),
                             std::string_view("parallelism"),
                             std::string_view("completions"),
                             std::string_view("activeDeadlineSeconds"),
                             std::string_view("backoffLimit"),
                             std::string_view("replicas"),
                             std::string_view("selector"),
                             std::string_view("manualSelector"),
                             std::string_view("template"),
                             std::string_view("ttlSecondsAfterFinished"),
                             std::string_view("volumeClaimTemplates"),
                             std::string_view("service"),
                             std::string_view("serviceName"),
                             std::string_view("podManagementPolicy"),
                             std::string_view("updateStrategy"),
                             std::string_view("strategy"),
                             std::string_view("minReadySeconds"),
                             std::string_view("revision"),
                             std::string_view("revisionHistoryLimit"),
                             std::string_view("paused"),
                             std::string_view("progressDeadlineSeconds"),
                             std::string_view("ports"),
                             std::string_view("image"),
                             std::string_view("command"),
                             std::string_view("args"),
                             std::string_view("workingDir"),
                             std::string_view("protocol"),
                             std::string_view("port"),
                             std::string_view("targetPort"),
                             std::string_view("containerPort"),
                             std::string_view("hostPort")};

std::size_t rank(std::string_view key, bool is_root) {
  if (is_root && key == "apiVersion") return 0;
  if (is_root && key == "kind") return 1;
  const auto found = std::ranges::find(kRanked, key);
  return found == kRanked.end() ? kRanked.size() + 2 : static_cast<std::size_t>(found - kRanked.begin()) + 2;
}

void sort_members(Node& node, bool is_root) {
  if (node.is_mapping()) {
    std::vector<std::size_t> order(node.pairs());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const std::size_t first = rank(node.key(a).text, is_root);
      const std::size_t second = rank(node.key(b).text, is_root);
      if (first != second) return first < second;
      return node.key(a).text != node.key(b).text ? node.key(a).text < node.key(b).text : a < b;
    });
    std::vector<Node> made;
    for (std::size_t i : order) {
      made.push_back(std::move(node.key(i)));
      made.push_back(std::move(node.value(i)));
    }
    node.children = std::move(made);
  }
  for (Node& child : node.children) sort_members(child, false);
}

}  // namespace

Result<void> format(ResourceList& list) {
  for (Resource& resource : list.items) {
    if (resource.kind().empty() || resource.api_version().empty()) continue;
    sort_members(resource.root(), true);
  }
  return {};
}

}  // namespace slipway::krm::fn
