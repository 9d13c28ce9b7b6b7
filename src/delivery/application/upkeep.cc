#include "delivery/application/upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/digest.h"
#include "base/text.h"
#include "control/object_writes.h"
#include "delivery/application/dependency_order.h"
#include "delivery/application/drift.h"
#include "delivery/application/handing_over.h"
#include "delivery/application/kept_paths.h"
#include "delivery/application/rolled_services.h"
#include "delivery/application/secret_manifests.h"
#include "delivery/application/sharing.h"
#include "delivery/family/claimed_fields.h"
#include "delivery/family/handover.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

using Place = std::pair<std::string, Placement>;  // component and where
using Objects = std::vector<std::pair<ManagedResource, Value>>;

/// Where the workload of a component is, hub-only traits included: those count for every place.
Placement place_of(const ManagedResource& resource) { return {resource.cluster, resource.ns}; }

std::string digest_of(const Value& wanted, const Value& live) {
  return sha256_hex(json::print(wanted) + json::print(live["spec"]) + json::print(live["data"]) +
                    json::print(live["metadata"]["labels"]) + json::print(live["metadata"]["annotations"]));
}

std::vector<const ManagedResource*> held(AppRun& run) {
  std::vector<const ManagedResource*> all;
  for (const Tracker* tracker : {&run.current(), &run.root()}) {
    for (const ManagedResource& resource : tracker->resources) all.push_back(&resource);
  }
  return all;
}

/// Deletes one object that is ours. True when it is gone.
Task<Result<bool>> remove_object(AppRun& run, ManagedResource resource, bool orphans) {
  SLIPWAY_CO_TRY(live, co_await run.live_object(resource));
  if (live.is_null()) co_return true;
  const bool is_ours = owner_of(live) == sharer_name(run.application());
  if (!is_ours || orphans) co_return true;
  if (kube::is_deleting(live)) co_return false;
  if (is_holder(live)) SLIPWAY_CO_TRY_VOID(co_await ask_to_yield(run, live));
  SLIPWAY_CO_TRY(client, run.on(resource.cluster));
  SLIPWAY_CO_TRY(discovery, run.own(resource.cluster));
  SLIPWAY_CO_TRY(kind, co_await run.tools().live.kinds().find_for(*discovery, resource.cluster, live));
  const RuleSubject subject = subject_of(live);
  // Of what others may share only what nobody shared when it was looked at.
  const std::string version = run.parsed().keep.is_shared(subject) ? live["metadata"]["resourceVersion"].str() : "";
  auto removed = co_await client::remove_exactly(
      *client, kind.resource, kube::key_of(live),
      {.propagation = run.parsed().keep.propagation(subject) == "orphan" ? "Orphan" : "Background",
       .uid = std::string(kube::uid(live)),
       .resource_version = version,
       .grace_seconds = {}});
  if (!removed && removed.error().reason != Reason::Conflict) co_return fail(std::move(removed).error());
  run.memory().applied.erase(resource.id());
  co_return false;
}

/// Gives an object that others share to the first of them. True when there was one.
Task<Result<bool>> hand_over(AppRun& run, ManagedResource resource) {
  const std::string self = sharer_name(run.application());
  SLIPWAY_CO_TRY(live, co_await run.live_object(resource));
  for (int attempt = 1;; ++attempt) {
    std::vector<std::string> others = sharers_of(live);
    std::erase(others, self);
    if (others.empty()) co_return false;
    json::ObjectBuilder metadata;
    metadata.set("resourceVersion", live["metadata"]["resourceVersion"]);  // others add and remove themselves meanwhile
    metadata.set("annotations", json::object({{kSharedBy, joined(others, ",")}}));
    if (owner_of(live) == self) {
      const auto slash = others.front().find('/');
      metadata.set("labels", json::object({{kLabelNamespace, others.front().substr(0, slash)},
                                           {kLabelName, others.front().substr(slash + 1)}}));
    }
    SLIPWAY_CO_TRY(client, run.on(resource.cluster));
    SLIPWAY_CO_TRY(discovery, run.own(resource.cluster));
    SLIPWAY_CO_TRY(kind, co_await run.tools().live.kinds().find_for(*discovery, resource.cluster, live));
    auto patched = co_await client::merge_patch(*client, kind.resource, kube::key_of(live),
                                                json::object({{"metadata", metadata.build()}}), kManager);
    if (patched || patched.error().reason == Reason::NotFound) co_return true;
    if (patched.error().reason != Reason::Conflict || attempt == kMostAttempts) co_return fail(std::move(patched).error());
    SLIPWAY_CO_TRY(newest, co_await run.newest_object(resource.id(), live));
    live = std::move(newest);
  }
}

