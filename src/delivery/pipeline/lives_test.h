// The recorded lives of Flux objects (flux.jsonl of the corpus), played state by state.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "delivery/pipeline/corpus_test.h"
#include "delivery/pipeline/values.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {

using json::Value;
using kube::Object;

inline std::string path_of(const Object& object) {
  return fmt::format("{}/{}/{}", kube::kind(object), kube::ns(object), kube::name(object));
}

/// One recorded life, played state by state.
class Life {
 public:
  /// `prepare` is what is done to each object before it is looked at.
  using Prepare = Object (*)(const Object&);
  /// Whether an object is shown to the look at a target.
  using Picks = bool (*)(const Object& target, const Object& other);
  explicit Life(Value line, Prepare prepare = nullptr, Picks picks = nullptr)
      : line_(std::move(line)), prepare_(prepare), picks_(picks) {
    for (const Value& step : line_["steps"].items()) {
      if (const auto before = step["before_state"].as_int(); before > 0) rests_.insert(before - 1);
    }
    rests_.insert(static_cast<std::int64_t>(line_["states"].size()) - 1);
  }

  /// Reads every state; `on(index, is_rest, key, values, say)` for each target that the recording speaks of.
  template <class On>
  void play(On on) {
    for (std::size_t i = 0; i < line_["states"].size(); ++i) {
      const Value& state = line_["states"].item(i);
      for (const Value& key : state["gone"].items()) objects_.erase(key.str());
      for (const Value& object : state["set"].items())
        objects_[path_of(object)] = prepare_ == nullptr ? object : prepare_(object);
      if (state.has("say")) say_ = state["say"];
      for (const auto& [key, say] : say_.members()) {
        on(i, rests_.contains(static_cast<std::int64_t>(i)), std::string(key), read_target(std::string(key)), say);
      }
    }
  }

  std::string id() const { return line_["id"].str(); }

 private:
  Values read_target(const std::string& key) {
    Look look;
    for (const auto& [path, object] : objects_) {
      const bool is_it = fmt::format("{}/{}", kube::kind(object), kube::name(object)) == key;
      if (is_it) look.object = object;
    }
    for (const auto& [path, object] : objects_) {
      if (picks_ == nullptr || look.object.is_null() || picks_(look.object, object)) look.others.push_back(object);
    }
    Reading reading = read(look, std::move(memories_[key]), Time{});
    memories_[key] = std::move(reading.memory);
    return std::move(reading.values);
  }

  Value line_;
  Prepare prepare_ = nullptr;
  Picks picks_ = nullptr;
  Value say_{};
  std::set<std::int64_t> rests_{};
  std::map<std::string, Object> objects_{};
  std::map<std::string, Memory> memories_{};
};

inline std::vector<Life> lives(Life::Prepare prepare = nullptr, Life::Picks picks = nullptr) {
  std::vector<Life> all;
  const auto text = corpus_file("pipelines/flux.jsonl");
  if (!text) return all;
  std::istringstream in(*text);
  for (std::string line; std::getline(in, line);) {
    auto value = json::parse(line);
    EXPECT_TRUE(value.has_value());
    if (value) all.emplace_back(*value, prepare, picks);
  }
  return all;
}

}  // namespace slipway::delivery::pipeline
