#include "delivery/wave/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <random>

#include "delivery/wave/corpus_test.h"

namespace slipway::delivery::wave {
namespace {

using Numbers = std::vector<std::int64_t>;

Amount amount(const json::Value& value) {
  const auto read = parse_amount(value, "replicas");
  EXPECT_TRUE(read.has_value());
  return read.value_or(Amount{});
}

/// The last batch takes the rest where `values` has a null.
std::vector<Batch> batches(std::span<const json::Value> values) {
  std::vector<Batch> all;
  for (const json::Value& value : values) {
    Batch& batch = all.emplace_back();
    if (!value.is_null()) batch.amount = amount(value);
  }
  return all;
}

std::vector<Batch> percents(const Numbers& numbers) {
  std::vector<Batch> all;
  for (const std::int64_t number : numbers) all.emplace_back().amount = Amount{.number = number, .is_percent = true};
  return all;
}

Numbers numbers(const json::Value& list) {
  Numbers all;
  for (const json::Value& item : list.items()) all.push_back(item.as_int());
  return all;
}

bool is_accepted(const std::vector<Batch>& all, std::int64_t from, std::int64_t to) {
  return check_batches(all, from, to, "rolloutBatches").empty();
}

/// What every plan that is accepted must have on the way from 0 to `total`, and back.
std::string what_is_wrong(const std::vector<Batch>& all, std::int64_t total) {
  const Numbers up = goals(all, 0, total), down = goals(all, total, 0);
  std::int64_t before = 0;
  bool has_share = false;
  for (std::size_t i = 0; i < up.size(); ++i) {
    if (up[i] < before || up[i] > total) return "goals fall, or leave the way";
    const bool gets_one = all[i].amount && all[i].amount->number > 0;
    if (gets_one && !has_share && total > 0 && up[i] == 0) return "the first batch with a share moves nothing";
    has_share = has_share || gets_one;
    if (down[i] != total - up[i]) return "down is not up backwards";
    before = up[i];
  }
  return up.back() == total ? "" : "the last goal is not the end";
}

TEST(ParseAmount, reads_numbers_and_percentages) {
  EXPECT_EQ(amount(3), (Amount{.number = 3}));
  EXPECT_EQ(amount("25%"), (Amount{.number = 25, .is_percent = true}));
  EXPECT_EQ(amount("25"), (Amount{.number = 25, .is_percent = true}));
}

TEST(ParseAmount, names_the_field_of_what_it_refuses) {
  for (const json::Value& bad : {json::Value(-1), json::Value("-5%"), json::Value(""), json::Value("ab"), json::Value(2.5)}) {
    const auto read = parse_amount(bad, "spec.rolloutPlan.rolloutBatches[1].replicas");
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().reason, Reason::Invalid);
    EXPECT_TRUE(read.error().message.starts_with("spec.rolloutPlan.rolloutBatches[1].replicas: Invalid value"))
        << read.error().message;
  }
}

TEST(Goals, round_the_sum_of_the_percentages) {
  EXPECT_EQ(goals(percents({20, 20, 20, 20, 20}), 0, 3), (Numbers{1, 1, 2, 2, 3}));
  EXPECT_EQ(goals(percents({1, 99}), 0, 10), (Numbers{1, 10}));
  EXPECT_EQ(goals(percents({25, 75}), 0, 2), (Numbers{1, 2}));  // a half is rounded up
  EXPECT_EQ(goals(percents({50, 50}), 12, 2), (Numbers{7, 2}));
}

TEST(Goals, of_every_count_of_equal_batches_hold_up_to_200_pods) {
  for (std::int64_t total = 0; total <= 200; ++total) {
    for (std::int64_t count = 1; count <= 210; ++count) {
      const auto all = equal_batches(total, count);
      ASSERT_EQ(what_is_wrong(all, total), "") << total << " in " << count;
      ASSERT_TRUE(is_accepted(all, 0, total)) << total << " in " << count;
    }
  }
}

TEST(Goals, of_percentages_that_make_100_hold_and_are_accepted_up_to_200_pods) {
  std::vector<Numbers> families = {{100},          {50, 50},       {33, 33, 34},        {25, 25, 25, 25}, {20, 40, 30, 10},
                                   {1, 9, 90},     {0, 0, 100},    {5, 10, 20, 30, 35}, Numbers(5, 20),   Numbers(10, 10),
                                   Numbers(20, 5), Numbers(100, 1)};
  for (const Numbers& family : families) {
    for (std::int64_t total = 0; total <= 200; ++total) {
      ASSERT_EQ(what_is_wrong(percents(family), total), "") << total;
      ASSERT_TRUE(is_accepted(percents(family), 0, total)) << total;
    }
  }
}

TEST(Goals, of_random_plans_hold_up_to_200_pods) {
  std::mt19937_64 random(12);
  const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end)); };
  for (std::int64_t total = 0; total <= 200; ++total) {
    for (int i = 0; i < 1'000; ++i) {
      // 100 % cut at random places; in every other plan some batches are whole numbers.
      Numbers cuts = {0, 100};
      for (std::int64_t n = below(8); n > 0; --n) cuts.push_back(below(101));
      std::ranges::sort(cuts);
      std::vector<Batch> all;
      for (std::size_t at = 1; at < cuts.size(); ++at) {
        all.emplace_back().amount = Amount{.number = cuts[at] - cuts[at - 1], .is_percent = true};
      }
      ASSERT_TRUE(is_accepted(all, 0, total));
      for (Batch& batch : all) {
        if (i % 2 == 1 && below(2) == 0) batch.amount = Amount{.number = below(total + 1)};
      }
      ASSERT_EQ(what_is_wrong(all, total), "") << total;
    }
  }
}

