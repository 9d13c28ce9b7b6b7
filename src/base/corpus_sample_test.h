// Slow builds play a sample of the large parts of the corpus: of the scenarios, manifests or graphs one in
// SLIPWAY_CORPUS_EVERY. What a sample passes is no measure: bars are held, and counts printed, where all are played.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace slipway {

/// At least 1.
inline std::size_t corpus_stride() {
  const char* every = std::getenv("SLIPWAY_CORPUS_EVERY");
  return every == nullptr ? 1 : std::max<std::size_t>(1, std::strtoull(every, nullptr, 10));
}

/// The first of each so many.
template <class Case>
std::vector<Case> corpus_sample(std::vector<Case> all) {
  std::vector<Case> some;
  for (std::size_t i = 0; i < all.size(); i += corpus_stride()) some.push_back(std::move(all[i]));
  return some;
}

}  // namespace slipway
