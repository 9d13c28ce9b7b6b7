// oam.#Rollback (step rollback): what the newest revision had applied whose workflow succeeded is applied again from its
// ResourceTracker, recorded in the tracker of this generation, and from then on kept as the objects of a delivery are. What
// this revision has added is deleted. The step ends once the components are healthy. Objects that outlive updates (policy
// garbage-collect, strategies onAppDelete and never) are recorded only as the newest revision made them, and stay so. Which
// revision serves is a note of the run, from which the status has it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "delivery/application/provider_rows.h"
#include "delivery/application/secret_manifests.h"
#include "delivery/application/upkeep.h"

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

/// Components that the revision does not have are no longer part of the status.
void drop_services(AppRun& run, const std::vector<Manifest>& manifests) {
  std::erase_if(run.services(), [&](const ServiceStatus& service) {
    return std::ranges::none_of(manifests, [&](const Manifest& one) { return one.component == service.name; });
  });
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

Task<Answer> roll_back(AppRun& run, ProviderCall call) {
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
  std::set<ObjectId> kept;
  for (const Manifest& manifest : *manifests) kept.insert(manifest.id());
  std::vector<Value> applied;
  if (!manifests->empty()) {
    auto written = co_await run.apply(*manifests);
    if (!written) co_return Answer::error(written.error());
    applied = std::move(*written);
  }
  auto collected = co_await collect_all_but(run, std::move(kept));
  if (!collected) co_return Answer::error(collected.error());
  if (!collected->is_done()) {
    co_return Answer::wait(
        fmt::format("revision {} is applied again; left of this one: {}", *revision, joined(collected->remaining, ", ")));
  }
  drop_services(run, *manifests);
  auto unhealthy = co_await first_unhealthy(run, std::move(applied));
  if (!unhealthy) co_return Answer::error(unhealthy.error());
  if (!unhealthy->empty()) co_return Answer::wait(fmt::format("revision {} is applied again; {}", *revision, *unhealthy));
  call.store->notes[kRolledBackTo] = *revision;
  call.store->has_changed = true;
  co_return Answer::done(json::object({{"revision", *revision}}));
}

}  // namespace

std::vector<ProviderRow> rollback_rows() { return {{"oam", "rollback", {}, roll_back}}; }

}  // namespace slipway::delivery::application
