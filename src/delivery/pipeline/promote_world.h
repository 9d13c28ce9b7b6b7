// What decisions about promotions are made from, with the questions that they ask of it: how an environment stands to a
// release, which releases were rejected where, what people said. Promotions are a copy whose statuses the decision moves on, so
// that what is decided of one environment holds for those after it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/pipeline/promote.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {

using Release = Known<ReleaseSpec>;

/// How the targets of an environment stand to a release, by what runs there.
struct Standing {
  std::int64_t behind = 0;   // run something older, or nothing
  std::int64_t at = 0;       // run it, ready or not
  std::int64_t ahead = 0;    // run, or were asked for, something newer
  std::int64_t apart = 0;    // run the same version with other content
  std::int64_t unknown = 0;  // nothing tells which is newer
  std::string example{};     // a version that is ahead, apart or unknown
};

/// Something that keeps every promotion out of an environment.
struct Standstill {
  PromotionCause cause = PromotionCause::Held;
  std::string text{};
  std::vector<Blocker> blockers{};
  std::optional<Time> ends{};
};

class PromotionWorld {
 public:
  explicit PromotionWorld(const PromotionInput& input);

  const PromotionInput& input;
  std::vector<KnownPromotion> promotions;  // by creation

  std::optional<std::size_t> index_of(std::string_view environment) const;
  const EnvironmentStatus& status_of(const std::string& environment) const;
  const Release* find_release(std::string_view name) const;
  /// The newest release whose content runs there as this version.
  const Release* release_at(const VersionStatus& version) const;
  std::vector<KnownPromotion*> into(std::string_view environment);
  std::vector<const KnownPromotion*> into(std::string_view environment) const;
  std::vector<const KnownPromotion*> of(std::string_view environment, std::string_view release) const;

  /// How `version` stands to the release; by creation where versions do not tell and both are releases.
  Order compare(const Release& release, const VersionStatus& version) const;
  Order compare(const Release& a, const Release& b) const;
  Standing standing(const std::string& environment, const Release& release) const;
  /// All targets run it, ready.
  bool is_settled_at(const std::string& environment, const Release& release) const;
  /// The promotion that was rejected there and not lifted; null when none was.
  const KnownPromotion* rejection(std::string_view environment, std::string_view release) const;
  /// A promotion of it succeeded there, and was not rejected since.
  bool has_passed(std::string_view environment, std::string_view release) const;
  /// A person has rolled it back last, and that was not lifted: nothing is promoted there without being asked for.
  KnownPromotion* rollback_in_force(std::string_view environment);
  /// Ready there now, and what has to pass before it leaves has passed.
  bool is_verified(std::size_t environment, const Release& release) const;

  /// What people said of the promotion's release there since it was last lifted, oldest first.
  std::vector<Known<ApprovalSpec>> words_on(const KnownPromotion& promotion) const;

  /// The first of suspend, holds, freezes and protection by another pipeline that is in force.
  std::optional<Standstill> standstill(std::size_t environment) const;
  /// When holds and freezes of the environment begin or end next.
  std::optional<Time> standstill_changes(std::size_t environment) const;

  const Zone* zone(const std::string& name) const;
  Time now() const { return input.now.time(); }

 private:
  bool is_about(const FreezeSpec& freeze, std::size_t environment) const;
  bool is_held_by(const HoldSpec& hold, std::size_t environment) const;
  bool delivers_into(const Environment& environment, const std::vector<FrozenTarget>& frozen) const;
  std::optional<Standstill> freeze_in_force(const Known<FreezeSpec>& freeze) const;
};

/// The environment has `after` gates or a soak time.
bool has_exit(const Environment& environment);
/// As order() has it, and by the tags of image sets: "web:1.1.0, proxy:2" is newer than "web:1.0.0, proxy:2".
Order order_of(std::string_view a, std::string_view b, std::string_view a_digest, std::string_view b_digest);

}  // namespace slipway::delivery::pipeline
