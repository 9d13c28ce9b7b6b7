#include "cli/deliver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/progress.h"
#include "client/informer.h"
#include "delivery/family/kind_mapper.h"
#include "json/text.h"
#include "plane/families.h"
#include "plane/show.h"
#include "plane/store_view.h"

namespace slipway::cli {
namespace {

constexpr const char* kDeliverManager = "slipway";
/// How long pods get between SIGTERM and SIGKILL when a delivery is interrupted.
constexpr Duration kDeliverStopGrace = std::chrono::seconds{10};

/// How long a kind that a file brings may take until it is served.
constexpr Duration kKindTimeout = std::chrono::seconds{10};
constexpr Duration kKindPause = std::chrono::milliseconds{100};

using client::Request;
using client::Verb;
using kube::Object;

/// CRDs before namespaces before what others name before the rest: later objects need them.
constexpr int kLastRank = 3;
int rank(const Object& object) {
  if (kube::kind(object) == "CustomResourceDefinition") return 0;
  if (kube::kind(object) == "Namespace") return 1;
  return plane::is_named_by_others(object) ? 2 : kLastRank;
}

/// The file, and the line of each field that is at fault.
Status at(const Manifest& manifest, Status status) {
  for (Cause& cause : status.causes) {
    const std::string place = manifest.at(cause.field);
    if (place == manifest.source) continue;
    cause.message += fmt::format(" ({})", place);
    if (status.causes.size() == 1) status.message += fmt::format(" ({})", place);
  }
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
  request.field_manager = kDeliverManager;
  request.field_validation = "Strict";
  request.force = true;
  return request;
}

struct Placed {
  Manifest manifest;
  Result<server::TypePtr> type;
};

Task<Placed> place(Site site, Manifest manifest, std::string default_namespace) {
  auto type = co_await site.find_type(manifest.object);
  if (type && (*type)->is_namespaced && kube::ns(manifest.object).empty()) {
    manifest.object = manifest.object.with_path({"metadata", "namespace"}, default_namespace);
  }
  co_return Placed{std::move(manifest), std::move(type)};
}

/// Whether a dry run fails only because another object of the same files is not there yet.
bool needs_sibling(const Status& status, const std::vector<Manifest>& manifests) {
  if (status.reason != Reason::NotFound) return false;
  for (const Manifest& manifest : manifests) {
    if (rank(manifest.object) == 1 && status.kind == "namespaces" && status.name == kube::name(manifest.object)) return true;
  }
  return false;
}

Task<Result<void>> try_one(Site site, Placed placed, const std::vector<Manifest>& manifests) {
  Request request = apply_request(*placed.type, placed.manifest.object);
  request.dry_run = true;
  const auto reply = co_await site.client->call(std::move(request));
  if (!reply && !needs_sibling(reply.error(), manifests)) co_return fail(at(placed.manifest, reply.error()));
  co_return Result<void>{};
}

/// Finds what is wrong before the first namespace or CRD is made. What needs them is tried again once they are there.
Task<Result<void>> try_all(Site site, std::vector<Manifest> manifests, std::string ns) {
  const bool brings_kinds = std::ranges::any_of(manifests, [](const Manifest& one) { return rank(one.object) == 0; });
  const bool brings_names = std::ranges::any_of(manifests, [](const Manifest& one) { return rank(one.object) == 2; });
  for (const Manifest& manifest : manifests) {
    Placed placed = co_await place(site, manifest, ns);
    const bool may_name = brings_names && rank(manifest.object) == kLastRank && plane::find_row(manifest.object) != nullptr;
    if ((!placed.type && brings_kinds) || may_name) continue;
    if (!placed.type) co_return fail(at(manifest, placed.type.error()));
    SLIPWAY_CO_TRY_VOID(co_await try_one(site, std::move(placed), manifests));
  }
  co_return Result<void>{};
}

Task<Result<std::vector<Delivery>>> apply_ranked(Site site, std::vector<Manifest> manifests, std::string ns, int wanted) {
  std::vector<Placed> all;
  const bool brings_kinds = std::ranges::any_of(manifests, [](const Manifest& one) { return rank(one.object) == 0; });
  for (const Manifest& manifest : manifests) {
    if (rank(manifest.object) != wanted) continue;
    Placed placed = co_await place(site, manifest, ns);
    // A kind that the files bring is served only a while after it was made.
    const Steady deadline = site.env.clock.steady() + (brings_kinds && wanted > 0 ? kKindTimeout : Duration{0});
    while (!placed.type && placed.type.error().reason == Reason::NotFound && site.env.clock.steady() < deadline) {
      co_await sleep_for(site.env, kKindPause);
      placed = co_await place(site, manifest, ns);
    }
    if (!placed.type) co_return fail(at(manifest, placed.type.error()));
    all.push_back(std::move(placed));
  }
  for (const Placed& one : all) SLIPWAY_CO_TRY_VOID(co_await try_one(site, one, manifests));
  std::vector<Delivery> deliveries;
  for (const Placed& one : all) {
    const auto reply = co_await site.client->call(apply_request(*one.type, one.manifest.object));
    if (!reply) co_return fail(at(one.manifest, reply.error()));
    for (const std::string& warning : reply->warnings) fmt::print(stderr, "Warning: {}: {}\n", one.manifest.source, warning);
    deliveries.push_back({*one.type, kube::key_of(one.manifest.object)});
  }
  co_return deliveries;
}

/// What is seen of a cluster elsewhere while a delivery is followed: nothing but the objects themselves.
class OnlyTime : public control::View {
 public:
  explicit OnlyTime(Time now) : now_(now) {}
  json::Value find(const json::Value&) const override { return {}; }
  std::vector<json::Value> owned_by(const json::Value&, const kube::GroupVersionKind&) const override { return {}; }
  Time now() const override { return now_; }

