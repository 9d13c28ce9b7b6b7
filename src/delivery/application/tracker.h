// ResourceTrackers: which objects an application has made, recorded before they are applied, so that a crash leaks nothing.
// One tracker per generation of the application (`<app>-v<generation>-<namespace>`, after a publish version
// `<app>-<version>-<namespace>`), and a root tracker (`<app>-<namespace>`) for what outlives updates. Pure; the manifest stands
// in `raw`, from which a lost object comes back without rendering. Follows kubevela/kubevela pkg/resourcetracker.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "delivery/application/kind.h"
#include "kube/object.h"

namespace slipway::delivery::application {

/// What tells one object of all clusters from another.
struct ObjectId {
  std::string cluster;  // kHub for the application's own
  std::string group;
  std::string kind;
  std::string ns;
  std::string name;

  auto operator<=>(const ObjectId&) const = default;
  /// `Deployment default/web` or `Deployment default/web (cluster prod)`.
  std::string to_string() const;
};

/// An entry of spec.managedResources.
struct ManagedResource {
  std::string cluster;  // kHub for the application's own
  std::string component;
  std::string trait;
  std::string creator;  // workflow, policy
  std::string api_version, kind, ns, name;
  Value raw;             // the manifest; with metadata only under apply-once
  bool is_whole = true;  // raw is the whole manifest
  std::string digest{};  // of the whole manifest, salted, where it is kept in a Secret (secret_manifests.h)
  bool skips_collection = false;
  bool is_deleted = false;  // KubeVela was about to delete it: it is not to be kept, nor to be lost

  ObjectId id() const;
  Value to_json() const;
  static ManagedResource from_json(const Value& entry);
};

/// The revisions of components are KubeVela's alone: they are collected with the application.
enum class TrackerType : std::uint8_t { Versioned, Root, ComponentRevisions };

/// A tracker as it is stored.
struct Tracker {
  std::string name;
  TrackerType type = TrackerType::Versioned;
  std::int64_t generation = 0;  // of the application
  std::vector<ManagedResource> resources{};
  std::string holder{};     // the rollout that keeps it (delivery/family/handover.h); empty: the application does
  bool is_readable = true;  // false: what it holds is compressed in a way that cannot be read
  Value object{};           // as read; null: not there yet

  /// Null when it does not hold the object.
  const ManagedResource* find(const ObjectId& id) const;
  /// Adds or replaces entries. False when all were there already, as they are.
  bool record(const std::vector<ManagedResource>& entries);
  Value to_object(const kube::Object& application, const std::string& revision) const;
  static Tracker from_object(const Value& object);
};

/// The entries of a stored tracker. Not a list when they are compressed in a way that cannot be read.
Value entries_of(const Value& tracker);
/// `spec` with these entries, compressed when they are large.
Value with_entries(const Value& spec, const Value& entries);
std::string tracker_name(const kube::Object& application, TrackerType type);
/// Returns the name with a hash of the application's uid, for when another application's tracker has the plain name. Two
/// namespaces can lead to the same one: `web` in `x-team-a` at v1, and `web` in `team-a` published as `v1-x`.
std::string tracker_name_apart(const kube::Object& application, TrackerType type);
/// True if the tracker has either of the two names.
bool is_named_for(const Tracker& tracker, const kube::Object& application, TrackerType type);
/// Whether the tracker was made for this application, and not for an earlier one of its name.
bool belongs_to(const Value& tracker, const kube::Object& application);

}  // namespace slipway::delivery::application
