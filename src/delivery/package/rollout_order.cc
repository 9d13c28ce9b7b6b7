// Who comes when in a rollout, and what is wrong with a spec; the pass itself is rollout_plan.cc.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "delivery/package/rollout_plan.h"
#include "delivery/wave/batches.h"
#include "kube/selector.h"

namespace slipway::delivery::package {

std::string gate_key(std::int64_t attempt, std::int64_t step, std::string_view gate) {
  return fmt::format("{}/{}/{}", attempt, step, gate);
}

std::int64_t allowed(std::int64_t percent, std::int64_t count) {
  if (count <= 0) return 0;
  return std::clamp<std::int64_t>((percent * count + 99) / 100, 1, count);
}

std::vector<RolloutStep> steps_of(const PackageRolloutSpec& spec) {
  std::vector<RolloutStep> steps = spec.steps;
  if (steps.empty() || steps.back().percent < 100) steps.push_back({.percent = 100});
  return steps;
}

std::vector<std::string> cohort_order(const PackageRolloutSpec& spec, const std::vector<TargetView>& targets) {
  struct Place {
    std::size_t pin;
    std::string hash;
    std::string id;
    auto operator<=>(const Place&) const = default;
  };
  const std::set<std::string_view> excluded(spec.exclude.begin(), spec.exclude.end());
  std::vector<Place> places;
  places.reserve(targets.size());
  for (const TargetView& one : targets) {
    if (excluded.contains(one.id)) continue;
    const auto pin = static_cast<std::size_t>(std::ranges::find(spec.first, one.id) - spec.first.begin());
    places.push_back({.pin = pin, .hash = sha256_hex(one.id), .id = one.id});
  }
  std::ranges::sort(places);
  std::vector<std::string> order;
  order.reserve(places.size());
  for (Place& one : places) order.push_back(std::move(one.id));
  return order;
}

std::vector<Cause> check(const PackageRolloutSpec& spec) {
  std::vector<Cause> causes;
  if (spec.upstream.repo.empty()) causes.push_back(field::required("spec.upstream.repo"));
  if (spec.upstream.package.empty()) causes.push_back(field::required("spec.upstream.package"));
  if (spec.upstream.revision < 1) {
    causes.push_back(
        field::invalid("spec.upstream.revision", fmt::format("{}", spec.upstream.revision), "must be a published revision"));
  }
  if (spec.selector) {
    const auto selector = kube::LabelSelector::from_object(*spec.selector);
    if (!selector) causes.push_back(field::invalid("spec.selector", "", selector.error().message));
  }
  const auto check_amount = [&](const std::optional<json::Value>& value, const std::string& place) {
    if (!value) return;
    const auto amount = wave::parse_amount(*value, place);
    if (!amount) {
      causes.insert(causes.end(), amount.error().causes.begin(), amount.error().causes.end());
    } else if (amount->is_percent && amount->number > 100) {
      causes.push_back(field::invalid(place, fmt::format("\"{}%\"", amount->number), "must not be more than 100%"));
    }
  };
  check_amount(spec.max_failures, "spec.maxFailures");
  for (std::size_t i = 0; i < spec.steps.size(); ++i) {
    const RolloutStep& step = spec.steps[i];
    const std::string place = fmt::format("spec.steps[{}]", i);
    if (i > 0 && step.percent <= spec.steps[i - 1].percent) {
      causes.push_back(
          field::invalid(place + ".percent", fmt::format("{}", step.percent), "must be greater than that of the step before"));
    }
    check_amount(step.max_failures, place + ".maxFailures");
    for (const gate::GateSpec& gate : step.gates) {
      const std::string at = fmt::format("{}.gates[{}]", place, gate.name);
      if (gate.approval) {
        causes.push_back(field::forbidden(
            at + ".approval", "not implemented for steps: use an ApprovalPolicy that selects the proposals, or spec.paused"));
      }
      for (Cause& cause : gate::check(gate, at)) causes.push_back(std::move(cause));
      const bool is_moment = gate.at == "before" || gate.at == "after" || gate.at == "throughout";
      if (!is_moment)
        causes.push_back(field::not_supported(at + ".at", fmt::format("{:?}", gate.at), {"before", "after", "throughout"}));
    }
  }
  return causes;
}

}  // namespace slipway::delivery::package