 private:
  Time now_;
};

/// What follow() watches. Held by the session: its informers run until the loop ends.
class Following {
 public:
  Following(Session& session, std::vector<Delivery> deliveries, DeliverOptions options)
      : session_(session),
        options_(options),
        client_(options.elsewhere ? *options.elsewhere : session.server()),
        tasks_(session.env()),
        changed_(session.env()),
        progress_(make_progress(session.env(), options.output, [this] { return shown_view(); })) {
    for (Delivery& delivery : deliveries) {
      if (plane::has_end(delivery.type->kind)) deliveries_.push_back(std::move(delivery));
    }
  }

  Task<int> run();

 private:
  Env& env() { return session_.env(); }
  /// As it is, or as it was last seen: what has ended may go by itself (ttlSecondsAfterFinished).
  Object object(const Delivery& delivery) const;
  bool is_gone(const Delivery& delivery) const { return !informers_.at(delivery.type->resource)->contains(delivery.key); }
  /// What was deleted before its end has failed.
  std::optional<bool> verdict_of(const Delivery& delivery) const;
  bool is_under_way() const;
  int exit_code() const;
  void print_result();
  bool is_elsewhere() const { return options_.elsewhere != nullptr; }
  plane::StoreView view() { return {session_.server(), session_.store(), env().clock.now()}; }
  std::shared_ptr<const control::View> shown_view() {
    if (is_elsewhere()) return std::make_shared<OnlyTime>(env().clock.now());
    return std::make_shared<plane::StoreView>(view());
  }
  std::optional<delivery::Hold> hold_of(const Delivery& delivery) const;
  /// Nothing goes on by itself.
  bool is_held() const;
  Task<> approve();
  int end_open();
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
  client::Client& client_;
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
  if (!is_elsewhere()) session_.start_controllers();
  tasks_.spawn(wake_on_interrupt());
  co_await wait();
  progress_->end();
  const bool is_open = is_under_way();
  if (!is_open && !is_elsewhere()) co_await clear_up();
  print_result();
  if (!is_open) co_return exit_code();
  const int code = end_open();
  if (!is_elsewhere()) co_await session_.controllers()->stop_pods(kDeliverStopGrace);
  co_return code;
}

/// Says how what has not ended goes on.
int Following::end_open() {
  if (session_.is_interrupted() || !is_held()) {
    fmt::print(stderr, "{}{}; the same command goes on from here\n", session_.is_interrupted() ? "interrupted" : "timed out",
               is_elsewhere() ? "" : ": stopping the pods");
    return session_.is_interrupted() ? kInterrupted : kTimedOut;
  }
  for (const Delivery& delivery : deliveries_) {
    const auto hold = hold_of(delivery);
    if (verdict_of(delivery) || !hold) continue;
    fmt::print(stderr, "{}: {}; go on with: slipway {} {} -n {} {}\n", plane::title(object(delivery)), hold->text, hold->action,
               plane::title(object(delivery)), delivery.key.ns, options_.place);
  }
  return kTimedOut;
}

std::optional<delivery::Hold> Following::hold_of(const Delivery& delivery) const {
  const Object now = object(delivery);
  const delivery::KindRow* row = plane::find_row(now);
  return row != nullptr && row->hold ? row->hold(now) : std::nullopt;
}

bool Following::is_held() const {
  return std::ranges::all_of(deliveries_, [this](const Delivery& d) { return verdict_of(d) || hold_of(d); });
}

Task<> Following::approve() {
  const std::vector<Delivery> all = deliveries_;
  for (const Delivery& delivery : all) {
    const auto hold = hold_of(delivery);
    if (verdict_of(delivery) || !hold) continue;
    const delivery::Action* action = plane::find_action(plane::find_row(object(delivery)), hold->action);
    if (action == nullptr) continue;
    const auto done = co_await action->run(
        {.env = env(), .client = client_, .resource = delivery.type->resource, .key = delivery.key, .part = "", .options = {}});
    // What was seen may be older than an approval by this command or another client.
    if (done) fmt::print(stderr, "{}: {}: approved\n", plane::title(object(delivery)), hold->text);
  }
}

void Following::watch() {
  for (const Delivery& delivery : deliveries_) {
    auto& informer = informers_[delivery.type->resource];
    if (informer) continue;
    informer = std::make_unique<client::Informer>(env(), client_, delivery.type->resource);
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
    if (options_.approves_all) co_await approve();
    if (!options_.approves_all && is_held()) break;
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

/// No process looks after pods once this process has ended: those that must go, go first, and no process is left running.
Task<> Following::clear_up() {
  while (leaves_pods() && !session_.is_interrupted()) {
    co_await changed_.wait_until(env().clock.steady() + std::chrono::milliseconds{50});
  }
  co_await session_.controllers()->stop_pods(kDeliverStopGrace);
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
      fmt::print("\n{}", plane::summary(end, *shown_view()));
      if (is_gone(delivery) && !plane::verdict(end)) fmt::print("{} was deleted before its end\n", delivery.key.name);
    }
    return;
  }
  json::ArrayBuilder items;
  for (const Delivery& delivery : deliveries_) items.add(object(delivery));
  fmt::print("{}\n", json::print_pretty(json::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", items.build()}})));
}

}  // namespace

Site site_of(Env& env, server::Server& server) {
  return {.env = env,
          .client = {std::shared_ptr<void>(), &server},
          .find_type = [&server](Object object) -> Task<Result<server::TypePtr>> {
            SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(object));
            co_return server.registry().find_kind(kind);
          }};
}

Site site_of(Env& env, std::shared_ptr<client::Client> client) {
  const auto kinds = std::make_shared<delivery::KindMapper>();
  return {.env = env, .client = client, .find_type = [client, kinds](Object object) -> Task<Result<server::TypePtr>> {
            SLIPWAY_CO_TRY(found, co_await kinds->find_for(*client, "", object));
            auto type = std::make_shared<kube::ResourceType>();
            type->resource = found.resource;
            type->kind = found.kind;
            type->is_namespaced = found.is_namespaced;
            co_return type;
          }};
}

Task<Result<std::vector<Delivery>>> apply_all(Site site, std::vector<Manifest> manifests, std::string default_namespace) {
  const bool has_ranks = std::ranges::any_of(manifests, [](const Manifest& one) { return rank(one.object) < kLastRank; });
  if (has_ranks) SLIPWAY_CO_TRY_VOID(co_await try_all(site, manifests, default_namespace));
  std::vector<Delivery> all;
  for (int wanted = 0; wanted <= kLastRank; ++wanted) {
    SLIPWAY_CO_TRY(some, co_await apply_ranked(site, manifests, default_namespace, wanted));
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
