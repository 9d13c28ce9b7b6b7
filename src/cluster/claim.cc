#include "cluster/claim.h"

#include <algorithm>

#include "cluster/names.h"
#include "cluster/pod_facts.h"
#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

constexpr const char* kClaimManager = "slipway-claim";
/// For a pod that turned out not to use its claims after all; those that end tell.
constexpr Duration kRecheckClaim = std::chrono::seconds{5};
constexpr const char* kByClaim = "claim";
// As upstream's volume controller marks claims that it has bound.
constexpr const char* kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr const char* kBoundByController = "pv.kubernetes.io/bound-by-controller";

/// The claims that a pod names, whether they exist or not.
std::vector<kube::ObjectKey> claims_of(const kube::Object& pod) {
  std::vector<kube::ObjectKey> keys;
  for (const json::Value& volume : pod["spec"]["volumes"].items()) {
    const json::Value& claim = volume["persistentVolumeClaim"]["claimName"];
    if (!claim.is_null()) keys.push_back({std::string(kube::ns(pod)), claim.str()});
  }
  return keys;
}

json::Value bound_status(const kube::Object& claim) {
  json::Value status = claim["status"].with("phase", "Bound");
  if (claim["spec"].has("accessModes")) status = status.with("accessModes", claim["spec"]["accessModes"]);
  const json::Value& requests = claim["spec"]["resources"]["requests"];
  return requests.is_null() ? status : status.with("capacity", requests);
}

}  // namespace

void ClaimController::watch(control::Watches& watches) {
  claims_ = &watches.primary(kClaims);
  pods_ = &watches.changes(kPods, [this](const kube::Object& before, const kube::Object& after) {
    std::vector<kube::ObjectKey> keys;
    if (!after.is_null() && !is_terminal_pod(after)) return keys;
    for (kube::ObjectKey& key : claims_of(after.is_null() ? before : after)) {
      if (kube::is_deleting(claims_->get(key))) keys.push_back(std::move(key));
    }
    return keys;
  });
  pods_->add_index(kByClaim, [](const kube::Object& pod) {
    std::vector<std::string> keys;
    for (const kube::ObjectKey& claim : claims_of(pod)) keys.push_back(claim.to_string());
    return keys;
  });
}

Task<Outcome> ClaimController::reconcile(control::Reconcile& run) {
  kube::Object claim = claims_->get(run.key);
  if (claim.is_null()) co_return Outcome::settled();
  if (kube::is_deleting(claim)) co_return co_await let_go(run.client, claim);
  // It may have been made before there was an admission row, or without it.
  const auto guarded =
      co_await control::add_finalizer(run.client, kClaims, claim, std::string(kClaimProtection), kClaimManager);
  if (!guarded) co_return Outcome::failed(guarded.error());
  claim = *guarded;
  if (claim["status"]["phase"].as_string() == "Bound") co_return Outcome::settled();
  if (kube::annotation(claim, kBindCompleted) != "yes") {
    const json::Value marks = json::object({{kBindCompleted, "yes"}, {kBoundByController, "yes"}});
    const json::Value patch = json::object({{"metadata", json::object({{"annotations", marks}})}});
    const auto marked = co_await client::merge_patch(run.client, kClaims, run.key, patch, kClaimManager);
    if (!marked) co_return Outcome::failed(marked.error());
    claim = *marked;
  }
  const auto written = co_await control::write_status(run.client, kClaims, claim, bound_status(claim), kClaimManager);
  co_return written ? Outcome::settled() : Outcome::failed(written.error());
}

/// Without the finalizer nothing is released: the name may be taken by a new claim at any moment.
Task<Outcome> ClaimController::let_go(client::Client& client, kube::Object claim) {
  const kube::ObjectKey key = kube::key_of(claim);
  if (!kube::has_finalizer(claim, kClaimProtection)) co_return Outcome::settled();
  if (is_used(key)) co_return Outcome::retries_after(kRecheckClaim);
  if (runtime_ != nullptr) {
    if (const auto released = runtime_->release_claim(key); !released) co_return Outcome::failed(released.error());
  }
  const auto done = co_await remove_finalizer(client, kClaims, claim, kClaimProtection, kClaimManager);
  co_return done ? Outcome::settled() : Outcome::failed(done.error());
}

bool ClaimController::is_used(const kube::ObjectKey& claim) const {
  const std::vector<kube::Object> pods = pods_->index(kByClaim, claim.to_string());
  return std::any_of(pods.begin(), pods.end(), [&](const kube::Object& pod) {
    return !is_terminal_pod(pod) && (runtime_ == nullptr || runtime_->uses_claims(pod));
  });
}

}  // namespace slipway::cluster
