#include "delivery/package/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "base/text.h"
#include "delivery/package/conditions.h"
#include "delivery/package/kind.h"
#include "kube/object.h"

namespace slipway::delivery::package {
namespace {

std::string gate_path(std::string_view type) { return fmt::format("spec.readinessGates[{}]", type); }

/// What every user who may write the package may take back.
bool is_everyones(std::string_view source) { return source == kPackageSource || source.starts_with(kGitSource); }

/// Which of the gate's sources this writer may speak for; empty: none.
std::vector<std::string> spoken_for(const ReadinessGate& gate, const GateWriter& who) {
  if (std::ranges::find(gate.sources, who.source) != gate.sources.end()) return {who.source};
  const bool is_of_package = who.source.starts_with(kUserSource) || who.source.starts_with(kGitSource);
  std::vector<std::string> own;
  std::ranges::copy_if(gate.sources, std::back_inserter(own),
                       [&](const std::string& one) { return is_of_package && is_everyones(one); });
  if (own.empty() && who.right == GateRight::Any) return gate.sources;
  return own;
}

/// Whether the writer may say whose a gate is, and when it is asked.
bool is_steered_by(const ReadinessGate& gate, const GateWriter& who) {
  if (!gate.owner.empty()) {
    const bool is_owner = std::ranges::find(who.names, gate.owner) != who.names.end();
    const bool is_source = std::ranges::find(gate.sources, who.source) != gate.sources.end();
    return is_owner || is_source || who.right == GateRight::Any;
  }
  return !spoken_for(gate, who).empty();
}

constexpr std::string_view kApprovers = "who may approve (update packagerevisions/approval)";

std::string not_its_own(const ReadinessGate& gate) {
  return fmt::format("is asked for by {}; only they, or {}, remove it", joined(gate.sources, ", "), kApprovers);
}

std::string not_its_to_change(const ReadinessGate& gate) {
  return fmt::format("is asked for by {}{}; only they, or {}, change its owner or step", joined(gate.sources, ", "),
                     gate.owner.empty() ? "" : " and owned by " + gate.owner, kApprovers);
}

void drop_sources(Gates& gates, std::string_view type, const std::vector<std::string>& sources) {
  const auto at = std::ranges::find(gates, type, &ReadinessGate::type);
  for (const std::string& one : sources) std::erase(at->sources, one);
  if (at->sources.empty()) gates.erase(at);
}

/// What is sent of owner and step of a gate that its sender had read, into what is there now.
void change_gate(ReadinessGate& is, const ReadinessGate& was, const ReadinessGate& sent, const GateWriter& who,
                 std::vector<Cause>& causes) {
  const bool has_new_owner = !sent.owner.empty() && sent.owner != was.owner && sent.owner != is.owner;
  const bool has_new_step = sent.at && sent.at != was.at && sent.at != is.at;
  if (!has_new_owner && !has_new_step) return;
  const bool is_first_owner = is.owner.empty() && !has_new_step;
  if (!is_first_owner && !is_steered_by(is, who)) {
    causes.push_back(field::forbidden(gate_path(is.type), not_its_to_change(is)));
    return;
  }
  if (has_new_step) is.at = sent.at;
  if (!has_new_owner) return;
  is.owner = sent.owner;
  // Who gave it an owner asks for it: others who may take back their share do not remove it.
  const auto place_of = std::ranges::lower_bound(is.sources, who.source);
  if (place_of == is.sources.end() || *place_of != who.source) is.sources.insert(place_of, who.source);
}

void add_causes(const Gates& base, const Gates& sent, std::vector<Cause>& causes) {
  std::set<std::string_view> seen;
  for (const ReadinessGate& one : sent) {
    if (!seen.insert(one.type).second) causes.push_back(field::duplicate(gate_path(one.type), fmt::format("{:?}", one.type)));
    if (one.type.empty()) causes.push_back(field::required("spec.readinessGates.conditionType"));
    if (is_computed(one.type) && find(base, one.type) == nullptr) {
      causes.push_back(field::invalid(gate_path(one.type), fmt::format("{:?}", one.type), "is computed from the gates"));
    }
  }
  if (sent.size() > kMostGates) causes.push_back(field::too_many("spec.readinessGates", sent.size(), kMostGates));
}

}  // namespace

const ReadinessGate* find(const Gates& gates, std::string_view type) {
  const auto found = std::ranges::find(gates, type, &ReadinessGate::type);
  return found == gates.end() ? nullptr : &*found;
}

void add_gate(Gates& gates, std::string_view type, std::string_view source, std::string_view owner,
              std::optional<GateAt> step) {
  auto at = std::ranges::lower_bound(gates, type, std::less<>{}, &ReadinessGate::type);
  if (at == gates.end() || at->type != type) at = gates.insert(at, ReadinessGate{.type = std::string(type)});
  const auto place_of = std::ranges::lower_bound(at->sources, source);
  if (place_of == at->sources.end() || *place_of != source) at->sources.insert(place_of, std::string(source));
  if (!owner.empty()) at->owner = owner;
  if (step) at->at = step;
}

Result<Gates> merge_gates(const Gates& base, const Gates& current, const Gates& sent, const GateWriter& who,
                          std::string_view object) {
  std::vector<Cause> causes;
  add_causes(base, sent, causes);
  Gates out = current;
  for (const ReadinessGate& one : sent) {
    const ReadinessGate* was = find(base, one.type);
    const auto at = std::ranges::find(out, one.type, &ReadinessGate::type);
    if (at != out.end()) change_gate(*at, was == nullptr ? *at : *was, one, who, causes);
    if (was == nullptr && at == out.end()) add_gate(out, one.type, who.source, one.owner, one.at);
    if (was == nullptr && at != out.end()) add_gate(out, one.type, who.source);
  }
  for (const ReadinessGate& one : base) {
    const ReadinessGate* is = find(out, one.type);
    if (find(sent, one.type) != nullptr || is == nullptr) continue;
    const std::vector<std::string> own = spoken_for(*is, who);
    if (own.empty()) {
      causes.push_back(field::forbidden(gate_path(one.type), not_its_own(*is)));
    } else {
      drop_sources(out, one.type, own);
    }
  }
  if (!causes.empty()) return fail(kube::invalid(kRevisionKind, object, std::move(causes)));
  return out;
}

bool needs_any_right(const Gates& base, const Gates& current, const Gates& sent, const GateWriter& who) {
  GateWriter asked = who;
  asked.right = GateRight::Own;
  if (merge_gates(base, current, sent, asked, "")) return false;
  asked.right = GateRight::Any;
  return merge_gates(base, current, sent, asked, "").has_value();
}

Gates gates_at(const Gates& gates, Lifecycle lifecycle) {
  const auto other = lifecycle == Lifecycle::Draft      ? std::optional(GateAt::Approve)
                     : lifecycle == Lifecycle::Proposed ? std::optional(GateAt::Propose)
                                                        : std::nullopt;
  Gates asked;
  std::ranges::copy_if(gates, std::back_inserter(asked), [&](const ReadinessGate& one) { return !one.at || one.at != other; });
  return asked;
}

Gates gates_of(std::span<const std::string> types, std::string_view source) {
  Gates out;
  for (const std::string& type : types) add_gate(out, type, source);
  return out;
}

Gates cloned(const Gates& upstream) {
  Gates out;
  for (const ReadinessGate& one : upstream) add_gate(out, one.type, kUpstreamSource, one.owner, one.at);
  return out;
}

Gates upgraded(const Gates& local, const Gates& old_upstream, const Gates& new_upstream) {
  Gates out;
  for (const ReadinessGate& one : new_upstream) {
    const ReadinessGate* was = find(old_upstream, one.type);
    const ReadinessGate* is = find(local, one.type);
    if (was != nullptr && is == nullptr) continue;  // dropped here
    add_gate(out, one.type, kUpstreamSource, one.owner, one.at);
    if (was == nullptr || is == nullptr) continue;
    const auto at = std::ranges::find(out, one.type, &ReadinessGate::type);
    if (is->owner != was->owner) at->owner = is->owner;
    if (is->at != was->at) at->at = is->at;
  }
  for (const ReadinessGate& one : local) {
    for (const std::string& source : one.sources) {
      if (source != kUpstreamSource) add_gate(out, one.type, source, one.owner, one.at);
    }
  }
  return out;
}

}  // namespace slipway::delivery::package
