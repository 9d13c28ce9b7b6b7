#include "cluster/endpoints_controller.h"

#include "cluster/endpoint_slices.h"
#include "cluster/endpoints.h"
#include "cluster/names.h"
#include "cluster/service_pods.h"
#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

constexpr const char* kSliceManager = "slipway-endpointslice";
constexpr const char* kEndpointsManager = "slipway-endpoints";
constexpr const char* kBySelector = "selector";
constexpr const char* kByLabel = "label";

Task<Result<void>> create_endpoints(client::Client& client, kube::Resource resource, kube::Object object, std::string manager) {
  const auto made = co_await client::create(client, std::move(resource), std::move(object), std::move(manager));
  if (!made) co_return fail(made.error());
  co_return Result<void>{};
}

Task<Result<void>> update_one(client::Client& client, kube::Resource resource, kube::Object object, std::string manager) {
  const auto made = co_await client::update(client, std::move(resource), std::move(object), std::move(manager));
  if (!made) co_return fail(made.error());
  co_return Result<void>{};
}

}  // namespace

void ServiceWatch::watch(control::Watches& watches) {
  services_ = &watches.primary(kServices);
  services_->add_index(kBySelector, selector_keys);
  pods_ = &watches.also(kPods, [this](const kube::Object& pod) { return services_of(pod); });
  pods_->add_index(kByLabel, label_keys);
}

std::vector<kube::ObjectKey> ServiceWatch::services_of(const kube::Object& pod) const {
  std::vector<kube::ObjectKey> keys;
  for (const std::string& label : label_keys(pod)) {
    for (const kube::Object& service : services_->index(kBySelector, label)) {
      if (kube::ns(service) == kube::ns(pod) && selects(service, pod)) keys.push_back(kube::key_of(service));
    }
  }
  return keys;
}

std::vector<kube::Object> ServiceWatch::pods_beside(const kube::Object& service) const {
  std::vector<kube::Object> found;
  for (const std::string& label : selector_keys(service)) {
    for (const kube::Object& pod : pods_->index(kByLabel, label)) {
      if (kube::ns(pod) == kube::ns(service) && selects(service, pod)) found.push_back(pod);
    }
  }
  return found;
}

void EndpointSliceController::watch(control::Watches& watches) {
  watch_.watch(watches);
  slices_ = &watches.also(kEndpointSlices, [](const kube::Object& slice) {
    return std::vector<kube::ObjectKey>{{std::string(kube::ns(slice)), std::string(kube::label(slice, kServiceName))}};
  });
  slices_->add_index("service", [](const kube::Object& slice) {
    return std::vector{fmt::format("{}/{}", kube::ns(slice), kube::label(slice, kServiceName))};
  });
  nodes_ = &watches.cache(kNodes);
}

/// The slices of a Service that has gone are collected with it.
Task<Outcome> EndpointSliceController::reconcile(control::Reconcile& run) {
  const kube::Object service = watch_.service(run.key);
  if (service.is_null() || kube::is_deleting(service) || !keeps_endpoints(service)) co_return Outcome::settled();
  SlicePlan plan = plan_slices(
      service, {watch_.pods_beside(service), slices_->index("service", run.key.to_string()),
                [this, &service](const std::string& name) { return slices_->contains({std::string(kube::ns(service)), name}); },
                [this](std::string_view name) { return nodes_->get({"", std::string(name)}); }});
  Writes writes(env_);
  for (kube::Object& slice : plan.create)
    writes.add(create_endpoints(run.client, kEndpointSlices, std::move(slice), kSliceManager));
  for (kube::Object& slice : plan.update) writes.add(update_one(run.client, kEndpointSlices, std::move(slice), kSliceManager));
  for (kube::Object& slice : plan.remove) writes.add(remove_exactly(run.client, kEndpointSlices, std::move(slice)));
  const auto done = co_await writes.join();
  co_return done ? Outcome::settled() : Outcome::failed(done.error());
}

void EndpointsController::watch(control::Watches& watches) {
  watch_.watch(watches);
  endpoints_ =
      &watches.also(kEndpoints, [](const kube::Object& object) { return std::vector<kube::ObjectKey>{kube::key_of(object)}; });
}

Task<Outcome> EndpointsController::reconcile(control::Reconcile& run) {
  const kube::Object service = watch_.service(run.key);
  const kube::Object before = endpoints_->get(run.key);
  Result<void> done;
  if (service.is_null()) {
    if (is_kept_by_controller(before)) done = co_await remove_exactly(run.client, kEndpoints, before);
  } else if (!kube::is_deleting(service) && keeps_endpoints(service)) {
    kube::Object next = endpoints_object(service, watch_.pods_beside(service), before);
    if (before.is_null()) {
      done = co_await create_endpoints(run.client, kEndpoints, std::move(next), kEndpointsManager);
    } else if (!next.is_same(before)) {
      done = co_await update_one(run.client, kEndpoints, std::move(next), kEndpointsManager);
    }
  }
  co_return done ? Outcome::settled() : Outcome::failed(done.error());
}

}  // namespace slipway::cluster
