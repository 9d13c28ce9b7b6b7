#include "server/builtin/strategy.h"

#include <array>

namespace slipway::server {

const Strategy& strategy_of(const kube::GroupVersionKind& kind) {
  static constexpr Strategy kPlain{};
  static constexpr std::array kTables{namespace_strategies, pod_strategies,      job_strategies,         config_strategies,
                                      record_strategies,    claim_strategies,    access_strategies,      crd_strategies,
                                      workload_strategies,  service_strategies,  network_strategies,     scaling_strategies,
                                      volume_strategies,    cron_job_strategies, certificate_strategies, node_strategies};
  for (const auto table : kTables) {
    for (const Strategy& row : table()) {
      if (row.group == kind.group && row.kind == kind.kind) return row;
    }
  }
  return kPlain;
}

}  // namespace slipway::server
