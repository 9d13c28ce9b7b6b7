#include "cluster/pod.h"

#include "cluster/names.h"
#include "cluster/placement.h"
#include "cluster/pod_facts.h"
#include "cluster/pod_status.h"
#include "cluster/writes.h"
#include "control/events.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

constexpr const char* kPodManager = "slipway-pod";
constexpr const char* kWaiting = "waiting for a node";
constexpr const char* kYes = "yes";  // the only key of that index

Duration grace_of(const kube::Object& pod) {
  return seconds_saturating(std::max<std::int64_t>(pod["metadata"]["deletionGracePeriodSeconds"].as_int(30), 0));
}

control::EventText image_ignored() {
  return {"Normal", "ImageIgnored", "Pods run as processes of this machine here: the image of a container is not used", {}};
}

/// One that has started without a node's name is run on.
bool is_waiting_for_node(const kube::Object& pod) {
  return pod["spec"]["nodeName"].as_string().empty() && !pod["status"].has("startTime") && !kube::is_deleting(pod);
}

}  // namespace

void PodController::watch(control::Watches& watches) {
  pods_ = &watches.primary(kPods);
  pods_->add_index(kWaiting, [](const kube::Object& pod) {
    return is_waiting_for_node(pod) ? std::vector<std::string>{kYes} : std::vector<std::string>{};
  });
  const auto waiting = [this] { return pods_->index_keys(kWaiting, kYes); };
  nodes_ = &watches.also(kNodes, [waiting](const kube::Object&) { return waiting(); });
  watches.changes(kPods, [this, waiting](const kube::Object& before, const kube::Object& after) {
    const bool has_freed_room = count_pod(before, after);
    return has_freed_room ? waiting() : std::vector<kube::ObjectKey>{};
  });
  runtime_.on_change(watches.enqueue());
  if (!runtime_.takes_scripts()) return;
  watches.changes(kConfigMaps, [this](const kube::Object& before, const kube::Object& after) {
    std::vector<kube::ObjectKey> steered;
    const bool is_script = kube::label(before, kPodScript) == "true" || kube::label(after, kPodScript) == "true";
    if (!is_script) return steered;
    const kube::ObjectKey key = kube::key_of(after.is_null() ? before : after);
    runtime_.steer(key, after);
    for (const kube::ObjectKey& pod : pods_->keys(key.ns)) steered.push_back(pod);
    return steered;
  });
}

bool PodController::count_pod(const kube::Object& before, const kube::Object& after) {
  const auto node_of = [](const kube::Object& pod) {
    return pod.is_null() || is_terminal_pod(pod) ? std::string() : pod["spec"]["nodeName"].str();
  };
  const std::string was = node_of(before);
  const std::string is = node_of(after);
  if (!was.empty()) --loads_[was];
  if (!is.empty()) ++loads_[is];
  if (after.is_null() || after["spec"].has("nodeName")) placing_.erase(kube::key_of(after.is_null() ? before : after));
  return !was.empty() && was != is;
}

std::vector<NodeLoad> PodController::node_loads() const {
  std::vector<NodeLoad> nodes;
  for (const auto& [key, node] : nodes_->objects()) {
    const auto known = loads_.find(key.name);
    nodes.push_back({node, known == loads_.end() ? 0 : known->second});
    for (const auto& [pod, name] : placing_) nodes.back().pods += name == key.name;
  }
  return nodes;
}

Task<Outcome> PodController::reconcile(control::Reconcile& run) {
  if (!has_swept_) {
    has_swept_ = true;
    if (const auto swept = co_await forget_strays(); !swept) {
      has_swept_ = false;
      co_return Outcome::failed(swept.error());
    }
  }
  const kube::Object pod = pods_->get(run.key);
  const auto known = uids_.find(run.key);
  if (known != uids_.end() && known->second != kube::uid(pod)) {
    const std::string uid = known->second;
    if (const auto forgotten = co_await forget(run.key, uid); !forgotten) co_return Outcome::failed(forgotten.error());
  }
  if (pod.is_null()) co_return Outcome::settled();
  uids_.insert_or_assign(run.key, std::string(kube::uid(pod)));
  if (is_terminal_pod(pod)) co_return co_await finish_pod(run.client, pod);
  if (is_waiting_for_node(pod)) co_return co_await place_pod(run.client, pod);
  co_return co_await run_pod(run.client, pod);
}

