// A package as the functions of a network look at it: objects by what they are, and the conditions of its Kptfile, whose types
// are names of objects and whose reasons are the owners that wait for them. Nephio's functions (ipam, vlan, interface, dnn,
// nad, nfdeploy) agree on no more than that; these are actors of the same behaviour in our own words, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace slipway::nephio {

using json::Value;

// What functions call the kinds.
inline constexpr std::string_view kIpClaim = "ipam.resource.nephio.org/v1alpha1.IPClaim";
inline constexpr std::string_view kVlanClaim = "vlan.resource.nephio.org/v1alpha1.VLANClaim";
inline constexpr std::string_view kInterface = "req.nephio.org/v1alpha1.Interface";
inline constexpr std::string_view kDataNetwork = "req.nephio.org/v1alpha1.DataNetwork";
inline constexpr std::string_view kCapacity = "req.nephio.org/v1alpha1.Capacity";
inline constexpr std::string_view kDependency = "req.nephio.org/v1alpha1.Dependency";
inline constexpr std::string_view kAttachment = "k8s.cni.cncf.io/v1.NetworkAttachmentDefinition";
inline constexpr std::string_view kDeployment = "workload.nephio.org/v1alpha1.NFDeployment";
inline constexpr std::string_view kCluster = "infra.nephio.org/v1alpha1.WorkloadCluster";
inline constexpr std::string_view kNetwork = "infra.nephio.org/v1alpha1.Network";

inline constexpr const char* kOwner = "specializer.nephio.org/owner";
inline constexpr const char* kFor = "specializer.nephio.org/for";

/// "apiVersion.Kind.name": how conditions and owners name an object.
std::string ref_of(const Value& object);
/// "apiVersion.Kind".
std::string kind_of(const Value& object);
/// What comes after "KIND." in a reference; "" for a reference to another kind.
std::string name_in(std::string_view ref, std::string_view kind);

class Inventory {
 public:
  /// The documents of a package, its Kptfile among them.
  explicit Inventory(std::vector<Value> objects);

  /// By name.
  std::vector<Value> all(std::string_view kind) const;
  /// Null when absent.
  Value find(std::string_view ref) const;
  /// Replaces the object of that name, or adds it.
  void put(const Value& object);

  const std::vector<Value>& conditions() const { return conditions_; }
  /// Null when absent.
  Value condition(std::string_view type) const;
  bool is_true(std::string_view type) const { return condition(type)["status"].as_string() == "True"; }
  /// In its place, at the end when it is new; an empty message or reason is left out.
  void say(const std::string& type, bool is_true, const std::string& message, const std::string& reason);
  /// The same, with the reason that the condition has.
  void say(const std::string& type, bool is_true, const std::string& message);
  void add_gate(const std::string& type);

  /// All objects by reference, the Kptfile with its conditions among them; every mapping sorted by its keys.
  std::vector<Value> items() const;

 private:
  std::vector<Value> objects_;
  Value kptfile_;
  std::vector<Value> conditions_;
};

/// With the keys of every mapping in order.
Value sorted(const Value& value);

}  // namespace slipway::nephio
