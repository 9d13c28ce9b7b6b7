#include "delivery/graph/graph.h"

#include <gtest/gtest.h>

#include <random>

#include "delivery/graph/progress.h"

namespace slipway::delivery::graph {
namespace {

using Step = Graph::Step;

Graph built(std::vector<Step> steps) {
  auto graph = Graph::build(std::move(steps));
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().front().field + ": " + graph.error().front().message);
  return std::move(*graph);
}

std::vector<Cause> causes(std::vector<Step> steps) {
  auto graph = Graph::build(std::move(steps));
  return graph ? std::vector<Cause>{} : graph.error();
}

std::vector<std::string> names(const Graph& graph, const std::vector<StepIndex>& steps) {
  std::vector<std::string> out;
  out.reserve(steps.size());
  for (StepIndex step : steps) out.push_back(graph.nodes()[step].name);
  return out;
}

using Names = std::vector<std::string>;

TEST(Build, sorts_by_level_then_name) {
  const Graph graph = built({{.name = "d", .dependencies = {"b", "c"}},
                             {.name = "c", .dependencies = {"a"}},
                             {.name = "a"},
                             {.name = "b", .dependencies = {"a"}},
                             {.name = "z"}});
  EXPECT_EQ(names(graph, graph.topological()), (Names{"a", "z", "b", "c", "d"}));
  EXPECT_EQ(graph.level(*graph.find("d")), 2u);
  EXPECT_EQ(names(graph, graph.dependants(*graph.find("a"))), (Names{"b", "c"}));
  EXPECT_FALSE(graph.find("e"));
}

TEST(Build, names_the_step_that_was_probably_meant) {
  const auto found = causes({{.name = "build"}, {.name = "test", .dependencies = {"biuld"}}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].field, "spec.steps[test].dependencies[0]");
  EXPECT_EQ(found[0].message, "Invalid value: \"biuld\": no such step; did you mean \"build\"?");
}

TEST(Build, refuses_own_double_and_unknown_dependencies_at_once) {
  const auto found = causes({{.name = "a", .dependencies = {"a"}}, {.name = "b", .dependencies = {"a", "a", "nowhere"}}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].message, "Invalid value: \"a\": a step cannot depend on itself");
  EXPECT_EQ(found[1].field, "spec.steps[b].dependencies[1]");
  EXPECT_EQ(found[1].reason, "FieldValueDuplicate");
  EXPECT_EQ(found[2].message, "Invalid value: \"nowhere\": no such step");
}

TEST(Build, names_a_cycle_with_its_steps_and_only_them) {
  const auto found = causes({{.name = "a", .dependencies = {"c"}},
                             {.name = "b", .dependencies = {"a"}},
                             {.name = "c", .dependencies = {"b"}},
                             {.name = "after", .dependencies = {"c"}},
                             {.name = "free"}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].field, "spec.steps[a].dependencies[0]");
  EXPECT_EQ(found[0].message, "Invalid value: \"c\": a cycle of 3 steps, each waits for the next: a -> c -> b -> a");
}

std::vector<Step> chained_diamonds(int count) {
  std::vector<Step> steps = {{.name = "j0"}};
  for (int i = 0; i < count; ++i) {
    const auto from = fmt::format("j{}", i);
    const auto left = fmt::format("l{}", i), right = fmt::format("r{}", i);
    steps.push_back({.name = left, .dependencies = {from}});
    steps.push_back({.name = right, .dependencies = {from}});
    steps.push_back({.name = fmt::format("j{}", i + 1), .dependencies = {left, right}});
  }
  return steps;
}

TEST(Build, walks_no_paths_so_that_thirty_diamonds_are_nothing) {
  EXPECT_EQ(built(chained_diamonds(30)).size(), 91u);
  auto closed = chained_diamonds(30);
  closed.front().dependencies = {"j30"};
  const auto found = causes(closed);  // 2^30 paths
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("a cycle of 61 steps"), std::string::npos) << found[0].message;
}

TEST(Build, goes_through_a_chain_of_ten_thousand_without_recursion) {
  std::vector<Step> steps = {{.name = "s0"}};
  for (int i = 1; i < 10'000; ++i)
    steps.push_back({.name = fmt::format("s{}", i), .dependencies = {fmt::format("s{}", i - 1)}});
  const Graph graph = built(steps);
  EXPECT_EQ(graph.level(*graph.find("s9999")), 9999u);
  EXPECT_EQ(graph.downstream(*graph.find("s1")).size(), 9999u);
  steps.front().dependencies = {"s9999"};
  const auto found = causes(steps);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("… (9930 more) -> s0"), std::string::npos) << found[0].message;
}

