// Writes the log of each pipeline (delivery_log.h, log_entries.h) into DeliveryLogs of its namespace. Guarantees: one writer;
// names of segments are functions of pipeline and number, and updates carry the resourceVersion, so that no entry is written
// twice or over another; what was not written because of a crash is told by the next look. Holds no truth: what it remembers of
// a log only saves reading it again, and is dropped when the log is not as it was left.
//
// A pipeline that is deleted gets a last entry; its segments stay until they are older than the history is kept.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "control/controller.h"
#include "delivery/pipeline/delivery_log.h"
#include "delivery/pipeline/log_entries.h"

namespace slipway::delivery::pipeline {

class LogController : public control::Controller {
 public:
  explicit LogController(Env& env) : env_(env) {}

  std::string name() const override { return "delivery-log"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// What a log said when this process last wrote or read it.
  struct Memory {
    std::string uid;
    std::map<std::string, kube::Revision> segments;  // by name
    Told told;
  };

  /// The objects of a kind of the namespace that name the pipeline.
  std::vector<kube::Object> about(const control::Informer& informer, const control::ObjectKey& key) const;
  std::vector<kube::Object> freezes_of(const control::ObjectKey& key) const;
  std::vector<kube::ObjectKey> pipelines_of_freeze(const kube::Object& freeze) const;
  LogWorld world_of(const kube::Object& pipeline, const control::ObjectKey& key) const;
  std::vector<Chain> chains(const control::ObjectKey& key) const;
  const Told& told(const control::ObjectKey& key, const std::string& uid);
  Task<Result<void>> write(control::Client& client, Chain chain, std::vector<DeliveryEntry> entries, std::string keep);
  Task<control::Outcome> there(control::Reconcile& run, kube::Object pipeline);
  Task<Result<std::optional<Time>>> prune(control::Client& client, control::ObjectKey key, kube::Object pipeline);
  Task<Result<void>> end_chains(control::Client& client, control::ObjectKey key, std::string live_uid);
  Task<control::Outcome> gone(control::Reconcile& run);
  control::Outcome when(const std::optional<Time>& next) const;

  Env& env_;
  control::Informer* pipelines_ = nullptr;
  control::Informer* releases_ = nullptr;
  control::Informer* promotions_ = nullptr;
  control::Informer* approvals_ = nullptr;
  control::Informer* holds_ = nullptr;
  control::Informer* freezes_ = nullptr;
  control::Informer* logs_ = nullptr;
  std::map<kube::ObjectKey, Memory> memory_;
};

}  // namespace slipway::delivery::pipeline
