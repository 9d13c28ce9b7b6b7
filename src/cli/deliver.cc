#include "cli/deliver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/progress.h"
#include "client/informer.h"
#include "json/text.h"
#include "plane/show.h"
#include "plane/store_view.h"

namespace slipway::cli {
namespace {

constexpr const char* kManager = "slipway";
/// How long pods get between SIGTERM and SIGKILL when a delivery is interrupted.
constexpr Duration kStopGrace = std::chrono::seconds{10};

using client::Request;
using client::Verb;
using kube::Object;

/// CRDs before namespaces before the rest: later objects need them.
int rank(const Object& object) {
  if (kube::kind(object) == "CustomResourceDefinition") return 0;
  return kube::kind(object) == "Namespace" ? 1 : 2;
}

Status at(const Manifest& manifest, Status status) {
  status.message = fmt::format("{}: {}", manifest.source, status.message);
  return status;
}

Request apply_request(const server::TypePtr& type, const Object& object) {
  Request request;
  request.verb = Verb::Patch;
  request.patch_type = client::PatchType::Apply;
  request.resource = type->resource;
  request.ns = std::string(kube::ns(object));
  request.name = std::string(kube::name(object));
  request.body = object;
  request.field_manager = kManager;
  request.field_validation = "Strict";
  request.force = true;
  return request;
}

Result<server::TypePtr> place(Session& session, Manifest& manifest, const std::string& default_namespace) {
  SLIPWAY_TRY(kind, kube::GroupVersionKind::of(manifest.object));
  SLIPWAY_TRY(type, session.server().registry().find_kind(kind));
  if (type->is_namespaced && kube::ns(manifest.object).empty()) {
    manifest.object = manifest.object.with_path({"metadata", "namespace"}, default_namespace);
  }
  return type;
}

/// Whether a dry run fails only because another object of the same files is not there yet.
bool needs_sibling(const Status& status, const std::vector<Manifest>& manifests) {
  if (status.reason != Reason::NotFound) return false;
  for (const Manifest& manifest : manifests) {
    if (rank(manifest.object) == 1 && status.kind == "namespaces" && status.name == kube::name(manifest.object)) return true;
  }
  return false;
}

Task<Result<void>> try_one(Session& session, Request request, const std::vector<Manifest>& manifests, const Manifest& source) {
  request.dry_run = true;
  const auto reply = co_await session.server().call(std::move(request));
  if (!reply && !needs_sibling(reply.error(), manifests)) co_return fail(at(source, reply.error()));
  co_return Result<void>{};
}

/// Finds what is wrong before the first namespace or CRD is made. What needs them is tried again once they are there.
Task<Result<void>> try_all(Session& session, std::vector<Manifest> manifests, std::string ns) {
  const bool brings_kinds = std::ranges::any_of(manifests, [](const Manifest& one) { return rank(one.object) == 0; });
  for (Manifest& manifest : manifests) {
    const auto type = place(session, manifest, ns);
    if (!type && brings_kinds) continue;
    if (!type) co_return fail(at(manifest, type.error()));
    SLIPWAY_CO_TRY_VOID(co_await try_one(session, apply_request(*type, manifest.object), manifests, manifest));
  }
  co_return Result<void>{};
}

Task<Result<std::vector<Delivery>>> apply_ranked(Session& session, std::vector<Manifest> manifests, std::string ns,
                                                 int wanted) {
  std::vector<Delivery> deliveries;
  std::vector<Request> requests;
  std::vector<const Manifest*> sources;
  for (Manifest& manifest : manifests) {
    if (rank(manifest.object) != wanted) continue;
    const auto type = place(session, manifest, ns);
    if (!type) co_return fail(at(manifest, type.error()));
    requests.push_back(apply_request(*type, manifest.object));
    deliveries.push_back({*type, kube::key_of(manifest.object)});
    sources.push_back(&manifest);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    SLIPWAY_CO_TRY_VOID(co_await try_one(session, requests[i], manifests, *sources[i]));
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto reply = co_await session.server().call(std::move(requests[i]));
    if (!reply) co_return fail(at(*sources[i], reply.error()));
    for (const std::string& warning : reply->warnings) fmt::print(stderr, "Warning: {}: {}\n", sources[i]->source, warning);
  }
  co_return deliveries;
}

/// What follow() watches. Held by the session: its informers run until the loop ends.
class Following {
 public:
  Following(Session& session, std::vector<Delivery> deliveries, DeliverOptions options)
      : session_(session),
        options_(options),
        tasks_(session.env()),
        changed_(session.env()),
        progress_(make_progress(session.env(), options.output, [this] { return view(); })) {
    for (Delivery& delivery : deliveries) {
      if (plane::has_end(delivery.type->kind)) deliveries_.push_back(std::move(delivery));
    }
  }

