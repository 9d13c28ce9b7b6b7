#include "scenario.h"

#include <cstdlib>
#include <fstream>

#include "base/check.h"
#include "json/text.h"

namespace slipway::workloads_test {

namespace {

constexpr json::Limits kLarge{.max_bytes = std::size_t{16} << 20};

void read_trace(Scenario& scenario, const Value& trace) {
  PodStates states;
  for (const Value& entry : trace.items()) {
    if (entry.has("step")) scenario.states.push_back(states);
    for (const auto& [pod, state] : entry["p"].members()) {
      if (state.is_null()) {
        states.erase(std::string(pod));
        scenario.order.push_back(std::string(pod) + " gone");
      } else {
        states[std::string(pod)] = state.str();
        scenario.order.push_back(std::string(pod) + " " + state.str());
      }
    }
  }
  scenario.states.push_back(states);
  scenario.has_trace = true;
}

Scenario read(const Value& line) {
  Scenario scenario;
  scenario.id = line["id"].str();
  scenario.kind = line["kind"].str();
  scenario.steps.assign(line["steps"].items().begin(), line["steps"].items().end());
  scenario.bounds = line["bounds"];
  scenario.other_bounds = line["rerun"]["bounds_other"];
  scenario.final_objects = line["final"];
  scenario.is_final_sure = line["rerun"]["final_equal"].as_bool(true);
  scenario.is_order_sure = line["rerun"]["trace_equal"].as_bool();
  if (line.has("trace")) read_trace(scenario, line["trace"]);
  return scenario;
}

}  // namespace

bool Scenario::acts_in_mid_update() const { return id.contains("during-update") || id.contains("-mid-"); }

std::vector<Scenario> read_scenarios() {
  std::vector<Scenario> scenarios;
  const char* root = std::getenv("SLIPWAY_CORPUS");
  std::vector<std::string> folders = {"../shared/corpus", "../../shared/corpus"};
  if (root != nullptr) folders = {root};
  for (const std::string& folder : folders) {
    std::ifstream file(folder + "/kube/workloads.jsonl");
    for (std::string line; std::getline(file, line);) {
      const auto value = json::parse(line, kLarge);
      SLIPWAY_CHECK(value.has_value(), "a line of workloads.jsonl is no JSON");
      scenarios.push_back(read(*value));
    }
    if (!scenarios.empty()) break;
  }
  return scenarios;
}

std::string plain_state(std::string state) {
  std::erase(state, 'u');
  for (char& letter : state) {
    if (letter == 'P') letter = 'R';
  }
  return state;
}

}  // namespace slipway::workloads_test
