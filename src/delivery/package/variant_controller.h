// Controller "package-variant", one key per PackageVariant: keeps one package downstream at one revision upstream
// (variant_plan.h decides). It reads records through an index, so that a change of a revision wakes the variants that it is
// about and no others, and writes as a user would, through PackageRevision and PackageRevisionResources. A new draft is one
// request and one commit: clone, edit or upgrade with the variant's changes, gates and the condition Drafted in it.
//
// Names of drafts follow from what is there, so a request that is made again meets what it has made before: AlreadyExists, not
// a second draft (kptdev/kpt#3877). Kinds of the cluster that are injected are watched from the first look on: a change of an
// object that a variant names is written into its draft, or makes a new one. DIVERGES: Porch does not watch them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/package/author.h"
#include "delivery/package/record_index.h"
#include "delivery/package/variant_content.h"
#include "delivery/package/variant_plan.h"

namespace slipway::delivery::package {

/// The field manager of what the controller writes.
inline constexpr const char* kVariantManager = "slipway-package-variant";

class VariantController : public control::Controller {
 public:
  VariantController(const ControllerContext& context, std::shared_ptr<RecordIndex> records);

  std::string name() const override { return "package-variant"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  using Key = kube::ObjectKey;
  /// A variant as it is looked at in one reconcile.
  struct Variant {
    kube::Object object{};
    client::Client* author = nullptr;  // the cluster as the variant's author: for all that it names and makes
    VariantSpec spec{};
    VariantContent content{};
  };
  /// What a revision is like with the variant's changes in it.
  struct Judged {
    bool differs = false;                 // its files
    std::vector<Condition> conditions{};  // that it should have
    std::optional<RenderStatus> render{};
  };
  /// What was found out about a revision. It holds for one content and one set of changes.
  struct Memory {
    std::string digest{};
    std::string changes{};
    std::vector<kube::GroupVersionKind> kinds{};  // of injection points
    Judged judged{};
  };

  std::vector<Key> woken_by(const kube::Object& before, const kube::Object& after) const;
  void add_variants(std::vector<Key>& keys, const char* index, const std::string& id) const;

  Task<Result<bool>> clean_up(control::Reconcile& run, kube::Object object);
  /// The revisions upstream, downstream and of the variant. Those that count downstream are judged.
  Task<Result<std::vector<RevisionView>>> look(control::Reconcile& run, Variant variant);
  Task<Result<Judged>> judge(control::Reconcile& run, Variant variant, RecordIndex::Known revision);
  Task<Result<std::vector<kube::GroupVersionKind>>> kinds_in(const Variant& variant, RecordIndex::Known revision);
  void follow_kind(const kube::Resource& resource);
  void wake_injecting(const std::string& ns, std::string_view name);
  Task<Result<std::vector<Injectable>>> load(control::Reconcile& run, Variant variant,
                                             std::vector<kube::GroupVersionKind> kinds);
  Task<Result<Files>> files_of(Variant variant, std::string name, std::optional<RenderStatus>& render);

  Task<Result<void>> carry_out(control::Reconcile& run, Variant variant, VariantAction action);
  Task<Result<void>> create(control::Reconcile& run, Variant variant, RevisionSpec draft);
  Task<Result<void>> write(control::Reconcile& run, Variant variant, std::string name);
  Task<Result<void>> flip(Variant variant, std::string name, std::vector<Condition> wanted);
  Task<Result<void>> tell(control::Reconcile& run, Variant variant, VariantPlan plan, Result<void> done);

  Env& env_;
  ActsAs acts_as_;
  std::shared_ptr<RecordIndex> records_;
  KindMapper kinds_;
  control::Informer* variants_ = nullptr;
  control::Watches* watches_ = nullptr;
  std::function<void(const Key&)> enqueue_{};
  std::map<kube::Resource, control::InformerLease> sources_;  // kinds that were injected
  std::map<Key, Memory> memory_;                              // by revision
};

/// What a variant says of itself: Stalled, Ready and its targets. `author` is as whom it acts, null for the process. Pure.
json::Value variant_status(const kube::Object& object, const VariantPlan& plan, const std::vector<std::string>& faults,
                           const Result<void>& done, const std::map<std::string, RenderStatus>& renders,
                           const kube::UserInfo* author, Time now);

}  // namespace slipway::delivery::package
