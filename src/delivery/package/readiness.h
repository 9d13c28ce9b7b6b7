// Whether a revision is ready, and what it still waits for: the punch list that the seed asks for (kptdev/kpt#3455). Ready
// means that each gate's condition is there and True; conditions without a gate do not count, and without gates it is ready.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "delivery/package/conditions.h"
#include "delivery/package/gates.h"
#include "delivery/package/spec.h"

namespace slipway::delivery::package {

/// Reason of ReadyToPropose: a person may propose it again, and nothing does so by itself.
inline constexpr std::string_view kRejected = "Rejected";

/// A gate that is not met.
struct Unmet {
  std::string type{};
  std::optional<Truth> status{};  // nullopt: there is no such condition
  std::string reason{};
  std::string message{};
  std::string owner{};                 // who has to see to it: the gate's owner, or who wrote the condition
  std::optional<Duration> age{};       // of the condition's status
  std::vector<std::string> sources{};  // who asks for it

  /// "ipam is False (owner alice, for 3m): no address left"
  std::string text() const;
};
/// In the order of the gates.
std::vector<Unmet> unmet(const Gates& gates, const Conditions& conditions, const Now& now);
bool is_ready(const Gates& gates, const Conditions& conditions);
/// "2/3": gates that are met, of all. The column READY.
std::string ready_text(const Gates& gates, const Conditions& conditions);
/// A cause for each, below spec.readinessGates, with Porch's words first.
std::vector<Cause> unmet_causes(const std::vector<Unmet>& missing);

/// How the last rendering of the content ended.
enum class Render : std::uint8_t {
  Nothing,  // the package has no pipeline
  Running,
  Passed,
  Failed,
  Unreadable,  // its Kptfile cannot be read: what it says of gates, conditions and a pipeline is not known
};
inline auto describe_enum(Render) {
  return json::enum_names<Render>({{Render::Nothing, "Nothing"},
                                   {Render::Running, "Running"},
                                   {Render::Passed, "Passed"},
                                   {Render::Failed, "Failed"},
                                   {Render::Unreadable, "Unreadable"}});
}

/// The reason of the two below while the Kptfile cannot be read.
inline constexpr std::string_view kKptfileUnreadable = "KptfileUnreadable";
/// ReadyToPropose and ReadyToApprove of a revision: none once it is published. `error` is why the Kptfile cannot be
/// read, or the rendering failed.
Conditions aggregates(Lifecycle lifecycle, const std::vector<Unmet>& missing, Render render, std::string_view error = "");

}  // namespace slipway::delivery::package
