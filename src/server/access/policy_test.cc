#include <fmt/format.h>

#include <random>
#include <set>

#include "server/access/policy.h"
#include "server/server_fixture.h"

namespace slipway::server {
namespace {

std::vector<std::string> words(std::string_view stem, int count) {
  std::vector<std::string> made;
  for (int i = 0; i < count; ++i) made.push_back(fmt::format("{}{}", stem, i));
  return made;
}

TEST(PolicyCover, rules_together_cover_what_none_covers_alone) {
  const auto held = policy_rules(yaml(R"([{apiGroups: [''], resources: [pods], verbs: [get, list]},
                                          {apiGroups: [''], resources: [secrets], verbs: ['*']}])"));
  const auto both = policy_rules(yaml("[{apiGroups: [''], resources: [pods, secrets], verbs: [list, get]}]"));
  EXPECT_TRUE(missing_rules(held, both).empty());
  const auto more = policy_rules(yaml("[{apiGroups: [''], resources: [pods, secrets], verbs: [watch, get, patch]}]"));
  const auto missing = missing_rules(held, more);
  ASSERT_EQ(missing.rules.size(), 1U);
  EXPECT_EQ(missing.rules[0].to_string(), R"({APIGroups:[""], Resources:["pods"], Verbs:["watch" "patch"]})");
  EXPECT_FALSE(missing.is_cut);
}

TEST(PolicyCover, stars_subresources_and_paths_cover_as_they_allow) {
  const auto held = policy_rules(yaml(R"([{apiGroups: [apps], resources: ['*/scale', deployments], verbs: ['*']},
                                          {nonResourceURLs: ['/healthz/*', /version], verbs: [get]}])"));
  const auto covered = [&](std::string_view rule) { return missing_rules(held, policy_rules(yaml(rule))).empty(); };
  EXPECT_TRUE(covered("[{apiGroups: [apps], resources: [deployments, a/scale, '*/scale'], verbs: ['*', get]}]"));
  EXPECT_FALSE(covered("[{apiGroups: [apps], resources: ['*'], verbs: [get]}]"));
  EXPECT_FALSE(covered("[{apiGroups: [apps, '*'], resources: [deployments], verbs: [get]}]"));
  EXPECT_TRUE(covered("[{nonResourceURLs: [/healthz/a, '/healthz/*', '/healthz/b/*', /version], verbs: [get]}]"));
  EXPECT_FALSE(covered("[{nonResourceURLs: [/healthz], verbs: [get]}]"));
  EXPECT_FALSE(covered("[{nonResourceURLs: [/version], verbs: [get, post]}]"));
}

/// What is covered by definition: each verb on each thing by one rule that has all of it.
bool is_covered_one_by_one(const std::vector<PolicyRule>& held, const PolicyRule& wanted) {
  for (const std::string& verb : wanted.verbs) {
    for (const std::string& group : wanted.groups) {
      for (const std::string& resource : wanted.resources) {
        const auto names = wanted.names.empty() ? std::vector<std::string>{""} : wanted.names;
        for (const std::string& name : names) {
          const Attributes what{.verb = verb, .group = group, .resource = resource, .name = name};
          const bool has = std::ranges::any_of(
              held, [&](const PolicyRule& rule) { return allows(rule, what) && (!name.empty() || rule.names.empty()); });
          if (!has) return false;
        }
      }
    }
  }
  return true;
}

TEST(PolicyCover, agrees_with_looking_at_every_combination) {
  std::mt19937 random(7);
  const auto some = [&](std::string_view stem, bool may_be_empty) {
    std::vector<std::string> made;
    const int count = static_cast<int>(random() % 3) + (may_be_empty ? 0 : 1);
    for (int i = 0; i < count; ++i) made.push_back(random() % 6 == 0 ? "*" : fmt::format("{}{}", stem, random() % 3));
    return made;
  };
  int covered = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<PolicyRule> held;
    for (unsigned i = 0; i < 1 + random() % 6; ++i) {
      held.push_back({.verbs = some("v", false), .groups = some("g", false), .resources = some("r", false)});
      if (random() % 3 == 0) held.back().names = words("n", 2);
    }
    PolicyRule wanted{.verbs = some("v", false), .groups = some("g", false), .resources = some("r", false)};
    if (random() % 3 == 0) wanted.names = words("n", 1 + static_cast<int>(random() % 3));
    const auto missing = missing_rules(held, {wanted});
    ASSERT_FALSE(missing.is_cut);
    ASSERT_EQ(missing.empty(), is_covered_one_by_one(held, wanted)) << round;
    covered += missing.empty() ? 1 : 0;
    // What is told as missing is just that: with it nothing is missing.
    held.insert(held.end(), missing.rules.begin(), missing.rules.end());
    ASSERT_TRUE(missing_rules(held, {wanted}).empty()) << round;
  }
  EXPECT_GT(covered, 300);
  EXPECT_LT(covered, 2700);
}

TEST(PolicyCover, a_rule_of_many_words_is_compared_in_bounded_time_and_told_in_few) {
  const PolicyRule wanted{.verbs = words("v", 500), .groups = words("g", 500), .resources = words("r", 500)};
  const auto none = missing_rules({}, {wanted});
  EXPECT_TRUE(none.is_cut);
  std::size_t bytes = 0;
  for (const PolicyRule& rule : none.rules) bytes += rule.to_string().size();
  EXPECT_GT(bytes, 1000U);
  EXPECT_LT(bytes, 20'000U);
  EXPECT_TRUE(missing_rules({wanted}, {wanted}).empty());

  const PolicyRule long_word{.verbs = {"get"}, .groups = {""}, .resources = {std::string(1'000'000, 'x')}};
  EXPECT_TRUE(missing_rules({}, {long_word}).rules.empty());
  EXPECT_FALSE(missing_rules({}, {long_word}).empty());
}

TEST(PolicyCover, what_is_too_much_to_compare_counts_as_missing) {
  std::vector<PolicyRule> held;
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i);
    held.push_back({.verbs = {"v" + number}, .groups = {"g" + number}, .resources = {"r" + number}});
    held.push_back({.verbs = {"v" + number}, .groups = {"*"}, .resources = {"*"}});
  }
  const PolicyRule wanted{.verbs = words("v", 300), .groups = words("g", 300), .resources = words("r", 300)};
  EXPECT_FALSE(missing_rules(held, {wanted}).empty());
  held.push_back({.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}});
  EXPECT_TRUE(missing_rules(held, {wanted}).empty());
}

}  // namespace
}  // namespace slipway::server
