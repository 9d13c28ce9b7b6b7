// The table {kind of attack × family}: stories/rows.yaml names the kinds of attacks, stories/FAMILY.yaml has a cell for each:
// its stories, or why the family has no such way in.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
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
    const double turns = co_await world.long_turns(kLongTurn) - before;
    if (story["long_turns"].is_string()) {
      fmt::print("{} turns above {} s of CPU: {}: {}\n", turns, kLongTurn, story["name"].as_string(),
                 story["long_turns"].as_string());
    } else {
      EXPECT_EQ(turns, 0) << "turns of the logic thread above " << kLongTurn << " s of CPU";
    }
    EXPECT_EQ((co_await world.send("admin", "GET", "/livez")).status, 200) << "the server is gone";
  }
}

/// Kinds that the stories of a family need.
Task<> set_up(World& world, const Value& file) {
  for (const Value& object : file["setup"].items()) {
    const Served* kind = world.find(object["apiVersion"].str(), object["kind"].str());
    if (kind == nullptr) {
      ADD_FAILURE() << "not served: " << json::print(object);
      continue;
    }
    const Answer made = co_await world.send("admin", "POST", kind->root + "/" + kind->plural, json::print(object));
    EXPECT_EQ(made.status, 201) << made.body;
  }
  co_await world.discover();
}

/// SLIPWAY_ATTACK_ONLY: stories with that text in the name.
TEST_P(Attack, is_held_off) {
  const char* said = std::getenv("SLIPWAY_ATTACK_ONLY");
  const std::string only = said != nullptr ? said : "";
  World world;
  const Value file = read_stories(GetParam());
  world.run([&]() -> Task<> {
    co_await world.discover();
    co_await set_up(world, file);
    for (const std::string& row : keys(read_rows())) co_await play_row(world, file, row, only);
  });
  EXPECT_EQ(world.stop(), 0);
}

/// Delays of GETs while something else goes on.
class Getter {
 public:
  Task<> run(World& world) {
    while (!is_over) {
      const Steady begin = world.env().clock.steady();
      co_await world.send("admin", "GET", "/api/v1/namespaces/default");
      delays.push_back(std::chrono::duration<double, std::milli>(world.env().clock.steady() - begin).count());
      co_await sleep_for(world.env(), std::chrono::milliseconds{2});
    }
  }
  double p99() {
    std::ranges::sort(delays);
    return delays.empty() ? 0 : delays[delays.size() * 99 / 100];
  }

  bool is_over = false;
  std::vector<double> delays;
};

Task<std::map<std::string, double>> quiet_times(World& world) {
  std::map<std::string, std::vector<double>> all;
  for (int i = 0; i < 3; ++i) {
    for (const auto& [family, took] : co_await play_neighbours(world, families())) all[family].push_back(took);
  }
  std::map<std::string, double> median;
  for (auto& [family, times] : all) {
    std::ranges::sort(times);
    median[family] = times[1];
  }
  co_return median;
}

/// An attack, and beside it what other tenants deliver.
Task<> play_beside(World& world, const Value& file, const Value& story, const std::map<std::string, double>& quiet) {
  SCOPED_TRACE(story["name"].str());
  Play play(world, file, story);
  co_await play.begin();
  Getter getter;
  Tasks tasks(world.env());
  tasks.spawn(getter.run(world));
  for (const auto& [family, took] : co_await play_neighbours(world, families())) {
    EXPECT_LE(took, 2 * quiet.at(family) + 2) << family << ", quiet " << quiet.at(family) << " s";
  }
  getter.is_over = true;
  co_await tasks.join();
  EXPECT_LE(getter.p99(), 20) << "ms, of " << getter.delays.size() << " GETs";
  co_await play.leave();
}

/// `make test-attack`: each attack beside an object of every family of another tenant.
TEST_P(Attack, leaves_other_tenants_alone) {
  const char* said = std::getenv("SLIPWAY_ATTACK");
  if (said == nullptr || std::string_view(said) != "full") GTEST_SKIP() << "figures of the release build: make test-attack";
  World world;
  const Value file = read_stories(GetParam());
  world.run([&]() -> Task<> {
    co_await world.discover();
    co_await set_up(world, file);
    const std::map<std::string, double> quiet = co_await quiet_times(world);
    const std::int64_t resident = world.resident_bytes();
    for (const auto& [row, cell] : file["cells"].members()) {
      for (const Value& story : cell.items()) co_await play_beside(world, file, story, quiet);
    }
    co_await sleep_for(world.env(), std::chrono::minutes{1});
    const std::int64_t grown = world.resident_bytes() - resident;
    EXPECT_LE(grown, std::max<std::int64_t>(resident / 10, 16 << 20)) << "bytes more than " << resident << " after a minute";
  });
  EXPECT_EQ(world.stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(Families, Attack, testing::ValuesIn(families()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace slipway::attack
