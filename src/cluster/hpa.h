// The controller of HorizontalPodAutoscalers: every 15 seconds it asks what the metrics of the annotation slipway.dev/metrics
// (hpa_metrics.h) make of the target's size (hpa_plan.h), and writes that through the target's /scale.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/hpa_plan.h"
#include "control/controller.h"

namespace slipway::cluster {

class AutoscalerController : public control::Controller {
 public:
  explicit AutoscalerController(Env& env) : env_(env) {}

  std::string name() const override { return "horizontalpodautoscaler"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// What is remembered of an autoscaler between two looks.
  struct Memory {
    std::string asked;  // uid, generation and metrics of the last look
    Steady due{};       // of the next one, unless these change
    HpaHistory history{};
  };
  struct Target {
    kube::Resource resource;
    json::Value scale;
    HpaView view;
  };
  Task<Result<Target>> look_at(client::Client& client, kube::Object hpa);
  std::vector<kube::Object> pods_of(std::string_view ns, const json::Value& selector) const;
  Task<Result<void>> write_status(client::Client& client, kube::Object hpa, json::Value status);
  /// The status that tells how it went.
  Task<json::Value> carry_out(client::Client& client, kube::Object hpa, Target target);

  Env& env_;
  std::map<kube::ObjectKey, Memory> memory_;
  control::Informer* autoscalers_ = nullptr;
  control::Informer* pods_ = nullptr;
  control::Informer* definitions_ = nullptr;
};

}  // namespace slipway::cluster
