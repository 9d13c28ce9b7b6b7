#include "delivery/package/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/text.h"
#include "delivery/package/conditions.h"
#include "delivery/package/kind.h"
#include "kube/object.h"

namespace slipway::delivery::package {
namespace {

std::string place(std::string_view type) { return fmt::format("spec.readinessGates[{}]", type); }

/// Which of the gate's sources this one may speak for; empty: none.
std::string spoken_for(const ReadinessGate& gate, std::string_view source) {
  const auto has = [&](std::string_view one) { return std::ranges::find(gate.sources, one) != gate.sources.end(); };
  if (has(source)) return std::string(source);
  const bool is_user = source.starts_with("user:");
  return is_user && has(kPackageSource) ? std::string(kPackageSource) : "";
}

std::string not_its_own(const ReadinessGate& gate) {
  return fmt::format("is asked for by {}; only who added a gate removes it", joined(gate.sources, ", "));
}

void drop_source(Gates& gates, std::string_view type, std::string_view source) {
  const auto at = std::ranges::find(gates, type, &ReadinessGate::type);
  std::erase(at->sources, source);
  if (at->sources.empty()) gates.erase(at);
}

void add_causes(const Gates& base, const Gates& sent, std::vector<Cause>& causes) {
  std::set<std::string_view> seen;
  for (const ReadinessGate& one : sent) {
    if (!seen.insert(one.type).second) causes.push_back(field::duplicate(place(one.type), fmt::format("{:?}", one.type)));
    if (one.type.empty()) causes.push_back(field::required("spec.readinessGates.conditionType"));
    if (is_computed(one.type) && find(base, one.type) == nullptr) {
      causes.push_back(field::invalid(place(one.type), fmt::format("{:?}", one.type), "is computed from the gates"));
    }
  }
  if (sent.size() > kMostGates) causes.push_back(field::too_many("spec.readinessGates", sent.size(), kMostGates));
}

}  // namespace

const ReadinessGate* find(const Gates& gates, std::string_view type) {
  const auto found = std::ranges::find(gates, type, &ReadinessGate::type);
  return found == gates.end() ? nullptr : &*found;
}

void add_gate(Gates& gates, std::string_view type, std::string_view source, std::string_view owner) {
  auto at = std::ranges::lower_bound(gates, type, std::less<>{}, &ReadinessGate::type);
  if (at == gates.end() || at->type != type) at = gates.insert(at, ReadinessGate{.type = std::string(type)});
  const auto place_of = std::ranges::lower_bound(at->sources, source);
  if (place_of == at->sources.end() || *place_of != source) at->sources.insert(place_of, std::string(source));
  if (!owner.empty()) at->owner = owner;
}

Result<void> remove_gate(Gates& gates, std::string_view type, std::string_view source) {
  const ReadinessGate* gate = find(gates, type);
  if (gate == nullptr) return fail(Reason::NotFound, fmt::format("{}: there is no such gate", place(type)));
  const std::string own = spoken_for(*gate, source);
  if (own.empty()) return fail(Reason::Forbidden, fmt::format("{}: {}", place(type), not_its_own(*gate)));
  drop_source(gates, type, own);
  return {};
}

Result<Gates> merge_gates(const Gates& base, const Gates& current, const Gates& sent, std::string_view source,
                          std::string_view object) {
  std::vector<Cause> causes;
  add_causes(base, sent, causes);
  Gates out = current;
  for (const ReadinessGate& one : sent) {
    const ReadinessGate* was = find(base, one.type);
    if (was == nullptr) add_gate(out, one.type, source, one.owner);
    const auto at = std::ranges::find(out, one.type, &ReadinessGate::type);
    const bool has_new_owner = was != nullptr && !one.owner.empty() && one.owner != was->owner;
    if (has_new_owner && at != out.end()) at->owner = one.owner;
  }
  for (const ReadinessGate& one : base) {
    const ReadinessGate* is = find(out, one.type);
    if (find(sent, one.type) != nullptr || is == nullptr) continue;
    const std::string own = spoken_for(*is, source);
    if (own.empty()) {
      causes.push_back(field::forbidden(place(one.type), not_its_own(*is)));
    } else {
      drop_source(out, one.type, own);
    }
  }
  if (!causes.empty()) return fail(kube::invalid(kRevisionKind, object, std::move(causes)));
  return out;
}

Gates gates_of(std::span<const std::string> types, std::string_view source) {
  Gates out;
  for (const std::string& type : types) add_gate(out, type, source);
  return out;
}

Gates cloned(const Gates& upstream) {
  Gates out;
  for (const ReadinessGate& one : upstream) add_gate(out, one.type, kUpstreamSource, one.owner);
  return out;
}

Gates upgraded(const Gates& local, const Gates& new_upstream) {
  Gates out = cloned(new_upstream);
  for (const ReadinessGate& one : local) {
    for (const std::string& source : one.sources) {
      if (source != kUpstreamSource) add_gate(out, one.type, source, one.owner);
    }
  }
  return out;
}

}  // namespace slipway::delivery::package