/// Removes or hands over each object; says what remains. With the policy `order: dependency` an object goes once those of
/// components that depend on its own are gone; `spec` says which do.
Task<Result<void>> collect(AppRun& run, std::vector<ManagedResource> victims, ApplicationSpec spec, bool orphans,
                           Collected& collected) {
  const bool is_ordered = run.parsed().keep.collects_in_dependency_order && !orphans;
  const DependencyOrder order(is_ordered ? spec : ApplicationSpec{});
  std::map<std::size_t, std::vector<ManagedResource>, std::greater<>> by_depth;
  for (ManagedResource& victim : victims) by_depth[order.depth(victim.component)].push_back(std::move(victim));
  victims.clear();
  for (auto& [depth, some] : by_depth) std::ranges::move(some, std::back_inserter(victims));
  std::set<std::string> open;  // components with objects that are still there
  for (const ManagedResource& victim : victims) {
    const std::size_t before = collected.remaining.size();
    if (const std::string waits = order.first_dependant(victim.component, open); !waits.empty()) {
      collected.remaining.push_back(fmt::format("{} stays until component {} is gone", victim.id().to_string(), waits));
      open.insert(victim.component);
      continue;
    }
    auto is_handed = co_await hand_over(run, victim);
    if (is_handed && *is_handed) continue;
    Result<bool> is_gone = is_handed ? co_await remove_object(run, victim, orphans) : fail(std::move(is_handed).error());
    if (!is_gone && is_gone.error().reason == Reason::NotFound && victim.cluster == kHub) continue;  // its kind is gone
    if (!is_gone) {
      collected.remaining.push_back(fmt::format("{}: {}", victim.id().to_string(), is_gone.error().message));
      if (collected.fault.empty()) collected.fault = collected.remaining.back();
    } else if (!*is_gone) {
      collected.remaining.push_back(fmt::format("{} is being deleted", victim.id().to_string()));
    }
    if (collected.remaining.size() > before) open.insert(victim.component);
  }
  co_return Result<void>{};
}

/// The spec that a tracker's objects were made of; where its revision is gone, the application's as it is now.
Task<Result<ApplicationSpec>> spec_of(AppRun& run, Tracker tracker) {
  const std::string revision(kube::label(tracker.object, kLabelRevision));
  if (!run.parsed().keep.collects_in_dependency_order || revision.empty()) co_return run.parsed().spec;
  SLIPWAY_CO_TRY(client, run.own(kHub));
  auto stored = co_await client::get(*client, kRevisions, {std::string(kube::ns(run.application())), revision});
  if (!stored && stored.error().reason != Reason::NotFound) co_return fail(std::move(stored).error());
  auto spec = stored ? read_application(revision_content(*stored)["application"]["spec"]) : run.parsed().spec;
  co_return spec ? *spec : run.parsed().spec;
}

Task<Result<void>> remove_tracker(AppRun& run, Tracker tracker) {
  if (tracker.object.is_null()) co_return Result<void>{};
  SLIPWAY_CO_TRY(client, run.own(kHub));
  if (kube::has_finalizer(tracker.object, kTrackerFinalizer)) {  // one of KubeVela's
    auto released = co_await control::remove_finalizer(*client, kTrackers, tracker.object, kTrackerFinalizer, kManager);
    if (!released && released.error().reason != Reason::NotFound) co_return fail(std::move(released).error());
  }
  if (kube::is_deleting(tracker.object)) co_return Result<void>{};
  co_return co_await client::remove_exactly(*client, kTrackers, {"", tracker.name},
                                            {.propagation = "Background",
                                             .uid = std::string(kube::uid(tracker.object)),
                                             .resource_version = "",
                                             .grace_seconds = {}});
}

}  // namespace