TEST(Build, finds_cycles_through_groups) {
  EXPECT_EQ(causes({{.name = "g"}, {.name = "m", .dependencies = {"g"}, .group = "g"}}).at(0).message,
            "Invalid value: \"m\": a cycle of 2 steps, each waits for the next: g -> m -> g");
  EXPECT_EQ(causes({{.name = "a", .group = "b"}, {.name = "b", .group = "a"}}).size(), 1u);
  EXPECT_EQ(
      causes({{.name = "g"}, {.name = "m", .dependencies = {"x"}, .group = "g"}, {.name = "x", .dependencies = {"g"}}}).size(),
      1u);
}

TEST(Build, counts_the_causes_it_gives) {
  std::vector<Step> steps;
  steps.reserve(500);
  for (int i = 0; i < 500; ++i) steps.push_back({.name = fmt::format("s{}", i), .dependencies = {"missing"}});
  EXPECT_EQ(causes(steps).size(), Graph::kMaxCauses);
}

TEST(Downstream, holds_what_a_rerun_runs_again) {
  const Graph graph = built({{.name = "a"},
                             {.name = "b", .dependencies = {"a"}},
                             {.name = "c", .dependencies = {"b"}},
                             {.name = "d", .dependencies = {"a"}},
                             {.name = "g", .dependencies = {"d"}},
                             {.name = "m1", .group = "g"},
                             {.name = "m2", .group = "g"},
                             {.name = "z", .dependencies = {"g"}}});
  EXPECT_EQ(names(graph, graph.downstream(*graph.find("b"))), (Names{"b", "c"}));
  EXPECT_EQ(names(graph, graph.downstream(*graph.find("m1"))), (Names{"g", "m1", "z"}));
  EXPECT_EQ(names(graph, graph.downstream(*graph.find("d"))), (Names{"d", "g", "m1", "m2", "z"}));
}

