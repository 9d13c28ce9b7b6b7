#include "cluster/namespace.h"

#include <algorithm>

#include "cluster/contents.h"
#include "cluster/names.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

/// For what is left without a cache of its own telling when it goes.
constexpr Duration kRecheckNamespace = std::chrono::seconds{5};
constexpr std::string_view kToken = "kubernetes";
constexpr const char* kNamespaceManager = "slipway-namespace";

bool has_token(const kube::Object& space) {
  const auto finalizers = space["spec"]["finalizers"].items();
  return std::any_of(finalizers.begin(), finalizers.end(), [](const json::Value& it) { return it.as_string() == kToken; });
}

Task<Result<void>> finalize(client::Client& client, kube::Object space) {
  json::ArrayBuilder rest;
  for (const json::Value& finalizer : space["spec"]["finalizers"].items()) {
    if (finalizer.as_string() != kToken) rest.add(finalizer);
  }
  client::Request request;
  request.verb = client::Verb::Update;
  request.resource = kNamespaces;
  request.name = std::string(kube::name(space));
  request.subresource = "finalize";
  request.body = space.with_path({"spec", "finalizers"}, rest.build());
  const auto done = co_await client.call(std::move(request));
  if (!done && done.error().reason != Reason::NotFound) co_return fail(done.error());
  co_return Result<void>{};
}

/// `known` and the namespaced resources of all definitions, each in one version that is served.
Task<Result<std::vector<kube::Resource>>> with_custom(client::Client& client, std::vector<kube::Resource> known) {
  SLIPWAY_CO_TRY(definitions, co_await client::list(client, kDefinitions, {}));
  for (const json::Value& definition : definitions["items"].items()) {
    const json::Value& spec = definition["spec"];
    if (spec["scope"].as_string() != "Namespaced") continue;
    for (const json::Value& version : spec["versions"].items()) {
      if (!version["served"].as_bool()) continue;
      kube::Resource resource{spec["group"].str(), version["name"].str(), spec["names"]["plural"].str()};
      if (std::ranges::find(known, resource) == known.end()) known.push_back(std::move(resource));
      break;
    }
  }
  co_return known;
}

}  // namespace

void NamespaceController::watch(control::Watches& watches) {
  namespaces_ = &watches.primary(kNamespaces);
  for (const kube::Resource& resource : watched_) {
    watches.changes(resource, [this](const kube::Object& before, const kube::Object& after) {
      std::vector<kube::ObjectKey> keys;
      if (!after.is_null()) return keys;
      kube::ObjectKey key{"", std::string(kube::ns(before))};
      if (kube::is_deleting(namespaces_->get(key))) keys.push_back(std::move(key));
      return keys;
    });
  }
}

/// Deletes what is in the namespace, pods before all else: what they use stays as long as they run.
Task<Result<void>> NamespaceController::empty_all(client::Client& client, std::string ns, NamespaceRemains& remains) {
  auto contents = co_await with_custom(client, contents_);
  if (!contents) {
    remains.discovery_failure = contents.error().message;
    co_return fail(contents.error());
  }
  std::ranges::partition(*contents, [](const kube::Resource& resource) { return resource == kPods; });
  Result<void> outcome;
  for (const kube::Resource& resource : *contents) {
    const auto left = co_await empty(client, resource, ns);
    if (left) {
      remains.add(resource, *left);
    } else {
      remains.content_failures.push_back(left.error().message);
      if (outcome) outcome = fail(left.error());
    }
    if (resource == kPods && !remains.is_empty()) break;
  }
  co_return outcome;
}

Task<Outcome> NamespaceController::reconcile(control::Reconcile& run) {
  const kube::Object space = namespaces_->get(run.key);
  if (space.is_null() || !kube::is_deleting(space) || !has_token(space)) co_return Outcome::settled();
  NamespaceRemains remains;
  const auto emptied = co_await empty_all(run.client, run.key.name, remains);
  if (const auto told = co_await tell(run.client, space, remains); !told) co_return Outcome::failed(told.error());
  if (!emptied) co_return Outcome::failed(emptied.error());
  if (!remains.is_empty()) co_return Outcome::retries_after(kRecheckNamespace);
  const auto done = co_await finalize(run.client, space);
  co_return done ? Outcome::settled() : Outcome::failed(done.error());
}

/// A namespace that goes at once is not written for its conditions.
Task<Result<void>> NamespaceController::tell(client::Client& client, kube::Object space, const NamespaceRemains& remains) {
  const json::Value& before = space["status"]["conditions"];
  if (remains.is_empty() && before.empty()) co_return Result<void>{};
  const json::Value conditions = namespace_conditions(before, remains, env_.clock.now());
  if (conditions == before) co_return Result<void>{};
  const json::Value patch = json::object({{"status", json::object({{"conditions", conditions}})}});
  const auto written =
      co_await client::merge_patch(client, kNamespaces, kube::key_of(space), patch, kNamespaceManager, "status");
  if (!written && written.error().reason != Reason::NotFound) co_return fail(written.error());
  co_return Result<void>{};
}

}  // namespace slipway::cluster
