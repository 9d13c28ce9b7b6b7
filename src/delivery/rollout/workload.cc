#include "delivery/rollout/workload.h"

namespace slipway::delivery::rollout {

const WorkloadRow* find_row(const std::vector<WorkloadRow>& rows, const kube::GroupVersionKind& kind) {
  for (const WorkloadRow& row : rows) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

}  // namespace slipway::delivery::rollout
