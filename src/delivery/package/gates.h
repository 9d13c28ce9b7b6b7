// The readiness gates of a revision, as a set in which each gate knows who asks for it. A gate is removed when none asks for it
// any more. Who asked takes that back; who may approve the revision drops any gate, also one of the upstream, and upgrades
// leave it dropped. Sources are "package" (every writer of the package), "upstream", and by name "user:alice", "policy:edge",
// "rollout:basens", "variant:edge", "git:ann@example.org" (the unverified author of a commit).
// DIVERGES: kpt and Porch keep a plain list, which an upgrade replaces by upstream's.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "delivery/package/condition.h"
#include "delivery/package/spec.h"

namespace slipway::delivery::package {

/// Sorted by type; each gate has at least one source.
using Gates = std::vector<ReadinessGate>;

inline constexpr std::string_view kPackageSource = "package";
inline constexpr std::string_view kUpstreamSource = "upstream";
inline constexpr std::string_view kUserSource = "user:";
inline constexpr std::string_view kGitSource = "git:";
inline constexpr std::size_t kMostGates = 256;

const ReadinessGate* find(const Gates& gates, std::string_view type);
/// `owner` and `at`, where given, replace those of a gate that is there.
void add_gate(Gates& gates, std::string_view type, std::string_view source, std::string_view owner = "",
              std::optional<GateAt> at = std::nullopt);

/// What a writer may do to gates that others asked for.
enum class GateRight : std::uint8_t { Own, Any };
/// Who writes gates: a source, with the names (the user and its groups) that a gate's owner is compared with.
struct GateWriter {
  std::string source{};
  std::vector<std::string> names{};
  GateRight right = GateRight::Own;
};

/// A PUT of the whole list by `who`, against what it had read: types that it added or left out are added or taken back in
/// what is there now, and owner and step of the others are changed. Invalid for the revision called `object`, with a cause for
/// each, where that is not its to do, and for types that the server computes.
Result<Gates> merge_gates(const Gates& base, const Gates& current, const Gates& sent, const GateWriter& who,
                          std::string_view object);
/// Whether merge_gates() needs GateRight::Any.
bool needs_any_right(const Gates& base, const Gates& current, const Gates& sent, const GateWriter& who);

/// Those that are asked at the next step of a revision in this lifecycle; of a published one all.
Gates gates_at(const Gates& gates, Lifecycle lifecycle);

/// The gates of a Kptfile.
Gates gates_of(std::span<const std::string> types, std::string_view source);
/// Of a new package with this upstream: all that upstream asks for, whoever asked there.
Gates cloned(const Gates& upstream);
/// After an upgrade: upstream asks for what the new upstream has; what others ask for stays, and what the old upstream had and
/// the local revision has not was dropped and stays so.
Gates upgraded(const Gates& local, const Gates& old_upstream, const Gates& new_upstream);

}  // namespace slipway::delivery::package
