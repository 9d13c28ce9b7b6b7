// A small one-way sync for clusters of this process: the kind RootSync (configsync.gke.io/v1beta1) keeps what is below a folder
// of a Git repository applied, and deletes what has gone from there. It serves, as Config Sync does, as the end of a delivery:
// status.sync.commit says what the cluster has. On clusters elsewhere Config Sync itself does this; nothing is installed there.
//
// Followed are spec.git repo, branch, revision HEAD, dir, period and auth none, with sourceFormat unstructured. What else a
// spec asks for is refused in the condition Stalled, not passed over. Kptfiles and objects for local use only are not applied.
// An object that another RootSync manages is neither taken over nor deleted; one that an error keeps from being applied deletes
// nothing else. One that is declared twice is an error, and nothing is applied.
// DIVERGES: what changes in the cluster is put right when the repository is looked at as a whole again, every ten minutes.
#pragma once

#include <string>
#include <vector>

#include "base/git.h"
#include "control/controller.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/package/digest.h"
#include "kube/object.h"

namespace slipway::delivery::package {

/// CustomResourceDefinition of RootSync.
json::Value sync_definition();

/// An object that a RootSync has applied.
struct SyncedObject {
  std::string group{};
  std::string version{};
  std::string kind{};
  std::string ns{};
  std::string name{};

  static void describe(auto& d) {
    d.doc("An object.");
    d.field("group", &SyncedObject::group, "Its group.");
    d.field("version", &SyncedObject::version, "Its version.");
    d.field("kind", &SyncedObject::kind, "Its kind.");
    d.field("namespace", &SyncedObject::ns, "Its namespace.");
    d.field("name", &SyncedObject::name, "Its name.");
  }
  auto operator<=>(const SyncedObject&) const = default;
};

/// The objects of a folder, in the order to apply them. BadRequest, naming the file.
Result<std::vector<kube::Object>> manifests_in(const Files& files);
/// What a spec asks for that is not done here; empty: nothing.
std::string not_synced(const json::Value& spec);

class SyncController : public control::Controller {
 public:
  explicit SyncController(Env& env) : env_(env) {}

  std::string name() const override { return "root-sync"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// What a look at the repository gave.
  struct Source {
    GitId commit{};
    std::vector<kube::Object> manifests{};
  };
  Task<Result<GitId>> fetch(kube::Object object);
  Task<Result<Source>> read(kube::Object object, GitId commit);
  Task<std::vector<std::string>> apply(control::Reconcile& run, kube::Object object, Source source);
  Task<Result<void>> apply_one(control::Reconcile& run, kube::Object object, kube::Object manifest);
  /// The RootSync beside `object` that manages what is there; "" for none that is there itself.
  std::string other_manager(const kube::Object& object, const kube::Object& there) const;
  Task<Result<void>> prune(control::Reconcile& run, kube::Object object, std::vector<SyncedObject> gone);
  Task<Result<std::vector<SyncedObject>>> inventory(control::Reconcile& run);
  Task<Result<void>> store(control::Reconcile& run, kube::Object object, std::vector<SyncedObject> objects);
  Task<Result<void>> tell(control::Reconcile& run, kube::Object object, json::Value status);

  Env& env_;
  KindMapper kinds_;
  control::Informer* objects_ = nullptr;
  std::map<kube::ObjectKey, Steady> whole_;  // when all was applied last
};

}  // namespace slipway::delivery::package
