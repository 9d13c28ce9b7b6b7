// Writes the log of each pipeline (delivery_log.h, log_entries.h) into DeliveryLogs of its namespace. Guarantees: one writer;
// names of segments are functions of pipeline and number, and updates carry the resourceVersion, so that no entry is written
// twice or over another; what was not written because of a crash is told by the next look. Holds no truth: what it remembers of
// a log only saves reading it again, and is dropped when the segments are not as it left them. Segments are followed by their
// metadata alone; their content is read when a process first looks at a pipeline, and then only the last one, to write to it.
//
// A pipeline that is deleted gets a last entry; its segments stay until they are older than the history is kept.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/pipeline/delivery_log.h"
#include "delivery/pipeline/log_entries.h"

namespace slipway::delivery::pipeline {

class LogController : public control::Controller {
 public:
  explicit LogController(const ControllerContext& context) : env_(context.env), acts_as_(context.acts_as) {}

  std::string name() const override { return "delivery-log"; }
  /// A look takes milliseconds and waits for little: with more at once the process would do nothing else for a second.
  control::ControllerOptions options() const override { return {.workers = 8}; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// What is known of the log of one pipeline object.
  struct Log {
    std::map<std::int64_t, SegmentAge> segments;      // by number
    std::map<std::string, kube::Revision> revisions;  // by name
    std::string keep;                                 // the annotation of the newest
    bool has_ended = false;
    Told told;
  };
  using Logs = std::map<std::string, Log>;  // by the pipeline's uid

  /// The objects of a kind of the namespace that name the pipeline.
  std::vector<kube::Object> about(const control::Informer& informer, const control::ObjectKey& key) const;
  std::vector<kube::Object> freezes_of(const control::ObjectKey& key) const;
  std::vector<kube::ObjectKey> pipelines_of_freeze(const kube::Object& freeze) const;
  LogWorld world_of(const kube::Object& pipeline, const control::ObjectKey& key) const;
  bool is_as_left(const control::ObjectKey& key) const;
  /// Reads the logs of the name again unless they are as they were left.
  Task<Result<void>> remember(control::Client& client, control::ObjectKey key);
  static Log log_of(const Chain& chain);
  Task<Result<void>> write(control::Client& client, control::ObjectKey key, std::string uid, std::vector<DeliveryEntry> entries,
                           std::string keep);
  Task<Result<std::optional<Time>>> there(control::Client& client, control::ObjectKey key, kube::Object pipeline);
  /// The chains of pipelines that are no more end with an entry that says so.
  Task<Result<void>> end_chains(control::Client& client, control::ObjectKey key, std::string live_uid);
  /// Of all chains of the name; when the next segment is due.
  Task<Result<std::optional<Time>>> prune(control::Client& client, control::ObjectKey key, kube::Object pipeline);
  Task<Result<std::optional<Time>>> look(control::Client& client, control::ObjectKey key);

  Env& env_;
  ActsAs acts_as_;
  control::Informer* pipelines_ = nullptr;
  control::Informer* releases_ = nullptr;
  control::Informer* promotions_ = nullptr;
  control::Informer* approvals_ = nullptr;
  control::Informer* holds_ = nullptr;
  control::Informer* freezes_ = nullptr;
  control::Informer* logs_ = nullptr;
  std::map<kube::ObjectKey, Logs> memory_;
};

}  // namespace slipway::delivery::pipeline
