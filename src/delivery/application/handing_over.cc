#include "delivery/application/handing_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "delivery/application/policy_properties.h"
#include "delivery/application/sharing.h"
#include "delivery/family/handover.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kSucceeded = "rolloutSucceed";

bool is_workload(const ManagedResource& resource) { return kube::label(resource.raw, kLabelResourceType) == "WORKLOAD"; }

/// A reference to an object of the application's namespace, as live_object() takes it.
ManagedResource reference_to(const AppRun& run, const kube::GroupVersionKind& kind, std::string name) {
  ManagedResource made;
  made.cluster = kHub;
  made.api_version = kind.api_version();
  made.kind = kind.kind;
  made.ns = kube::ns(run.application());
  made.name = std::move(name);
  return made;
}

std::string holder_of(const ManagedResource& resource) { return holder_name(resource.raw); }

/// Of the trait: it rolls out revisions of a component.
bool is_of_trait(const Value& rollout) { return rollout["spec"].has("targetRevisionName"); }

/// What delivers a component from this manifest on; nullopt: the manifest is not what delivers one.
struct Deliverer {
  std::string component;
  std::string holder;  // empty: the application
};
std::optional<Deliverer> deliverer_by(const ManagedResource& resource) {
  if (resource.cluster != kHub) return std::nullopt;
  if (is_holder(resource.raw)) return Deliverer{component_of_holder(resource.raw), holder_of(resource)};
  if (resource.component.empty() || !is_workload(resource)) return std::nullopt;
  return Deliverer{resource.component, ""};
}

ManagedResource entry_of(const Manifest& manifest) {
  ManagedResource made;
  const ObjectId id = manifest.id();
  made.cluster = id.cluster;
  made.kind = id.kind;
  made.name = id.name;
  made.component = manifest.component;
  made.raw = manifest.object;
  return made;
}

/// Rollouts that may work on the component: those that have recorded something of it, and those of earlier runs.
std::set<std::string> holders_of(const AppRun& run, const std::string& component) {
  std::set<std::string> holders;
  for (const Tracker& tracker : run.rolled_out()) {
    if (contains(tracker.resources, component, &ManagedResource::component)) holders.insert(tracker.holder);
  }
  for (const Tracker& tracker : run.outdated()) {
    for (const ManagedResource& one : tracker.resources) {
      const auto delivers = deliverer_by(one);
      if (delivers && delivers->component == component && !delivers->holder.empty()) holders.insert(delivers->holder);
    }
  }
  return holders;
}

Task<Result<Value>> live_holder(AppRun& run, std::string holder) {
  const auto read = read_holder(holder);
  if (!read) co_return Value();
  auto live = co_await run.live_object(reference_to(run, read->kind, read->name));
  if (!live && live.error().reason == Reason::NotFound) co_return Value();
  co_return live;
}

/// Nothing is claimed in these states.
bool is_at_rest(std::string_view state) {
  return state.empty() || state == kSucceeded || state == "rolloutFailed" || state == "locatingTargetApp";
}

Task<Result<void>> request_yield(AppRun& run, Value rollout, std::string request) {
  if (kube::annotation(rollout, kYieldRequest) == request) co_return Result<void>{};
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  const auto kind = read_holder(holder_name(rollout));
  SLIPWAY_CO_TRY(mapped, co_await run.tools().live.kinds().find(*hub, kHub, kind->kind));
  const Value patch = json::object({{"metadata", json::object({{"annotations", json::object({{kYieldRequest, request}})}})}});
  auto asked = co_await client::merge_patch(*hub, mapped.resource, kube::key_of(rollout), patch, kManager);
  if (!asked && asked.error().reason != Reason::NotFound) co_return fail(std::move(asked).error());
  co_return Result<void>{};
}

std::string request_of(const AppRun& run, const Value& rollout) {
  const std::string by = run.revision().empty() ? std::string(kube::name(run.application())) : run.revision();
  return yield_request(by, rollout["status"]["attempt"].as_int());
}

