#include "delivery/application/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/policy_properties.h"
#include "json/codec.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::application {

namespace {

struct SelectorWire : RuleSelector {
  static void describe(auto& d) {
    d.doc("Which objects a rule speaks of.");
    d.field("componentNames", &SelectorWire::component_names, "Names of components.");
    d.field("componentTypes", &SelectorWire::component_types, "Types of components.");
    d.field("oamTypes", &SelectorWire::oam_types, "WORKLOAD or TRAIT.");
    d.field("traitTypes", &SelectorWire::trait_types, "Types of traits.");
    d.field("resourceTypes", &SelectorWire::resource_types, "Kinds of objects.");
    d.field("resourceNames", &SelectorWire::resource_names, "Names of objects.");
    d.ignore_unknown();
  }
};

struct StrategyWire {
  std::vector<std::string> path;
  std::string affect;
  std::string op;
  std::vector<std::string> recreate_fields;

  static void describe(auto& d) {
    d.doc("What a rule of apply-once or resource-update does.");
    d.field("path", &StrategyWire::path, "Paths whose live value is kept.");
    d.field("affect", &StrategyWire::affect, "When it is kept.").one_of({"", "onUpdate", "onStateKeep", "always"});
    d.field("op", &StrategyWire::op, "How an object is changed.").one_of({"", "patch", "replace"});
    d.field("recreateFields", &StrategyWire::recreate_fields, "Paths whose change makes the object anew.");
    d.ignore_unknown();
  }
};

struct RuleWire {
  SelectorWire selector;
  Value strategy;  // text of garbage-collect, else a StrategyWire
  std::string propagation;

  static void describe(auto& d) {
    d.doc("A rule of a policy.");
    d.field("selector", &RuleWire::selector, "Which objects it speaks of.");
    d.field("strategy", &RuleWire::strategy, "What is done.");
    d.field("propagation", &RuleWire::propagation, "How an object is deleted.").one_of({"", "orphan", "cascading"});
    d.ignore_unknown();
  }
};

struct PolicyWire {
  std::optional<std::int64_t> revision_limit;
  bool keeps_legacy_resource = false;
  bool continues_on_failure = false;
  std::string order;
  bool is_enabled = false;
  std::vector<RuleWire> rules;

