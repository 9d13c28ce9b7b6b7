// The controller that keeps Pipeline.status true: it looks at all targets through caches (target_cache.h), reads their values,
// and writes what they add up to (view.h). Levels, not events: whatever woke it, it looks at all that may have changed and
// writes the status if it differs, at most once a second. It keeps nothing durable of its own: after a restart the last values
// of a target that cannot be looked at yet are those of the status. Suspended pipelines are viewed as others are.
//
// Of each connected cluster it keeps the list of Helm releases in the status of its GitopsCluster, whether they are targets or
// not (reconcile_cluster()).
//
// What its author may not see is not shown: the rights to get the application in the namespace, or the GitopsCluster, are asked
// for at each look (reader_access.h).
//
// Beside the status it tells of annotations that lead nowhere, as events on the workloads in their clusters, and writes the
// annotations on targets where the Pipeline asks for that (kAnnotateAnnotation).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/pipeline/annotations.h"
#include "delivery/pipeline/reader_access.h"
#include "delivery/pipeline/target_cache.h"
#include "delivery/pipeline/triggers.h"
#include "delivery/pipeline/view.h"
#include "delivery/pipeline/viewed_pipelines.h"

namespace slipway::delivery::pipeline {

class ViewController : public control::Controller {
 public:
  /// `viewed` is told of each pipeline whose targets have all been looked at.
  explicit ViewController(const ControllerContext& context, std::shared_ptr<ViewedPipelines> viewed = nullptr);
  ~ViewController() override;

  std::string name() const override { return "pipeline"; }
  /// A look takes milliseconds and waits for little: with more at once the process would do nothing else for a second.
  control::ControllerOptions options() const override { return {.workers = 8}; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

  /// For tests and measurements.
  const TargetCache& cache() const { return cache_; }

 private:
  struct Watching;
  struct Entry;
  struct Pipeline;
  /// An application whose annotations are to be written.
  struct Annotation;
  struct Viewing;
  struct ConnectedCluster;

  void drop(const kube::ObjectKey& key);
  void add_news(const kube::ObjectKey& pipeline);
  bool is_as_written(const kube::Object& object) const;
  /// Made anew when the spec has changed; what was known of a target stays.
  Pipeline& pipeline_of(const kube::Object& object, const PipelineSpec& spec);
  void make_entries(Pipeline& pipeline, const PipelineSpec& spec, const kube::Object& object);
  static void restore(Entry& entry, const EnvironmentStatus& told, const Target& target);
  std::string cluster_of(const kube::ObjectKey& pipeline, const Target& target) const;
  void look(Viewing& viewing, Entry& entry);
  bool look_at_cluster(const Target& target, Entry& entry, TargetView& view, const kube::ObjectKey& pipeline);
  void take(Entry& entry, TargetView& view, Sight sight, const AppRef& app);
  /// Targets that the Pipeline's author may not see are hidden: nothing that is known of them stays.
  Task<Result<void>> hide_targets(control::Reconcile& run, Viewing& viewing);
  static void hide(Entry& entry, std::string text, Time now);
  Task<bool> look_at_all(Viewing& viewing);
  std::vector<PromotionView> promotions_of(const kube::ObjectKey& pipeline) const;
  /// `views`: of its targets, in their order.
  std::vector<Trigger> triggers_of(Viewing& viewing, const std::vector<TargetView>& views, const kube::Object& object);
  std::vector<TargetPlace> places_of(const Viewing& viewing) const;
  /// Those that nothing could be told of for long count as stale. False while there are others.
  bool have_all_been_seen(Pipeline& pipeline, Steady now);
  std::vector<TargetView> views_of(Pipeline& pipeline) const;
  /// Problems by annotations of targets that name another Pipeline than this one.
  void add_claim_problems(const kube::ObjectKey& pipeline, const Viewing& viewing, const std::vector<TargetView>& views,
                          std::vector<Problem>& problems);
  /// A Pipeline came or went: what was said of annotations that name it is to be said anew.
  void claims_changed(const kube::ObjectKey& pipeline);
  /// Writes the releases of a connected cluster, and its annotations that lead nowhere, into its GitopsCluster.
  Task<control::Outcome> reconcile_cluster(control::Reconcile& run);
  void drop_cluster(const kube::ObjectKey& queue_key);
  /// The object as it is then; null when it is gone.
  Task<Result<kube::Object>> write(control::Reconcile& run, kube::Object object, Viewed viewed);
  Task<> tell_faults(control::Reconcile& run, std::vector<AnnotationFault> faults);
  /// As the Pipeline's author. False: a right is missing, and it is to be tried again.
  Task<bool> annotate(control::Reconcile& run, const Viewing& viewing, std::vector<Annotation> wanted);
  Task<Result<void>> annotate_one(control::Reconcile& run, const Viewing& viewing, Annotation one);

  Env& env_;
  ActsAs acts_as_;
  ReaderAccess access_;
  std::shared_ptr<ViewedPipelines> viewed_;
  control::Watches* watches_ = nullptr;
  control::Informer* pipelines_ = nullptr;
  control::Informer* clusters_ = nullptr;
  control::Informer* promotions_ = nullptr;
  control::Informer* releases_ = nullptr;
  std::function<void(const kube::ObjectKey&)> enqueue_{};
  TargetCache cache_;
  AnnotationIndex annotations_{};
  std::set<std::string> told_{};                                  // faults: uid, reason and text
  std::map<kube::ObjectKey, std::set<kube::ObjectKey>> named_{};  // Pipelines that targets of others are annotated with
  std::map<kube::ObjectKey, std::unique_ptr<ConnectedCluster>> connected_;  // by key in the queue
  std::map<kube::ObjectKey, std::unique_ptr<Pipeline>> known_;
};

}  // namespace slipway::delivery::pipeline