/// True when the rollout works on nothing any more.
Task<Result<bool>> has_yielded(AppRun& run, Value rollout) {
  const Value& status = rollout["status"];
  const std::string_view state = status["rollingState"].as_string();
  const bool is_seen = status["observedGeneration"].as_int() == kube::generation(rollout);
  if (state == kSucceeded && is_seen) co_return true;
  const std::string request = request_of(run, rollout);
  if (is_at_rest(state) && status["heeded"]["yield"].as_string() == request) co_return true;
  SLIPWAY_CO_TRY_VOID(co_await request_yield(run, rollout, request));
  co_return false;
}

/// Who delivers the component by what the present run has recorded; nullopt: nothing does yet.
std::optional<std::string> deliverer_now(const AppRun& run, const std::string& component) {
  std::optional<std::string> found;
  for (const ManagedResource& one : run.current().resources) {
    const auto delivers = deliverer_by(one);
    if (!delivers || delivers->component != component) continue;
    if (!delivers->holder.empty()) return delivers->holder;
    found = "";
  }
  return found;
}

const ManagedResource* own_workload(const AppRun& run, const std::string& component) {
  for (const ManagedResource& one : run.current().resources) {
    if (one.component == component && one.cluster == kHub && is_workload(one)) return &one;
  }
  return nullptr;
}

/// The rollout as the server has it: nothing is struck out of a tracker because a cache is old.
Task<Result<Value>> newest_holder(AppRun& run, std::string holder) {
  const auto read = read_holder(holder);
  if (!read) co_return Value();
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  SLIPWAY_CO_TRY(mapped, co_await run.tools().live.kinds().find(*hub, kHub, read->kind));
  auto live = co_await client::get(*hub, mapped.resource, {std::string(kube::ns(run.application())), read->name});
  if (!live && live.error().reason == Reason::NotFound) co_return Value();
  co_return live;
}

/// It has come to an end of what its spec asks for.
bool is_rollout_over(const Value& rollout) {
  const std::string_view state = rollout["status"]["rollingState"].as_string();
  const bool is_seen = rollout["status"]["observedGeneration"].as_int() == kube::generation(rollout);
  return is_seen && (state == kSucceeded || state == "rolloutFailed");
}

/// Whether pods of what `later` has made serve in the place of those that the deliverer made: a user's rollout over a component
/// that a rollout of the application delivers. False again once a newer revision has drained them.
Task<Result<bool>> serves_in_place_of(AppRun& run, std::string later, std::string deliverer, std::string component) {
  bool has_replaced = false, has_pods = false;
  for (const Tracker& tracker : std::vector<Tracker>(run.rolled_out())) {
    if (tracker.holder != later && tracker.holder != deliverer) continue;
    for (const ManagedResource& one : tracker.resources) {
      if (one.component != component || !is_workload(one)) continue;
      SLIPWAY_CO_TRY(live, co_await run.live_object(one));
      const auto replaced_by = kube::annotation(live, kReplacedBy);
      if (tracker.holder == deliverer) has_replaced |= replaced_by == later;
      if (tracker.holder == later) has_pods |= replaced_by.empty() && live["spec"]["replicas"].as_int() > 0;
    }
  }
  co_return has_replaced&& has_pods;
}

/// Whether the rollout of a tracker delivers the component now, or works on it. A component that is not part of what is
/// delivered has no deliverer.
Task<Result<bool>> delivers_now(AppRun& run, Value rollout, std::string holder, std::string component, bool is_part) {
  if (!rollout.is_null() && !is_rollout_over(rollout)) co_return true;
  const bool is_recorded = std::ranges::any_of(
      run.current().resources, [&](const ManagedResource& one) { return is_holder(one.raw) && holder_of(one) == holder; });
  if (is_recorded) co_return true;
  const auto now = deliverer_now(run, component);
  if (!now) co_return is_part;
  if (!now->empty()) co_return co_await serves_in_place_of(run, std::move(holder), *now, std::move(component));
  const ManagedResource* own = own_workload(run, component);
  if (own == nullptr) co_return true;
  SLIPWAY_CO_TRY(live, co_await run.live_object(*own));
  co_return kube::annotation(live, kReplacedBy) == holder;
}