  static void describe(auto& d) {
    d.doc("The properties of a policy that says how objects are kept.");
    d.field("applicationRevisionLimit", &PolicyWire::revision_limit, "Revisions that are kept.").minimum(0);
    d.field("keepLegacyResource", &PolicyWire::keeps_legacy_resource, "Outdated objects are kept.");
    d.field("continueOnFailure", &PolicyWire::continues_on_failure, "Collection goes on though the workflow has failed.");
    d.field("order", &PolicyWire::order, "Order of deletion.").one_of({"", "dependency"});
    d.field("enable", &PolicyWire::is_enabled, "The policy holds.");
    d.field("rules", &PolicyWire::rules, "The first that matches an object holds for it.");
    d.ignore_unknown();
  }
};

/// Lists are joined, a boolean is true if any is, of other members the first stays.
Value joined_properties(const Value& base, const Value& more) {
  json::ObjectBuilder result(base);
  for (const auto [key, value] : more.members()) {
    const Value& old = base[key];
    if (!base.has(key) || (old.is_bool() && value.is_bool() && value.as_bool())) {
      result.set(key, value);
    } else if (old.is_array() && value.is_array()) {
      json::ArrayBuilder both;
      for (const Value& item : old.items()) both.add(item);
      for (const Value& item : value.items()) both.add(item);
      result.set(key, both.build());
    }
  }
  return result.build();
}

/// All policies of one type as one; all defaults when there is none.
Result<PolicyWire> read_merged(const std::vector<PolicySpec>& policies, std::string_view type) {
  Value properties = Value::empty_object();
  std::string names;
  for (const PolicySpec& policy : policies) {
    if (policy.type != type) continue;
    names += (names.empty() ? "" : ", ") + policy.name;
    if (!policy.properties.is_null() && !policy.properties.is_object()) {
      return fail(Reason::Invalid, fmt::format("{} policy {}: properties must be an object", type, policy.name));
    }
    properties = joined_properties(properties, policy.properties);
  }
  auto read = json::decode<PolicyWire>(properties, "properties");
  if (read) return read;
  Status status = std::move(read).error();
  status.message = fmt::format("{} policy {}: {}", type, names, status.message);
  return fail(std::move(status));
}

Result<CollectStrategy> read_collect_strategy(const Value& text, const std::string& path) {
  const std::string_view name = text.as_string();
  if (text.is_null() || name == "onAppUpdate") return CollectStrategy::OnAppUpdate;
  if (name == "onAppDelete") return CollectStrategy::OnAppDelete;
  if (name == "never") return CollectStrategy::Never;
  Status status;
  status.reason = Reason::Invalid;
  status.message = fmt::format("garbage-collect policy: {} must be onAppUpdate, onAppDelete or never", path);
  status.causes = {field::not_supported(path, json::print(text), {"never", "onAppDelete", "onAppUpdate"})};
  return fail(std::move(status));
}

Result<void> read_collect(KeepPolicies& keep, const std::vector<PolicySpec>& policies) {
  SLIPWAY_TRY(wire, read_merged(policies, "garbage-collect"));
  keep.revision_limit = wire.revision_limit;
  keep.keeps_legacy_resource = wire.keeps_legacy_resource;
  keep.continues_on_failure = wire.continues_on_failure;
  keep.collects_in_dependency_order = wire.order == "dependency";
  for (std::size_t at = 0; at < wire.rules.size(); ++at) {
    RuleWire& rule = wire.rules[at];
    SLIPWAY_TRY(strategy, read_collect_strategy(rule.strategy, fmt::format("properties.rules[{}].strategy", at)));
    keep.collect.push_back({.selector = std::move(rule.selector), .strategy = strategy, .propagation = rule.propagation});
  }
  return {};
}

Result<StrategyWire> read_strategy(const Value& strategy, std::string_view type, std::size_t at) {
  if (strategy.is_null()) return StrategyWire();
  auto read = json::decode<StrategyWire>(strategy, fmt::format("properties.rules[{}].strategy", at));
  if (read) return read;
  Status status = std::move(read).error();
  status.message = fmt::format("{} policy: {}", type, status.message);
  return fail(std::move(status));
}

Result<void> read_apply_once(KeepPolicies& keep, const std::vector<PolicySpec>& policies) {
  SLIPWAY_TRY(wire, read_merged(policies, "apply-once"));
  keep.is_apply_once = wire.is_enabled;
  for (std::size_t at = 0; at < wire.rules.size(); ++at) {
    SLIPWAY_TRY(strategy, read_strategy(wire.rules[at].strategy, "apply-once", at));
    keep.apply_once.push_back(
        {.selector = std::move(wire.rules[at].selector), .paths = std::move(strategy.path), .affect = strategy.affect});
  }
  return {};
}

Result<void> read_update(KeepPolicies& keep, const std::vector<PolicySpec>& policies) {
  SLIPWAY_TRY(wire, read_merged(policies, "resource-update"));
  for (std::size_t at = 0; at < wire.rules.size(); ++at) {
    SLIPWAY_TRY(strategy, read_strategy(wire.rules[at].strategy, "resource-update", at));
    keep.update.push_back({.selector = std::move(wire.rules[at].selector),
                           .op = strategy.op,
                           .recreate_fields = std::move(strategy.recreate_fields)});
  }
  return {};
}

Result<std::vector<RuleSelector>> read_selectors(const std::vector<PolicySpec>& policies, std::string_view type) {
  SLIPWAY_TRY(wire, read_merged(policies, type));
  std::vector<RuleSelector> selectors;
  for (RuleWire& rule : wire.rules) selectors.push_back(std::move(rule.selector));
  return selectors;
}

template <class Rule>
const Rule* first_match(const std::vector<Rule>& rules, const RuleSubject& subject) {
  const auto found = std::ranges::find_if(rules, [&](const Rule& rule) { return matches(rule.selector, subject); });
  return found == rules.end() ? nullptr : &*found;
}

bool any_matches(const std::vector<RuleSelector>& selectors, const RuleSubject& subject) {
  return std::ranges::any_of(selectors, [&](const RuleSelector& selector) { return matches(selector, subject); });
}

}  // namespace

