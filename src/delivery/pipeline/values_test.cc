#include "delivery/pipeline/values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "delivery/pipeline/corpus_test.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

std::string path_of(const Object& object) {
  return fmt::format("{}/{}/{}", kube::kind(object), kube::ns(object), kube::name(object));
}

/// One recorded life, played state by state.
class Life {
 public:
  explicit Life(Value line) : line_(std::move(line)) {
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
      for (const Value& object : state["set"].items()) objects_[path_of(object)] = object;
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
      look.others.push_back(object);
      const bool is_it = fmt::format("{}/{}", kube::kind(object), kube::name(object)) == key;
      if (is_it) look.object = object;
    }
    Reading reading = read(look, std::move(memories_[key]), Time{});
    memories_[key] = std::move(reading.memory);
    return std::move(reading.values);
  }

  Value line_;
  Value say_{};
  std::set<std::int64_t> rests_{};
  std::map<std::string, Object> objects_{};
  std::map<std::string, Memory> memories_{};
};

std::vector<Life> lives() {
  std::vector<Life> all;
  const auto text = corpus_file("flux.jsonl");
  if (!text) return all;
  std::istringstream in(*text);
  for (std::string line; std::getline(in, line);) {
    auto value = json::parse(line);
    EXPECT_TRUE(value.has_value());
    if (value) all.emplace_back(*value);
  }
  return all;
}

/// What differs from what the recording says, as "running 1.0.0, not 1.1.0; …"; empty when nothing does.
std::string difference(const Values& values, const Value& say) {
  std::string text;
  const auto check = [&](std::string_view name, const std::string& got, std::string_view wanted) {
    if (got != wanted) text += fmt::format("{} {}, not {}; ", name, got, wanted);
  };
  check("specified", values.specified.text, say["specified"].as_string());
  check("attempted", values.attempted.text, say["attempted"].as_string());
  check("running", values.running.text, say["running"].as_string());
  check("ready at", values.ready_at, say["ready_at"].as_string());
  std::string images;
  for (const Value& image : say["images"].items()) images += (images.empty() ? "" : ", ") + image.str();
  check("images", image_set(values.images), images);
  return text;
}

TEST(ValuesCorpus, every_state_of_the_recorded_lives_is_read_as_it_was) {
  std::vector<Life> all = lives();
  if (all.empty()) GTEST_SKIP() << "no corpus";
  const std::set<std::string> known = known_failures();
  std::set<std::string> needed;
  Suite states("pipeline/values");
  Suite rests("pipeline/values-rests");
  for (Life& life : all) {
    std::map<std::size_t, std::string> wrong;
    std::map<std::size_t, bool> is_rest;
    life.play([&](std::size_t index, bool rest, const std::string& key, const Values& values, const Value& say) {
      const std::string differs = difference(values, say);
      is_rest[index] = rest;
      wrong[index] += differs.empty() ? "" : key + ": " + differs;
    });
    for (const auto& [index, differs] : wrong) {
      states.count(differs.empty());
      const std::string id = fmt::format("{}#{}", life.id(), index);
      if (is_rest[index]) {
        rests.count(differs.empty());
        if (!differs.empty()) needed.insert(id);
        EXPECT_TRUE(differs.empty() || known.contains(id)) << id << ": " << differs;
      } else if (!differs.empty() && std::getenv("SLIPWAY_VALUES_REPORT") != nullptr) {
        fmt::print("{} {}\n", id, differs);
      }
    }
  }
  for (const std::string& id : known) EXPECT_TRUE(needed.contains(id)) << id << " passes: take it from the list";
  EXPECT_GE(states.share(), 0.97);
}

}  // namespace
}  // namespace slipway::delivery::pipeline
