// The readiness gates of a revision, as a set in which each gate knows who asks for it. A gate goes when none asks for it any
// more, and only who asked takes that back; so an upgrade cannot drop what the deployer has added, nor the deployer what
// upstream demands. Sources are "package" (whoever may write the package), "upstream", and by name "user:alice", "policy:edge",
// "rollout:basens", "variant:edge".
// DIVERGES: kpt and Porch keep a plain list, which an upgrade replaces by upstream's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "delivery/package/condition.h"

namespace slipway::delivery::package {

/// Sorted by type; each gate has at least one source.
using Gates = std::vector<ReadinessGate>;

inline constexpr std::string_view kPackageSource = "package";
inline constexpr std::string_view kUpstreamSource = "upstream";
inline constexpr std::size_t kMostGates = 256;

const ReadinessGate* find(const Gates& gates, std::string_view type);
/// `owner`, where given, is who has to see to it.
void add_gate(Gates& gates, std::string_view type, std::string_view source, std::string_view owner = "");
/// Takes back what `source` asked for; the gate stays while others ask for it. NotFound: there is none. Forbidden: others ask
/// for it, this one did not. What "package" asked for may be taken back by every user.
Result<void> remove_gate(Gates& gates, std::string_view type, std::string_view source);

/// A PUT of the whole list by `source`, against what it had read: types that it added or left out are added or taken back in
/// what is there now. Invalid for the revision called `object`, with a cause for each, where that is not its to do, and for
/// types that the server computes.
Result<Gates> merge_gates(const Gates& base, const Gates& current, const Gates& sent, std::string_view source,
                          std::string_view object);

/// The gates of a Kptfile.
Gates gates_of(std::span<const std::string> types, std::string_view source);
/// Of a new package with this upstream: all that upstream asks for, whoever asked there.
Gates cloned(const Gates& upstream);
/// After an upgrade: upstream asks for what the new upstream has; what others ask for stays.
Gates upgraded(const Gates& local, const Gates& new_upstream);

}  // namespace slipway::delivery::package
