// How the Application controller finds what an application is delivered from: the newest revision as long as it says what is
// wanted, else a new one.
#include <fmt/format.h>

#include <algorithm>

#include "base/compute_pool.h"
#include "base/digest.h"
#include "delivery/application/controller.h"
#include "delivery/application/needed_kinds.h"
#include "delivery/application/references.h"
#include "delivery/application/revision.h"
#include "delivery/application/rollout_plans.h"
#include "delivery/application/taking_over.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

/// The spec that a revision holds, when the publish version says that it is to be delivered and not what is written now.
bool is_published(const kube::Object& application, const Value& revision) {
  const auto version = kube::annotation(application, kPublishVersion);
  return !version.empty() && kube::annotation(revision, kPublishVersion) == version;
}

/// Its generation says which spec it has: a new status leaves that.
std::string frozen_key(const Value& revision) {
  return fmt::format("{}/{}/{}", kube::name(revision), kube::uid(revision), kube::generation(revision));
}

std::shared_ptr<const Frozen> frozen_in(Memory& memory, const Value& revision, DefinitionStore& store) {
  const std::string key = frozen_key(revision);
  if (memory.frozen_key != key) memory.frozen = read_revision(revision, store);
  memory.frozen_key = key;
  return memory.frozen;
}

/// What a revision is delivered from: what it holds, with the plans of rollouts as they are now.
Value with_live_plans(const Value& held, const Value& revision, const Value& live) {
  if (plans_in(held).is_null()) return held;
  return with_plans_of(with_named_components(held, component_names_in(revision, held)), live);
}

std::string delivery_key(const Value& revision, const Value& spec) {
  const Value plans = plans_in(spec);
  const std::string name(kube::name(revision));
  return plans.is_null() ? name : name + "/" + sha256_hex(json::print(plans));
}

bool is_among(const std::vector<std::string>& all, std::string_view one) { return std::ranges::find(all, one) != all.end(); }

/// Names that a new revision keeps for components that are as they were in the newest one; `known` is that, or null where the
/// cache has not seen it yet.
Task<Result<ComponentNames>> kept_names(client::Client& client, kube::ObjectKey newest, Value known, Value spec) {
  if (newest.name.empty() || !has_trait_plans(spec)) co_return ComponentNames{};
  if (known.is_null()) {
    auto stored = co_await client::get(client, kRevisions, newest);
    if (!stored && stored.error().reason == Reason::NotFound) co_return ComponentNames{};
    if (!stored) co_return fail(std::move(stored).error());
    known = std::move(*stored);
  }
  const Value held = revision_content(known)["application"]["spec"];
  co_return names_kept(component_names_in(known, held), held, spec);
}

}  // namespace

Result<std::shared_ptr<const Parsed>> ApplicationController::parse_once(Memory& memory, const kube::Object& application,
                                                                        const Value& spec, const Lookup& lookup,
                                                                        const std::string& key) {
  if (memory.parsed && memory.parsed_key == key) return memory.parsed;
  SLIPWAY_TRY(parsed, parse(application, spec, lookup));
  memory.parsed = std::make_shared<const Parsed>(std::move(parsed));
  memory.parsed_key = key;
  return memory.parsed;
}

/// The newest revision as long as it says what is wanted; else a new one.
Task<Result<ApplicationController::Resolved>> ApplicationController::resolve(control::Reconcile& run, kube::Object application,
                                                                             Status status, Memory& memory) {
  const bool follows_definitions = kube::annotation(application, kAutoUpdate) == "true";
  if (!status.latest_revision) co_return co_await resolve_new(run, std::move(application), std::move(status), memory);
  const Value revision = revisions_->get({std::string(kube::ns(application)), status.latest_revision->name});
  if (revision.is_null()) co_return co_await resolve_new(run, std::move(application), std::move(status), memory);
  const std::shared_ptr<const Frozen> held = frozen_in(memory, revision, definitions_);
  if (held->spec.is_null()) {
    co_return fail(Reason::InternalError,
                   fmt::format("the content of ApplicationRevision {} cannot be read: nothing is done, since "
                               "everything would run again",
                               kube::name(revision)));
  }
  Resolved resolved{
      .parsed = nullptr, .lookup = lookup_in(held, live_lookup(application)), .revision = *status.latest_revision};
  const kube::Object written = application;
  SLIPWAY_CO_TRY(scoped, co_await apply_scoped(application, resolved.lookup));
  application = scoped.application;
  resolved.scoped = std::move(scoped);
  // What is delivered is the revision's, but for plans of rollouts: neither it nor a publish version holds them.
  const Value frozen = with_live_plans(held->spec, revision, application["spec"]);
  const std::string key = delivery_key(revision, frozen);
  if (is_published(application, revision)) {
    SLIPWAY_CO_TRY(parsed, parse_once(memory, application, frozen, resolved.lookup, key));
    resolved.parsed = std::move(parsed);
    const bool is_live = is_same_spec(without_plans(held->spec), without_plans(application["spec"]));
    if (!is_live) resolved.written_before = revision_content(revision)["application"].without("spec");
    co_return resolved;
  }
  const bool is_same = is_same_spec(without_plans(held->spec), without_plans(application["spec"])) &&
                       kube::annotation(revision, kPublishVersion).empty() &&
                       kube::annotation(application, kPublishVersion).empty();
  if (!is_same) co_return co_await resolve_new(run, written, std::move(status), memory);
  if (follows_definitions) {
    SLIPWAY_CO_TRY(was, parse(application, frozen, resolved.lookup));
    SLIPWAY_CO_TRY(is, parse(application, frozen, live_lookup(application)));
    if (revision_hash(application, frozen, was, true) != revision_hash(application, frozen, is, true)) {
      co_return co_await resolve_new(run, written, std::move(status), memory);
    }
  }
  // Shared policies and the shared workflow count as the spec does.
  Lookup frozen_definitions = resolved.lookup;
  frozen_definitions.policy = live_lookup(application).policy;
  frozen_definitions.workflow = live_lookup(application).workflow;
  SLIPWAY_CO_TRY(parsed, parse_once(memory, application, frozen, frozen_definitions, key));
  const bool is_shared = !parsed->shared_policies.empty() || !parsed->shared_workflow.is_null();
  if (is_shared) {
    SLIPWAY_CO_TRY(was, parse(application, frozen, resolved.lookup));
    SLIPWAY_CO_TRY(is, parse(application, frozen, frozen_definitions));
    if (!shares_the_same(was, is)) {
      co_return co_await resolve_new(run, written, std::move(status), memory);
    }
  }
  resolved.parsed = std::move(parsed);
  co_return resolved;
}

