// Carries out what records say is still to be done to their repositories (intent.h), one change of one reference at a time, and
// appends the end: only then is an approved revision Published. It drives next_step() from the references as they are. The
// first try trusts what the intent has seen, as each change is compared by the remote; what the remote refuses makes it look.
// It also keeps the label of the latest revision where it belongs, writes spec.upstreamName where a record from before that
// field lacks it, and lets the Kptfile of a draft in Git catch up with the log after a minute of rest.
#pragma once

#include <map>
#include <string>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/package/intent.h"
#include "delivery/package/outside_changes.h"
#include "delivery/package/records.h"
#include "delivery/package/repository_access.h"

namespace slipway::delivery::package {

inline constexpr Duration kCatchUpRest = std::chrono::minutes{1};

class RecordWorker : public control::Controller {
 public:
  explicit RecordWorker(const ControllerContext& context) : env_(context.env) {}

  std::string name() const override { return "package"; }
  control::ControllerOptions options() const override;
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// Since when a draft is as it is.
  struct Rest {
    kube::Revision version = 0;
    Steady since{};
  };

  Task<Result<control::Outcome>> look_after(client::Client& client, json::Value object);
  Task<Result<control::Outcome>> carry_out(client::Client& client, StoredRecord stored);
  Task<Result<control::Outcome>> keep_up(client::Client& client, StoredRecord stored);
  Task<Result<control::Outcome>> catch_up(client::Client& client, json::Value object);
  Task<> tell(client::Client& client, kube::ObjectKey key, std::string why);
  Task<> record_flips(client::Client& client, StoredRecord stored);
  Task<Result<StoredRecord>> confirm(client::Client& client, OpenRepository repository, StoredRecord stored, std::string text);
  /// The other records of its package, from the cache.
  std::vector<StoredRecord> siblings(const StoredRecord& stored) const;
  bool is_highest(const StoredRecord& stored, std::int64_t revision) const;

  Env& env_;
  control::Informer* records_ = nullptr;
  std::map<kube::ObjectKey, Rest> resting_{};
  std::map<kube::ObjectKey, std::int64_t> told_{};  // numbers of the notes that have an event
};

/// The remote as an intent has seen it.
StoreView view_seen(const Intent& intent);
/// As it is: references, and of an approval whether the branch has the commit.
Task<Result<StoreView>> view_now(Git& git, OpenRepository repository, Intent intent);

/// What a reconcile does to the repository for the first intent of a record: it ends with a step that the log has to be told.
struct CarriedOut {
  GitStep step{};            // Confirm, Drift or NextNumber
  Intent intent{};           // of NextNumber: with the new number, commit and base
  OutsideChanges outside{};  // of Drift of an approval: what others have changed on the branch
};
Task<Result<CarriedOut>> carry_out_intent(Env& env, OpenRepository repository, StoredRecord stored);

}  // namespace slipway::delivery::package
