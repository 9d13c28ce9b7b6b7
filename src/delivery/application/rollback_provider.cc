// oam.#Rollback (step rollback): what the newest revision had applied whose workflow succeeded is applied again from its
// ResourceTracker, recorded in the tracker of this generation, and from then on kept as the objects of a delivery are. What
// this revision has added is deleted. The step ends once the components are healthy. Where the two revisions were delivered in
// different ways, the component is handed over as it is between deliveries (docs/rollout.md): a rollout of this revision yields
// and is deleted, one of the older revision rolls out again (rolling_back.h); pods of this revision that serve are deleted
// last. Objects that outlive updates (policy garbage-collect, strategies onAppDelete and never) are recorded only as the newest
// revision made them, and stay so. Which revision serves is a note of the run, from which the status has it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "delivery/application/handing_over.h"
#include "delivery/application/provider_rows.h"
#include "delivery/application/rolling_back.h"
#include "delivery/application/secret_manifests.h"
#include "delivery/application/spec.h"
#include "delivery/application/upkeep.h"
#include "delivery/family/handover.h"

namespace slipway::delivery::application {
namespace {

using workflow::Answer;
using workflow::ProviderCall;

/// Empty: there is none.
Task<Result<std::string>> newest_delivered(AppRun& run) {
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  client::ListQuery query;
  query.ns = std::string(kube::ns(run.application()));
  query.label_selector = fmt::format("{}={}", kLabelName, kube::name(run.application()));
  SLIPWAY_CO_TRY(list, co_await client::list(*hub, kRevisions, query));
  std::string newest;
  std::int64_t newest_number = 0;
  for (const Value& revision : list["items"].items()) {
    const std::int64_t number = number_of_revision(revision);
    const bool is_own = kube::is_owned_by(revision, kube::uid(run.application()));
    if (!is_own || !revision["status"]["succeeded"].as_bool() || number <= newest_number) continue;
    newest = std::string(kube::name(revision));
    newest_number = number;
  }
  co_return newest;
}

/// Null: it is not there any more.
const Tracker* tracker_of(AppRun& run, const std::string& revision) {
  if (revision == run.revision()) return &run.current();
  const auto is_it = [&](const Tracker& one) { return kube::label(one.object, kLabelRevision) == revision; };
  const auto found = std::ranges::find_if(run.outdated(), is_it);
  return found == run.outdated().end() ? nullptr : &*found;
}

/// The manifests that a tracker holds, those of Secrets from the Secret of the revision. Errors: NotFound for one that was not
/// kept.
Task<Result<std::vector<Manifest>>> manifests_in(AppRun& run, Tracker tracker, std::string revision) {
  SLIPWAY_CO_TRY(secrets, co_await secret_manifests(run, tracker.resources, revision));
  std::vector<Manifest> manifests;
  for (const ManagedResource& resource : tracker.resources) {
    if (resource.is_deleted) continue;
    const auto secret = secrets.find(resource.id());
    const bool is_secret = !resource.is_whole && secret != secrets.end();
    if (!resource.is_whole && !is_secret) {
      co_return fail(Reason::NotFound,
                     fmt::format("the manifest of {} is not kept (policy apply-once)", resource.id().to_string()));
    }
    manifests.push_back({.object = is_secret ? secret->second : resource.raw,
                         .cluster = resource.cluster,
                         .component = resource.component,
                         .trait = resource.trait,
                         .creator = resource.creator,
                         .is_secret = is_secret});
  }
  co_return manifests;
}

/// The status has the components that the revision has, and no others.
void restore_services(AppRun& run, const Restored& restored, const std::vector<Manifest>& manifests) {
  std::erase_if(run.services(), [&](const ServiceStatus& service) { return !restored.components.contains(service.name); });
  for (const Manifest& manifest : manifests) {
    const bool is_known = std::ranges::find(run.services(), manifest.component, &ServiceStatus::name) != run.services().end();
    if (is_known || manifest.component.empty() || kube::label(manifest.object, kLabelResourceType) != "WORKLOAD") continue;
    run.put_service({.name = manifest.component,
                     .ns = std::string(kube::ns(manifest.object)),
                     .cluster = std::string(kube::label(manifest.object, kLabelCluster))});
  }
}

/// From now on the health of each component is judged by what the older revision says it is.
Task<Result<void>> judge_as(AppRun& run, std::string revision, std::vector<Manifest> manifests) {
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  SLIPWAY_CO_TRY(found, co_await client::get(*hub, kRevisions, {std::string(kube::ns(run.application())), revision}));
  const auto spec = read_application(revision_content(found)["application"]["spec"]);
  if (!spec) co_return Result<void>{};
  for (const Manifest& manifest : manifests) {
    const bool is_rolled = is_holder(manifest.object);
    const std::string name = is_rolled ? component_of_holder(manifest.object) : manifest.component;
    const ComponentSpec* older = spec->find(name);
    const ComponentSpec* newer = run.parsed().spec.find(name);
    const bool is_same = older != nullptr && newer != nullptr && older->to_json() == newer->to_json();
    if (older == nullptr || is_same) continue;
    const auto cluster = is_rolled ? std::string_view() : kube::label(manifest.object, kLabelCluster);
    co_await run.remember_delivered(*older, {std::string(cluster), std::string(kube::ns(manifest.object))});
  }
  co_return Result<void>{};
}

/// What is not healthy yet; empty: all is. `applied` are the objects as they were written: a cache may be behind them.
Task<Result<std::string>> first_unhealthy(AppRun& run, std::vector<Value> applied) {
  for (const Value& object : applied) {
    for (const Tracker* tracker : {&run.current(), &run.root()}) {
      const auto is_it = [&](const ManagedResource& one) {
        return one.kind == kube::kind(object) && one.name == kube::name(object) && one.ns == kube::ns(object);
      };
      const auto found = std::ranges::find_if(tracker->resources, is_it);
      if (found == tracker->resources.end()) continue;
      SLIPWAY_CO_TRY(live, co_await run.live_object(*found));
      const bool is_behind =
          live.is_null() || (kube::uid(live) == kube::uid(object) && kube::revision(live) < kube::revision(object));
      if (is_behind) co_return fmt::format("waiting until the cache has {} {}", kube::kind(object), kube::name(object));
    }
  }
  SLIPWAY_CO_TRY(unrestored, co_await first_unrestored(run, applied));
  if (!unrestored.empty()) co_return unrestored;
  SLIPWAY_CO_TRY_VOID(co_await judge_services(run));
  for (const ServiceStatus& service : run.services()) {
    if (!service.is_healthy) co_return fmt::format("component {} is not healthy: {}", service.name, service.message);
  }
  co_return std::string();
}

/// What the revision's author had applied is applied with the rights of both.
Task<Result<void>> narrow_to_author(AppRun& run, std::string revision) {
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  SLIPWAY_CO_TRY(found, co_await client::get(*hub, kRevisions, {std::string(kube::ns(run.application())), revision}));
  run.narrow_to_author_of(revision_content(found)["application"]);
  co_return Result<void>{};
}

/// An id of the rollback, which is stored with the run before anything is done. Empty: it is not stored yet.
std::string stored_request(AppRun& run, workflow::RunStore& store) {
  const auto known = store.notes.find(kRollsBack);
  if (known != store.notes.end()) return known->second;
  const auto now = std::chrono::floor<std::chrono::seconds>(run.tools().env.clock.now());
  store.notes[kRollsBack] = fmt::format("{}-back-{}", run.revision(), now.time_since_epoch().count());
  store.has_changed = true;
  // What this process applied for the older revision, a rollout may have resized since: it is written again.
  run.memory().applied.clear();
  return {};
}

/// Applies the manifests, and deletes what the present revision has added. What is waited for; empty: the older one serves.
Task<Result<std::string>> restore(AppRun& run, std::vector<Manifest> manifests, Restored restored) {
  std::vector<Value> applied;
  if (!manifests.empty()) {
    SLIPWAY_CO_TRY(written, co_await run.apply(manifests));
    SLIPWAY_CO_TRY_VOID(co_await size_like_predecessor(run, manifests, written));
    applied = std::move(written);
  }
  SLIPWAY_CO_TRY(added, co_await collect_added(run, restored));
  if (!added.is_done())
    co_return fmt::format("objects of the present revision still to be deleted: {}", joined(added.remaining, ", "));
  restore_services(run, restored, manifests);
  SLIPWAY_CO_TRY(unhealthy, co_await first_unhealthy(run, std::move(applied)));
  if (!unhealthy.empty()) co_return unhealthy;
  SLIPWAY_CO_TRY(replaced, co_await collect_replaced(run, std::move(restored)));
  co_return replaced.is_done()
      ? std::string()
      : fmt::format("objects of the present revision still to be deleted: {}", joined(replaced.remaining, ", "));
}

Task<Answer> apply_older(AppRun& run, ProviderCall call) {
  if (call.store == nullptr) co_return Answer::error("only steps of a workflow can do this");
  auto revision = co_await newest_delivered(run);
  if (!revision) co_return Answer::error(revision.error());
  if (revision->empty())
    co_return failed("there is no earlier revision whose workflow succeeded: nothing can be rolled back to");
  const Tracker* tracker = tracker_of(run, *revision);
  if (tracker == nullptr) co_return failed(fmt::format("what revision {} had applied is not recorded any more", *revision));
  if (auto narrowed = co_await narrow_to_author(run, *revision); !narrowed) co_return Answer::error(narrowed.error());
  auto manifests = co_await manifests_in(run, *tracker, *revision);
  if (!manifests && manifests.error().reason == Reason::NotFound) {
    co_return failed(fmt::format("cannot roll back to revision {}: {}", *revision, manifests.error().message));
  }
  if (!manifests) co_return Answer::error(manifests.error());
  const std::string request = stored_request(run, *call.store);
  if (request.empty()) co_return Answer::wait(fmt::format("revision {} is about to be applied again", *revision));
  if (auto judged = co_await judge_as(run, *revision, *manifests); !judged) co_return Answer::error(judged.error());
  Restored restored = restored_by(*manifests);
  manifests = co_await with_rollouts_to_restore(run, std::move(*manifests), request);
  if (!manifests) co_return Answer::error(manifests.error());
  auto waits = co_await restore(run, std::move(*manifests), std::move(restored));
  if (!waits) co_return Answer::error(waits.error());
  if (!waits->empty()) co_return Answer::wait(fmt::format("revision {} is applied again; {}", *revision, *waits));
  call.store->notes[kRolledBackTo] = *revision;
  call.store->has_changed = true;
  co_return Answer::done(json::object({{"revision", *revision}}));
}

}  // namespace

std::vector<ProviderRow> rollback_rows() { return {{"oam", "rollback", {}, apply_older}}; }

}  // namespace slipway::delivery::application
