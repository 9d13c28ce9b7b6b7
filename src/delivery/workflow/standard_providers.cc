#include <iterator>

#include "delivery/workflow/provider.h"

namespace slipway::delivery::workflow {

std::vector<Provider> standard_providers() {
  std::vector<Provider> all;
  for (auto part : {kube_providers, http_providers, control_providers, util_providers, config_providers, config_check_providers,
                    email_providers, helm_providers, metrics_providers}) {
    std::vector<Provider> rows = part();
    std::ranges::move(rows, std::back_inserter(all));
  }
  return all;
}

}  // namespace slipway::delivery::workflow
