#include "delivery/application/dependency_order.h"

#include <algorithm>

namespace slipway::delivery::application {
namespace {

/// `from` is a variable or a path into it.
bool comes_from(const std::string& from, const std::string& variable) {
  return from == variable || from.starts_with(variable + ".") || from.starts_with(variable + "[");
}

}  // namespace

DependencyOrder::DependencyOrder(const ApplicationSpec& spec) {
  for (const ComponentSpec& component : spec.components) {
    for (const std::string& other : component.depends_on) needs_[component.name].insert(other);
    for (const ComponentSpec& other : spec.components) {
      const bool feeds = std::ranges::any_of(component.inputs, [&](const workflow::StepInput& input) {
        return std::ranges::any_of(other.outputs, [&](const auto& output) { return comes_from(input.from, output.name); });
      });
      if (feeds && other.name != component.name) needs_[component.name].insert(other.name);
    }
  }
  // No chain without a cycle is longer than there are components.
  bool has_moved = true;
  for (std::size_t round = 0; round < needs_.size() && has_moved; ++round) {
    has_moved = false;
    for (const auto& [component, others] : needs_) {
      for (const std::string& other : others) {
        if (depth(component) > depth(other)) continue;
        depths_[component] = depth(other) + 1;
        has_moved = true;
      }
    }
  }
}

std::size_t DependencyOrder::depth(const std::string& component) const {
  const auto at = depths_.find(component);
  return at == depths_.end() ? 0 : at->second;
}

std::string DependencyOrder::first_dependant(const std::string& component, const std::set<std::string>& among) const {
  for (const std::string& other : among) {
    const auto at = needs_.find(other);
    if (other != component && at != needs_.end() && at->second.contains(component)) return other;
  }
  return "";
}

}  // namespace slipway::delivery::application
