// Actors that bring a package to "ready", each a function over the whole package that does what it can and no more: it may run
// at any time, as often as one likes, and in any order with the others. And running them to a fix-point, within a bound.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "inventory.h"

namespace slipway::nephio {

struct Actor {
  std::string name;
  std::function<void(Inventory& package)> act;
};

/// The allocators: give each claim an address, each claim of a VLAN a number.
void allocate_addresses(Inventory& package);
void allocate_vlans(Inventory& package);
/// Interfaces ask for addresses, VLANs and attachments, and show what they got.
void specialize_interfaces(Inventory& package);
/// Data networks ask for pools.
void specialize_data_networks(Inventory& package);
/// Attachments that are waited for are made of claims and interfaces.
void make_attachments(Inventory& package);
/// Deployments of network functions wait for all that they own, and take it over into their spec.
void specialize_deployments(Inventory& package);

/// All of them, under the names of Nephio's functions.
const std::vector<Actor>& actors();

enum class Verdict : std::uint8_t {
  Ready,       // nothing changes any more, and every condition is True
  NoProgress,  // nothing changes any more, and some are not: `waiting`
  Endless,     // still changing after the bound
};
struct Convergence {
  Verdict verdict = Verdict::Endless;
  int rounds = 0;                      // that changed something
  std::vector<std::string> waiting{};  // "TYPE: message" of conditions that are not True
};
/// Runs the actors one after the other, again and again, until a whole round has changed nothing, at most `bound` rounds.
Convergence converge(Inventory& package, const std::vector<Actor>& by, int bound = 32);

}  // namespace slipway::nephio
