// The rollout part of the corpus, for the tests of this room.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "json/text.h"

namespace slipway::delivery::wave {

/// A file of $SLIPWAY_CORPUS/rollouts; null when there is no corpus.
inline json::Value corpus(const std::string& file) {
  const char* given = std::getenv("SLIPWAY_CORPUS");
  for (std::string root : {std::string(given == nullptr ? "" : given), std::string("../shared/corpus")}) {
    std::ifstream in(root + "/rollouts/" + file);
    if (root.empty() || !in) continue;
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    auto value = json::parse(text);
    return value ? *value : json::Value();
  }
  return {};
}

inline const json::Value& group(const json::Value& file, std::string_view id) {
  for (const json::Value& one : file["groups"].items()) {
    if (one["id"].as_string() == id) return one["cases"];
  }
  return file["groups"].item(1'000'000);
}

}  // namespace slipway::delivery::wave
