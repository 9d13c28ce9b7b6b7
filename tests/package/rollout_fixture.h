// A fleet in virtual time: a blueprint, cells with a repository each, variants with the gates ipam and ticket, actors who see
// to them, and RootSyncs that bring what is published into the cluster. At each tick it is checked that no more is approved
// than the rollout's step allows.
#pragma once

#include <set>

#include "variant_fixture.h"

namespace slipway::package_test {

class Fleet : public Packages {
 public:
  static constexpr const char* kRollout = "web";

  void fleet(int cells);
  /// Publishes the blueprint with that value.
  void blueprint(std::int64_t number, const std::string& value);
  /// The set follows that revision, with auto-propose.
  void follow(std::int64_t number);
  /// `spec` is YAML beside upstream.
  void rollout(std::int64_t number, std::string_view spec);

  /// Ten seconds pass; actors do what they have to.
  void tick();
  bool ticks_until(const std::function<bool()>& holds, Duration limit = minutes{90});

  std::string cell(int number) const;
  Value status() { return get(kHub, delivery::package::kRollouts, kRollout)["status"]; }
  /// What the monitoring answers from now on: errors in percent.
  void errors(std::string_view percent);
  std::string phase() { return status()["phase"].str(); }
  /// Revisions of cells from that upstream revision that are approved.
  std::int64_t approved(std::int64_t number);
  /// Values of the config map by cell, as the cluster has them.
  std::set<std::string> running();

  int cells_ = 0;
  std::set<std::string> no_address_{};  // cells whose allocation comes late
  std::set<std::string> no_person_{};   // cells for which no person has answered the ticket
  bool acts_ = true;
  std::string period_ = "1m";  // of the RootSyncs

 protected:
  void act(const Value& draft);
  void check_bound();

  std::int64_t following_ = 0;
  std::vector<std::int64_t> percents_{};
};

}  // namespace slipway::package_test
