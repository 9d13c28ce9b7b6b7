#include "flux/helm_release.h"

#include <fmt/format.h>

#include "control/author_right.h"
#include "control/object_writes.h"
#include "flux/charts.h"
#include "flux/git_repository.h"
#include "flux/kinds.h"
#include "flux/release_plan.h"
#include "kube/well_known.h"

namespace slipway::flux {
namespace {

using control::Outcome;
using json::Value;
using kube::Object;

constexpr const char* kHelmManager = "helm-controller";

/// Whose a Deployment or a HelmChart is.
std::vector<kube::ObjectKey> release_of(const Object& made) {
  const std::string_view name = kube::label(made, kReleaseName);
  if (name.empty()) return {};
  return {{std::string(kube::label(made, kReleaseNamespace)), std::string(name)}};
}

kube::ObjectKey chart_ref_of(const Object& release) {
  const Value& ref = release["spec"]["chartRef"];
  return {ref["namespace"].as_string().empty() ? std::string(kube::ns(release)) : ref["namespace"].str(), ref["name"].str()};
}

Task<Result<void>> install(client::Client& client, Object release, Chart chart) {
  const auto applied = co_await client::apply(client, kube::kDeployments, render(release, chart), kHelmManager);
  if (!applied) co_return fail(applied.error());
  co_return Result<void>{};
}

/// What comes before the status: records, and the way back. All of it may be done again.
Task<Result<void>> prepare(client::Client& client, Object release, Chart chart, ReleasePlan plan) {
  if (plan.roll_back) {
    const std::string ns = release_name(release).ns;
    SLIPWAY_CO_TRY(secret, co_await client::get(client, kube::kSecrets, {ns, record_name(release, *plan.roll_back)}));
    chart = chart_from_record(secret);
    SLIPWAY_CO_TRY_VOID(co_await install(client, release, chart));
  }
  if (plan.record == 0) co_return Result<void>{};
  const auto kept = co_await client::apply(client, kube::kSecrets, record_secret(release, chart, plan.record), kHelmManager);
  if (!kept) co_return fail(kept.error());
  co_return Result<void>{};
}

/// What it takes to install and to record a release.
Task<Result<void>> require_rights(client::Client& process, std::shared_ptr<const kube::UserInfo> user, ReleaseName release) {
  for (const char* verb : {"create", "patch"}) {
    const bool is_create = std::string_view(verb) == "create";
    const kube::ObjectKey deployment{release.ns, is_create ? "" : release.name};
    SLIPWAY_CO_TRY_VOID(
        co_await control::require_right(process, user, {.verb = verb, .resource = kube::kDeployments, .key = deployment}));
    SLIPWAY_CO_TRY_VOID(
        co_await control::require_right(process, user, {.verb = verb, .resource = kube::kSecrets, .key = {release.ns, ""}}));
  }
  co_return Result<void>{};
}

Task<Result<void>> remove_if_there(client::Client& client, kube::Resource resource, kube::ObjectKey key) {
  const auto removed = co_await client::remove(client, resource, key);
  if (!removed && removed.error().reason != Reason::NotFound) co_return fail(removed.error());
  co_return Result<void>{};
}

}  // namespace

void HelmReleaseController::watch(control::Watches& watches) {
  releases_ = &watches.primary(kHelmReleases);
  deployments_ = &watches.also(kube::kDeployments, release_of);
  charts_ = &watches.also(kHelmCharts, release_of);
}

/// What spec.chartRef names, else the HelmChart of spec.chart, which is made. The status names it.
Task<Result<HelmReleaseController::Source>> HelmReleaseController::source_of(client::Client& client, Object release) {
  if (const Value& ref = release["spec"]["chartRef"]; !ref.is_null()) {
    const kube::ObjectKey key = chart_ref_of(release);
    const bool is_chart = ref["kind"].as_string() == "HelmChart";
    const auto found = co_await client::get(client, is_chart ? kHelmCharts : kOciRepositories, key);
    if (!found && found.error().reason != Reason::NotFound) co_return fail(found.error());
    co_return Source{.object = found ? *found : Object(),
                     .id = fmt::format("{} '{}/{}'", ref["kind"].as_string(), key.ns, key.name)};
  }
  SLIPWAY_CO_TRY(chart, co_await client::apply(client, kHelmCharts, chart_object(release), kHelmManager));
  const std::string place = fmt::format("{}/{}", kube::ns(chart), kube::name(chart));
  co_return Source{.object = chart, .id = fmt::format("HelmChart '{}'", place), .chart = place};
}

Task<Outcome> HelmReleaseController::fail_or_wait(control::Reconcile& run, Object release, Status error,
                                                  std::shared_ptr<const kube::UserInfo> user) {
  if (!control::lacks_right(error, user.get())) co_return Outcome::failed(std::move(error));
  Value status = lacking_status(release, refusal_text(error, user.get()), env_.clock.now());
  const auto told = co_await control::write_status(run.client, kHelmReleases, release, std::move(status), kHelmManager);
  co_return told ? Outcome::retries_after(control::kAuthorRightPause) : Outcome::failed(told.error());
}

/// While a right is missing that it takes, the release stays and says so. What is gone takes no right: with its namespace the
/// bindings of its author may have gone first.
Task<Outcome> HelmReleaseController::uninstall(control::Reconcile& run, Object release) {
  const ReleaseName name = release_name(release);
  const kube::ObjectKey deployment{name.ns, name.name};
  const std::string place = release["status"]["helmChart"].str();
  const std::size_t slash = std::min(place.find('/'), place.size());
  const kube::ObjectKey chart{place.substr(0, slash), place.substr(std::min(slash + 1, place.size()))};
  const bool has_deployment = !deployments_->get(deployment).is_null();
  const bool has_chart = !charts_->get(chart).is_null();
  if (has_deployment || has_chart) {
    const auto acting = co_await acting_for(run.client, release, acts_as_);
    if (!acting) co_return co_await fail_or_wait(run, release, acting.error(), delivery::author_of(kAuthor, release, acts_as_));
    const auto removed =
        has_deployment ? co_await remove_if_there(run.as(acting->user), kube::kDeployments, deployment) : Result<void>{};
    if (!removed) co_return co_await fail_or_wait(run, release, removed.error(), acting->user);
    const auto unused = has_chart ? co_await remove_if_there(run.as(acting->author), kHelmCharts, chart) : Result<void>{};
    if (!unused) co_return co_await fail_or_wait(run, release, unused.error(), acting->author);
  }
  const auto gone = co_await control::remove_finalizer(run.client, kHelmReleases, release, kFinalizer, kHelmManager);
  co_return gone ? Outcome::settled() : Outcome::failed(gone.error());
}

Task<Outcome> HelmReleaseController::reconcile(control::Reconcile& run) {
  Object release = releases_->get(run.key);
  if (release.is_null()) co_return Outcome::settled();
  if (kube::is_deleting(release)) co_return co_await uninstall(run, release);
  if (release["spec"]["suspend"].as_bool()) co_return Outcome::settled();
  auto marked = co_await control::add_finalizer(run.client, kHelmReleases, release, kFinalizer, kHelmManager);
  if (!marked) co_return Outcome::failed(marked.error());
  release = *std::move(marked);
  if (const auto can = check_release(release); !can) {
    Value status = refused_status(release, can.error(), env_.clock.now());
    const auto told = co_await control::write_status(run.client, kHelmReleases, release, std::move(status), kHelmManager);
    co_return told ? Outcome::settled() : Outcome::failed(told.error());
  }
  const auto acting = co_await acting_for(run.client, release, acts_as_);
  if (!acting) co_return co_await fail_or_wait(run, release, acting.error(), delivery::author_of(kAuthor, release, acts_as_));
  co_return co_await deliver(run, *acting, release);
}

Task<Outcome> HelmReleaseController::deliver(control::Reconcile& run, Acting acting, Object release) {
  const auto source = co_await source_of(run.as(acting.author), release);
  if (!source) co_return co_await fail_or_wait(run, release, source.error(), acting.author);
  if (is_ready(source->object)) co_return co_await act(run, acting, release, *source);
  Value status = waiting_status(release, source->object, source->id, env_.clock.now());
  if (!source->chart.empty()) status = status.with("helmChart", source->chart);
  const auto told = co_await control::write_status(run.client, kHelmReleases, release, std::move(status), kHelmManager);
  co_return told ? Outcome::retries_after(interval_of(release)) : Outcome::failed(told.error());
}

Task<Outcome> HelmReleaseController::act(control::Reconcile& run, Acting acting, Object release, Source source) {
  const Chart chart = chart_of(release, source.object);
  const ReleaseName name = release_name(release);
  ReleasePlan next = plan(release, chart, deployments_->get({name.ns, name.name}), env_.clock.now());
  if (next.apply || next.roll_back || next.record > 0) {
    const auto may = co_await require_rights(run.client, acting.user, name);
    if (!may) co_return co_await fail_or_wait(run, release, may.error(), acting.user);
  }
  next.status = source.chart.empty() ? next.status.without("helmChart") : next.status.with("helmChart", source.chart);
  client::Client& writer = run.as(acting.user);
  if (const auto ready = co_await prepare(writer, release, chart, next); !ready) {
    co_return co_await fail_or_wait(run, release, ready.error(), acting.user);
  }
  const auto told = co_await control::write_status(run.client, kHelmReleases, release, next.status, kHelmManager);
  if (!told) co_return Outcome::failed(told.error());
  if (next.apply) {
    const auto done = co_await install(writer, release, *next.apply);
    if (!done) co_return co_await fail_or_wait(run, *told, done.error(), acting.user);
  }
  // What a source that is named has anew is looked for.
  const Duration again = std::min(next.look_again.value_or(interval_of(release)), interval_of(release));
  const bool looks = next.look_again || !release["spec"]["chartRef"].is_null();
  co_return looks ? Outcome::retries_after(again) : Outcome::settled();
}

}  // namespace slipway::flux
