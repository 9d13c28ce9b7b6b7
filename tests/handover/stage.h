// An application that is delivered by one way and then by another, in virtual time on a whole plane, and what must hold after
// each change of the store until it is deleted: its Service stays the same object, enough of its pods are ready, and no more
// pods are there than a hand-over needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle_plane.h"

namespace slipway::handover_test {

using json::Value;

/// How an application's component is delivered.
enum class Way : std::uint8_t { Normal, BlueGreen, Plan, Trait, Standalone, Template };
inline constexpr Way kWays[] = {Way::Normal, Way::BlueGreen, Way::Plan, Way::Trait, Way::Standalone, Way::Template};
/// Those that an application which exists can be moved to: only a create may make a template of it.
inline constexpr Way kNextWays[] = {Way::Normal, Way::BlueGreen, Way::Plan, Way::Trait, Way::Standalone};
std::string_view name_of(Way way);

/// What becomes of a rollout that fails, or is deleted before its end: its pods stay as they are, or are taken back.
enum class OnFailure : std::uint8_t { Stop, Revert };

/// One version of the application.
struct Version {
  Way way = Way::Normal;
  int number = 1;             // of its image
  std::int64_t replicas = 4;  // 0: not declared
  bool is_bad = false;        // its pods are never ready
  bool has_service = true;
  std::string ready_after = "4s";
  int target_size = 0;     // of a plan; 0: not declared
  int port = 80;           // of the Service
  bool is_scaled = false;  // by an autoscaler, between 2 and 8
  // Of ways with a plan that a user writes, and of the blue-green steps the second and the last.
  bool is_asked = false;  // an approval after the first batch
  OnFailure on_failure = OnFailure::Stop;
  bool decreases_first = false;  // rolloutStrategy: DecreaseFirst
  bool has_traffic = false;      // an Ingress splits it
  bool keeps_legacy = false;     // objects of older versions stay
  int revision_limit = 0;        // applicationRevisionLimit; 0: not declared
};

class Stage {
 public:
  Stage();

  /// Applies the version; by Standalone and Template also the AppRollout "r" over the revision that comes of it. Template
  /// creates the application.
  void apply(const Version& version);
  /// Applies the version to the application that is there, as a template. Returns the server's refusal.
  std::string apply_as_template(const Version& version);
  /// Whether people give the approvals and resume the workflows that wait for them.
  enum class People : std::uint8_t { Agree, Wait };
  /// Until nothing changes any more. False: it does not come to rest.
  bool finish(Way way, People people = People::Agree);
  /// apply() and finish(); the application is running then, with the pods of this version alone.
  void deliver(const Version& version);
  /// An AppRollout "r" of a user's, from one revision (empty: none is named) to another; `plan` as Version has it.
  void roll_to(const std::string& target, const std::string& source, const std::string& plan = "");
  /// The Ingress that Version::has_traffic refers to.
  void make_ingress();
  /// What is left of a rollout's traffic: its canary Ingress and Services, and what it wrote on the Ingress and the Service.
  std::string traffic_left();
  /// Rejects the approval that the rollout of that way waits for; the trait's, which has no approvals, is aborted or reverted.
  /// False: no approval is waited for.
  bool reject(Way way, OnFailure on_failure);
  /// The rollout of that way; null: there is none.
  Value rollout(Way way);
  /// Deletes the rollout of that way, as its user; Revert: by revertOnDelete.
  void delete_rollout(Way way, OnFailure on_failure = OnFailure::Stop);
  bool pass(Duration time) { return plane_.pass(time); }
  /// Whether that holds within `limit`; looked at every half second.
  bool until(const std::function<bool()>& holds, Duration limit = std::chrono::minutes{10});

  oracle_test::Plane& plane() { return plane_; }
  Value find(std::string_view version, std::string_view kind, std::string_view name);
  Value application() { return find("core.oam.dev/v1beta1", "Application", "a"); }
  std::string phase() { return application()["status"]["status"].str(); }
  /// "web 0/0, web-v2 4/4": ready pods of those asked for, of each Deployment.
  std::string sizes();
  /// The same of Deployments with pods, or that are asked for some.
  std::string serving();
  /// Deletes the application, and waits: what is left of it in its namespace, but for events.
  std::string left_after_deletion();
  /// Images of the pods that are there, with how many have each: "web:2 4".
  std::string images();

  /// What must hold from the first readiness on; `surge` are the pods that may be there beside T.
  struct Bounds {
    std::int64_t whole = 4;        // T
    std::int64_t unavailable = 0;  // 1: of a Deployment's own rolling update
    std::int64_t surge = 2;        // b; 4 where normal delivery follows a rollout
  };
  /// From now on these bounds hold, in place of those before.
  void watch(Bounds bounds);
  void unwatch() { plane_.observe({}); }
  /// The first that did not hold, and when; empty: all did.
  const std::string& fault() const { return fault_; }
  /// Everything one needs to see why a test fails.
  std::string story();

 private:
  void observe(Bounds bounds);

  oracle_test::Plane plane_;
  std::string service_uid_, service_ip_;
  bool was_ready_ = false;
  std::string fault_;
  std::int64_t revisions_ = 0;
};

}  // namespace slipway::handover_test
