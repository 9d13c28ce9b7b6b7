// How an AppRun writes: ownership, policies on how objects are kept, trackers, server-side apply.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/digest.h"
#include "client/client.h"
#include "delivery/application/app_run.h"
#include "delivery/application/handing_over.h"
#include "delivery/application/kept_paths.h"
#include "delivery/application/rollout_plans.h"
#include "delivery/application/secret_manifests.h"
#include "delivery/application/sharing.h"
#include "delivery/application/taking_over.h"
#include "delivery/application/three_way.h"
#include "delivery/family/claimed_fields.h"
#include "delivery/family/handover.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

/// For how long an identity that was let at an object may see it in a cache, before it is asked for as that identity again.
constexpr Duration kRightsLast = std::chrono::minutes{10};

/// Other labels may hold what was read from a Secret.
Value name_and_own_labels(const Value& metadata) {
  json::ObjectBuilder out;
  for (const char* key : {"name", "namespace"}) {
    if (metadata.has(key)) out.set(key, metadata[key]);
  }
  json::ObjectBuilder labels;
  for (const auto& [key, value] : metadata["labels"].members()) {
    if (key.contains("oam.dev/")) labels.set(key, value);
  }
  return out.set("labels", labels.build()).build();
}

/// Of no object, ever. With it an apply creates what is not there, and is a Conflict for what is: an apply has no other way to
/// say that it only creates.
constexpr const char* kNoVersion = "9223372036854775807";

/// Whether another writer was faster than one who has seen `live`.
bool is_overtaken(const Status& error, const Value& live) {
  if (error.reason == Reason::NotFound) return !live.is_null();
  return error.reason == Reason::Conflict || error.reason == Reason::AlreadyExists;
}

/// `object` as what may only follow on `live`: on nothing it is created; an object that is there must be that one still, and as
/// it was seen when the write depends on more of it (`is_exact`).
Value following(Value object, const Value& live, bool is_exact) {
  if (live.is_null()) return object.with_path({"metadata", "resourceVersion"}, kNoVersion);
  object = object.with_path({"metadata", "uid"}, live["metadata"]["uid"]);
  return is_exact ? object.with_path({"metadata", "resourceVersion"}, live["metadata"]["resourceVersion"]) : object;
}

