// Controller "package-variant-set", one key per PackageVariantSet (config.porch.kpt.dev/v1alpha2): makes a PackageVariant for
// each package that its targets name or select, and deletes those that they no longer do (fan_out.h decides). What cannot be
// evaluated changes nothing. Repositories and selected objects are followed, so a new cluster gets its packages by itself.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/package/author.h"
#include "delivery/package/fan_out.h"
#include "delivery/package/record_index.h"

namespace slipway::delivery::package {

class VariantSetController : public control::Controller {
 public:
  VariantSetController(const ControllerContext& context, std::shared_ptr<RecordIndex> records);

  std::string name() const override { return "package-variant-set"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// Why a set has no variants, or nothing.
  struct Fault {
    std::string reason{};
    std::string message{};
    bool is_passing = false;  // what it is about is not there yet
  };

  std::vector<kube::ObjectKey> sets_of(std::string_view ns) const;
  kube::Object upstream(const std::string& ns, const Upstream& wanted) const;
  /// Targets are found among what the author may list.
  Task<Result<Fault>> look(control::Reconcile& run, Author author, VariantSetSpec spec, FanOutView& view);
  Task<Result<void>> carry_out(control::Reconcile& run, kube::Object set, VariantChanges changes);
  std::vector<WantedVariant> variants_of(const kube::Object& set) const;
  Task<control::Outcome> tell(control::Reconcile& run, kube::Object set, Fault fault);
  /// While the author lacks a right the set says so and is tried again.
  Task<control::Outcome> tell_failure(control::Reconcile& run, kube::Object set, Status error);

  Env& env_;
  ActsAs acts_as_;
  std::shared_ptr<RecordIndex> records_;
  KindMapper kinds_;
  control::Watches* watches_ = nullptr;
  control::Informer* sets_ = nullptr;
  control::Informer* variants_ = nullptr;
  control::Informer* repositories_ = nullptr;
  std::map<kube::Resource, control::InformerLease> selected_;  // of objectSelectors
};

}  // namespace slipway::delivery::package