/// Whether the record is there that a rollout has made a workload of.
Task<Result<bool>> has_revision(AppRun& run, Value rollout, std::string revision) {
  static const kube::GroupVersionKind kControllerRevision{"apps", "v1", "ControllerRevision"};
  const bool is_components = is_of_trait(rollout);
  SLIPWAY_CO_TRY(live, co_await run.live_object(
                           reference_to(run, is_components ? kControllerRevision : kRevisionKind, std::move(revision))));
  co_return !live.is_null();
}

/// Of a rollout that delivers: what the revision that it has rolled out no longer needs.
Task<Result<bool>> is_spare(AppRun& run, std::string holder, Value rollout, ManagedResource entry) {
  const Value& status = rollout["status"];
  const std::string revision(kube::annotation(entry.raw, kRevisionAnnotation));
  const bool has_succeeded = is_rollout_over(rollout) && status["rollingState"].as_string() == kSucceeded;
  if (!has_succeeded || status["lastTargetRevision"].as_string() == revision) co_return false;
  if (!is_workload(entry)) co_return true;
  SLIPWAY_CO_TRY(live, co_await run.live_object(entry));
  if (live.is_null()) co_return true;
  const bool has_pods = live["spec"]["replicas"].as_int() > 0 || live["status"]["replicas"].as_int() > 0;
  if (has_pods || !kube::controller_of(live).is_null()) co_return false;
  SLIPWAY_CO_TRY(is_known, co_await has_revision(run, rollout, revision));
  co_return !is_known;
}

/// Neither the application nor another writer, but perhaps a rollout, has set how many replicas there are.
bool is_size_free(const Value& manifest, const Value& live) {
  if (!manifest["spec"]["replicas"].is_null()) return false;
  return std::ranges::none_of(live["metadata"]["managedFields"].items(), [](const Value& entry) {
    return entry["manager"].as_string() != kRolloutManager && !entry["fieldsV1"]["f:spec"]["f:replicas"].is_null();
  });
}

/// T of the rollout that delivered the component before, or what its workload has been scaled to since; 0: there was none.
Task<Result<std::int64_t>> size_before(AppRun& run, Manifest manifest) {
  std::int64_t size = 0;
  for (const std::string& holder : holders_of(run, manifest.component)) {
    SLIPWAY_CO_TRY(rollout, co_await live_holder(run, holder));
    const Value& status = rollout["status"];
    std::int64_t whole = status["rolloutTargetSize"].as_int();
    const std::string id = status["target"]["id"].str();
    const auto slash = id.find('/');
    const std::string name = slash == std::string::npos ? "" : id.substr(slash + 1);
    if (status["rollingState"].as_string() == kSucceeded && !name.empty()) {
      SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(manifest.object));
      SLIPWAY_CO_TRY(target, co_await run.live_object(reference_to(run, kind, name)));
      if (!target.is_null() && name != kube::name(manifest.object)) whole = target["spec"]["replicas"].as_int();
    }
    size = std::max(size, whole);
  }
  co_return size;
}

/// The name that a rollout gave to the workload of this component and revision; empty: there is none.
std::string rolled_out_name(const AppRun& run, const Manifest& manifest) {
  const ObjectId id = manifest.id();
  std::vector<const Tracker*> trackers{&run.current()};
  for (const Tracker& tracker : run.outdated()) trackers.push_back(&tracker);
  for (const Tracker& tracker : run.rolled_out()) trackers.push_back(&tracker);
  for (const Tracker* tracker : trackers) {
    for (const ManagedResource& one : tracker->resources) {
      const bool is_it = one.component == manifest.component && one.kind == id.kind && one.ns == id.ns && is_workload(one) &&
                         kube::annotation(one.raw, kRevisionAnnotation) == run.revision();
      if (is_it) return one.name;
    }
  }
  return {};
}

/// The manifests of one component as the application delivers them under the workload's other name.
void rename(const AppRun& run, std::vector<Manifest>& manifests, const Manifest& workload, const std::string& name) {
  const Manifest before = workload;
  for (Manifest& one : manifests) {
    if (one.component != before.component || one.cluster != kHub) continue;
    const bool is_it = one.id() == before.id();
    one.object = is_it ? under_revision_name(one.object, name, run.revision())
                       : following_workload(one.object, before.object, kube::name(before.object), name);
  }
}

