// The table {kind of attack × family}: stories/rows.yaml names the kinds of attacks, stories/FAMILY.yaml has a cell for each: its
// stories, or why the family has no such way in.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "json/text.h"
#include "plane/families.h"
#include "story.h"

namespace slipway::attack {
namespace {

using Names = std::set<std::string>;

#if defined(NDEBUG)
constexpr const char* kLongTurn = "0.025";  // 20 ms lie in the bucket below
#else
constexpr const char* kLongTurn = "0.25";  // without optimisation
#endif

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const delivery::Family* family : plane::families()) names.push_back(family->name);
  return names;
}

Names keys(const Value& map) {
  Names names;
  for (const auto& [name, value] : map.members()) names.emplace(name);
  return names;
}

TEST(AttackTable, every_family_has_a_cell_for_every_kind_of_attack) {
  Names with_file;
  for (const auto& entry : std::filesystem::directory_iterator(SLIPWAY_SOURCE_DIR "/tests/attack/stories")) {
    if (entry.path().stem() != "rows") with_file.insert(entry.path().stem().string());
  }
  const std::vector<std::string> all = families();
  EXPECT_EQ(with_file, Names(all.begin(), all.end())) << "a file for each family";
  const Names rows = keys(read_rows());
  EXPECT_GE(rows.size(), 12U);
  for (const std::string& family : all) {
    const Value cells = read_stories(family)["cells"];
    EXPECT_EQ(keys(cells), rows) << family << ": a cell for each row";
    for (const auto& [row, cell] : cells.members()) {
      const bool has_reason = cell["none"].as_string().size() > 20;
      EXPECT_TRUE(has_reason != (cell.is_array() && !cell.items().empty())) << family << ", " << row << ": stories or a reason";
    }
  }
}

/// What a story must have to be able to fail.
TEST(AttackTable, every_story_has_a_control_or_says_why_not) {
  for (const std::string& family : families()) {
    const Value cells = read_stories(family)["cells"];
    for (const auto& [row, cell] : cells.members()) {
      for (const Value& story : cell.items()) {
        SCOPED_TRACE(fmt::format("{}, {}: {}", family, row, story["name"].as_string()));
        EXPECT_FALSE(story["attack"].items().empty());
        if (story["control"]["none"].is_string()) {
          EXPECT_TRUE(story["then"].has("objects") || !story["held"].items().empty()) << "nothing is looked at";
        } else {
          EXPECT_FALSE(story["prize"].items().empty());
        }
      }
    }
  }
}

class Attack : public testing::TestWithParam<std::string> {};

Task<> play_row(World& world, const Value& file, std::string row, std::string only) {
  for (const Value& story : file["cells"][row].items()) {
    if (story["off"].is_string()) {
      fmt::print("not played: {}: {}\n", story["name"].as_string(), story["off"].as_string());
      continue;
    }
    if (!only.empty() && !story["name"].as_string().contains(only)) continue;
    SCOPED_TRACE(fmt::format("{}: {}", row, story["name"].as_string()));
    const double before = co_await world.long_turns(kLongTurn);
    Play play(world, file, story);
    co_await play.play();
    EXPECT_EQ(co_await world.long_turns(kLongTurn) - before, 0) << "turns of the logic thread above " << kLongTurn << " s of CPU";
    EXPECT_EQ((co_await world.send("admin", "GET", "/livez")).status, 200) << "the server is gone";
  }
}

/// SLIPWAY_ATTACK_ONLY: stories with that text in the name.
TEST_P(Attack, is_held_off) {
  const char* said = std::getenv("SLIPWAY_ATTACK_ONLY");
  const std::string only = said != nullptr ? said : "";
  World world;
  const Value file = read_stories(GetParam());
  world.run([&]() -> Task<> {
    co_await world.discover();
    const Value setup = file["setup"];
    for (const Value& object : setup.items()) {
      const Served* kind = world.find(object["apiVersion"].str(), object["kind"].str());
      if (kind == nullptr) {
        ADD_FAILURE() << json::print(object);
        continue;
      }
      const Value& ns = object["metadata"]["namespace"];
      const std::string in = kind->is_namespaced ? "/namespaces/" + ns.str() : "";
      const Answer made = co_await world.send("admin", "POST", kind->root + in + "/" + kind->plural, json::print(object));
      EXPECT_TRUE(made.status == 201 || made.status == 409) << made.body;
    }
    co_await world.discover();
    for (const std::string& row : keys(read_rows())) co_await play_row(world, file, row, only);
  });
  EXPECT_EQ(world.stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(Families, Attack, testing::ValuesIn(families()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace slipway::attack