  Task<int> run();

 private:
  Env& env() { return session_.env(); }
  /// As it is, or as it was last seen: what has ended may go by itself (ttlSecondsAfterFinished).
  Object object(const Delivery& delivery) const;
  bool is_gone(const Delivery& delivery) const { return informers_.at(delivery.type->resource)->find(delivery.key) == nullptr; }
  /// What was deleted before its end has failed.
  std::optional<bool> verdict_of(const Delivery& delivery) const;
  bool is_under_way() const;
  int exit_code() const;
  void print_result();
  plane::StoreView view() { return {session_.server(), session_.store(), env().clock.now()}; }
  void watch();
  Task<> wait();
  bool is_delivered(const kube::Resource& resource, const kube::ObjectKey& key) const {
    return std::ranges::any_of(deliveries_, [&](const Delivery& d) { return d.key == key && d.type->resource == resource; });
  }
  bool leaves_pods();
  Task<> clear_up();
  Task<> wake_on_interrupt();

  Session& session_;
  DeliverOptions options_;
  std::vector<Delivery> deliveries_;
  Tasks tasks_;
  Signal changed_;
  std::unique_ptr<Progress> progress_;
  std::map<kube::Resource, std::unique_ptr<client::Informer>> informers_;
  std::map<std::pair<kube::Resource, kube::ObjectKey>, Object> gone_;  // as last seen
};

Task<int> Following::run() {
  watch();
  for (const auto& [resource, informer] : informers_) co_await informer->wait_synced();
  session_.start_controllers();
  tasks_.spawn(wake_on_interrupt());
  co_await wait();
  progress_->end();
  const bool is_open = is_under_way();
  if (!is_open) co_await clear_up();
  print_result();
  if (!is_open) co_return exit_code();
  fmt::print(stderr, "{}: stopping the pods; the same command goes on from here\n",
             session_.is_interrupted() ? "interrupted" : "timed out");
  co_await session_.controllers()->stop_pods(kStopGrace);
  co_return session_.is_interrupted() ? kInterrupted : kTimedOut;
}

void Following::watch() {
  for (const Delivery& delivery : deliveries_) {
    auto& informer = informers_[delivery.type->resource];
    if (informer) continue;
    informer = std::make_unique<client::Informer>(env(), session_.server(), delivery.type->resource);
    informer->add_handler([this, resource = delivery.type->resource](const Object& before, const Object& after) {
      // The folder may hold others, of earlier runs or made by controllers: they are none of this delivery.
      if (is_delivered(resource, kube::key_of(after.is_null() ? before : after))) {
        if (after.is_null()) gone_[{resource, kube::key_of(before)}] = before;
        progress_->changed(before, after);
      }
      changed_.notify();
    });
    tasks_.spawn(informer->run());
  }
}

Task<> Following::wait() {
  const Steady deadline = options_.timeout ? env().clock.steady() + *options_.timeout : Steady::max();
  while (is_under_way() && !session_.is_interrupted() && env().clock.steady() < deadline) {
    co_await changed_.wait_until(std::min(deadline, env().clock.steady() + progress_->refresh()));
    progress_->tick();
  }
}

/// Whether something has still to go: a deadline ends a workflow first and deletes what runs then.
bool Following::leaves_pods() {
  const plane::StoreView now = view();
  const auto owner_of = [&](const Object& owned) {
    const json::Value& owner = kube::controller_of(owned);
    const json::Value found = now.find(owner.with("namespace", kube::ns(owned)));
    return found["metadata"]["uid"] == owner["uid"] ? found : json::Value();
  };
  const auto has_owner = [](const Object& owned) { return !kube::controller_of(owned).is_null(); };
  const std::vector<Object> pods = now.all({"", "v1", "Pod"}, "");
  const std::vector<Object> jobs = now.all({"batch", "v1", "Job"}, "");
  return std::ranges::any_of(
             pods, [&](const Object& pod) { return kube::is_deleting(pod) || (has_owner(pod) && owner_of(pod).is_null()); }) ||
         std::ranges::any_of(
             jobs, [&](const Object& job) { return has_owner(job) && !plane::verdict(job) && plane::verdict(owner_of(job)); });
}

/// Nobody looks after pods once this process has ended: those that must go, go first, and no process is left running.
Task<> Following::clear_up() {
  while (leaves_pods() && !session_.is_interrupted()) {
    co_await changed_.wait_until(env().clock.steady() + std::chrono::milliseconds{50});
  }
  co_await session_.controllers()->stop_pods(kStopGrace);
}

Task<> Following::wake_on_interrupt() {
  if (!session_.is_interrupted()) co_await session_.interrupted().wait();
  changed_.notify();
}

Object Following::object(const Delivery& delivery) const {
  if (!is_gone(delivery)) return informers_.at(delivery.type->resource)->get(delivery.key);
  const auto at = gone_.find({delivery.type->resource, delivery.key});
  return at == gone_.end() ? Object{} : at->second;
}

std::optional<bool> Following::verdict_of(const Delivery& delivery) const {
  const auto end = plane::verdict(object(delivery));
  if (end) return end->is_success;
  return is_gone(delivery) ? std::optional(false) : std::nullopt;
}

bool Following::is_under_way() const {
  return std::any_of(deliveries_.begin(), deliveries_.end(), [this](const Delivery& d) { return !verdict_of(d); });
}

int Following::exit_code() const {
  const bool is_failed =
      std::any_of(deliveries_.begin(), deliveries_.end(), [this](const Delivery& d) { return verdict_of(d) == false; });
  return is_failed ? kFailed : kDelivered;
}

void Following::print_result() {
  if (options_.output == Output::Table) {
    for (const Delivery& delivery : deliveries_) {
      const Object end = object(delivery);
      fmt::print("\n{}", plane::summary(end, view()));
      if (is_gone(delivery) && !plane::verdict(end)) fmt::print("{} was deleted before its end\n", delivery.key.name);
    }
    return;
  }
  json::ArrayBuilder items;
  for (const Delivery& delivery : deliveries_) items.add(object(delivery));
  fmt::print("{}\n", json::print_pretty(json::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", items.build()}})));
}

}  // namespace

Task<Result<std::vector<Delivery>>> apply_all(Session& session, std::vector<Manifest> manifests,
                                              std::string default_namespace) {
  const bool has_ranks = std::ranges::any_of(manifests, [](const Manifest& one) { return rank(one.object) < 2; });
  if (has_ranks) SLIPWAY_CO_TRY_VOID(co_await try_all(session, manifests, default_namespace));
  std::vector<Delivery> all;
  for (const int wanted : {0, 1, 2}) {
    SLIPWAY_CO_TRY(some, co_await apply_ranked(session, manifests, default_namespace, wanted));
    all.insert(all.end(), some.begin(), some.end());
  }
  co_return all;
}

Task<int> follow(Session& session, std::vector<Delivery> deliveries, DeliverOptions options) {
  auto following = std::make_shared<Following>(session, std::move(deliveries), options);
  session.hold(following);
  co_return co_await following->run();
}

}  // namespace slipway::cli
