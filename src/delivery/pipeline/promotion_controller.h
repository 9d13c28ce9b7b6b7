// Controller "promotion", one key per Pipeline: moves releases from environment to environment (promote.h decides, change.h
// makes changes). It reads Pipeline.status as any client does and writes Releases, Promotions and the status of Promotions
// alone. A reconcile looks, decides, writes the statuses down, creates what is new and carries the effects out, in this order;
// names follow from what they are for, so what a crash left half done is found and not done again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/pipeline/change.h"
#include "delivery/pipeline/reader_access.h"
#include "delivery/pipeline/retention.h"
#include "delivery/pipeline/viewed_pipelines.h"

namespace slipway::delivery::pipeline {

/// The field manager of what the controller writes.
inline constexpr const char* kPromotionManager = "slipway-promotion";

/// The index of Pipelines by the targets that they protect (protected.h).
inline constexpr const char* kProtectingByTarget = "protecting-target";

class PromotionController : public control::Controller {
 public:
  /// `made_by` outlives this. Without `viewed` every status is taken for what is.
  explicit PromotionController(const ControllerContext& context, Changes& made_by = changes(),
                               std::shared_ptr<ViewedPipelines> viewed = nullptr);

  std::string name() const override { return "promotion"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  using Key = kube::ObjectKey;
  /// Of one pipeline, by promotion.
  struct Memory {
    std::map<std::string, std::pair<Steady, std::string>> looked{};  // when at its pull request, and after which hook
    std::map<std::string, kube::Object> written{};                   // in this reconcile: newer than the cache
  };

  control::Informer& follow(control::Watches& watches, const kube::Resource& resource);
  std::vector<kube::Object> of(control::Informer& cache, const Key& pipeline) const;
  /// In kFreezesForAll: all pipelines.
  std::vector<Key> pipelines_in(std::string_view ns) const;

  // What a Freeze binds by name is recorded in it: promotion_frozen.cc.
  Task<Result<void>> record_frozen(control::Reconcile& run, const PromotionInput& input);
  /// Adds `bound` to what the Freeze has recorded; if that is nothing, the targets of all pipelines that it binds by name.
  Task<Result<void>> record_targets(control::Reconcile& run, Key freeze, std::vector<FrozenTarget> bound);
  std::vector<FrozenTarget> all_bound_by_name(const std::string& ns, const FreezeSpec& freeze) const;
  std::vector<FrozenTarget> bound_by_name(const FreezeSpec& freeze, const Key& pipeline, const PipelineSpec& spec) const;

  // What is looked at: promotion_look.cc.
  std::optional<PromotionInput> look(const kube::Object& pipeline);
  void load_zones(PromotionInput& input);
  void load_labels(PromotionInput& input, const std::string& ns);
  /// What other pipelines protect: promotion_protected.cc.
  Task<Result<void>> load_protection(control::Reconcile& run, kube::Object pipeline, PromotionInput& input);
  /// The message for people; empty: nothing that binds this pipeline.
  Task<Result<std::string>> find_protection(control::Reconcile& run, kube::Object pipeline, const PromotionInput& input,
                                            const Environment& environment, const Target& target);
  Task<Result<bool>> is_exempt(control::Reconcile& run, kube::Object pipeline, kube::Object other, Target target);

  Task<Result<void>> write(control::Reconcile& run, kube::Object pipeline, const PromotionInput& input,
                           std::vector<NextStatus> statuses);
  Task<Result<void>> create(control::Reconcile& run, kube::Object pipeline, PromotionDecision decision);
  Task<Result<void>> carry_out(control::Reconcile& run, kube::Object pipeline, PromotionInput input, PromotionEffect effect);
  Task<Result<void>> store(control::Reconcile& run, std::string name, PromotionStatus status);
  Task<> tell(control::Reconcile& run, kube::Object pipeline, std::string type, std::string reason, std::string about,
              std::string text);
  bool is_due(const kube::Object& pipeline, const KnownPromotion& promotion, const PromotionEffect& effect) const;
  kube::Object promotion_object(const Key& pipeline, const std::string& name) const;

  // How pipelines and releases end: promotion_end.cc.
  /// The pipeline is being deleted: its open pull requests are closed before it may go.
  Task<control::Outcome> end(control::Reconcile& run, kube::Object pipeline);
  Task<Result<bool>> close_pull_requests(control::Reconcile& run, kube::Object pipeline);
  /// Puts the finalizer on, before a pull request may be opened; takes it off when none is open any more.
  Task<Result<void>> keep_until_closed(control::Reconcile& run, Key key);
  Task<Result<void>> let_go(control::Reconcile& run, kube::Object pipeline, const PromotionInput& input);
  Task<Result<void>> prune(control::Reconcile& run, kube::Object pipeline, std::vector<RetiredRelease> retired);

  Env& env_;
  HttpClient* http_;
  ActsAs acts_as_;
  Changes& changes_;
  std::shared_ptr<ViewedPipelines> viewed_;
  WallSteps wall_;
  control::Watches* watches_ = nullptr;
  control::Informer* pipelines_ = nullptr;
  control::Informer* releases_ = nullptr;
  control::Informer* promotions_ = nullptr;
  control::Informer* approvals_ = nullptr;
  control::Informer* holds_ = nullptr;
  control::Informer* freezes_ = nullptr;
  ReaderAccess access_;
  std::map<std::string, std::optional<Zone>> zones_;  // nullopt: not known on this machine
  std::map<Key, Memory> memory_;                      // by pipeline: others are looked at meanwhile
};

}  // namespace slipway::delivery::pipeline
