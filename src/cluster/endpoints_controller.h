// The two controllers that keep what a Service leads to: EndpointSlices (endpoint_slices.h) and Endpoints (endpoints.h). Both
// look at a Service again when one of its pods changes, and write only what differs.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "control/controller.h"

namespace slipway::cluster {

/// The caches of Services and pods, and which Services a pod belongs to.
class ServiceWatch {
 public:
  void watch(control::Watches& watches);
  kube::Object service(const kube::ObjectKey& key) const { return services_->get(key); }
  std::vector<kube::Object> pods_beside(const kube::Object& service) const;

 private:
  std::vector<kube::ObjectKey> services_of(const kube::Object& pod) const;

  control::Informer* services_ = nullptr;
  control::Informer* pods_ = nullptr;
};

class EndpointSliceController : public control::Controller {
 public:
  explicit EndpointSliceController(Env& env) : env_(env) {}

  std::string name() const override { return "endpointslice"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Env& env_;
  ServiceWatch watch_;
  control::Informer* slices_ = nullptr;
  control::Informer* nodes_ = nullptr;
};

class EndpointsController : public control::Controller {
 public:
  std::string name() const override { return "endpoints"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  ServiceWatch watch_;
  control::Informer* endpoints_ = nullptr;
};

}  // namespace slipway::cluster