Task<Result<void>> judge_services(AppRun& run) {
  std::map<Place, Objects> places;
  std::map<std::pair<std::string, std::string>, std::string> unknown;  // why, by component and cluster
  std::vector<ManagedResource> all;
  for (const ManagedResource* resource : held(run)) all.push_back(*resource);
  for (const ManagedResource& resource : all) {
    if (resource.component.empty()) continue;
    auto live = co_await run.live_object(resource);
    if (!live && resource.cluster == kHub) co_return fail(std::move(live).error());
    if (!live) {
      unknown.emplace(std::pair(resource.component, resource.cluster), live.error().message);
      continue;
    }
    places[{resource.component, place_of(resource)}].emplace_back(resource, live->without_path({"metadata", "managedFields"}));
  }
  const std::set<std::string> rolled = rolled_components(run);
  for (ServiceStatus service : std::vector<ServiceStatus>(run.services())) {
    if (rolled.contains(service.name)) continue;
    const Placement named{service.cluster, service.ns};
    const Placement placement{service.cluster.empty() ? kHub : service.cluster, service.ns};
    const bool is_held = std::ranges::any_of(
        all, [&](const ManagedResource& one) { return one.component == service.name && one.cluster == placement.cluster; });
    if (service.is_unknown() && !is_held) {  // of an earlier run: this one does not deliver it there
      std::erase(run.services(), service);
      continue;
    }
    const std::optional<ComponentSpec> component = co_await run.delivered_component(service.name, named);
    if (!component) continue;
    if (const auto why = unknown.find({service.name, placement.cluster}); why != unknown.end()) {
      service.become_unknown(why->second);
      run.put_service(std::move(service));
      continue;
    }
    Objects objects;
    for (const auto& [place, found] : places) {
      const bool is_here =
          place.second.cluster == placement.cluster && (place.second.ns == placement.ns || place.second.ns.empty());
      if (place.first == service.name && is_here) objects.insert(objects.end(), found.begin(), found.end());
    }
    if (objects.empty()) {
      for (const auto& [place, found] : places) {
        if (place.first == service.name && place.second.cluster == placement.cluster) {
          objects.insert(objects.end(), found.begin(), found.end());
        }
      }
    }
    SLIPWAY_CO_TRY_VOID(co_await add_rolled_workload(run, objects));
    run.put_service(run.judge_service(*component, named, objects));
  }
  co_return co_await judge_rolled_services(run);
}

/// Gives those whose manifest stands in the revision's Secret that manifest, and says which they are.
Task<Result<std::set<ObjectId>>> with_secret_manifests(AppRun& run, std::vector<ManagedResource>& all) {
  std::set<ObjectId> secret;
  if (std::ranges::all_of(all, &ManagedResource::is_whole)) co_return secret;
  SLIPWAY_CO_TRY(manifests, co_await secret_manifests(run, all, run.revision()));
  for (ManagedResource& resource : all) {
    const auto at = manifests.find(resource.id());
    if (resource.is_whole || at == manifests.end()) continue;
    resource.raw = at->second;
    resource.is_whole = true;
    secret.insert(resource.id());
  }
  co_return secret;
}

namespace {

std::vector<Manifest> repair_of(const ManagedResource& resource, const std::set<ObjectId>& secrets) {
  std::vector<Manifest> manifests;
  manifests.push_back({.object = resource.raw,
                       .cluster = resource.cluster,
                       .component = resource.component,
                       .trait = resource.trait,
                       .creator = resource.creator,
                       .is_secret = secrets.contains(resource.id()),
                       .is_repair = true});
  return manifests;
}

/// Another writer has taken the application out of the list of those that share the object: its owner may delete it.
bool lost_its_sharer(AppRun& run, const RuleSubject& subject, const Value& live) {
  return run.parsed().keep.is_shared(subject) && !live.is_null() && !kube::is_deleting(live) &&
         !is_shared_by(live, sharer_name(run.application()));
}

}  // namespace

