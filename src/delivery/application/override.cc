#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>

#include "delivery/application/policy.h"
#include "delivery/application/policy_properties.h"

namespace slipway::delivery::application {

namespace {

constexpr std::size_t kMaxPatternBytes = 256;
constexpr std::int64_t kMaxPatternMemory = 64 << 10;

/// What merging has cost so far: members that were copied.
using Copied = std::size_t;

/// Objects are merged, all else in `patch` replaces. As upstream's merge an object does not replace a list that has items.
Value merged(const Value& base, const Value& patch, Copied& copied) {
  if (patch.empty()) return base;
  copied += base.size() + patch.size();
  json::ObjectBuilder result(base);
  for (const auto [key, value] : patch.members()) {
    const Value& old = base[key];
    if (value.is_object() && old.is_object()) {
      result.set(key, merged(old, value, copied));
    } else if (!value.is_object() || !old.is_array() || old.empty()) {
      result.set(key, value);
    }
  }
  return result.build();
}

Value merged_properties(const Value& base, const Value& patch, Copied& copied) {
  return patch.is_object() ? merged(base.is_object() ? base : Value::empty_object(), patch, copied) : base;
}

/// The patch changes the last trait of its type; the others of that type go. DIVERGES: upstream puts the changed one in the
/// place of each, and does so with types that the patch does not name too.
void patch_trait(std::vector<TraitSpec>& traits, const TraitPatch& patch, Copied& copied) {
  const auto is_meant = [&](const TraitSpec& trait) { return trait.type == patch.type; };
  const auto first = std::ranges::find_if(traits, is_meant);
  if (first == traits.end()) {
    if (!patch.is_disabled) traits.push_back({.type = patch.type, .properties = patch.properties});
    return;
  }
  if (!patch.is_disabled) {
    const auto last = std::find_if(traits.rbegin(), traits.rend(), is_meant);
    first->properties = merged_properties(last->properties, patch.properties, copied);
  }
  const auto kept = patch.is_disabled ? first : first + 1;
  traits.erase(std::remove_if(kept, traits.end(), is_meant), traits.end());
}

void apply_patch(ComponentSpec& component, const ComponentPatch& patch, Copied& copied) {
  component.properties = merged_properties(component.properties, patch.properties, copied);
  if (!patch.external_revision.empty()) component.external_revision = patch.external_revision;
  for (const TraitPatch& trait : patch.traits) patch_trait(component.traits, trait, copied);
}

ComponentSpec component_of(const ComponentPatch& patch, const std::string& name, Copied& copied) {
  ComponentSpec made;
  made.name = name;
  made.type = patch.type;
  apply_patch(made, patch, copied);
  return made;
}

/// A regular expression in which `*` stands for any text, found anywhere in a name.
class NamePattern {
 public:
  static Result<NamePattern> of(const PolicySpec& policy, const std::string& name) {
    NamePattern pattern;
    pattern.text_ = name;
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos) return pattern;
    const auto refused = [&](std::string_view why) {
      return fail(Reason::Invalid, fmt::format("override policy {}: name {} is no pattern: {}", policy.name,
                                               name.substr(0, kMaxPatternBytes), why));
    };
    if (name.size() > kMaxPatternBytes) return refused(fmt::format("longer than {} bytes", kMaxPatternBytes));
    std::string text = name;
    re2::RE2::GlobalReplace(&text, "\\*", ".*");
    re2::RE2::Options options(re2::RE2::Quiet);
    options.set_max_mem(kMaxPatternMemory);
    pattern.expression_ = std::make_unique<re2::RE2>(text, options);
    if (!pattern.expression_->ok()) return refused(pattern.expression_->error());
    return pattern;
  }

  bool matches(const std::string& name) const {
    return expression_ ? re2::RE2::PartialMatch(name, *expression_) : name.contains(text_);
  }

 private:
  std::string text_;
  std::unique_ptr<re2::RE2> expression_;  // absent for a text that stands for itself
};

bool is_plain_name(const std::string& name) {
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
}

/// Applies the patches of one policy, until they have cost too much.
class Override {
 public:
  Override(const PolicySpec& policy, std::vector<ComponentSpec> components, Copied& copied)
      : policy_(policy), components_(std::move(components)), copied_(copied) {}

  Result<void> apply(const ComponentPatch& patch) {
    if (!patch.name.empty()) return apply_named(patch);
    for (ComponentSpec& component : components_) {
      SLIPWAY_TRY_VOID(spend_look());
      if (patch.type.empty() || patch.type == component.type) apply_patch(component, patch, copied_);
    }
    return {};
  }

  std::vector<ComponentSpec> take() { return std::move(components_); }

 private:
  Result<void> apply_named(const ComponentPatch& patch) {
    SLIPWAY_TRY(pattern, NamePattern::of(policy_, patch.name));
    bool has_matched = false;
    for (ComponentSpec& component : components_) {
      SLIPWAY_TRY_VOID(spend_look());
      if (!pattern.matches(component.name)) continue;
      has_matched = true;
      if (patch.type.empty() || patch.type == component.type) {
        apply_patch(component, patch, copied_);
      } else {
        component = component_of(patch, component.name, copied_);  // DIVERGES: upstream renames it to the pattern
      }
    }
    // DIVERGES: upstream adds a component that is called like the pattern also when that is no name.
    if (!has_matched && is_plain_name(patch.name)) components_.push_back(component_of(patch, patch.name, copied_));
    return {};
  }

  /// Before a component is looked at.
  Result<void> spend_look() {
    if (++copied_ <= kMaxOverrideCopies) return {};
    return fail(Reason::Invalid,
                fmt::format("override policy {}: it merges more than {} members; change fewer components, or fewer "
                            "of their properties",
                            policy_.name, kMaxOverrideCopies));
  }

  const PolicySpec& policy_;
  std::vector<ComponentSpec> components_;
  Copied& copied_;
};

}  // namespace

Result<std::vector<ComponentSpec>> override_components(const std::vector<ComponentSpec>& components, const PolicySpec& policy,
                                                       std::size_t* spent) {
  SLIPWAY_TRY(properties, read_properties<OverrideProperties>(policy));
  if (properties.components.size() > kMaxOverridePatches) {
    return fail(Reason::Invalid, fmt::format("override policy {}: {} components are too many: at most {}", policy.name,
                                             properties.components.size(), kMaxOverridePatches));
  }
  Copied own = 0;
  Override change(policy, components, spent == nullptr ? own : *spent);
  for (const ComponentPatch& patch : properties.components) SLIPWAY_TRY_VOID(change.apply(patch));
  std::vector<ComponentSpec> changed = change.take();
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
  if (originals.size() * properties.keys.size() > kMaxReplicas) {
    return fail(Reason::Invalid, fmt::format("replication policy {}: {} components with {} keys are more than {} copies",
                                             policy.name, originals.size(), properties.keys.size(), kMaxReplicas));
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
