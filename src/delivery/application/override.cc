#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>

#include "delivery/application/policy.h"
#include "delivery/application/policy_properties.h"

namespace slipway::delivery::application {

namespace {

/// Objects are merged, all else in `patch` replaces. As upstream's merge an object does not replace a list that has items.
Value merged(const Value& base, const Value& patch) {
  Value result = base;
  for (const auto [key, value] : patch.members()) {
    const Value& old = base[key];
    if (value.is_object() && old.is_object()) {
      result = result.with(key, merged(old, value));
    } else if (!value.is_object() || !old.is_array() || old.empty()) {
      result = result.with(key, value);
    }
  }
  return result;
}

Value merged_properties(const Value& base, const Value& patch) {
  return patch.is_object() ? merged(base.is_object() ? base : Value::empty_object(), patch) : base;
}

/// The patch changes the last trait of its type; the others of that type go. DIVERGES: upstream puts the changed one in the
/// place of each, and does so with types that the patch does not name too.
void patch_trait(std::vector<TraitSpec>& traits, const TraitPatch& patch) {
  const auto is_meant = [&](const TraitSpec& trait) { return trait.type == patch.type; };
  const auto first = std::ranges::find_if(traits, is_meant);
  if (first == traits.end()) {
    if (!patch.is_disabled) traits.push_back({.type = patch.type, .properties = patch.properties});
    return;
  }
  if (!patch.is_disabled) {
    const auto last = std::find_if(traits.rbegin(), traits.rend(), is_meant);
    first->properties = merged_properties(last->properties, patch.properties);
  }
  const auto kept = patch.is_disabled ? first : first + 1;
  traits.erase(std::remove_if(kept, traits.end(), is_meant), traits.end());
}

void apply_patch(ComponentSpec& component, const ComponentPatch& patch) {
  component.properties = merged_properties(component.properties, patch.properties);
  if (!patch.external_revision.empty()) component.external_revision = patch.external_revision;
  for (const TraitPatch& trait : patch.traits) patch_trait(component.traits, trait);
}

ComponentSpec component_of(const ComponentPatch& patch, const std::string& name) {
  ComponentSpec made;
  made.name = name;
  made.type = patch.type;
  apply_patch(made, patch);
  return made;
}

/// A regular expression in which `*` stands for any text, found anywhere in a name.
Result<std::unique_ptr<re2::RE2>> name_pattern(const PolicySpec& policy, const std::string& name) {
  std::string text = name;
  re2::RE2::GlobalReplace(&text, "\\*", ".*");
  auto pattern = std::make_unique<re2::RE2>(text, re2::RE2::Quiet);
  if (!pattern->ok()) {
    return fail(Reason::Invalid,
                fmt::format("override policy {}: name {} is no pattern: {}", policy.name, name, pattern->error()));
  }
  return pattern;
}

bool is_plain_name(const std::string& name) {
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
}

void patch_unnamed(std::vector<ComponentSpec>& components, const ComponentPatch& patch) {
  for (ComponentSpec& component : components) {
    if (patch.type.empty() || patch.type == component.type) apply_patch(component, patch);
  }
}

Result<void> patch_named(std::vector<ComponentSpec>& components, const ComponentPatch& patch, const PolicySpec& policy) {
  SLIPWAY_TRY(pattern, name_pattern(policy, patch.name));
  bool has_matched = false;
  for (ComponentSpec& component : components) {
    if (!re2::RE2::PartialMatch(component.name, *pattern)) continue;
    has_matched = true;
    if (patch.type.empty() || patch.type == component.type) {
      apply_patch(component, patch);
    } else {
      component = component_of(patch, component.name);  // DIVERGES: upstream renames it to the pattern
    }
  }
  // DIVERGES: upstream adds a component that is called like the pattern also when that is no name.
  if (!has_matched && is_plain_name(patch.name)) components.push_back(component_of(patch, patch.name));
  return {};
}

}  // namespace

Result<std::vector<ComponentSpec>> override_components(const std::vector<ComponentSpec>& components, const PolicySpec& policy) {
  SLIPWAY_TRY(properties, read_properties<OverrideProperties>(policy));
  std::vector<ComponentSpec> changed = components;
  for (const ComponentPatch& patch : properties.components) {
    if (patch.name.empty()) {
      patch_unnamed(changed, patch);
    } else {
      SLIPWAY_TRY_VOID(patch_named(changed, patch, policy));
    }
  }
  if (!properties.selector.empty()) {
    std::erase_if(changed, [&](const ComponentSpec& one) { return !contains(properties.selector, one.name); });
  }
  return changed;
}

Result<std::vector<ComponentSpec>> replicate_components(const std::vector<ComponentSpec>& components,
                                                        const PolicySpec& policy) {
  if (policy.properties.is_null()) return components;
  SLIPWAY_TRY(properties, read_properties<ReplicationProperties>(policy));
  std::vector<ComponentSpec> kept;
  std::vector<ComponentSpec> originals;
  for (const ComponentSpec& component : components) {
    const bool is_selected = contains(properties.selector, component.name);
    if (is_selected && !contains(originals, component.name, &ComponentSpec::name)) originals.push_back(component);
    // A copy that another policy has made stays beside those of this one.
    if (!is_selected || !component.replica_key.empty()) kept.push_back(component);
  }
  if (originals.empty()) {
    return fail(Reason::Invalid, fmt::format("replication policy {}: no component is selected", policy.name));
  }
  for (ComponentSpec& original : originals) {
    for (const std::string& key : properties.keys) {
      original.replica_key = key;
      kept.push_back(original);
    }
  }
  return kept;
}

}  // namespace slipway::delivery::application