TEST(CheckBatches, says_what_does_not_add_up) {
  const auto why = [](const json::Value& list, std::int64_t to) {
    const auto causes = check_batches(batches(list.items()), 0, to, "rolloutBatches");
    return causes.empty() ? "" : causes.front().field + ": " + causes.front().message;
  };
  const auto list = [](const char* text) { return json::parse(text).value(); };
  EXPECT_EQ(why(list("[1,2,4]"), 8), "rolloutBatches: the batches make 7 pods, but 8 are to change");
  EXPECT_EQ(why(list("[5,5,null]"), 8), "rolloutBatches: the batches before the last make 10 pods, but only 8 are to change");
  EXPECT_EQ(why(list(R"(["60%","60%"])"), 8), "rolloutBatches: the percentages add up to 120 %, more than 100");
  EXPECT_EQ(why(list("[null,3]"), 8), "rolloutBatches[0].replicas: Required value: only the last batch takes what is left");
  EXPECT_EQ(why(list("[1,2,null]"), 8), "");
}

TEST(CorpusBatches, equal_batches_are_as_recorded) {
  const json::Value file = corpus("oam-fill-batches.json");
  if (file.is_null()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, passed = 0;
  for (const json::Value& one : file["groups"].items()) {
    for (const json::Value& row : one["cases"].items()) {
      Numbers made;
      for (const Batch& batch : equal_batches(row.item(0).as_int(), row.item(1).as_int())) made.push_back(batch.amount->number);
      ++all;
      made == numbers(row.item(2)) ? void(++passed) : ADD_FAILURE() << row.item(0).as_int() << " in " << row.item(1).as_int();
    }
  }
  std::cout << "rollouts/oam-fill-batches " << passed << "/" << all << "\n";
}

/// The rows in which upstream is known to be wrong, each with the reason; empty: it is right.
std::string defect(const json::Value& row, bool is_goal) {
  const std::int64_t from = row["originalSize"].as_int(), to = row["targetSize"].as_int();
  if (is_goal) return is_accepted(batches(row["batches"].items()), from, to) ? "" : "goals of a refused plan leave the way";
  if (from == to && from == 0) return "nothing to do is refused";
  const auto items = row["batches"].items();
  return items.back().is_null() ? "an empty last batch is refused, though it is to take the rest" : "";
}

TEST(CorpusBatches, whole_numbers_are_as_recorded_but_for_listed_defects) {
  const json::Value file = corpus("oam-batch-arithmetic.json");
  if (file.is_null()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, passed = 0, percent_rows = 0, percent_same = 0;
  std::map<std::string, int> defects;
  for (const json::Value& row : group(file, "grid").items()) {
    const std::vector<Batch> plan = batches(row["batches"].items());
    const std::int64_t from = row["originalSize"].as_int(), to = row["targetSize"].as_int();
    const bool is_whole =
        std::ranges::none_of(plan, [](const Batch& batch) { return batch.amount && batch.amount->is_percent; });
    const bool same_goals = goals(plan, from, to) == numbers(row["cumulativeTarget"]);
    const auto same = [&](const char* field) {
      const json::Value* error = row.find(field);
      return error == nullptr || error->is_null() == is_accepted(plan, from, to);
    };
    const bool same_verdicts = same("verifyRolloutError") && same("verifyScaleError");
    if (!is_whole) {
      ++percent_rows;
      percent_same += same_goals && same_verdicts ? 1 : 0;
      continue;
    }
    for (const auto& [is_goal, is_same] : {std::pair(true, same_goals), std::pair(false, same_verdicts)}) {
      ++all;
      const std::string known = is_same ? "" : defect(row, is_goal);
      if (!known.empty()) ++defects[known];
      if (is_same || !known.empty())
        ++passed;
      else
        ADD_FAILURE() << json::print(row);
    }
  }
  std::cout << "rollouts/oam-batch-arithmetic (whole numbers) " << passed << "/" << all << "\n";
  for (const auto& [why, count] : defects) std::cout << "  of these a defect there, " << count << " times: " << why << "\n";
  std::cout << "rollouts/oam-batch-arithmetic (percent, no bar) " << percent_same << "/" << percent_rows << " as upstream\n";
}

TEST(CorpusBatches, rows_of_upstreams_own_tests) {
  const json::Value file = corpus("oam-batch-arithmetic.json");
  if (file.is_null()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, same = 0;
  const auto plan = [&](const json::Value& name) { return batches(file["plans"][name.as_string()].items()); };
  const auto count = [&](bool is_same, const json::Value& row) {
    ++all;
    is_same ? void(++same) : void(std::cout << "  differs: " << json::print(row) << "\n");
  };
  for (const json::Value& row : group(file, "TestCalculateNewBatchTarget(+CornerCases)").items()) {
    const Numbers made = goals(plan(row.item(0)), row.item(1).as_int(), row.item(2).as_int());
    const auto at = std::min(static_cast<std::size_t>(row.item(3).as_int()), made.size() - 1);
    count(made[at] == row.item(4).as_int(), row);
  }
  for (const json::Value& row : group(file, "TestVerifyBatchesWithRollout*").items()) {
    count(is_accepted(plan(row.item(0)), 0, row.item(1).as_int()) == row.item(2).as_bool(), row);
  }
  for (const json::Value& row : group(file, "Test_VerifyBatchesWithScale*").items()) {
    count(is_accepted(plan(row.item(0)), row.item(1).as_int(), row.item(2).as_int()) == row.item(3).as_bool(), row);
  }
  for (const json::Value& row : group(file, "TestCalculateCurrentSource").items()) {
    const Numbers made = goals(plan(row.item(0)), 0, row.item(2).as_int());
    count(row.item(2).as_int() - made[static_cast<std::size_t>(row.item(1).as_int())] == row.item(3).as_int(), row);
  }
  std::cout << "rollouts/oam-batch-arithmetic (upstream's tests, percent) " << same << "/" << all << " as upstream\n";
}

TEST(CorpusBatches, amounts_are_read_and_rounded_as_recorded) {
  const json::Value file = corpus("intstr-rounding.json");
  if (file.is_null()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, passed = 0, negative = 0;
  for (const json::Value& row : group(file, "grid").items()) {
    const auto read = parse_amount(row["value"], "replicas");
    ++all;
    // A negative share is read there, and refused later.
    const bool is_negative = row["value"].as_string().starts_with("-");
    negative += is_negative ? 1 : 0;
    const bool must_fail = row["legacyError"].as_bool() || is_negative;
    const std::int64_t total = row["total"].as_int();
    const bool is_same = must_fail ? !read
                                   : read && rounded_down(*read, total) == row["legacyRoundDown"].as_int() &&
                                         rounded_up(*read, total) == row["legacyRoundUp"].as_int();
    is_same ? void(++passed) : ADD_FAILURE() << json::print(row);
  }
  std::cout << "rollouts/intstr-rounding " << passed << "/" << all << " (" << negative
            << " negative ones are refused at once)\n";
}

}  // namespace
}  // namespace slipway::delivery::wave
