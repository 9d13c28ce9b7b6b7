// The properties of policies as described structs, and how they are read. What places and changes components is read strictly,
// as kubevela/kubevela pkg/policy does; rules on how objects are kept may have members that are not known here.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/application/spec.h"
#include "json/codec.h"

namespace slipway::delivery::application {

struct TopologyProperties {
  std::optional<std::vector<std::string>> clusters;
  std::optional<std::map<std::string, std::string>> cluster_label_selector;
  bool may_be_empty = false;
  std::string ns;

  static void describe(auto& d) {
    d.doc("Where components go.");
    d.field("clusters", &TopologyProperties::clusters, "Names of the clusters.");
    d.field("clusterLabelSelector", &TopologyProperties::cluster_label_selector,
            "Labels of the clusters; not used beside names.");
    d.field("allowEmpty", &TopologyProperties::may_be_empty, "That no cluster has the labels is no error.");
    d.field("namespace", &TopologyProperties::ns, "Target namespace; absent: the application's.");
  }
};

struct TraitPatch {
  std::string type;
  Value properties;
  bool is_disabled = false;

  static void describe(auto& d) {
    d.doc("Changes, adds or drops a trait.");
    d.field("type", &TraitPatch::type, "Type of the trait.").required();
    d.field("properties", &TraitPatch::properties, "Merged over the trait's.");
    d.field("disable", &TraitPatch::is_disabled, "Drops the trait.");
  }
};

struct ComponentPatch {
  std::string name;
  std::string type;
  Value properties;
  std::vector<TraitPatch> traits;
  std::string external_revision;

  static void describe(auto& d) {
    d.doc("Changes components, or adds one.");
    d.field("name", &ComponentPatch::name, "A pattern of names; absent: all components, or all of the type.");
    d.field("type", &ComponentPatch::type, "Type; a component of another type is replaced.");
    d.field("properties", &ComponentPatch::properties, "Merged over the component's.");
    d.field("traits", &ComponentPatch::traits, "Changes of traits, by type.");
    d.field("externalRevision", &ComponentPatch::external_revision, "Replaces the component's.");
  }
};

struct OverrideProperties {
  std::vector<ComponentPatch> components;
  std::vector<std::string> selector;

  static void describe(auto& d) {
    d.doc("How components differ in a place.");
    d.field("components", &OverrideProperties::components, "Changes, in order.");
    d.field("selector", &OverrideProperties::selector, "Names of the components that are kept; empty: all.");
  }
};

struct ReplicationProperties {
  std::vector<std::string> keys;
  std::vector<std::string> selector;

  static void describe(auto& d) {
    d.doc("Which components are copied.");
    d.field("keys", &ReplicationProperties::keys, "One copy for each.");
    d.field("selector", &ReplicationProperties::selector, "Names of the components.");
  }
};

/// Whether one of the items, or of their members, equals `wanted`.
template <class Items, class Wanted, class Member = std::identity>
bool contains(const Items& items, const Wanted& wanted, Member member = {}) {
  return std::ranges::find(items, wanted, member) != std::ranges::end(items);
}

/// The policy's properties. Errors: Invalid, with one cause per fault below "properties"; the message names the policy.
template <class T>
Result<T> read_properties(const PolicySpec& policy) {
  auto read = json::decode<T>(policy.properties, "properties");
  if (read) return read;
  Status status = std::move(read).error();
  status.message = fmt::format("{} policy {}: {}", policy.type, policy.name, status.message);
  return fail(std::move(status));
}

}  // namespace slipway::delivery::application