Task<Result<std::optional<Duration>>> repair_drift(AppRun& run) {
  const KeepPolicies& keep = run.parsed().keep;
  std::optional<Duration> again;
  if (keep.is_apply_once && keep.apply_once.empty()) co_return again;
  RepairLog& log = run.memory().repairs;
  const Clock& clock = run.tools().env.clock;
  std::vector<ManagedResource> all;
  for (const ManagedResource* resource : held(run)) all.push_back(*resource);
  SLIPWAY_CO_TRY(secrets, co_await with_secret_manifests(run, all));
  for (const ManagedResource& resource : all) {
    if (!resource.is_whole) continue;
    const RuleSubject subject = subject_of(resource.raw);
    const std::vector<std::string> kept = keep.kept_paths(subject, true);
    if (keep.is_read_only(subject) || std::ranges::find(kept, "*") != kept.end()) continue;
    auto live = co_await run.live_object(resource);
    if (!live && resource.cluster != kHub) continue;  // judge_services() says so; other clusters are kept meanwhile
    if (!live) co_return fail(std::move(live).error());
    if (live->is_null() && !kept.empty()) continue;  // apply-once: what was deleted stays so
    const auto wanted_of = [&](const Value& now) { return without_claimed(with_live(resource.raw, now, kept), now, kManager); };
    const Value wanted = live->is_null() ? Value() : wanted_of(*live);
    if (lost_its_sharer(run, subject, *live)) {
      run.memory().applied.erase(resource.id());
      SLIPWAY_CO_TRY_VOID(co_await run.apply(repair_of(resource, secrets)));
      continue;
    }
    if (!live->is_null() && (kube::is_deleting(*live) || !has_drifted(wanted, *live))) continue;
    if (!live->is_null() && owner_of(*live) != sharer_name(run.application())) continue;
    if (!kube::annotation(*live, kReplacedBy).empty()) continue;  // a rollout's pods serve in its place
    const std::string digest = digest_of(resource.raw, *live);
    if (const auto known = run.memory().settled.find(resource.id());
        known != run.memory().settled.end() && known->second == digest) {
      continue;
    }
    const std::vector<DriftedField> fields =
        live->is_null() ? std::vector<DriftedField>{} : drifted_fields(wanted, *live, kManager);
    if (const auto rest = log.put_off(resource.id(), fields, clock.steady())) {
      again = std::min(again.value_or(*rest), *rest);
      continue;
    }
    run.memory().applied.erase(resource.id());
    SLIPWAY_CO_TRY(written, co_await run.apply(repair_of(resource, secrets)));
    const Value& after = written.front();
    if (has_drifted(wanted_of(after), after)) {
      run.memory().settled[resource.id()] = digest_of(resource.raw, after);
    } else {
      log.repaired(resource.id(), fields, clock.steady());
    }
  }
  co_return again;
}

namespace {

/// What rollouts have made and nothing delivers now.
Task<Result<void>> collect_rolled_out(AppRun& run, RolledOut rolled, Collected& collected) {
  std::vector<RolledOut::Entry> gone;
  for (const RolledOut::Entry& one : rolled.useless) {
    const std::size_t before = collected.remaining.size();
    const ObjectId id = one.resource.id();
    const bool is_needed = run.current().find(id) != nullptr || run.root().find(id) != nullptr || rolled.held.contains(id);
    std::vector<ManagedResource> victims;
    if (!is_needed) victims.push_back(one.resource);
    SLIPWAY_CO_TRY_VOID(co_await collect(run, std::move(victims), run.parsed().spec, false, collected));
    if (collected.remaining.size() == before) gone.push_back(one);
  }
  co_return co_await clean_rolled_out(run, std::move(gone));
}

}  // namespace

Task<Result<Collected>> collect_outdated(AppRun& run, std::int64_t revision_limit) {
  Collected collected;
  if (run.parsed().keep.keeps_legacy_resource) {
    SLIPWAY_CO_TRY_VOID(co_await drain_kept(run));
    co_return collected;
  }
  SLIPWAY_CO_TRY(rolled, co_await rolled_out(run, component_names(run)));
  const std::set<ObjectId> kept = kept_revisions(run, revision_limit);
  for (const Tracker& tracker : std::vector<Tracker>(run.outdated())) {
    std::vector<ManagedResource> victims;
    bool keeps_some = false;
    for (const ManagedResource& resource : tracker.resources) {
      const ObjectId id = resource.id();
      const bool is_needed =
          run.current().find(id) != nullptr || run.root().find(id) != nullptr || rolled.held.contains(id) || kept.contains(id);
      if (!is_needed && !resource.skips_collection) victims.push_back(resource);
      keeps_some |= kept.contains(id);
    }
    const std::size_t before = collected.remaining.size();
    SLIPWAY_CO_TRY(spec, co_await spec_of(run, tracker));
    SLIPWAY_CO_TRY_VOID(co_await collect(run, victims, std::move(spec), false, collected));
    const bool is_empty = collected.remaining.size() == before && !keeps_some;
    if (is_empty) SLIPWAY_CO_TRY_VOID(co_await remove_tracker(run, tracker));
  }
  SLIPWAY_CO_TRY_VOID(co_await collect_rolled_out(run, std::move(rolled), collected));
  co_return collected;
}

