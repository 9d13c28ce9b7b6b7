// Every scenario of kube/workloads.jsonl, played on the controllers of this repository in virtual time and compared with what
// kube-controller-manager did.
//   SLIPWAY_WORKLOADS_ONLY=TEXT     only scenarios whose id contains it; prints what differs
//   SLIPWAY_WORKLOADS_REPORT=FILE   what differs in each scenario
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/corpus_sample_test.h"
#include "final_objects.h"
#include "scenario.h"
#include "workload_world.h"

namespace slipway::workloads_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// As the recordings' driver: a step comes when nothing has changed for this long.
constexpr Duration kQuiet = milliseconds{1600};
/// Long enough for a CronJob that is suspended to miss a minute.
constexpr Duration kMissed = seconds{70};
/// How long CronJobs were watched.
constexpr Duration kCronRuns = seconds{205};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Played {
  std::vector<std::string> answers;  // differences
  std::vector<std::string> objects;
  std::vector<std::string> bounds;
  std::vector<std::string> order;
};

/// The driver sent evictions, and specs that are refused, one after the other, without waiting for quiet.
bool follows_at_once(const Scenario& scenario, std::size_t step) {
  if (scenario.id.contains("-invalid")) return true;
  const auto is_eviction = [&](std::size_t i) { return scenario.steps[i]["do"].as_string() == "evict"; };
  return step > 0 && is_eviction(step) && is_eviction(step - 1);
}

Played play(const Scenario& scenario) {
  WorkloadWorld world;
  Played played;
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
    if (scenario.acts_in_mid_update() && i > 1) {
      world.await_progress(scenario.states[i - 1], scenario.states[i], seconds{60});
    } else {
      if (!follows_at_once(scenario, i)) world.settle(scenario.id.contains("-after-missed") ? kMissed : kQuiet);
      if (scenario.has_trace && i > 0) world.await(scenario.states[i], seconds{60});
    }
    if (std::string fault = world.send(scenario.steps[i]); !fault.empty()) {
      played.answers.push_back(fmt::format("step {}: {}", i, fault));
    }
  }
  world.settle(kQuiet);
  if (scenario.kind == "CronJob" && scenario.steps.size() == 1) world.advance(kCronRuns);
  if (scenario.has_trace) world.await(scenario.states.back(), seconds{300});
  world.settle(kQuiet);
  played.objects = final_differences(world, scenario);
  played.bounds = bound_differences(world, scenario);
  if (scenario.is_order_sure) played.order = order_differences(world, scenario);
  return played;
}

struct Count {
  int passed = 0;
  int total = 0;
};

/// Counts, what failed, and why; held against the list of what is known to fail and the bars.
class Report {
 public:
  void add(const Scenario& scenario, const Played& played) {
    judge(scenario.kind, scenario.id, scenario.id, played.objects);
    if (!played.answers.empty() || has_refusal(scenario))
      judge("answers", "answers/" + scenario.id, scenario.id, played.answers);
    judge("bounds", "bounds/" + scenario.id, scenario.id, played.bounds);
    if (scenario.is_order_sure) judge("order", "order/" + scenario.id, scenario.id, played.order);
  }
  void add_apart(const std::string& why) { ++apart_[why]; }

  void print() const {
    for (const auto& [suite, count] : counts_)
      fmt::print("conformance: workloads/{} {}/{}\n", suite, count.passed, count.total);
    for (const auto& [why, count] : apart_) fmt::print("workloads: {} scenarios apart, {}\n", count, why);
  }
  const std::map<std::string, Count>& counts() const { return counts_; }
  const std::map<std::string, std::string>& failed() const { return failed_; }
  const std::set<std::string>& played() const { return played_; }

 private:
  static bool has_refusal(const Scenario& scenario) {
    return std::ranges::any_of(scenario.steps, [](const Value& step) { return step.has("response"); });
  }
  void judge(const std::string& suite, const std::string& id, const std::string&, const std::vector<std::string>& told) {
    Count& count = counts_[suite];
    ++count.total;
    played_.insert(id);
    if (told.empty()) {
      ++count.passed;
      return;
    }
    std::string& text = failed_[id];
    for (const std::string& line : told) text += "     " + line + "\n";
  }

  std::map<std::string, Count> counts_;
  std::map<std::string, int> apart_;
  std::map<std::string, std::string> failed_;
  std::set<std::string> played_;
};

/// Lines "id  # reason" of the list; those whose reason begins with "apart:" are no part of any count, because the recording
/// shows a defect of that release, or went wrong.
struct KnownFailures {
  std::set<std::string> ids;
  std::set<std::string> apart;
};

KnownFailures read_known_failures(const std::filesystem::path& file) {
  KnownFailures known;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto end = line.find("  # ");
    if (end == std::string::npos) continue;
    (line.substr(end + 4).starts_with("apart:") ? known.apart : known.ids).insert(line.substr(0, end));
  }
  return known;
}

/// Rows "suite percent".
std::map<std::string, double> read_bars(const std::filesystem::path& file) {
  std::map<std::string, double> bars;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto space = line.find(' ');
    if (!line.starts_with('#') && space != std::string::npos) bars[line.substr(0, space)] = std::stod(line.substr(space));
  }
  return bars;
}

void write_report(const Report& report) {
  std::string text;
  for (const auto& [id, told] : report.failed()) text += fmt::format("{}\n{}", id, told);
  if (!variable("SLIPWAY_WORKLOADS_ONLY").empty()) fmt::print("{}", text);
  if (const std::string file = variable("SLIPWAY_WORKLOADS_REPORT"); !file.empty()) std::ofstream(file) << text;
}

TEST(WorkloadsConformance, controllers_do_what_kube_controller_manager_did) {
  const std::vector<Scenario> scenarios = corpus_sample(read_scenarios());
  if (scenarios.empty()) GTEST_SKIP() << "skipped: no corpus at $SLIPWAY_CORPUS";
  const std::string only = variable("SLIPWAY_WORKLOADS_ONLY");
  const std::filesystem::path tests = std::filesystem::path(SLIPWAY_SOURCE_DIR) / "tests";
  const KnownFailures known = read_known_failures(tests / "known_failures/workloads.txt");
  Report report;
  for (const Scenario& scenario : scenarios) {
    if (!scenario.id.contains(only)) continue;
    if (known.apart.contains(scenario.id)) {
      report.add_apart(scenario.kind + ": not to be copied");
      continue;
    }
    if (!only.empty()) {
      fmt::print("{}\n", scenario.id);
      std::fflush(stdout);
    }
    report.add(scenario, play(scenario));
  }
  if (corpus_stride() == 1) report.print();
  write_report(report);
  if (!only.empty()) return;
  for (const auto& [id, told] : report.failed())
    EXPECT_TRUE(known.ids.contains(id)) << id << " is not known to fail:\n" << told;
  for (const std::string& id : known.ids) {
    if (report.played().contains(id)) EXPECT_TRUE(report.failed().contains(id)) << id << " passes: take it off the list";
  }
  if (corpus_stride() > 1) return;
  for (const auto& [suite, percent] : read_bars(tests / "bars_workloads.txt")) {
    const auto found = report.counts().find(suite.substr(suite.find('/') + 1));
    ASSERT_NE(found, report.counts().end()) << suite;
    EXPECT_GE(100.0 * found->second.passed, percent * found->second.total) << suite << " is below its bar";
  }
}

}  // namespace
}  // namespace slipway::workloads_test
