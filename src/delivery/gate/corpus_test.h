// The foreign cases of gates and probes.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/corpus_test.h"
#include "json/text.h"

namespace slipway::delivery::gate {

/// The cases of a group in a file below rollouts/; empty when there is no corpus.
inline json::Value corpus_cases(const std::string& file, const std::string& group) {
  const auto text = corpus_file("rollouts/" + file);
  if (!text) return {};
  const auto value = json::parse(*text, {.max_bytes = std::size_t{64} << 20});
  EXPECT_TRUE(value.has_value()) << file;
  if (!value) return {};
  for (const json::Value& one : (*value)["groups"].items()) {
    if (one["id"].as_string() == group) return one["cases"];
  }
  ADD_FAILURE() << file << " has no group " << group;
  return {};
}

}  // namespace slipway::delivery::gate