Task<Result<ApplicationController::Resolved>> ApplicationController::resolve_new(control::Reconcile& run,
                                                                                 kube::Object application, Status status,
                                                                                 Memory& memory) {
  const Lookup lookup = live_lookup(application);
  SLIPWAY_CO_TRY(scoped, co_await apply_scoped(std::move(application), lookup));
  application = scoped.application;
  const Value spec = application["spec"];
  SLIPWAY_CO_TRY_VOID(co_await check_needed_kinds(run, live_, spec, lookup));
  const kube::ObjectKey newest{std::string(kube::ns(application)), status.latest_revision ? status.latest_revision->name : ""};
  SLIPWAY_CO_TRY(names, co_await kept_names(run.client, newest, newest.name.empty() ? Value() : revisions_->get(newest), spec));
  SLIPWAY_CO_TRY(parsed, parse(application, with_named_components(spec, names), lookup));
  const bool follows_definitions = kube::annotation(application, kAutoUpdate) == "true";
  const std::vector<std::string> hashes = known_hashes(application, spec, parsed, follows_definitions);
  const std::string& hash = hashes.front();
  auto shared = std::make_shared<const Parsed>(std::move(parsed));
  if (status.latest_revision && is_among(hashes, status.latest_revision->hash)) {
    if (!has_urls(spec)) co_return Resolved{shared, lookup, *status.latest_revision, std::move(scoped)};
    SLIPWAY_CO_TRY(stored, co_await client::get(run.client, kRevisions, newest));
    Resolved known = resolved_with(shared, lookup, revision_content(stored)["referredObjects"], *status.latest_revision);
    known.scoped = std::move(scoped);
    co_return known;
  }
  SLIPWAY_CO_TRY(referred, co_await fetch_references(run.outgoing(http_), spec));
  Resolved resolved = resolved_with(shared, lookup, referred, {});
  std::int64_t number = status.latest_revision ? status.latest_revision->revision + 1 : 1;
  for (;; ++number) {
    const Value wanted = with_component_names(make_revision(application, spec, *resolved.parsed, number, hash, packer_), names);
    auto made = co_await client::create(run.client, kRevisions, wanted, kManager);
    if (made) {
      memory.frozen = freeze(spec, *resolved.parsed);
      memory.frozen_key = frozen_key(*made);
      break;
    }
    if (made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
    // One of an earlier try whose status was lost, or of an application of that name that is gone.
    auto there = co_await client::get(run.client, kRevisions, kube::key_of(wanted));
    if (!there) co_return fail(std::move(there).error());
    const bool is_mine = kube::is_owned_by(*there, kube::uid(application));
    if (!is_mine || !is_among(hashes, kube::label(*there, "app.oam.dev/app-revision-hash"))) continue;
    const Value content = revision_content(*there);
    const ComponentNames own = component_names_in(*there, content["application"]["spec"]);
    SLIPWAY_CO_TRY(again, parse(application, with_named_components(spec, own), lookup));
    resolved = resolved_with(std::make_shared<const Parsed>(std::move(again)), lookup, content["referredObjects"], {});
    break;
  }
  resolved.revision = {revision_name(kube::name(application), number), number, hash};
  resolved.scoped = std::move(scoped);
  co_return resolved;
}

Task<Result<Scoped>> ApplicationController::apply_scoped(kube::Object application, Lookup lookup) {
  Result<Scoped> made = Scoped{.application = application, .custom = {}, .policies = {}, .record = {}};
  const std::vector<ScopedPolicy> policies = scoped_policies(application, lookup);
  if (policies.empty()) co_return made;
  const std::string tenant(kube::ns(application));
  co_await compute_for(env_, tenant, [&] { made = with_scoped_policies(application, policies); });
  co_return made;
}

/// With what stood behind the URLs of components.
ApplicationController::Resolved ApplicationController::resolved_with(std::shared_ptr<const Parsed> parsed, Lookup lookup,
                                                                     Value referred, LatestRevision revision) {
  if (!referred.is_null()) {
    auto whole = std::make_shared<Parsed>(*parsed);
    whole->referred = referred;
    lookup.referred = std::move(referred);
    parsed = std::move(whole);
  }
  return {std::move(parsed), std::move(lookup), std::move(revision)};
}

}  // namespace slipway::delivery::application
