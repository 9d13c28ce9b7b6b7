#include <fmt/format.h>

#include "delivery/wave/roll.h"

namespace slipway::delivery::wave {

std::vector<std::string> check_settings(const Settings& settings, std::int64_t from, std::int64_t to) {
  std::vector<std::string> wrong;
  std::vector<Batch> sizes;
  for (const RollBatch& batch : settings.batches) {
    sizes.push_back(batch.sizes);
    const bool names_pods = !batch.sizes.pods.empty();
    if (names_pods && (settings.shape == Shape::Scale || settings.shape == Shape::Fields)) {
      wrong.push_back("podList: no pod is replaced here, so none can be named");
    }
  }
  const bool is_in_place = settings.shape == Shape::InPlace || settings.shape == Shape::Replace;
  const std::int64_t start = settings.shape == Shape::Scale ? from : 0;
  if (is_in_place && from != to) {
    wrong.push_back(
        fmt::format("targetSize {} differs from the workload's size {}: a rollout in place does not scale", to, from));
  } else if (!sizes.empty()) {
    for (const Cause& cause : check_batches(sizes, start, to, "rolloutBatches")) {
      wrong.push_back(fmt::format("{}: {}", cause.field, cause.message));
    }
  }
  const bool shrinks_first = is_in_place || (settings.shape == Shape::Pair && settings.strategy == Strategy::DecreaseFirst);
  if (settings.has_traffic && shrinks_first && to == 1) {
    wrong.push_back("the only pod cannot go before its traffic does: use IncreaseFirst, or two pods");
  }
  return wrong;
}

Settings without_numbers(Settings settings) {
  std::erase_if(settings.batches, [](const RollBatch& batch) { return batch.sizes.amount && !batch.sizes.amount->is_percent; });
  return settings;
}

}  // namespace slipway::delivery::wave
