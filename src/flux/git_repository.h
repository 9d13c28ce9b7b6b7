// Looks at the branch of every GitRepository once per spec.interval (and when asked by annotation), and says its revision in
// status.artifact: "main@sha1:<40 hex>". The files stay in the mirror of Env's Git.
#pragma once

#include "base/git.h"
#include "control/controller.h"
#include "flux/author.h"

namespace slipway::flux {

/// How a GitRepository is reached; its Secret's username and password, if it names one. Errors: BadRequest for one without
/// URL, NotFound for a Secret that is not there. `client` acts as the repository's author.
Task<Result<GitRemote>> remote_of(client::Client& client, kube::Object repository);
/// spec.interval, at least a second; a minute when it is not given.
Duration interval_of(const kube::Object& object);

class GitRepositoryController : public control::Controller {
 public:
  GitRepositoryController(Env& env, delivery::ActsAs acts_as) : env_(env), acts_as_(acts_as) {}

  std::string name() const override { return "source-controller"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Task<Result<GitId>> fetch(client::Client& client, kube::Object repository);

  Env& env_;
  delivery::ActsAs acts_as_;
  control::Informer* repositories_ = nullptr;
};

}  // namespace slipway::flux