namespace {

/// Deletes these objects of the tracker of this generation, and takes them out of it together with `others`.
Task<Result<void>> collect_from_current(AppRun& run, std::vector<ManagedResource> victims, std::set<ObjectId> others,
                                        Collected& collected) {
  for (const ManagedResource& resource : victims) others.insert(resource.id());
  if (others.empty()) co_return Result<void>{};
  SLIPWAY_CO_TRY_VOID(co_await collect(run, std::move(victims), run.parsed().spec, false, collected));
  if (!collected.is_done()) co_return Result<void>{};
  run.forget(others);
  co_return co_await run.write_tracker(TrackerType::Versioned);
}

}  // namespace

Task<Result<Collected>> collect_added(AppRun& run, Restored restored) {
  Collected collected;
  std::set<ObjectId> held;
  for (const Tracker& tracker : run.rolled_out()) {
    if (!restored.holders.contains(tracker.holder)) continue;
    for (const ManagedResource& one : tracker.resources) held.insert(one.id());
  }
  std::vector<ManagedResource> victims;
  std::set<ObjectId> theirs;
  for (const ManagedResource& resource : run.current().resources) {
    const ObjectId id = resource.id();
    // Where older objects are kept, a rollout goes all the same: it would deliver the component again.
    const bool is_kept = run.parsed().keep.keeps_legacy_resource && !is_holder(resource.raw);
    if (restored.objects.contains(id)) continue;
    if (held.contains(id)) {
      theirs.insert(id);
    } else if (!is_kept && !resource.skips_collection && !is_replaced_last(restored, resource)) {
      victims.push_back(resource);
    }
  }
  SLIPWAY_CO_TRY_VOID(co_await collect_from_current(run, std::move(victims), std::move(theirs), collected));
  co_return collected;
}

Task<Result<Collected>> collect_replaced(AppRun& run, Restored restored) {
  Collected collected;
  if (run.parsed().keep.keeps_legacy_resource) {
    SLIPWAY_CO_TRY_VOID(co_await drain_kept(run));
    co_return collected;
  }
  std::vector<ManagedResource> victims;
  for (const ManagedResource& resource : run.current().resources) {
    if (!restored.objects.contains(resource.id()) && !resource.skips_collection) victims.push_back(resource);
  }
  SLIPWAY_CO_TRY_VOID(co_await collect_from_current(run, std::move(victims), {}, collected));
  SLIPWAY_CO_TRY(rolled, co_await rolled_out(run, restored.components));
  SLIPWAY_CO_TRY_VOID(co_await collect_rolled_out(run, std::move(rolled), collected));
  co_return collected;
}

Task<Result<Collected>> collect_all(AppRun& run, bool orphans) {
  Collected collected;
  std::vector<Tracker> all = run.outdated();
  all.push_back(run.current());
  all.push_back(run.root());
  all.insert(all.end(), run.rolled_out().begin(), run.rolled_out().end());
  all.insert(all.end(), run.component_revisions().begin(), run.component_revisions().end());
  std::set<ObjectId> seen;
  std::vector<ManagedResource> victims;
  for (const Tracker& tracker : all) {
    for (const ManagedResource& resource : tracker.resources) {
      if (!resource.skips_collection && seen.insert(resource.id()).second) victims.push_back(resource);
    }
  }
  SLIPWAY_CO_TRY_VOID(co_await collect(run, victims, run.parsed().spec, orphans, collected));
  if (!collected.is_done()) co_return collected;
  for (const Tracker& tracker : all) SLIPWAY_CO_TRY_VOID(co_await remove_tracker(run, tracker));
  co_return collected;
}

}  // namespace slipway::delivery::application