/// Workloads of this run and of earlier ones that rollouts made.
std::map<ObjectId, ManagedResource> made_by_rollouts(const AppRun& run) {
  std::map<ObjectId, ManagedResource> made;
  for (const std::vector<Tracker>* trackers : {&run.rolled_out(), &run.outdated()}) {
    for (const Tracker& tracker : *trackers) {
      for (const ManagedResource& one : tracker.resources) {
        if (is_workload(one) && !kube::annotation(one.raw, kRevisionAnnotation).empty()) made.emplace(one.id(), one);
      }
    }
  }
  return made;
}

/// Ready pods of workloads that rollouts made for the component, but for the one that the manifest describes.
Task<Result<std::int64_t>> ready_beside(AppRun& run, Manifest manifest) {
  std::int64_t ready = 0;
  for (const auto& [id, one] : made_by_rollouts(run)) {
    if (one.component != manifest.component || id == manifest.id()) continue;
    SLIPWAY_CO_TRY(live, co_await run.live_object(one));
    if (!kube::is_deleting(live))
      ready += std::min(live["status"]["readyReplicas"].as_int(), live["spec"]["replicas"].as_int());
  }
  co_return ready;
}

/// A newer revision comes while all of T are ready beside the application's own workload, whose turn has not come yet: its
/// rolling update would add pods to 2T. It is deleted first, pods before itself, and made anew. ServiceUnavailable until then.
Task<Result<void>> make_room(AppRun& run, Manifest manifest) {
  const ObjectId id = manifest.id();
  const bool is_at_home = id.cluster == kHub && id.ns == kube::ns(run.application());
  if (!is_at_home) co_return Result<void>{};
  const auto version = kube::label(manifest.object, kLabelRevision);  // in a rollback an older one
  SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(manifest.object));
  SLIPWAY_CO_TRY(live, co_await run.live_object(reference_to(run, kind, id.name)));
  const std::string self = sharer_name(run.application());
  const bool is_own =
      !live.is_null() && owner_of(live) == self && sharers_of(live).size() < 2 && kube::controller_of(live).is_null();
  const std::int64_t size = live["spec"]["replicas"].as_int();
  const bool is_same = kube::label(live, kLabelRevision) == (version.empty() ? std::string_view(run.revision()) : version);
  if (!is_own || size == 0 || is_same) co_return Result<void>{};
  const Value& declared = manifest.object["spec"]["replicas"];
  SLIPWAY_CO_TRY(ready, co_await ready_beside(run, manifest));
  if (ready < (declared.is_int() ? declared.as_int() : size)) co_return Result<void>{};
  if (!kube::is_deleting(live)) {
    SLIPWAY_CO_TRY(hub, run.on(kHub));
    SLIPWAY_CO_TRY(mapped, co_await run.tools().live.kinds().find_for(*hub, kHub, live));
    SLIPWAY_CO_TRY_VOID(co_await client::remove_exactly(
        *hub, mapped.resource, kube::key_of(live),
        {.propagation = "Foreground", .uid = std::string(kube::uid(live)), .resource_version = "", .grace_seconds = {}}));
  }
  co_return fail(Reason::ServiceUnavailable,
                 fmt::format("waiting for the pods of {} of revision {} to go, which do not serve yet", id.to_string(),
                             kube::label(live, kLabelRevision)));
}

/// Deletes a workload of this revision whose place another of its component has taken, and its record.
Task<Result<void>> remove_replaced(AppRun& run, ManagedResource replaced, Value live) {
  if (!live.is_null()) {
    SLIPWAY_CO_TRY(hub, run.on(kHub));
    SLIPWAY_CO_TRY(kind, co_await run.tools().live.kinds().find_for(*hub, kHub, live));
    SLIPWAY_CO_TRY_VOID(co_await client::remove_exactly(
        *hub, kind.resource, kube::key_of(live),
        {.propagation = "Background", .uid = std::string(kube::uid(live)), .resource_version = "", .grace_seconds = {}}));
  }
  co_return co_await run.strike(replaced.id());
}

/// Whether all pods are ready that the workload asks for.
bool serves(const Value& live) {
  const std::int64_t size = live["spec"]["replicas"].as_int();
  return size > 0 && live["status"]["readyReplicas"].as_int() >= size && kube::controller_of(live).is_null();
}