RuleSubject subject_of(const Value& object) {
  return {.component = std::string(kube::label(object, "app.oam.dev/component")),
          .component_type = std::string(kube::label(object, "workload.oam.dev/type")),
          .trait_type = std::string(kube::label(object, "trait.oam.dev/type")),
          .oam_type = std::string(kube::label(object, "app.oam.dev/resourceType")),
          .kind = std::string(kube::kind(object)),
          .name = std::string(kube::name(object))};
}

bool matches(const RuleSelector& selector, const RuleSubject& subject) {
  const std::pair<const std::vector<std::string>*, const std::string*> tests[] = {
      {&selector.component_names, &subject.component}, {&selector.component_types, &subject.component_type},
      {&selector.oam_types, &subject.oam_type},        {&selector.trait_types, &subject.trait_type},
      {&selector.resource_types, &subject.kind},       {&selector.resource_names, &subject.name}};
  bool has_matched = false;
  for (const auto& [wanted, found] : tests) {
    if (wanted->empty()) continue;
    if (found->empty() || !contains(*wanted, *found)) return false;
    has_matched = true;
  }
  return has_matched;
}

CollectStrategy KeepPolicies::collect_strategy(const RuleSubject& subject) const {
  const CollectRule* rule = first_match(collect, subject);
  return rule ? rule->strategy : CollectStrategy::OnAppUpdate;
}

std::string KeepPolicies::propagation(const RuleSubject& subject) const {
  const CollectRule* rule = first_match(collect, subject);
  return rule ? rule->propagation : "";
}

std::vector<std::string> KeepPolicies::kept_paths(const RuleSubject& subject, bool on_state_keep) const {
  if (!is_apply_once) return {};
  if (apply_once.empty()) return on_state_keep ? std::vector<std::string>{"*"} : std::vector<std::string>{};
  const ApplyOnceRule* rule = first_match(apply_once, subject);
  if (!rule) return {};
  const bool holds =
      rule->affect.empty() || rule->affect == "always" || rule->affect == (on_state_keep ? "onStateKeep" : "onUpdate");
  return holds ? rule->paths : std::vector<std::string>{};
}

bool KeepPolicies::is_shared(const RuleSubject& subject) const { return any_matches(shared, subject); }
bool KeepPolicies::may_take_over(const RuleSubject& subject) const { return any_matches(take_over, subject); }
bool KeepPolicies::is_read_only(const RuleSubject& subject) const { return any_matches(read_only, subject); }
const UpdateRule* KeepPolicies::update_rule(const RuleSubject& subject) const { return first_match(update, subject); }

Result<KeepPolicies> keep_policies(const std::vector<PolicySpec>& policies) {
  KeepPolicies keep;
  SLIPWAY_TRY_VOID(read_collect(keep, policies));
  SLIPWAY_TRY_VOID(read_apply_once(keep, policies));
  SLIPWAY_TRY_VOID(read_update(keep, policies));
  SLIPWAY_TRY(shared, read_selectors(policies, "shared-resource"));
  SLIPWAY_TRY(take_over, read_selectors(policies, "take-over"));
  SLIPWAY_TRY(read_only, read_selectors(policies, "read-only"));
  keep.shared = std::move(shared);
  keep.take_over = std::move(take_over);
  keep.read_only = std::move(read_only);
  keep.is_debug = contains(policies, "debug", &PolicySpec::type);
  return keep;
}

}  // namespace slipway::delivery::application
