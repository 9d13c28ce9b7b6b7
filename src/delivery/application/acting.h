// The clusters of one reconcile, as the controller and as the identity for which it acts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/author_right.h"
#include "control/controller.h"
#include "kube/user.h"

namespace slipway::delivery::application {

class Acting {
 public:
  /// `run` outlives this. `identity` null: the controller's own. `named_by`: the user who named the service account that
  /// `identity` is; null: nobody did.
  Acting(control::Reconcile& run, std::shared_ptr<const kube::UserInfo> identity,
         std::shared_ptr<const kube::UserInfo> named_by = nullptr);
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;
  ~Acting();

  /// A cluster as applications call it ("" and kHub are the home), as the identity: for all that steps, templates and objects
  /// do. NotFound when it is not known. The client lives as long as this.
  Result<client::Client*> on(const std::string& cluster);
  /// From here on, clients of on() reach nothing outside that namespace of the home cluster and nothing that `by` may not do,
  /// those that were given before too: `why` is what is answered there. May be called for several.
  void confine(const std::string& ns, std::string why, const kube::UserInfo& by);
  /// From here on, nothing is done that `by` may not do; namespaces are not limited.
  void narrow(const kube::UserInfo& by);
  /// As the controller: for its own records, and to learn which kinds there are.
  Result<client::Client*> own(const std::string& cluster);
  /// Sets the rules of the identity's rights at the start of the run (rules_now()), by namespace of the home cluster; `home` is
  /// the one whose rules also say what is had of cluster-scoped resources. Where they grant what is refused, and the rules of
  /// now do not, the refusal is returned as ServiceUnavailable with a message that begins with AuthorLacksRight: the step waits
  /// and uses up no retry. Other refusals (a right never had, a quota, another cluster, a namespace without rules here) are
  /// returned as they are. Of the unknown author every refusal is returned so (AuthorUnknown).
  void set_rules_at_start(std::string home, std::map<std::string, std::string> rules);
  Task<std::string> rules_now(std::string ns);
  /// No watch tells when a right returns: where one is missed the next look is at most control::kAuthorRightPause away.
  std::optional<Duration> sooner_without_right(std::optional<Duration> again) const;
  /// Null: the controller's own. Narrowed, once confine() was called.
  const kube::UserInfo* identity() const { return confinement_.user ? confinement_.user.get() : identity_.get(); }

 private:
  class LossWatch;
  class AccountGuard;
  struct Clients {
    std::unique_ptr<AccountGuard> guard;  // of other clusters, for a service account
    std::unique_ptr<LossWatch> watched;   // of the home cluster, whose rules are kept; of the unknown author everywhere
    std::unique_ptr<control::ActingClient> acting;
  };
  /// What is answered instead of a refusal.
  Task<Status> judge_refusal(Status refusal, std::vector<control::NeededRight> needed);

  control::Reconcile& run_;
  std::shared_ptr<const kube::UserInfo> identity_;
  std::shared_ptr<const kube::UserInfo> named_by_;
  control::Confinement confinement_;
  std::string home_;
  std::map<std::string, std::string> rules_at_start_;
  std::map<std::string, std::string> rules_now_;  // of those asked for
  bool has_lost_right_ = false;
  std::map<client::Client*, Clients> clients_;
};

}  // namespace slipway::delivery::application
