#include "cluster/claim.h"

#include "cluster/names.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

constexpr const char* kManager = "slipway-claim";

json::Value bound_status(const kube::Object& claim) {
  json::Value status = claim["status"].with("phase", "Bound");
  if (claim["spec"].has("accessModes")) status = status.with("accessModes", claim["spec"]["accessModes"]);
  const json::Value& requests = claim["spec"]["resources"]["requests"];
  return requests.is_null() ? status : status.with("capacity", requests);
}

}  // namespace

void ClaimController::watch(control::Watches& watches) { claims_ = &watches.primary(kClaims); }

Task<Outcome> ClaimController::reconcile(control::Reconcile& run) {
  const kube::Object claim = claims_->get(run.key);
  if (claim.is_null()) {
    const auto released = release_ ? release_(run.key) : Result<void>{};
    co_return released ? Outcome::settled() : Outcome::failed(released.error());
  }
  if (claim["status"]["phase"].as_string() == "Bound") co_return Outcome::settled();
  const auto written = co_await client::update_status(run.client, kClaims, claim.with("status", bound_status(claim)), kManager);
  co_return written ? Outcome::settled() : Outcome::failed(written.error());
}

}  // namespace slipway::cluster
