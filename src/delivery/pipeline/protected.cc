#include "delivery/pipeline/protected.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "delivery/gate/weaker.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promote.h"
#include "delivery/pipeline/spec.h"

namespace slipway::delivery::pipeline {
namespace {

using Paths = std::vector<std::string>;

/// A change of a Pipeline. One that cannot be read, of a time with other rules, protects nothing.
struct ProtectedChange {
  PipelineSpec before{};
  PipelineSpec after{};

  static std::optional<ProtectedChange> of(const kube::Object& object, const kube::Object& old) {
    if (object["spec"] == old["spec"]) return std::nullopt;
    auto before = json::decode<PipelineSpec>(old["spec"], "spec", {.allow_unknown = true});
    auto after = json::decode<PipelineSpec>(object["spec"], "spec", {.allow_unknown = true});
    if (!before || !after) return std::nullopt;
    return ProtectedChange{*std::move(before), *std::move(after)};
  }
};

bool is_manual(const PipelineSpec& spec, const Environment& environment) { return promotion_of(spec, environment).is_manual; }

bool is_protected(const PipelineSpec& spec, const Environment& environment) {
  return gate::has_approval(environment.gates) || is_manual(spec, environment);
}

const Environment* find(const PipelineSpec& spec, const std::string& name) {
  const auto at = std::ranges::find(spec.environments, name, &Environment::name);
  return at == spec.environments.end() ? nullptr : &*at;
}

std::string path_of(const Environment& environment, std::string_view member) {
  return fmt::format("spec.environments[{}]{}{}", environment.name, member.empty() ? "" : ".", member);
}

/// Gates taken away or weakened, those of an environment that goes among them.
Paths weakened_gates(const kube::Object& object, const kube::Object& old) {
  Paths paths;
  const auto change = ProtectedChange::of(object, old);
  if (!change) return paths;
  for (const Environment& one : change->before.environments) {
    if (!is_protected(change->before, one)) continue;
    const Environment* now = find(change->after, one.name);
    if (now == nullptr) {
      paths.push_back(path_of(one, ""));
      continue;
    }
    // Beside `manual` the other gates protect as beside an approval gate.
    for (const gate::GateSpec& gate : one.gates) {
      const auto same = std::ranges::find(now->gates, gate.name, &gate::GateSpec::name);
      if (same == now->gates.end() || gate::is_weaker(gate, *same)) {
        paths.push_back(path_of(one, fmt::format("gates[{}]", gate.name)));
      }
    }
    if (now->soak.value_or(Duration{0}) < one.soak.value_or(Duration{0})) paths.push_back(path_of(one, "soak"));
  }
  return paths;
}

/// `member` of each environment that stays and of which `is_weaker(change, before, after)` holds.
template <class IsWeaker>
Paths weakened_member(const kube::Object& object, const kube::Object& old, std::string_view member, IsWeaker is_weaker) {
  Paths paths;
  const auto change = ProtectedChange::of(object, old);
  if (!change) return paths;
  for (const Environment& one : change->before.environments) {
    const Environment* now = find(change->after, one.name);
    if (now != nullptr && is_weaker(*change, one, *now)) paths.push_back(path_of(one, member));
  }
  return paths;
}

Paths weakened_manual(const kube::Object& object, const kube::Object& old) {
  return weakened_member(object, old, "promotion.manual",
                         [](const ProtectedChange& change, const Environment& was, const Environment& is) {
                           return is_manual(change.before, was) && !is_manual(change.after, is);
                         });
}

/// Of a promotion block: the names of the Secrets that calls about the environment are signed with.
std::string secret_in(const PipelineSpec& spec, const Environment& environment) {
  const Promotion promotion = promotion_of(spec, environment);
  if (promotion.strategy && promotion.strategy->secret) return promotion.strategy->secret->name;
  const bool has_own = environment.promotion.has_value() && spec.promotion && spec.promotion->strategy;
  return has_own && spec.promotion->strategy->secret ? spec.promotion->strategy->secret->name : "";
}

/// Anyone who has the key may say that somebody approves.
Paths changed_keys(const kube::Object& object, const kube::Object& old) {
  const auto is_changed = [](const ProtectedChange& change, const Environment& was, const Environment& is) {
    return is_protected(change.before, was) && secret_in(change.before, was) != secret_in(change.after, is);
  };
  return weakened_member(object, old, "promotion.strategy.secretRef", is_changed);
}

bool has_target(const Environment& environment, const Target& target) {
  return std::ranges::any_of(environment.targets, [&](const Target& one) {
    const auto name = [](const Target& of) { return of.cluster ? of.cluster->ns + "/" + of.cluster->name : std::string(); };
    return one.ns == target.ns && name(one) == name(target);
  });
}

/// A target that leaves a protected environment, or comes to be in another one that has fewer gates.
Paths unprotected_targets(const kube::Object& object, const kube::Object& old) {
  Paths paths;
  const auto change = ProtectedChange::of(object, old);
  if (!change) return paths;
  for (const Environment& one : change->before.environments) {
    const Environment* now = find(change->after, one.name);
    if (now == nullptr || !is_protected(change->before, one)) continue;
    for (const Target& target : one.targets) {
      if (!has_target(*now, target)) paths.push_back(path_of(one, fmt::format("targets[{}]", target.ns)));
    }
    for (const Environment& other : change->after.environments) {
      if (other.name == one.name) continue;
      const Environment* was = find(change->before, other.name);
      const bool is_weaker = gate::weakened_gates(one.gates, other.gates).size() > 0 ||
                             (is_manual(change->before, one) && !is_manual(change->after, other));
      for (const Target& target : other.targets) {
        const bool is_new = was == nullptr || !has_target(*was, target);
        if (is_new && is_weaker && has_target(one, target)) {
          paths.push_back(path_of(other, fmt::format("targets[{}]", target.ns)));
        }
      }
    }
  }
  return paths;
}

std::vector<std::string> upstream_of(const PipelineSpec& spec, const Environment& environment) {
  if (environment.depends_on) return *environment.depends_on;
  const auto index = static_cast<std::size_t>(&environment - spec.environments.data());
  return index == 0 ? std::vector<std::string>{} : std::vector{spec.environments[index - 1].name};
}

/// What came after a protected environment comes after it no more.
Paths cut_dependencies(const kube::Object& object, const kube::Object& old) {
  Paths paths;
  const auto change = ProtectedChange::of(object, old);
  if (!change) return paths;
  for (const Environment& one : change->before.environments) {
    const Environment* now = find(change->after, one.name);
    if (now == nullptr) continue;
    const auto remaining = upstream_of(change->after, *now);
    for (const std::string& name : upstream_of(change->before, one)) {
      const Environment* upstream = find(change->before, name);
      const bool is_cut = upstream != nullptr && is_protected(change->before, *upstream) &&
                          std::ranges::find(remaining, name) == remaining.end();
      if (is_cut) paths.push_back(path_of(one, "dependsOn"));
    }
  }
  return paths;
}

/// A promotion waits for an approval: deleting the pipeline would let another one go on without it.
Paths deleted_in_flight(const kube::Object& object, const kube::Object& old) {
  Paths paths;
  if (!kube::is_deleting(object)) return paths;
  for (const auto& [name, environment] : old["status"]["environments"].members()) {
    if (!environment["waitingApproval"]["revision"].as_string().empty()) {
      paths.push_back(fmt::format("status.environments.{}.waitingApproval", name));
    }
  }
  return paths;
}

const Protection kProtectedRows[] = {
    {kPipelineKind, "spec.environments[].gates, soak", "create", kApprovals, false, weakened_gates},
    {kPipelineKind, "promotion.manual", "create", kApprovals, false, weakened_manual},
    {kPipelineKind, "promotion.strategy.secretRef", "create", kApprovals, false, changed_keys},
    {kPipelineKind, "spec.environments[].targets", "create", kApprovals, false, unprotected_targets},
    {kPipelineKind, "spec.environments[].dependsOn", "create", kApprovals, false, cut_dependencies},
    {kPipelineKind, "delete while an approval is waited for", "create", kApprovals, false, deleted_in_flight},
};

}  // namespace

std::span<const Protection> protections() { return kProtectedRows; }

std::string target_key(const AppRef& app, const Target& target, std::string_view pipeline_ns) {
  const FrozenTarget at = frozen_target(target, pipeline_ns);
  return fmt::format("{} {} {} {}", app.kind, app.name, at.ns, at.cluster);
}

std::vector<std::string> missing_approvals(const kube::Object& protecting, const PipelineSpec& spec,
                                           const Environment& environment, const Target& target, std::string_view ns) {
  std::vector<std::string> missing;
  const auto theirs = json::decode<PipelineSpec>(protecting["spec"], "spec", {.allow_unknown = true});
  if (!theirs) return missing;
  const std::string key = target_key(spec.app, target, ns);
  for (const Environment& one : theirs->environments) {
    const bool has_it = std::ranges::any_of(
        one.targets, [&](const Target& at) { return target_key(theirs->app, at, kube::ns(protecting)) == key; });
    if (!has_it) continue;
    std::vector<gate::GateSpec> approvals;
    std::ranges::copy_if(one.gates, std::back_inserter(approvals), [](const auto& gate) { return gate.approval.has_value(); });
    for (std::string& name : gate::weakened_gates(approvals, environment.gates)) missing.push_back(std::move(name));
    if (is_manual(*theirs, one) && !is_manual(spec, environment)) missing.emplace_back("manual");
  }
  return missing;
}

std::vector<std::string> protected_targets(const kube::Object& pipeline) {
  const auto spec = json::decode<PipelineSpec>(pipeline["spec"], "spec", {.allow_unknown = true});
  std::vector<std::string> keys;
  if (!spec || kube::is_deleting(pipeline)) return keys;
  for (const Environment& environment : spec->environments) {
    if (!is_protected(*spec, environment)) continue;
    for (const Target& target : environment.targets) keys.push_back(target_key(spec->app, target, kube::ns(pipeline)));
  }
  return keys;
}

}  // namespace slipway::delivery::pipeline