/// A run that began under the component's name and went on under the name that a rollout gave the workload meanwhile has made
/// two workloads of one revision. The first goes once the second serves.
Task<Result<void>> remove_doubled(AppRun& run) {
  const std::vector<ManagedResource> all = run.current().resources;
  const auto is_named_by_rollout = [](const ManagedResource& one) {
    return !kube::annotation(one.raw, kRevisionAnnotation).empty();
  };
  for (const ManagedResource& named : all) {
    const bool is_of_revision = kube::annotation(named.raw, kRevisionAnnotation) == run.revision();
    if (named.cluster != kHub || named.component.empty() || !is_workload(named) || !is_of_revision) continue;
    for (const ManagedResource& plain : all) {
      const bool is_same = plain.component == named.component && plain.kind == named.kind && plain.cluster == kHub;
      if (!is_same || !is_workload(plain) || is_named_by_rollout(plain)) continue;
      SLIPWAY_CO_TRY(successor, co_await run.live_object(named));
      SLIPWAY_CO_TRY(live, co_await run.live_object(plain));
      const bool is_own = live.is_null() || (owner_of(live) == sharer_name(run.application()) && sharers_of(live).size() < 2 &&
                                             kube::controller_of(live).is_null());
      if (!serves(successor) || !is_own) continue;
      SLIPWAY_CO_TRY_VOID(co_await remove_replaced(run, plain, live));
    }
  }
  co_return Result<void>{};
}

/// Whether the object is the rollout's still, as far as the cache knows: what the rollout claims is left out of an apply.
Task<Result<bool>> is_claimed_by(AppRun& run, Value rollout, Manifest manifest) {
  const ObjectId id = manifest.id();
  if (id.ns != kube::ns(run.application())) co_return false;
  SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(manifest.object));
  SLIPWAY_CO_TRY(live, co_await run.live_object(reference_to(run, kind, id.name)));
  co_return !live.is_null() && kube::controller_of(live)["uid"].as_string() == kube::uid(rollout);
}

}  // namespace

Task<Result<void>> take_over(AppRun& run, std::vector<Manifest> manifests) {
  for (const Manifest& manifest : manifests) {
    if (manifest.is_repair) continue;
    const auto delivers = deliverer_by(entry_of(manifest));
    if (!delivers) continue;
    if (delivers->holder.empty()) SLIPWAY_CO_TRY_VOID(co_await make_room(run, manifest));
    for (const std::string& holder : holders_of(run, delivers->component)) {
      if (holder == delivers->holder) continue;
      SLIPWAY_CO_TRY(rollout, co_await live_holder(run, holder));
      if (rollout.is_null()) continue;
      SLIPWAY_CO_TRY(has_ended, co_await has_yielded(run, rollout));
      SLIPWAY_CO_TRY(is_claimed, co_await is_claimed_by(run, rollout, manifest));
      if (has_ended && !is_claimed) continue;
      co_return fail(Reason::ServiceUnavailable,
                     fmt::format("waiting for {} to give component {} back", holder_text(holder), delivers->component));
    }
  }
  co_return Result<void>{};
}

void follow_rolled_out_names(const AppRun& run, std::vector<Manifest>& manifests) {
  for (const Manifest& manifest : std::vector<Manifest>(manifests)) {
    if (manifest.cluster != kHub || !is_workload(entry_of(manifest))) continue;
    const std::string name = rolled_out_name(run, manifest);
    if (!name.empty()) rename(run, manifests, manifest, name);
  }
}

Task<Result<void>> size_like_predecessor(AppRun& run, std::vector<Manifest> manifests, std::vector<Value> live) {
  for (std::size_t i = 0; i < manifests.size() && i < live.size(); ++i) {
    const ManagedResource entry = entry_of(manifests[i]);
    const bool is_sized = live[i]["spec"]["replicas"].is_int() && is_size_free(manifests[i].object, live[i]);
    // No autoscaler begins with none.
    const bool is_scaled = live[i]["spec"]["replicas"].as_int() > 0 && std::ranges::any_of(manifests, [](const Manifest& one) {
                             return one.object["spec"]["scaleTargetRef"].is_object();
                           });
    if (entry.component.empty() || entry.cluster != kHub || !is_workload(entry) || !is_sized || is_scaled) continue;
    SLIPWAY_CO_TRY(size, co_await size_before(run, manifests[i]));
    if (size <= live[i]["spec"]["replicas"].as_int()) continue;
    SLIPWAY_CO_TRY(client, run.on(kHub));
    SLIPWAY_CO_TRY(kind, co_await run.tools().live.kinds().find_for(*client, kHub, manifests[i].object));
    const Value patch = json::object(
        {{"metadata", json::object({{"uid", live[i]["metadata"]["uid"]}})}, {"spec", json::object({{"replicas", size}})}});
    SLIPWAY_CO_TRY_VOID(co_await client::merge_patch(*client, kind.resource, kube::key_of(live[i]), patch, kRolloutManager));
  }
  co_return Result<void>{};
}