// The three-valued tables: every pair of phases for two dependencies, written out as rules over "what may still happen".
TEST(Triggers, decide_exactly_when_no_future_can_change_the_answer) {
  const std::vector<Phase> ends = {Phase::Succeeded, Phase::Failed, Phase::Skipped, Phase::Unreachable, Phase::Cancelled};
  const std::vector<Phase> open = {Phase::Blocked, Phase::Ready, Phase::Running, Phase::Suspended};
  const auto holds = [](Trigger trigger, const std::vector<Phase>& phases) {  // two-valued, all terminal
    const auto count = [&](Phase phase) { return static_cast<std::size_t>(std::ranges::count(phases, phase)); };
    switch (trigger) {
      case Trigger::AllSucceeded:
        return count(Phase::Succeeded) == phases.size();
      case Trigger::AllTerminated:
        return true;
      case Trigger::AllFailed:
        return count(Phase::Failed) == phases.size();
      case Trigger::AnySucceeded:
        return count(Phase::Succeeded) > 0;
      case Trigger::AnyFailed:
        return count(Phase::Failed) > 0;
      case Trigger::AllSucceededOrSkipped:
        return count(Phase::Succeeded) + count(Phase::Skipped) == phases.size();
    }
    return false;
  };
  std::vector<Phase> all = ends;
  all.insert(all.end(), open.begin(), open.end());
  int checked = 0;
  for (int t = 0; t < 6; ++t) {
    const auto trigger = static_cast<Trigger>(t);
    const Graph graph = built({{.name = "a"}, {.name = "b"}, {.name = "j", .dependencies = {"a", "b"}, .trigger = trigger}});
    for (Phase a : all) {
      for (Phase b : all) {
        bool may_hold = false, may_not = false;
        for (Phase x : is_terminal(a) ? std::vector{a} : ends) {
          for (Phase y : is_terminal(b) ? std::vector{b} : ends) (holds(trigger, {x, y}) ? may_hold : may_not) = true;
        }
        Truth expected = may_hold && may_not ? Truth::NotYet : may_hold ? Truth::True : Truth::False;
        // AllTerminated always will hold, but it does so only once all have ended.
        if (trigger == Trigger::AllTerminated && !(is_terminal(a) && is_terminal(b))) expected = Truth::NotYet;
        const std::vector<Phase> phases = {a, b, Phase::Blocked};
        EXPECT_EQ(join(graph, 2, phases), expected) << to_string(trigger) << " " << to_string(a) << " " << to_string(b);
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 6 * 81);
}

TEST(Triggers, hold_for_steps_without_dependencies) {
  for (int t = 0; t < 6; ++t) EXPECT_EQ(truth(static_cast<Trigger>(t), {}), Truth::True);
}

TEST(Names, go_both_ways) {
  for (int p = 0; p < 9; ++p) EXPECT_EQ(phase_of(to_string(static_cast<Phase>(p))), static_cast<Phase>(p));
  for (int t = 0; t < 6; ++t) EXPECT_EQ(trigger_of(to_string(static_cast<Trigger>(t))), static_cast<Trigger>(t));
  EXPECT_FALSE(phase_of("running"));
  EXPECT_FALSE(trigger_of(""));
}

TEST(Advance, is_transitively_unreachable_but_lets_cleanup_run) {
  const Graph graph = built({{.name = "a"},
                             {.name = "b", .dependencies = {"a"}},
                             {.name = "c", .dependencies = {"b"}},
                             {.name = "clean", .dependencies = {"c"}, .trigger = Trigger::AllTerminated},
                             {.name = "other"}});
  std::vector<Phase> phases(5, Phase::Blocked);
  phases[*graph.find("a")] = Phase::Failed;
  const Decisions decisions = advance(graph, phases, {});
  EXPECT_EQ(decisions.ended,
            (std::vector<Ended>{{*graph.find("b"), Phase::Unreachable}, {*graph.find("c"), Phase::Unreachable}}));
  EXPECT_EQ(names(graph, decisions.start), (Names{"other", "clean"}));
  EXPECT_TRUE(decisions.is_failed);
  EXPECT_FALSE(decisions.is_finished);
}

TEST(Advance, keeps_to_the_parallelism_and_says_who_waits) {
  const Graph graph = built({{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "x", .takes_slot = false}});
  const Rule two{.parallelism = 2};
  auto decisions = advance(graph, std::vector<Phase>(4, Phase::Blocked), two);
  EXPECT_EQ(names(graph, decisions.start), (Names{"a", "b", "x"}));
  EXPECT_EQ(names(graph, decisions.waiting), (Names{"c"}));
  decisions = advance(graph, {Phase::Running, Phase::Succeeded, Phase::Ready, Phase::Running}, two);
  EXPECT_EQ(names(graph, decisions.start), (Names{"c"}));
}

TEST(Advance, starts_nothing_while_suspended_but_still_sees_the_unreachable) {
  const Graph graph = built({{.name = "a"}, {.name = "b", .dependencies = {"a"}}, {.name = "c"}});
  const auto decisions = advance(graph, {Phase::Failed, Phase::Blocked, Phase::Blocked}, {.is_suspended = true});
  EXPECT_TRUE(decisions.start.empty());
  EXPECT_EQ(names(graph, decisions.waiting), (Names{"c"}));
  EXPECT_EQ(decisions.ended.size(), 1u);
}

TEST(Advance, suspends_a_held_step_where_it_would_start) {
  const std::vector<Step> steps = {{.name = "a"}, {.name = "b", .dependencies = {"a"}, .is_held = true}};
  const Graph graph = built(steps);
  EXPECT_TRUE(advance(graph, {Phase::Blocked, Phase::Blocked}, {}).held.empty());
  EXPECT_EQ(names(graph, advance(graph, {Phase::Succeeded, Phase::Blocked}, {}).held), (Names{"b"}));
  EXPECT_TRUE(advance(graph, {Phase::Succeeded, Phase::Suspended}, {}).held.empty());
  auto released = steps;
  released[1].is_held = false;
  EXPECT_EQ(advance(built(released), {Phase::Succeeded, Phase::Suspended}, {}).start.size(), 1u);
}

TEST(Advance, ends_groups_by_their_members) {
  const Graph graph = built({{.name = "g"},
                             {.name = "m1", .group = "g"},
                             {.name = "m2", .is_tolerated = true, .group = "g"},
                             {.name = "z", .dependencies = {"g"}}});
  const auto with = [&](Phase g, Phase m1, Phase m2) { return advance(graph, {g, m1, m2, Phase::Blocked}, {}); };
  EXPECT_EQ(names(graph, with(Phase::Blocked, Phase::Blocked, Phase::Blocked).start), (Names{"g"}));
  EXPECT_EQ(names(graph, with(Phase::Running, Phase::Blocked, Phase::Blocked).start), (Names{"m1", "m2"}));
  const auto done = with(Phase::Running, Phase::Succeeded, Phase::Failed);
  EXPECT_EQ(done.ended, (std::vector<Ended>{{0, Phase::Succeeded}}));
  EXPECT_EQ(names(graph, done.start), (Names{"z"}));
  const auto failed = with(Phase::Running, Phase::Failed, Phase::Skipped);
  EXPECT_EQ(failed.ended, (std::vector<Ended>{{0, Phase::Failed}, {3, Phase::Unreachable}}));
  EXPECT_TRUE(failed.is_finished && failed.is_failed);
  EXPECT_EQ(with(Phase::Running, Phase::Skipped, Phase::Skipped).ended.front().phase, Phase::Skipped);
  EXPECT_EQ(with(Phase::Cancelled, Phase::Succeeded, Phase::Blocked).ended.front(), (Ended{2, Phase::Cancelled}));
}

TEST(Advance, skips_the_rest_after_a_failure_where_the_rule_says_so) {
  const Graph graph =
      built(one_by_one({{.name = "1"}, {.name = "2"}, {.name = "3"}, {.name = "4", .trigger = Trigger::AllTerminated}}));
  const Rule rule{.skips_after_failure = true};
  const auto decisions = advance(graph, {Phase::Failed, Phase::Blocked, Phase::Blocked, Phase::Blocked}, rule);
  EXPECT_EQ(decisions.ended, (std::vector<Ended>{{1, Phase::Skipped}, {2, Phase::Skipped}}));
  EXPECT_EQ(names(graph, decisions.start), (Names{"4"}));
  // Without a failure a skipped step does not stop the row.
  EXPECT_EQ(advance(graph, {Phase::Skipped, Phase::Blocked, Phase::Blocked, Phase::Blocked}, rule).start.size(), 1u);
}

// Random graphs -------------------------------------------------------------------------------------------------------------

using Seed = std::mt19937_64;
int below(Seed& seed, int limit) { return static_cast<int>(seed() % static_cast<std::uint64_t>(limit)); }

std::vector<Step> random_steps(Seed& seed, bool has_groups) {
  const int count = 1 + below(seed, 12);
  std::vector<Step> steps;
  for (int i = 0; i < count; ++i) {
    Step step{.name = fmt::format("{}{}", static_cast<char>('a' + below(seed, 26)), i)};
    for (int j = 0; j < i; ++j) {
      if (below(seed, 4) == 0) step.dependencies.push_back(steps[static_cast<std::size_t>(j)].name);
    }
    step.trigger = static_cast<Trigger>(below(seed, 6));
    step.is_tolerated = below(seed, 3) == 0;
    step.takes_slot = below(seed, 5) != 0;
    step.is_held = below(seed, 8) == 0;
    if (has_groups && i > 0 && below(seed, 3) == 0) step.group = steps[static_cast<std::size_t>(below(seed, i))].name;
    steps.push_back(std::move(step));
  }
  return steps;
}

/// How a step ends when it runs: a property of the step, not of the order.
Phase fate(Seed& seed) { return below(seed, 3) == 0 ? Phase::Failed : below(seed, 6) == 0 ? Phase::Skipped : Phase::Succeeded; }

void settle(std::vector<Phase>& phases, const Decisions& decisions) {
  for (auto [step, phase] : decisions.ended) phases[step] = phase;
  for (StepIndex step : decisions.held) phases[step] = Phase::Suspended;
  for (StepIndex step : decisions.start) phases[step] = Phase::Running;
}

TEST(Property, the_outcome_does_not_depend_on_the_order_of_events) {
  for (std::uint64_t number = 0; number < 400; ++number) {
    Seed seed(number);
    auto steps = random_steps(seed, number % 2 == 0);
    for (auto& step : steps) step.is_held = false;
    auto graph = Graph::build(steps);
    if (!graph) continue;  // groups may make cycles
    std::vector<Phase> fates(graph->size());
    for (auto& one : fates) one = fate(seed);
    std::optional<std::vector<Phase>> first;
    for (int order = 0; order < 6; ++order) {
      const Rule rule{.parallelism = order % 3 == 0 ? std::nullopt : std::optional<std::int64_t>(order % 3)};
      std::vector<Phase> phases(graph->size(), Phase::Blocked);
      Decisions decisions;
      while (!(decisions = advance(*graph, phases, rule)).is_finished) {
        settle(phases, decisions);
        std::vector<StepIndex> running;
        for (StepIndex step = 0; step < graph->size(); ++step) {
          if (phases[step] == Phase::Running && graph->nodes()[step].members.empty()) running.push_back(step);
        }
        if (running.empty()) {
          ASSERT_FALSE(decisions.start.empty() && decisions.ended.empty()) << "stuck, seed " << number;
          continue;
        }
        const StepIndex chosen = running[static_cast<std::size_t>(below(seed, static_cast<int>(running.size())))];
        phases[chosen] = fates[chosen];
      }
      settle(phases, decisions);
      if (!first) first = phases;
      EXPECT_EQ(phases, *first) << "seed " << number;
    }
  }
}

TEST(Property, progress_decides_as_advance_does) {
  int compared = 0;
  for (std::uint64_t number = 0; number < 3000; ++number) {
    Seed seed(number);
    auto graph = Graph::build(random_steps(seed, number % 3 != 0));
    if (!graph) continue;
    Rule rule{.parallelism = below(seed, 2) == 0 ? std::nullopt : std::optional<std::int64_t>(1 + below(seed, 3)),
              .is_suspended = false,
              .skips_after_failure = below(seed, 3) == 0};
    std::vector<Phase> phases(graph->size(), Phase::Blocked);
    auto progress = std::make_unique<Progress>(*graph, rule, phases);
    for (int turn = 0; turn < 40; ++turn) {
      rule.is_suspended = below(seed, 10) == 0;
      progress->set_rule(rule);
      const Decisions expected = advance(*graph, phases, rule);
      const Decisions given = progress->take();
      ASSERT_EQ(given.start, expected.start) << "seed " << number << " turn " << turn;
      ASSERT_EQ(given.ended, expected.ended) << "seed " << number << " turn " << turn;
      ASSERT_EQ(given.held, expected.held) << "seed " << number << " turn " << turn;
      ASSERT_EQ(given.is_failed, expected.is_failed) << "seed " << number << " turn " << turn;
      ASSERT_EQ(given.is_finished, expected.is_finished) << "seed " << number << " turn " << turn;
      ASSERT_EQ(progress->waiting(), expected.waiting) << "seed " << number << " turn " << turn;
      settle(phases, expected);
      ASSERT_EQ(progress->phases(), phases);
      ++compared;
      std::vector<StepIndex> movable;
      for (StepIndex step = 0; step < graph->size(); ++step) {
        if (phases[step] == Phase::Running || phases[step] == Phase::Suspended) movable.push_back(step);
      }
      for (int k = below(seed, 3); k > 0 && !movable.empty(); --k) {
        const StepIndex chosen = movable[static_cast<std::size_t>(below(seed, static_cast<int>(movable.size())))];
        if (is_terminal(phases[chosen])) continue;
        phases[chosen] = below(seed, 10) == 0 ? Phase::Cancelled : fate(seed);
        progress->set(chosen, phases[chosen]);
      }
      if (below(seed, 20) == 0) progress = std::make_unique<Progress>(*graph, rule, phases);  // a restart
    }
  }
  EXPECT_GT(compared, 50'000);
}

TEST(Progress, walks_ten_thousand_steps_at_the_cost_of_their_edges) {
  std::vector<Step> steps;
  for (int i = 0; i < 10'000; ++i) {
    Step step{.name = fmt::format("s{:05}", i)};
    for (int j = i - 100 - i % 100; j >= 0 && j < i - i % 100; j += 40) step.dependencies.push_back(fmt::format("s{:05}", j));
    steps.push_back(std::move(step));
  }
  const Graph graph = built(std::move(steps));
  Progress progress(graph, {}, std::vector<Phase>(graph.size(), Phase::Blocked));
  std::deque<StepIndex> running;
  std::size_t ended = 0;
  for (;;) {
    const Decisions decisions = progress.take();
    running.insert(running.end(), decisions.start.begin(), decisions.start.end());
    if (running.empty()) break;
    progress.set(running.front(), Phase::Succeeded);
    running.pop_front();
    ++ended;
  }
  EXPECT_EQ(ended, graph.size());
}

}  // namespace
}  // namespace slipway::delivery::graph
