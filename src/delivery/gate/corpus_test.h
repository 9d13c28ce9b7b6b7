// Where tests of gates and probes find foreign cases: $SLIPWAY_CORPUS, or beside the source tree.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "json/text.h"

namespace slipway::delivery::gate {

/// The cases of a group in a file below rollouts/; empty when there is no corpus.
inline json::Value corpus_cases(const std::string& file, const std::string& group) {
  const char* root = std::getenv("SLIPWAY_CORPUS");
  std::vector<std::string> folders = {"../shared/corpus", "../../shared/corpus"};
  if (root != nullptr) folders = {root};
  for (const std::string& folder : folders) {
    std::ifstream in(folder + "/rollouts/" + file);
    if (!in) continue;
    std::stringstream text;
    text << in.rdbuf();
    const auto value = json::parse(text.str(), {.max_bytes = std::size_t{64} << 20});
    EXPECT_TRUE(value.has_value()) << file;
    if (!value) return {};
    for (const json::Value& one : (*value)["groups"].items()) {
      if (one["id"].as_string() == group) return one["cases"];
    }
    ADD_FAILURE() << file << " has no group " << group;
  }
  return {};
}

}  // namespace slipway::delivery::gate
