// What policies say, decided before anything is done: where components go (topology), how they differ there (override,
// replication), and how their objects are kept (garbage-collect, apply-once, shared-resource, take-over, read-only,
// resource-update). Pure. Follows kubevela/kubevela apis/core.oam.dev/v1alpha1 and pkg/policy,
// pkg/workflow/providers/multicluster.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/application/spec.h"
#include "json/value.h"

namespace slipway::delivery::application {

struct Placement {
  std::string cluster;  // "local": the hub
  std::string ns;       // empty: the application's
  auto operator<=>(const Placement&) const = default;
};

/// A cluster that topologies choose from.
struct ClusterEntry {
  std::string name;
  std::map<std::string, std::string> labels;
};

/// The placements of some topology policies, each once, in order; without a topology the hub. Errors: Invalid for unknown
/// fields and for a topology that names a cluster that is not there or chooses none (unless allowEmpty).
Result<std::vector<Placement>> placements(const std::vector<PolicySpec>& topologies, const std::vector<ClusterEntry>& clusters);

/// Changes of components in one override policy, and copies that one replication policy makes.
inline constexpr std::size_t kMaxOverridePatches = 500;
inline constexpr std::size_t kMaxReplicas = 10'000;
/// Members of properties that one override policy may copy while it merges, with the names that it compares; override policies
/// that one step applies, together.
inline constexpr std::size_t kMaxOverrideCopies = 2'000'000;

/// The components after one override policy's properties. Heavy: for the compute pool. Rules: notes kubevela.md §2.9.
/// `spent` counts what several policies that are applied together have cost, for one limit of all.
Result<std::vector<ComponentSpec>> override_components(const std::vector<ComponentSpec>& components, const PolicySpec& policy,
                                                       std::size_t* spent = nullptr);
/// One copy of each selected component per key.
Result<std::vector<ComponentSpec>> replicate_components(const std::vector<ComponentSpec>& components, const PolicySpec& policy);

/// Which objects a rule speaks of: AND across the members given, OR inside one; nothing given matches nothing.
struct RuleSelector {
  std::vector<std::string> component_names{}, component_types{}, oam_types{}, trait_types{}, resource_types{}, resource_names{};
};
/// An object with its labels, as rules see it.
struct RuleSubject {
  std::string component, component_type, trait_type, oam_type /* WORKLOAD or TRAIT */, kind, name;
};
RuleSubject subject_of(const Value& object);
bool matches(const RuleSelector& selector, const RuleSubject& subject);

enum class CollectStrategy : std::uint8_t { OnAppUpdate, OnAppDelete, Never };
struct CollectRule {
  RuleSelector selector;
  CollectStrategy strategy = CollectStrategy::OnAppUpdate;
  std::string propagation;  // "", orphan, cascading
};
struct ApplyOnceRule {
  RuleSelector selector;
  std::vector<std::string> paths;
  std::string affect;  // "", onUpdate, onStateKeep, always
};
struct UpdateRule {
  RuleSelector selector;
  std::string op;  // patch, replace
  std::vector<std::string> recreate_fields;
};

/// All policies on how objects are kept, merged by type.
struct KeepPolicies {
  std::optional<std::int64_t> revision_limit;
  bool keeps_legacy_resource = false;
  bool continues_on_failure = false;
  bool collects_in_dependency_order = false;
  std::vector<CollectRule> collect;
  bool is_apply_once = false;  // without rules: the whole application is left alone once it is delivered
  std::vector<ApplyOnceRule> apply_once;
  std::vector<RuleSelector> shared, take_over, read_only;
  std::vector<UpdateRule> update;
  bool is_debug = false;

  CollectStrategy collect_strategy(const RuleSubject& subject) const;
  std::string propagation(const RuleSubject& subject) const;
  /// Paths whose live value is kept; {"*"}: the whole object. `on_state_keep` tells drift repair from delivery.
  std::vector<std::string> kept_paths(const RuleSubject& subject, bool on_state_keep) const;
  bool is_shared(const RuleSubject& subject) const;
  bool may_take_over(const RuleSubject& subject) const;
  bool is_read_only(const RuleSubject& subject) const;
  const UpdateRule* update_rule(const RuleSubject& subject) const;
};
Result<KeepPolicies> keep_policies(const std::vector<PolicySpec>& policies);

/// The steps that run when spec.workflow is absent: notes kubevela.md §3.1. Value: a list of steps in wire form.
Value generated_steps(const ApplicationSpec& spec);

}  // namespace slipway::delivery::application
