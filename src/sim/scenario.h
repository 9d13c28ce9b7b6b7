// A story to be told in many worlds: what a user does, when it is over, and how its end looks once everything that may differ
// between two good runs (uids, times, names made from them) is taken out. A run with faults must end as the clean run does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/world.h"

namespace slipway::sim {

struct Scenario {
  std::string name;
  /// Everything the user does, up to the end of the delivery. Uses the world's patient client.
  std::function<Task<>(World& world)> script;
  /// Virtual time after which a run counts as stuck.
  Duration limit = std::chrono::hours{2};
  /// What must hold at every moment: empty while it does, else what is wrong. Looked at after every change of the store.
  std::function<std::string(World& world)> promise{};
  /// Process: pods are folders with played supervisors (machine.h), and files and processes have points too.
  plane::PodRuntimeKind pods = plane::PodRuntimeKind::Simulated;
  bool has_edge = false;  // there is a second cluster (World::kEdge)
  /// Of so many points one is tried where nothing else is asked for (SLIPWAY_SIM_EVERY): what a long scenario costs.
  std::uint64_t every = 1;
};

/// Those that every crash point is tried on: a diamond whose join fails once, a deadline, a rerun, workflows that wait for each
/// other's end and for a Job, steps that create objects, a Deployment that is rolled, stuck and rolled back, the removal of all
/// that a user can make, an application over two clusters, a run of workflow steps, rollouts (rollout_scenarios.h), and an
/// author who loses all rights. Together they give work to every controller.
std::vector<Scenario> scenarios();

struct Ending {
  bool is_over = false;  // the script ended within the limit
  std::string state;     // normalised; see normalised_state()
  std::uint64_t points = 0;
  std::vector<Point> recorded;  // of a run without faults
  std::map<std::string, std::uint64_t> points_by_controller;
  std::vector<Fault> struck;
  std::uint64_t disk_operations = 0;
  Duration took{0};            // virtual
  std::string broken_promise;  // the first; empty: kept
};

/// Runs the scenario to its end and a while beyond (clean-up), in a world of its own.
Ending play(const Scenario& scenario, WorldOptions options);

/// Namespaces, definitions, claims, ConfigMaps, Secrets, all objects of the own kinds, Jobs, Pods and the four Workflow events,
/// one line each, sorted; without uids, times, revisions and hashes. Also says what is left over: objects that are being
/// deleted, whose controller is gone, or whose namespace is (events of any reason then).
std::string normalised_state(World& world);

/// Applies a manifest (YAML, several documents) as the user, or through `as`; into "default" unless it says otherwise.
Task<> apply_text(World& world, std::string yaml, client::Client* as = nullptr);
/// Waits until an object has a condition with status True; looks every virtual second.
Task<> wait_for_condition(World& world, kube::Resource resource, std::string name, std::vector<std::string> any_of,
                          std::string space = "default");

/// Waits until `holds` is true of an object in "default" (null while it is not there); looks every half second.
Task<> wait_until(World& world, kube::Resource resource, std::string name, std::function<bool(const kube::Object&)> holds);
/// Merges into the status of an object in "default", as the user.
Task<> patch_status(World& world, kube::Resource resource, std::string name, json::Value status);

/// Asks for the deletion; that it has gone already is fine (an earlier answer may have been lost).
Task<> remove(World& world, kube::Resource resource, kube::ObjectKey key, std::string propagation);
Task<> wait_until_gone(World& world, kube::Resource resource, kube::ObjectKey key);

}  // namespace slipway::sim
