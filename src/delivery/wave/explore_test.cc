#include "delivery/wave/explore.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>

#include "base/text.h"

namespace slipway::delivery::wave {
namespace {

struct Total {
  std::uint64_t scenarios = 0, states = 0, transitions = 0, longest = 0;
  std::size_t wrong = 0;
  std::set<std::string> kinds;

  void add(const Scenario& scenario) {
    const Exploration found = explore(scenario);
    ++scenarios;
    states += found.states;
    transitions += found.transitions;
    longest = std::max(longest, found.longest_end);
    for (const std::string& violation : found.violations) {
      ++wrong;
      std::string kind = violation.substr(0, violation.find(" | "));
      std::erase_if(kind, [](char c) { return is_digit(c) || c == ','; });
      if (kinds.insert(kind.substr(0, 11) + kind.substr(kind.rfind(", ") == std::string::npos ? 0 : kind.find("  u ")))
              .second &&
          kinds.size() < 40)
        ADD_FAILURE() << violation;
    }
  }
};

void explore_all(const char* name, const std::vector<Scenario>& all) {
  Total total;
  for (const Scenario& scenario : all) total.add(scenario);
  std::cout << "explored " << name << ": " << total.scenarios << " scenarios, " << total.states << " states, "
            << total.transitions << " transitions, at most " << total.longest << " steps to the end, " << total.wrong
            << " violations\n";
}

/// SLIPWAY_EXPLORE: "full" is what `make explore-rollout` runs.
bool is_full() {
  const char* size = std::getenv("SLIPWAY_EXPLORE");
  return size != nullptr && std::string(size) == "full";
}

TEST(Explore, every_roll_with_one_disturbance_keeps_its_bounds_and_ends) {
  explore_all("with a disturbance", scenarios(is_full() ? 5 : 3, is_full() ? 3 : 2, true));
}

TEST(Explore, every_roll_without_a_disturbance_keeps_its_bounds_and_ends) {
  explore_all("without", scenarios(is_full() ? 8 : 4, is_full() ? 4 : 3, false));
}

}  // namespace
}  // namespace slipway::delivery::wave
