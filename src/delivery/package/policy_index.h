// The ApprovalPolicies of the cluster, and what they say about a revision as it stands in the log. The approval controller
// follows them; a rollout asks them too, since each policy that selects a revision must agree, whoever approves it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wall_steps.h"
#include "control/controller.h"
#include "delivery/package/approval.h"
#include "delivery/package/record_index.h"

namespace slipway::delivery::package {

class PolicyIndex {
 public:
  PolicyIndex(Env& env, std::shared_ptr<RecordIndex> records) : env_(env), records_(std::move(records)) {}

  /// `mapper` gives the keys that a change of a policy or of a Repository in the namespace concerns.
  using Mapper = std::function<std::vector<kube::ObjectKey>(std::string_view ns)>;
  void attach(control::Watches& watches, Mapper mapper);

  /// Policies that can be followed and select the revision.
  std::vector<NamedPolicy> selecting(const StoredRecord& revision) const;
  ApproveDecision decide(const StoredRecord& revision, const Now& now);
  /// What is wrong with a policy on this machine; empty: nothing.
  std::string fault(const kube::Object& policy);

 private:
  std::string objection(const StoredRecord& revision);
  GateMode mode_of(const StoredRecord& revision) const;
  const std::optional<Zone>& zone(const std::string& name);

  Env& env_;
  std::shared_ptr<RecordIndex> records_;
  control::Informer* policies_ = nullptr;
  control::Informer* repositories_ = nullptr;
  std::map<std::string, std::optional<Zone>> zones_;  // nullopt: not known on this machine
};

}  // namespace slipway::delivery::package
