// The rollout part of the corpus, for the tests of this room.
#pragma once

#include <string>

#include "base/corpus_test.h"
#include "json/text.h"

namespace slipway::delivery::wave {

/// A file of $SLIPWAY_CORPUS/rollouts; null when there is no corpus.
inline json::Value corpus(const std::string& file) {
  const auto text = corpus_file("rollouts/" + file);
  const auto value = json::parse(text.value_or(""));
  return value ? *value : json::Value();
}

inline const json::Value& group(const json::Value& file, std::string_view id) {
  for (const json::Value& one : file["groups"].items()) {
    if (one["id"].as_string() == id) return one["cases"];
  }
  return file["groups"].item(1'000'000);
}

}  // namespace slipway::delivery::wave
