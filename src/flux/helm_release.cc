#include "flux/helm_release.h"

#include "control/object_writes.h"
#include "flux/kinds.h"
#include "flux/release_plan.h"
#include "kube/well_known.h"

namespace slipway::flux {
namespace {

using control::Outcome;
using json::Value;
using kube::Object;

constexpr const char* kManager = "helm-controller";

std::vector<kube::ObjectKey> release_of(const Object& deployment) {
  const std::string_view name = kube::label(deployment, "helm.toolkit.fluxcd.io/name");
  if (name.empty()) return {};
  return {{std::string(kube::label(deployment, "helm.toolkit.fluxcd.io/namespace")), std::string(name)}};
}

Task<Result<void>> install(client::Client& client, Object release, Chart chart) {
  const auto applied = co_await client::apply(client, kube::kDeployments, render(release, chart), kManager);
  if (!applied) co_return fail(applied.error());
  co_return Result<void>{};
}

/// What comes before the status: records, and the way back. All of it may be done again.
Task<Result<void>> prepare(client::Client& client, Object release, Chart chart, ReleasePlan plan) {
  if (plan.roll_back) {
    const std::string ns = release_name(release).ns;
    SLIPWAY_CO_TRY(secret, co_await client::get(client, kube::kSecrets, {ns, record_name(release, *plan.roll_back)}));
    chart = chart_from_record(secret);
    SLIPWAY_CO_TRY_VOID(co_await install(client, release, chart));
  }
  if (plan.record == 0) co_return Result<void>{};
  const auto kept = co_await client::apply(client, kube::kSecrets, record_secret(release, chart, plan.record), kManager);
  if (!kept) co_return fail(kept.error());
  co_return Result<void>{};
}

}  // namespace

void HelmReleaseController::watch(control::Watches& watches) {
  releases_ = &watches.primary(kHelmReleases);
  deployments_ = &watches.also(kube::kDeployments, release_of);
}

Task<Outcome> HelmReleaseController::uninstall(control::Reconcile& run, Object release) {
  const ReleaseName name = release_name(release);
  const auto removed = co_await client::remove(run.client, kube::kDeployments, {name.ns, name.name});
  if (!removed && removed.error().reason != Reason::NotFound) co_return Outcome::failed(removed.error());
  const auto gone = co_await control::remove_finalizer(run.client, kHelmReleases, release, kFinalizer, kManager);
  co_return gone ? Outcome::settled() : Outcome::failed(gone.error());
}

Task<Outcome> HelmReleaseController::reconcile(control::Reconcile& run) {
  Object release = releases_->get(run.key);
  if (release.is_null()) co_return Outcome::settled();
  if (kube::is_deleting(release)) co_return co_await uninstall(run, release);
  if (release["spec"]["suspend"].as_bool()) co_return Outcome::settled();
  auto marked = co_await control::add_finalizer(run.client, kHelmReleases, release, kFinalizer, kManager);
  if (!marked) co_return Outcome::failed(marked.error());
  release = *std::move(marked);
  const auto chart = chart_of(release);
  if (!chart) {
    const auto told = co_await control::write_status(run.client, kHelmReleases, release,
                                                     refused_status(release, chart.error(), env_.clock.now()), kManager);
    co_return told ? Outcome::settled() : Outcome::failed(told.error());
  }
  const ReleaseName name = release_name(release);
  const ReleasePlan next = plan(release, *chart, deployments_->get({name.ns, name.name}), env_.clock.now());
  if (const auto ready = co_await prepare(run.client, release, *chart, next); !ready) co_return Outcome::failed(ready.error());
  const auto told = co_await control::write_status(run.client, kHelmReleases, release, next.status, kManager);
  if (!told) co_return Outcome::failed(told.error());
  if (next.apply) {
    if (const auto done = co_await install(run.client, release, *next.apply); !done) co_return Outcome::failed(done.error());
  }
  co_return next.look_again ? Outcome::retries_after(*next.look_again) : Outcome::settled();
}

}  // namespace slipway::flux
