#include "delivery/pipeline/gitops_clusters.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "control/author_right.h"
#include "control/object_writes.h"
#include "delivery/pipeline/author.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/status.h"
#include "kube/well_known.h"

namespace slipway::delivery::pipeline {
namespace {

using control::Outcome;
using kube::Object;
using kube::ObjectKey;

constexpr const char* kClusterManager = "slipway-gitops-cluster";
constexpr Duration kProbeEvery = std::chrono::seconds{30};
constexpr Duration kProbeTimeout = std::chrono::seconds{10};
constexpr Duration kLookAgain = std::chrono::minutes{10};  // at Secrets whose changes cannot be watched
constexpr Duration kSoon = std::chrono::hours{24 * 7};

ObjectKey secret_of(const ObjectKey& key, const GitopsClusterSpec& spec) {
  if (spec.capi_cluster) return {key.ns, spec.capi_cluster->name + "-kubeconfig"};
  return {key.ns, spec.secret ? spec.secret->name : ""};
}

}  // namespace

void GitopsClusterController::watch(control::Watches& watches) {
  watches_ = &watches;
  objects_ = &watches.primary(kGitopsClusters);
  const auto enqueue = watches.enqueue();
  // It is not waited for: a process that may not list Secrets may yet get single ones.
  secrets_ = watches.lease(watches.home(), kube::kSecrets, control::Form::Metadata);
  secrets_.on_change([this, enqueue](const Object& before, const Object& after) {
    const auto found = by_secret_.find(kube::key_of(after.is_null() ? before : after));
    if (found == by_secret_.end()) return;
    for (const ObjectKey& key : found->second) enqueue(key);
  });
  subscription_ = watches.clusters().subscribe([this, enqueue](const std::string& cluster) {
    for (const auto& [key, known] : known_) {
      if (cluster_of(key) == cluster) enqueue(key);
    }
  });
}

std::string GitopsClusterController::cluster_of(const ObjectKey& key) const {
  return cluster_name(watches_->home(), key.ns, key.name);
}

Task<Outcome> GitopsClusterController::reconcile(control::Reconcile& run) {
  const Object object = objects_->get(run.key);
  if (object.is_null()) {
    forget(run.key);
    co_return Outcome::settled();
  }
  const auto spec = json::decode<GitopsClusterSpec>(object["spec"], "spec", {});
  const ObjectKey secret_key = spec ? secret_of(run.key, *spec) : ObjectKey{};
  if (known_[run.key].secret != secret_key) {
    by_secret_[known_[run.key].secret].erase(run.key);
    by_secret_[secret_key].insert(run.key);
    known_[run.key].secret = secret_key;
  }
  const User author = author_of(object, acts_as_);
  auto secret = secret_key.name.empty() ? Result<Object>(fail(Reason::NotFound, "spec names no Secret"))
                                        : co_await client::get(run.as(author), kube::kSecrets, secret_key);
  Known& known = known_[run.key];
  const bool lacks_right = !secret && control::lacks_right(secret.error(), author.get());
  known.lacks_right = lacks_right ? control::lacks_right_cause(*author) : "";
  if (lacks_right) secret = fail(Reason::Forbidden, control::lacks_right_text(secret.error(), *author));
  if (secret) {
    connect(run.key, known, kubeconfig_in(*secret));
  } else if (secret.error().reason == Reason::NotFound || secret.error().reason == Reason::Forbidden) {
    disconnect(run.key, known, secret.error());
  } else {
    co_return Outcome::failed(std::move(secret).error());
  }
  if (registry_ != nullptr) {
    std::map<std::string, std::string> labels;
    for (const auto& [name, value] : object["metadata"]["labels"].members()) labels.emplace(name, value.str());
    registry_->set_labels(cluster_of(run.key), std::move(labels));
  }
  co_await probe(run.key);
  const Known now = known_[run.key];
  json::Value all = object["status"]["conditions"];
  for (const kube::Condition& one : conditions(run.key, now)) all = kube::set_condition(all, one, env_.clock.now());
  auto written = co_await control::write_status(run.client, kGitopsClusters, object, object["status"].with("conditions", all),
                                                kClusterManager);
  if (!written && written.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(written).error());
  co_return Outcome::retries_after(pause(run.key, now));
}

void GitopsClusterController::forget(const ObjectKey& key) {
  const auto found = known_.find(key);
  if (found == known_.end()) return;
  const auto secret = by_secret_.find(found->second.secret);
  if (secret != by_secret_.end()) {
    secret->second.erase(key);
    if (secret->second.empty()) by_secret_.erase(secret);
  }
  known_.erase(found);
  if (registry_ != nullptr) registry_->remove(cluster_of(key));
}

void GitopsClusterController::connect(const ObjectKey& key, Known& known, const std::string& kubeconfig) {
  if (kubeconfig.empty()) {
    return disconnect(key, known,
                      fail(Reason::NotFound, fmt::format("Secret {} has no kubeconfig in data.value, data.value.yaml or "
                                                         "data.kubeconfig",
                                                         known.secret.to_string()))
                          .error());
  }
  if (registry_ == nullptr) {
    return disconnect(key, known, fail(Reason::NotImplemented, "this process reaches no clusters elsewhere").error());
  }
  const std::string digest = sha256_hex(kubeconfig);
  if (known.digest == digest) return;
  const auto connected = registry_->connect(cluster_of(key), kubeconfig);
  if (!connected) {
    disconnect(key, known, connected.error());
  } else {
    known.problem.reset();
  }
  known.has_answered = false;
  known.expiry = expiry_of(kubeconfig);
  known.digest = digest;
}

void GitopsClusterController::disconnect(const ObjectKey& key, Known& known, Status why) {
  const bool is_same = known.problem && known.problem->message == why.message;
  known.digest.clear();
  known.expiry.reset();
  known.problem = why;
  if (registry_ != nullptr && !is_same) registry_->add_unusable(cluster_of(key), std::move(why));
}

/// Any answer will do, a refusal too. Once it has answered, whoever works on it notices when it stops.
Task<> GitopsClusterController::probe(ObjectKey key) {
  const std::string name = cluster_of(key);
  const auto client = watches_->clusters().find(name);
  const bool is_due = !known_[key].problem && (!known_[key].has_answered || !watches_->clusters().reach(name).is_reachable);
  if (client == nullptr || !is_due) co_return;
  client::Request request;
  request.verb = client::Verb::Get;
  request.resource = kube::kNamespaces;
  request.name = "kube-system";
  request.deadline = env_.clock.steady() + kProbeTimeout;
  request.user_agent = kClusterManager;
  const auto answer = co_await client->call(std::move(request));
  const auto found = known_.find(key);
  if (found == known_.end()) co_return;
  const bool is_silent =
      !answer && (answer.error().reason == Reason::ServiceUnavailable || answer.error().reason == Reason::Timeout);
  if (!is_silent) found->second.has_answered = true;
}

std::vector<kube::Condition> GitopsClusterController::conditions(const ObjectKey& key, const Known& known) const {
  if (known.problem) {
    const bool is_missing = known.problem->reason == Reason::NotFound;
    const std::string reason = !known.lacks_right.empty() ? known.lacks_right
                               : is_missing               ? "WaitingForSecret"
                                                          : "KubeconfigUnusable";
    return {{"Ready", "False", reason, known.problem->message},
            {"ClusterConnectivity", "False", "ClusterConnectionFailed", "there is no kubeconfig to connect with"}};
  }
  kube::Condition ready{"Ready", "True", "SecretFound", "Referenced secret is available"};
  if (known.expiry) {
    const Duration left = known.expiry->at - env_.clock.now();
    ready.message += fmt::format("; its {} expires {}", known.expiry->what, to_rfc3339(known.expiry->at));
    if (left < kSoon) ready.reason = "CredentialsExpireSoon";
    if (left <= Duration{0}) {
      ready.status = "False";
      ready.reason = "CredentialsExpired";
    }
  }
  const control::Reach reach = watches_->clusters().reach(cluster_of(key));
  if (reach.is_reachable && known.has_answered) {
    return {ready, {"ClusterConnectivity", "True", "ClusterConnectionSucceeded", "the cluster answers"}};
  }
  const std::string why = reach.problem.message.empty() ? "it has not answered yet" : reach.problem.message;
  return {ready, {"ClusterConnectivity", "False", "ClusterConnectionFailed", why}};
}

Duration GitopsClusterController::pause(const ObjectKey& key, const Known& known) const {
  const bool is_silent = !known.problem && (!known.has_answered || !watches_->clusters().reach(cluster_of(key)).is_reachable);
  Duration wait = is_silent ? kProbeEvery : kLookAgain;
  if (!known.lacks_right.empty()) return control::kAuthorRightPause;
  if (!known.expiry) return wait;
  for (const Time moment : {known.expiry->at - kSoon, known.expiry->at}) {
    const Duration left = moment - env_.clock.now();
    if (left > Duration{0}) wait = std::min(wait, left);
  }
  return wait;
}

}  // namespace slipway::delivery::pipeline