Task<Result<void>> restore_rollouts(AppRun& run) {
  for (const ManagedResource& one : std::vector<ManagedResource>(run.current().resources)) {
    const RuleSubject subject = subject_of(one.raw);
    const KeepPolicies& keep = run.parsed().keep;
    const bool is_left = keep.is_read_only(subject) || !keep.kept_paths(subject, true).empty();
    if (one.cluster != kHub || !one.is_whole || !is_holder(one.raw) || is_left) continue;
    SLIPWAY_CO_TRY(known, co_await run.live_object(one));
    if (!known.is_null()) continue;
    SLIPWAY_CO_TRY(live, co_await run.newest_object(one.id(), one.raw));
    if (!live.is_null()) continue;
    run.memory().applied.erase(one.id());
    std::vector<Manifest> again;
    again.push_back({.object = one.raw,
                     .cluster = one.cluster,
                     .component = one.component,
                     .trait = one.trait,
                     .creator = one.creator,
                     .is_repair = true});
    SLIPWAY_CO_TRY_VOID(co_await run.apply(std::move(again)));
  }
  co_return Result<void>{};
}

Task<Result<void>> adopt_rolled_out(AppRun& run) {
  for (const Tracker& tracker : std::vector<Tracker>(run.rolled_out())) {
    for (const ManagedResource& made : tracker.resources) {
      const ManagedResource* own = own_workload(run, made.component);
      const bool is_of_revision = kube::annotation(made.raw, kRevisionAnnotation) == run.revision();
      if (!is_workload(made) || !is_of_revision || own == nullptr || own->id() == made.id() || !own->is_whole) continue;
      const ManagedResource replaced = *own;
      SLIPWAY_CO_TRY(live, co_await run.live_object(replaced));
      if (!live.is_null() && kube::annotation(live, kReplacedBy) != tracker.holder) continue;
      std::vector<Manifest> manifests;
      for (const ManagedResource& one : run.current().resources) {
        if (one.component != made.component || one.cluster != kHub || !one.is_whole) continue;
        manifests.push_back({.object = one.raw,
                             .cluster = one.cluster,
                             .component = one.component,
                             .trait = one.trait,
                             .creator = one.creator});
      }
      const auto workload = std::ranges::find(manifests, replaced.id(), &Manifest::id);
      if (workload == manifests.end()) continue;
      rename(run, manifests, Manifest(*workload), made.name);
      SLIPWAY_CO_TRY_VOID(co_await run.apply(std::move(manifests)));
      SLIPWAY_CO_TRY_VOID(co_await remove_replaced(run, replaced, live));
    }
  }
  co_return co_await remove_doubled(run);
}

std::set<std::string> component_names(const AppRun& run) {
  std::set<std::string> names;
  for (const ComponentSpec& component : run.parsed().spec.components) names.insert(component.name);
  return names;
}

Task<Result<RolledOut>> rolled_out(AppRun& run, std::set<std::string> components) {
  RolledOut found;
  for (std::size_t i = 0; i < run.rolled_out().size(); ++i) {
    const Tracker tracker = run.rolled_out()[i];
    SLIPWAY_CO_TRY(rollout, co_await newest_holder(run, tracker.holder));
    for (const ManagedResource& one : tracker.resources) {
      const bool is_part = components.contains(one.component);
      SLIPWAY_CO_TRY(is_active, co_await delivers_now(run, rollout, tracker.holder, one.component, is_part));
      bool is_useless = !is_active;
      if (is_active) {
        SLIPWAY_CO_TRY(spare, co_await is_spare(run, tracker.holder, rollout, one));
        is_useless = spare;
      }
      if (is_useless) {
        found.useless.push_back({.tracker = i, .resource = one});
      } else {
        found.held.insert(one.id());
      }
    }
  }
  co_return found;
}

