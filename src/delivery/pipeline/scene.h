// A pipeline with all that stands around it in its namespace, read once for a command or for `why`: its releases and
// promotions, what people said, and what holds it up. What it answers is computed from that alone. As a control::View it finds
// these objects and no others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "control/explain.h"
#include "delivery/pipeline/own_kinds.h"
#include "delivery/pipeline/status.h"

namespace slipway::delivery::pipeline {

/// An object with its spec decoded.
template <class Spec>
struct Read {
  kube::Object object;
  Spec spec;

  std::string name() const { return std::string(kube::name(object)); }
  Time created() const { return kube::creation_time(object).value_or(Time{}); }
};
struct ReadPromotion : Read<PromotionSpec> {
  PromotionStatus status{};
};

class Scene : public control::View {
 public:
  /// NotFound names the pipelines that the namespace has. Objects that do not decode are left out.
  static Task<Result<Scene>> read(client::Client& client, std::string ns, std::string name, Time now);
  /// Of objects at hand; of those around only what is the pipeline's is taken.
  static Scene of(const kube::Object& pipeline, const std::vector<kube::Object>& around, Time now);

  /// In place of the status that was read: what the reader may see of it.
  void hide(json::Value seen);

  json::Value find(const json::Value& reference) const override;
  std::vector<json::Value> owned_by(const json::Value& owner, const kube::GroupVersionKind& kind) const override;
  Time now() const override { return now_; }

  std::string name() const { return std::string(kube::name(object)); }
  std::string ns() const { return std::string(kube::ns(object)); }
  const Environment* find_environment(std::string_view name) const;
  /// "dev, staging, prod".
  std::string environment_names() const;
  /// Names of those before it, by dependsOn or by the order of the list.
  std::vector<std::string> before(std::string_view environment) const;
  /// A fresh status where the view has not got there yet.
  EnvironmentStatus status_of(const std::string& environment) const;

  const Read<ReleaseSpec>* find_release(std::string_view name) const;
  /// The newest release with that version and, where both are known, digest; null when there is none.
  const Read<ReleaseSpec>* release_of(const VersionStatus& version) const;
  /// What runs on all targets of the environment, as a release.
  const Read<ReleaseSpec>* release_in(const std::string& environment) const;
  /// The version of a release, or its name where it is gone.
  std::string version_of(std::string_view release) const;
  /// Newest first.
  std::vector<const ReadPromotion*> promotions_into(std::string_view environment) const;
  /// Holds that are not over and cover the environment.
  std::vector<const Read<HoldSpec>*> holds_on(std::string_view environment) const;
  /// Freezes that name the pipeline and environment and lie within from and until; windows are not looked at.
  std::vector<const Read<FreezeSpec>*> freezes_on(std::string_view environment) const;

  kube::Object object;
  PipelineSpec spec{};
  PipelineStatus status{};
  // Each newest first.
  std::vector<Read<ReleaseSpec>> releases{};
  std::vector<ReadPromotion> promotions{};
  std::vector<Read<ApprovalSpec>> approvals{};
  std::vector<Read<HoldSpec>> holds{};
  std::vector<Read<FreezeSpec>> freezes{};

 private:
  void sort();

  Time now_{};
};

/// Whether a person may still change how it goes: it has not succeeded, been rejected or superseded.
bool is_under_way(const PromotionStatus& status);

}  // namespace slipway::delivery::pipeline