Task<Result<Value>> write_managed_fields(client::Client* client, MappedKind kind, Value live, Value fields) {
  const Value patch = json::array(
      {json::object({{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", std::move(fields)}}),
       json::object(
           {{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", live["metadata"]["resourceVersion"]}})});
  client::Request request;
  request.verb = client::Verb::Patch;
  request.resource = kind.resource;
  request.ns = kube::ns(live);
  request.name = kube::name(live);
  request.body = patch;
  request.patch_type = client::PatchType::Json;
  request.field_manager = kManager;
  auto reply = co_await client->call(std::move(request));
  if (!reply) co_return fail(std::move(reply).error());
  co_return std::move(reply->object);
}

/// Fields that were given away, and that `object` says itself again: what others have written there goes with the next apply.
Task<Result<Value>> take_back_fields(client::Client* client, MappedKind kind, Value live, Value object) {
  auto fields = taken_back_fields(live, object, kManager);
  if (!fields) co_return live;
  co_return co_await write_managed_fields(client, std::move(kind), live, std::move(*fields));
}

client::Request write_request(client::Verb verb, const MappedKind& kind, const kube::ObjectKey& key, Value body,
                              bool is_dry_run) {
  client::Request request;
  request.verb = verb;
  request.resource = kind.resource;
  request.ns = key.ns;
  request.name = key.name;
  request.body = std::move(body);
  request.field_manager = kManager;
  request.dry_run = is_dry_run;
  return request;
}

Task<Result<Value>> send(client::Client& client, client::Request request) {
  auto reply = co_await client.call(std::move(request));
  if (!reply) co_return fail(std::move(reply).error());
  co_return std::move(reply->object);
}

}  // namespace

/// A manifest with what is needed to write it.
struct AppRun::Placed {
  Manifest manifest;
  client::Client* client = nullptr;
  MappedKind kind;
  Value live;
  std::string digest{};
  bool is_done = false;  // nothing to write: `live` is the result
};

ManagedResource AppRun::record_of(const Manifest& manifest) const {
  const RuleSubject subject = subject_of(manifest.object);
  const ObjectId id = manifest.id();
  ManagedResource made{.cluster = manifest.cluster,
                       .component = manifest.component,
                       .trait = manifest.trait,
                       .creator = manifest.creator,
                       .api_version = manifest.object["apiVersion"].str(),
                       .kind = id.kind,
                       .ns = id.ns,
                       .name = id.name,
                       .raw = manifest.object};
  const bool keeps_nothing = parsed_->keep.is_apply_once && parsed_->keep.apply_once.empty();
  if (keeps_nothing || is_secret(manifest)) {
    // Of what is secret only what it is called stands in another object; under apply-once there is nothing to bring back.
    const Value& metadata = manifest.object["metadata"];
    made.raw = json::object({{"apiVersion", manifest.object["apiVersion"]},
                             {"kind", manifest.object["kind"]},
                             {"metadata", is_secret(manifest) ? name_and_own_labels(metadata) : metadata}});
    made.is_whole = false;
    const auto& kept = memory_.kept_secrets.digests;
    if (const auto at = kept.find(id); !keeps_nothing && at != kept.end()) made.digest = at->second;
  }
  made.skips_collection = parsed_->keep.collect_strategy(subject) == CollectStrategy::Never;
  return made;
}

void AppRun::load_trackers(std::vector<Tracker> trackers) {
  current_ = {.name = tracker_name(application_, TrackerType::Versioned), .generation = kube::generation(application_)};
  root_ = {.name = tracker_name(application_, TrackerType::Root), .type = TrackerType::Root};
  for (Tracker& tracker : trackers) {
    if (kube::is_deleting(tracker.object)) {
      // KubeVela keeps a tracker that it deletes until what it holds is gone.
      if (kube::has_finalizer(tracker.object, kTrackerFinalizer)) outdated_.push_back(std::move(tracker));
    } else if (!tracker.holder.empty()) {
      rolled_out_.push_back(std::move(tracker));
    } else if (tracker.type == TrackerType::ComponentRevisions) {
      component_revisions_.push_back(std::move(tracker));
    } else if (is_named_for(tracker, application_, TrackerType::Versioned)) {
      current_ = std::move(tracker);
      current_.generation = kube::generation(application_);
    } else if (is_named_for(tracker, application_, TrackerType::Root)) {
      root_ = std::move(tracker);
    } else {
      outdated_.push_back(std::move(tracker));
    }
  }
  std::ranges::sort(outdated_, {}, &Tracker::generation);
  // What was to be deleted is not kept, and not lost either.
  Tracker deleted;
  for (Tracker* tracker : {&current_, &root_}) {
    std::ranges::copy_if(tracker->resources, std::back_inserter(deleted.resources), &ManagedResource::is_deleted);
    std::erase_if(tracker->resources, std::mem_fn(&ManagedResource::is_deleted));
  }
  if (!deleted.resources.empty()) outdated_.push_back(std::move(deleted));
}

void AppRun::continue_run() {
  if (!current_.object.is_null()) return;
  for (std::size_t i = outdated_.size(); i-- > 0;) {
    if (outdated_[i].object.is_null() || kube::is_deleting(outdated_[i].object) ||
        kube::label(outdated_[i].object, kLabelRevision) != revision_)
      continue;
    current_ = std::move(outdated_[i]);
    outdated_.erase(outdated_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

void AppRun::keep_names(std::vector<Manifest>& manifests) const {
  std::vector<const ManagedResource*> held;
  std::vector<const Tracker*> trackers{&current_, &root_};
  for (const Tracker& tracker : outdated_) trackers.push_back(&tracker);
  for (const Tracker* tracker : trackers) {
    for (const ManagedResource& one : tracker->resources) {
      if (!one.is_deleted) held.push_back(&one);
    }
  }
  for (Manifest& manifest : manifests) {
    if (!manifest.is_name_made_up) continue;
    const std::string name = recorded_name(record_of(manifest), held);
    if (!name.empty()) manifest.object = manifest.object.with_path({"metadata", "name"}, name);
  }
}

/// What KubeVela or a rollout has set becomes the application's, so that it goes when it is no longer wanted. The live object
/// after that.
Task<Result<Value>> AppRun::claim_fields(client::Client* client, MappedKind kind, Value live) {
  auto fields = upgraded_fields(live, kManager);
  if (!fields) fields = handed_over_fields(live, kRolloutManager, kManager);
  if (!fields) co_return live;
  co_return co_await write_managed_fields(client, std::move(kind), live, std::move(*fields));
}

void AppRun::record(const std::vector<Manifest>& manifests) {
  std::vector<ManagedResource> versioned, root;
  for (const Manifest& manifest : manifests) {
    const bool stays = parsed_->keep.collect_strategy(subject_of(manifest.object)) != CollectStrategy::OnAppUpdate;
    (stays ? root : versioned).push_back(record_of(manifest));
  }
  is_current_dirty_ |= current_.record(versioned);
  is_root_dirty_ |= root_.record(root);
}

void AppRun::forget(const std::set<ObjectId>& gone) {
  is_current_dirty_ |=
      std::erase_if(current_.resources, [&](const ManagedResource& one) { return gone.contains(one.id()); }) > 0;
  std::erase_if(applied_, [&](const AppliedResource& one) {
    const auto kind = kube::GroupVersionKind::of(json::object({{"apiVersion", one.api_version}, {"kind", one.kind}}));
    return kind && gone.contains({one.cluster.empty() ? kHub : one.cluster, kind->group, one.kind, one.ns, one.name});
  });
}

/// The tracker of an earlier application of this name, which is gone, gives its place to `wanted`; what it held is left alone,
/// but for what this application applies itself. Where that of another application has the name, `wanted` gets one apart.
Task<Result<Value>> AppRun::replace_left_over(Value wanted) {
  SLIPWAY_CO_TRY(there, co_await client::get(reconcile_.client, kTrackers, kube::key_of(wanted)));
  const bool is_left_over = kube::label(there, kLabelName) == kube::name(application_) &&
                            kube::label(there, kLabelNamespace) == kube::ns(application_) && !belongs_to(there, application_);
  if (!is_left_over) {
    const TrackerType type = wanted["spec"]["type"].as_string() == "root" ? TrackerType::Root : TrackerType::Versioned;
    const std::string apart = tracker_name_apart(application_, type);
    if (kube::name(wanted) == apart) {
      co_return fail(Reason::Conflict, fmt::format("ResourceTracker {} is there already", kube::name(wanted)));
    }
    co_return co_await client::create(reconcile_.client, kTrackers, wanted.with_path({"metadata", "name"}, apart), kManager);
  }
  wanted = wanted.with_path({"metadata", "resourceVersion"}, there["metadata"]["resourceVersion"]);
  co_return co_await client::update(reconcile_.client, kTrackers, std::move(wanted), kManager);
}

Task<Result<void>> AppRun::strike(ObjectId id) {
  forget({id});
  co_return co_await write_tracker(TrackerType::Versioned);
}

Task<Result<void>> AppRun::write_tracker(TrackerType type) {
  bool& is_dirty = type == TrackerType::Root ? is_root_dirty_ : is_current_dirty_;
  Tracker& tracker = type == TrackerType::Root ? root_ : current_;
  while (is_writing_) co_await written_->wait();
  if (!is_dirty) co_return Result<void>{};
  is_writing_ = true;
  is_dirty = false;
  const Value object = tracker.to_object(application_, revision_);
  const bool is_new = tracker.object.is_null();
  Result<Value> stored = is_new ? co_await client::create(reconcile_.client, kTrackers, object, kManager)
                                : co_await client::update(reconcile_.client, kTrackers, object, kManager);
  if (!stored && is_new && stored.error().reason == Reason::AlreadyExists) stored = co_await replace_left_over(object);
  if (!stored) is_dirty = true;
  if (stored) tracker.object = *stored;
  if (stored) tracker.name = kube::name(*stored);
  is_writing_ = false;
  written_->notify();
  if (!stored) co_return fail(std::move(stored).error());
  co_return Result<void>{};
}

/// Whether the application may have what is there.
Result<void> AppRun::check_owner(const Manifest& manifest, const Value& live) const {
  const RuleSubject subject = subject_of(manifest.object);
  const std::string what = manifest.id().to_string();
  if (live.is_null()) {
    if (!parsed_->keep.is_read_only(subject)) return {};
    return fail(Reason::NotFound, fmt::format("{} does not exist, and policy read-only lets nobody create it", what));
  }
  const std::string owner = owner_of(live);
  if (owner == sharer_name(application_) || parsed_->keep.is_shared(subject) || parsed_->keep.is_read_only(subject)) return {};
  if (!owner.empty()) return fail(Reason::Conflict, fmt::format("{} is managed by other application: {}", what, owner));
  if (parsed_->keep.may_take_over(subject)) return {};
  return fail(Reason::Conflict, fmt::format("{} exists but not managed by any application now", what));
}

/// Writes on `live`. Where another writer was faster, what is there by then is looked at, and whose it is decides again.
Task<Result<Value>> AppRun::write_checked(Manifest manifest, Value live, bool is_dry_run) {
  const ObjectId id = manifest.id();
  for (int attempt = 1;; ++attempt) {
    auto written = co_await write(manifest, live, is_dry_run);
    if (written) co_return written;
    Status error = std::move(written).error();
    error.message = fmt::format("cannot apply {}: {}", id.to_string(), error.message);
    if (attempt == kMostAttempts || !is_overtaken(error, live)) co_return fail(std::move(error));
    SLIPWAY_CO_TRY(newest, co_await newest_object(id, manifest.object));
    SLIPWAY_CO_TRY_VOID(check_owner(manifest, newest));
    if (kube::is_deleting(newest)) co_return fail(std::move(error));  // its name is free later
    live = std::move(newest);
  }
}

Task<Result<Value>> AppRun::write(Manifest manifest, Value live, bool is_dry_run) {
  SLIPWAY_CO_TRY(client, on(manifest.cluster));
  SLIPWAY_CO_TRY(discovery, own(manifest.cluster));
  SLIPWAY_CO_TRY(kind, co_await tools_.live.kinds().find_for(*discovery, manifest.cluster, manifest.object));
  const RuleSubject subject = subject_of(manifest.object);
  if (parsed_->keep.is_read_only(subject)) co_return live;
  const kube::ObjectKey key = kube::key_of(manifest.object);
  Value object = manifest.object;
  const std::string self = sharer_name(application_), owner = owner_of(live);
  const bool is_shared = parsed_->keep.is_shared(subject);
  if (is_shared) {
    const std::string shared = with_sharer(live, self);
    if (!owner.empty() && owner != self) {
      if (is_dry_run || kube::annotation(live, kSharedBy) == shared) co_return live;
      const Value patch = json::object({{"metadata", json::object({{"annotations", json::object({{kSharedBy, shared}})}})}});
      co_return co_await client::merge_patch(*client, kind.resource, key, following(patch, live, true), kManager);
    }
    object = object.with_path({"metadata", "annotations", kSharedBy}, shared);
  }
  // Others may become the owner, or add themselves to the list, meanwhile.
  const bool is_exact = is_shared || owner != self;
  if (!live.is_null()) {
    const std::vector<std::string> kept = parsed_->keep.kept_paths(subject, manifest.is_repair);
    if (std::ranges::find(kept, "*") != kept.end()) co_return live;
    object = without_claimed(with_live(std::move(object), live, kept), live, kManager);
    const bool is_taken_back = !manifest.is_repair && !kube::annotation(live, kReplacedBy).empty();
    if (is_taken_back) object = object.with_path({"metadata", "annotations", kReplacedBy}, "");
  }
  const UpdateRule* update = live.is_null() ? nullptr : parsed_->keep.update_rule(subject);
  const bool recreates = update != nullptr && std::ranges::any_of(update->recreate_fields, [&](const std::string& path) {
                           return has_other_value(object, live, path);
                         });
  if (recreates) {
    if (is_dry_run) co_return live;
    SLIPWAY_CO_TRY_VOID(co_await client::remove_exactly(
        *client, kind.resource, key,
        {.propagation = "Background", .uid = std::string(kube::uid(live)), .resource_version = "", .grace_seconds = 0}));
  } else if (update != nullptr && update->op == "replace") {
    object = object.with_path({"metadata", "resourceVersion"}, live["metadata"]["resourceVersion"]);
    co_return co_await send(*client,
                            write_request(client::Verb::Update, kind, key, object.with("status", live["status"]), is_dry_run));
  }
  if (tools_.apply_mode == ApplyMode::ThreeWay) {
    co_return co_await write_three_way(client, kind, std::move(object), recreates ? Value() : live, is_exact, is_dry_run);
  }
  if (recreates) live = Value();
  if (!live.is_null() && !is_dry_run) {
    SLIPWAY_CO_TRY(claimed, co_await claim_fields(client, kind, live));
    SLIPWAY_CO_TRY(taken, co_await take_back_fields(client, kind, std::move(claimed), object));
    live = std::move(taken);
  }
  client::Request request =
      write_request(client::Verb::Patch, kind, key, following(std::move(object), live, is_exact), is_dry_run);
  request.patch_type = client::PatchType::Apply;
  request.force = true;
  co_return co_await send(*client, std::move(request));
}

/// `live` null: the object is created.
Task<Result<Value>> AppRun::write_three_way(client::Client* client, MappedKind kind, Value object, Value live, bool is_exact,
                                            bool is_dry_run) {
  client::Request request;
  request.resource = kind.resource;
  request.ns = kube::ns(object);
  request.field_manager = kManager;
  request.dry_run = is_dry_run;
  if (live.is_null()) {
    request.verb = client::Verb::Create;
    request.body = with_last_applied(object, {});
  } else {
    SLIPWAY_CO_TRY(patch, three_way_patch(object, live));
    if (patch.patch.empty()) co_return live;
    request.verb = client::Verb::Patch;
    request.name = kube::name(object);
    request.body = following(std::move(patch.patch), live, is_exact);
    request.patch_type = patch.type;
  }
  auto reply = co_await client->call(std::move(request));
  if (!reply) co_return fail(std::move(reply).error());
  co_return std::move(reply->object);
}

/// As it was applied last; null where no tracker has it whole.
Value AppRun::recorded_manifest(const ObjectId& id) const {
  std::vector<const Tracker*> trackers{&current_, &root_};
  for (std::size_t i = outdated_.size(); i-- > 0;) trackers.push_back(&outdated_[i]);
  for (const Tracker* tracker : trackers) {
    const ManagedResource* held = tracker->find(id);
    if (held != nullptr && held->is_whole) return held->raw;
  }
  return {};
}

void AppRun::note_applied(const Manifest& manifest) {
  const ObjectId id = manifest.id();
  AppliedResource made{.cluster = id.cluster == kHub ? "" : id.cluster,
                       .api_version = manifest.object["apiVersion"].str(),
                       .kind = id.kind,
                       .name = id.name,
                       .ns = id.ns,
                       .creator = manifest.creator};
  if (std::ranges::find(applied_, made) == applied_.end()) applied_.push_back(std::move(made));
}

Task<Result<std::vector<Value>>> AppRun::apply(std::vector<Manifest> manifests) {
  SLIPWAY_CO_TRY_VOID(co_await take_over(*this, manifests));
  std::vector<Placed> placed;
  for (Manifest& manifest : manifests) {
    SLIPWAY_CO_TRY(client, on(manifest.cluster));
    SLIPWAY_CO_TRY(discovery, own(manifest.cluster));
    SLIPWAY_CO_TRY(kind, co_await tools_.live.kinds().find_for(*discovery, manifest.cluster, manifest.object));
    if (!kind.is_namespaced) manifest.object = manifest.object.without_path({"metadata", "namespace"});
    SLIPWAY_CO_TRY(live, co_await find_live(manifest.id(), kind));
    SLIPWAY_CO_TRY_VOID(check_owner(manifest, live));
    manifest.object = with_claimed_values(with_due_plan(std::move(manifest.object), live, recorded_manifest(manifest.id())));
    Placed one{.manifest = manifest, .client = client, .kind = kind, .live = live};
    one.digest = sha256_hex(json::print(manifest.object));
    const auto known = memory_.applied.find(manifest.id());
    one.is_done = !live.is_null() && known != memory_.applied.end() && known->second == one.digest &&
                  kube::annotation(live, kReplacedBy).empty();
    placed.push_back(std::move(one));
  }
  const auto count = std::ranges::count_if(placed, [](const Placed& one) { return !one.is_done; });
  // All or none: a manifest that would be refused stops the others. One alone is its own test.
  for (const Placed& one : placed) {
    if ((count < 2 && !one.manifest.is_tried_first) || one.is_done) continue;
    SLIPWAY_CO_TRY_VOID(co_await write_checked(one.manifest, one.live, true));
  }
  SLIPWAY_CO_TRY_VOID(co_await keep_secret_manifests(*this, manifests));
  record(manifests);
  SLIPWAY_CO_TRY_VOID(co_await write_tracker(TrackerType::Versioned));
  SLIPWAY_CO_TRY_VOID(co_await write_tracker(TrackerType::Root));
  std::vector<Value> results;
  for (Placed& one : placed) {
    if (!one.is_done) {
      SLIPWAY_CO_TRY(written, co_await write_checked(one.manifest, one.live, false));
      one.live = std::move(written);
      memory_.applied[one.manifest.id()] = one.digest;
      if (acting_.identity() != nullptr) memory_.readable[one.manifest.id()] = tools_.env.clock.steady();
    }
    note_applied(one.manifest);
    results.push_back(one.live);
  }
  co_return results;
}

Task<Result<Value>> AppRun::live_object(ManagedResource resource) {
  SLIPWAY_CO_TRY(client, own(resource.cluster));
  const Value named = json::object({{"apiVersion", resource.api_version}, {"kind", resource.kind}});
  SLIPWAY_CO_TRY(kind, co_await tools_.live.kinds().find_for(*client, resource.cluster, named));
  co_return co_await find_live(resource.id(), kind);
}

Task<Result<Value>> AppRun::newest_object(ObjectId id, Value of_kind) {
  SLIPWAY_CO_TRY(discovery, own(id.cluster));
  SLIPWAY_CO_TRY(kind, co_await tools_.live.kinds().find_for(*discovery, id.cluster, of_kind));
  SLIPWAY_CO_TRY(client, on(id.cluster));
  auto asked = co_await client::get(*client, kind.resource, {kind.is_namespaced ? id.ns : "", id.name});
  if (!asked && asked.error().reason == Reason::NotFound) co_return Value();
  co_return asked;
}

Task<Result<Value>> AppRun::find_live(ObjectId id, MappedKind kind) {
  SLIPWAY_CO_TRY(client, own(id.cluster));
  const auto known = memory_.readable.find(id);
  const Steady now = tools_.env.clock.steady();
  const bool is_readable =
      acting_.identity() == nullptr || (known != memory_.readable.end() && now - known->second < kRightsLast);
  // That nothing is there yet is no secret in the application's own namespace.
  const bool is_at_home = id.cluster == kHub && kind.is_namespaced && id.ns == kube::ns(application_);
  if (is_readable || is_at_home) {
    auto found = co_await tools_.live.find(*client, id.cluster, kind, id.ns, id.name);
    if (is_readable || !found || found->is_null()) co_return found;
  }
  tools_.live.follow(id.cluster, kind.resource);
  SLIPWAY_CO_TRY(as_identity, on(id.cluster));
  auto asked = co_await client::get(*as_identity, kind.resource, {kind.is_namespaced ? id.ns : "", id.name});
  if (!asked && asked.error().reason == Reason::NotFound) co_return Value();
  if (asked) memory_.readable[id] = now;
  co_return asked;
}

}  // namespace slipway::delivery::application
