// The controller of Repository: reads it as a whole when it is new or changed, by its schedule, once at spec.sync.runOnceAt,
// and when a look at its references (every five minutes, and after something was published) shows that they are others. What is
// in it and not in the log comes into the log; what others have pushed is followed or told (discovery.h). A repository
// that cannot be read has the condition Ready false with the reason, and holds up no other. Where much is published one after
// the other, it is looked at once in kLookRest, and not for each.
//
// A Repository that goes takes its records with it and leaves the repository in Git as it is.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/package/discovery.h"
#include "delivery/package/outside_changes.h"
#include "delivery/package/repository_access.h"
#include "delivery/package/repository_status.h"

namespace slipway::delivery::package {

inline constexpr Duration kLookEvery = std::chrono::minutes{5};
inline constexpr Duration kLookRest = std::chrono::seconds{5};
inline constexpr std::string_view kDefaultSchedule = "@hourly";

/// A package of the branch as it was read: what it holds, and the commit that its revision is at. While others change and it
/// does not, its revision stays where it is, and nothing of it is read or written.
struct KnownPackage {
  std::string digest{};  // see packages_in()
  std::string commit{};
};
using KnownPackages = std::map<std::string, KnownPackage>;  // by path
/// The branch at the last reading of this process.
struct KnownBranch {
  std::string tip{};
  KnownPackages packages{};
};

class RepositoryController : public control::Controller {
 public:
  explicit RepositoryController(const ControllerContext& context) : env_(context.env) {}

  std::string name() const override { return "package-repository"; }
  control::ControllerOptions options() const override;
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// What this process knows of a repository.
  struct Known {
    std::int64_t generation = 0;
    Steady looked{};                            // when its references were last asked for
    std::map<std::string, std::string> refs{};  // as read as a whole
    KnownBranch branch{};
    std::vector<std::string> faults{};
    int left_out = 0;  // readings one after the other that could not take over all; 0: the log has all
    Steady again{};    // when the next of them is due
  };
  struct Times {
    std::optional<Time> next{};      // by the schedule
    std::optional<Time> run_once{};  // that is not heeded yet
    std::string fault{};             // of the schedule
  };

  Task<control::Outcome> forget(client::Client& client, kube::ObjectKey key);
  Task<Result<void>> read_if_due(client::Client& client, kube::Object object, Times times);
  Task<control::Outcome> tell(client::Client& client, kube::Object object, Times times, Result<void> outcome);
  Times times_of(const kube::Object& object) const;
  bool is_due(const kube::Object& object, const Times& times) const;
  /// How long it is not to be looked at again, unless it is due.
  Duration rest_of(const kube::Object& object, const Times& times) const;

  Env& env_;
  control::Informer* repositories_ = nullptr;
  control::Informer* records_ = nullptr;
  std::map<kube::ObjectKey, Known> known_{};
  std::set<kube::ObjectKey> decided_{};  // somebody has said what is to become of a drift there
};

/// One reading of a repository as a whole: the log follows what its references say.
struct Reading {
  std::map<std::string, std::string> refs{};
  std::vector<std::string> faults{};
  KnownPackages packages{};
  std::int64_t revisions = 0;
  std::string commit{};  // of the branch
  bool is_whole = true;  // false: a revision could not be read or written this time, so all has to be read again
};
/// `records` are those of the log before the references are read; what of them has changed meanwhile is left for the next time.
Task<Result<Reading>> read_repository_as_a_whole(Env& env, client::Client& client, OpenRepository repository, std::string ns,
                                                 std::vector<StoredRecord> records, KnownBranch known);

}  // namespace slipway::delivery::package
