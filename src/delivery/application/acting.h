// The clusters of one reconcile, as the controller and as the identity for which it acts.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "control/controller.h"
#include "kube/user.h"

namespace slipway::delivery::application {

class Acting {
 public:
  /// `run` outlives this. `identity` null: the controller's own.
  Acting(control::Reconcile& run, std::shared_ptr<const kube::UserInfo> identity);
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;
  ~Acting();

  /// A cluster as applications call it ("" and kHub are the home), as the identity: for all that steps, templates and objects
  /// do. NotFound when it is not known. The client lives as long as this.
  Result<client::Client*> on(const std::string& cluster);
  /// From here on, clients of on() reach nothing outside that namespace of the home cluster, those that were given before too:
  /// `why` is what is answered there.
  void confine(std::string ns, std::string why);
  /// As the controller: for its own records, and to learn which kinds there are.
  Result<client::Client*> own(const std::string& cluster);
  /// Null: the controller's own.
  const kube::UserInfo* identity() const { return identity_.get(); }

 private:
  control::Reconcile& run_;
  std::shared_ptr<const kube::UserInfo> identity_;
  control::Confinement confinement_;
  std::map<client::Client*, std::unique_ptr<control::ActingClient>> clients_;
};

}  // namespace slipway::delivery::application