Task<Result<void>> drain_kept(AppRun& run) {
  SLIPWAY_CO_TRY(rolled, co_await rolled_out(run, component_names(run)));
  for (const auto& [id, one] : made_by_rollouts(run)) {
    const bool is_needed = run.current().find(id) != nullptr || run.root().find(id) != nullptr || rolled.held.contains(id);
    if (is_needed || one.cluster != kHub || !deliverer_now(run, one.component)) continue;
    SLIPWAY_CO_TRY(live, co_await run.live_object(one));
    const bool is_own = owner_of(live) == sharer_name(run.application()) && kube::controller_of(live).is_null();
    if (!is_own || live["spec"]["replicas"].as_int() == 0) continue;
    SLIPWAY_CO_TRY(hub, run.on(kHub));
    SLIPWAY_CO_TRY(mapped, co_await run.tools().live.kinds().find_for(*hub, kHub, live));
    const Value patch = json::object(
        {{"metadata", json::object({{"uid", live["metadata"]["uid"]}})}, {"spec", json::object({{"replicas", 0}})}});
    SLIPWAY_CO_TRY_VOID(co_await client::merge_patch(*hub, mapped.resource, kube::key_of(live), patch, kRolloutManager));
  }
  co_return Result<void>{};
}

Task<Result<void>> clean_rolled_out(AppRun& run, std::vector<RolledOut::Entry> gone) {
  SLIPWAY_CO_TRY(hub, run.own(kHub));
  for (std::size_t i = 0; i < run.rolled_out().size(); ++i) {
    Tracker& tracker = run.rolled_out()[i];
    const auto struck = std::erase_if(tracker.resources, [&](const ManagedResource& one) {
      return std::ranges::any_of(
          gone, [&](const RolledOut::Entry& other) { return other.tracker == i && other.resource.id() == one.id(); });
    });
    if (struck == 0) continue;
    const Value wanted = tracker.to_object(run.application(), run.revision());
    if (!tracker.resources.empty()) {
      auto written = co_await client::update(*hub, kTrackers, wanted, kManager);
      if (!written && written.error().reason != Reason::Conflict) co_return fail(std::move(written).error());
      if (written) tracker.object = std::move(*written);
      continue;  // where the rollout was faster, it is tried again later
    }
    auto removed = co_await client::remove_exactly(*hub, kTrackers, {"", tracker.name},
                                                   {.propagation = "Background",
                                                    .uid = std::string(kube::uid(wanted)),
                                                    .resource_version = wanted["metadata"]["resourceVersion"].str(),
                                                    .grace_seconds = {}});
    if (!removed && removed.error().reason != Reason::Conflict) co_return fail(std::move(removed).error());
  }
  co_return Result<void>{};
}

std::set<ObjectId> kept_revisions(const AppRun& run, std::int64_t limit) {
  std::set<ObjectId> kept;
  std::map<std::string, std::set<ObjectId>> by_component;
  for (const ManagedResource& one : run.current().resources) {
    const auto delivers = deliverer_by(one);
    if (delivers && is_of_trait(one.raw)) by_component[delivers->component];
  }
  for (auto tracker = run.outdated().rbegin(); tracker != run.outdated().rend(); ++tracker) {
    for (const ManagedResource& one : tracker->resources) {
      const auto known = by_component.find(one.component);
      if (one.kind != "ControllerRevision" || known == by_component.end()) continue;
      if (run.current().find(one.id()) != nullptr) continue;
      if (known->second.size() < static_cast<std::size_t>(limit)) known->second.insert(one.id());
    }
  }
  for (const auto& [component, ids] : by_component) kept.insert(ids.begin(), ids.end());
  return kept;
}

Task<Result<void>> ask_to_yield(AppRun& run, Value rollout) {
  co_return co_await request_yield(run, rollout, request_of(run, rollout));
}

}  // namespace slipway::delivery::application