Task<Outcome> PodController::place_pod(client::Client& client, kube::Object pod) {
  const std::vector<NodeLoad> nodes = node_loads();
  const auto fault = placement_fault(pod, nodes);
  Result<kube::Object> written;
  if (fault) {
    const json::Value& before = pod["status"]["conditions"];
    json::Value conditions = kube::set_condition(before, {"PodScheduled", "False", "Unschedulable", *fault}, env_.clock.now());
    if (conditions == before) co_return Outcome::settled();
    kube::Object told = pod.with_path({"status", "conditions"}, std::move(conditions));
    written = co_await client::update_status(client, kPods, std::move(told), kPodManager);
  } else {
    const std::string node = choose_node(pod, nodes);
    placing_.insert_or_assign(kube::key_of(pod), node);
    written = co_await client::update(client, kPods, pod.with_path({"spec", "nodeName"}, node), kPodManager);
    if (!written) placing_.erase(kube::key_of(pod));
  }
  co_return written || written.error().reason == Reason::NotFound ? Outcome::settled() : Outcome::failed(written.error());
}

Task<Outcome> PodController::run_pod(client::Client& client, kube::Object pod) {
  const auto report = kube::is_deleting(pod) ? co_await runtime_.stop(pod, grace_of(pod)) : co_await runtime_.advance(pod);
  if (!report) co_return Outcome::failed(report.error());
  if (runtime_.ignores_images() && !pod["status"].has("startTime")) {
    const auto told = co_await control::record_event(env_, client, pod, image_ignored(), "pod-runtime");
    if (!told && told.error().reason != Reason::Forbidden) co_return Outcome::failed(told.error());
  }
  if (report->warning) {
    const auto told = co_await warn(client, pod, *report->warning);
    if (!told) co_return Outcome::failed(told.error());
  }
  const json::Value status = pod_status(pod, *report, env_.clock.now());
  if (!status.is_same(pod["status"])) {
    const auto written = co_await control::write_status(client, kPods, pod, status, kPodManager);
    if (!written && written.error().reason != Reason::NotFound) co_return Outcome::failed(written.error());
  }
  co_return report->look_again ? Outcome::retries_after(*report->look_again) : Outcome::settled();
}

/// Once per reason and pod; a reconcile that runs again tells nothing new.
Task<Result<void>> PodController::warn(client::Client& client, kube::Object pod, PodWarning warning) {
  const kube::ObjectKey key = kube::key_of(pod);
  const auto known = warned_.find(key);
  if (known != warned_.end() && known->second == warning.reason) co_return Result<void>{};
  const control::EventText text{"Warning", warning.reason, warning.message, {}};
  const auto told = co_await control::record_event(env_, client, std::move(pod), text, "pod-runtime");
  if (!told && told.error().reason != Reason::Forbidden) co_return fail(told.error());
  warned_[key] = warning.reason;
  co_return Result<void>{};
}

/// Nothing runs any more: a pod that is being deleted may go (it does when its finalizers are gone).
Task<Outcome> PodController::finish_pod(client::Client& client, kube::Object pod) {
  if (!kube::is_deleting(pod) || grace_of(pod) == Duration{0}) co_return Outcome::settled();
  client::DeleteQuery query;
  query.uid = std::string(kube::uid(pod));
  query.grace_seconds = 0;
  const auto removed = co_await client::remove_exactly(client, kPods, kube::key_of(pod), query);
  co_return removed ? Outcome::settled() : Outcome::failed(removed.error());
}

Task<Result<void>> PodController::forget(kube::ObjectKey key, std::string uid) {
  SLIPWAY_CO_TRY_VOID(co_await runtime_.forget(std::move(uid)));
  uids_.erase(key);
  warned_.erase(key);
  co_return Result<void>{};
}

Task<Result<void>> PodController::forget_strays() {
  std::set<std::string> uids;
  for (const auto& [key, pod] : pods_->objects()) uids.insert(std::string(kube::uid(pod)));
  co_return co_await runtime_.forget_all_but(std::move(uids));
}

}  // namespace slipway::cluster
