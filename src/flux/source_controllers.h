// Resolves HelmCharts and OCIRepositories to versions (charts.h), at once and every spec.interval.
#pragma once

#include "control/controller.h"

namespace slipway::flux {

class HelmChartController : public control::Controller {
 public:
  explicit HelmChartController(Env& env) : env_(env) {}

  std::string name() const override { return "source-controller-charts"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Env& env_;
  control::Informer* charts_ = nullptr;
  control::Informer* repositories_ = nullptr;
};

class OciRepositoryController : public control::Controller {
 public:
  explicit OciRepositoryController(Env& env) : env_(env) {}

  std::string name() const override { return "source-controller-oci"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Env& env_;
  control::Informer* repositories_ = nullptr;
};

}  // namespace slipway::flux
