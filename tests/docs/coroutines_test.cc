// The examples of docs/coroutines.md, compiled and run: every ```cpp block of the page stands here word for word.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/manual_env.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

// Switching

Task<> count_up(Env& env, int& counter) {
  const int before = counter;
  counter = before + 1;  // nothing ran in between: no lock
  co_await yield(env);   // here everybody else may run
  counter += 10;         // so this adds to what is there now, not to `before`
}

TEST(Coroutines, switch_only_where_they_say_co_await) {
  ManualEnv env;
  int counter = 0;
  env.spawn(count_up(env, counter));
  env.spawn(count_up(env, counter));
  EXPECT_EQ(counter, 0) << "a task has not begun when it is made";
  env.run_until_idle();
  EXPECT_EQ(counter, 22);
}

// Arguments

Task<> greet_later(Env& env, std::string name, Lines& said) {
  co_await sleep_for(env, 1s);
  said.push_back("hello " + name);
}

TEST(Coroutines, own_their_arguments) {
  ManualEnv env;
  Lines said;
  {
    std::string name = "world";
    env.spawn(greet_later(env, name, said));
    name = "nobody";
  }
  env.advance(1s);
  EXPECT_EQ(said, Lines{"hello world"});
}

// Lambdas

TEST(Coroutines, written_as_lambdas_take_arguments_and_capture_nothing) {
  ManualEnv env;
  Lines said;
  {
    const auto greet = [](Env& world, std::string name, Lines& into) -> Task<> {
      co_await sleep_for(world, 1s);
      into.push_back("hello " + name);
    };
    env.spawn(greet(env, "lambda", said));
  }  // the lambda is gone, its frame is not
  env.advance(1s);
  EXPECT_EQ(said, Lines{"hello lambda"});
}

// Nothing is held across a suspension

class Stock {
 public:
  explicit Stock(Env& env) : env_(env) {}

  void put(const std::string& name, int count) { counts_[name] = count; }
  int count(const std::string& name) const { return counts_.contains(name) ? counts_.at(name) : 0; }
  void drop(const std::string& name) { counts_.erase(name); }

  /// Adds one to whatever is there now, name by name.
  Task<> restock() {
    std::vector<std::string> names;
    for (const auto& [name, count] : counts_) names.push_back(name);
    for (const std::string& name : names) {
      co_await sleep_for(env_, 1s);
      const auto found = counts_.find(name);  // looked up again: it may be gone
      if (found != counts_.end()) ++found->second;
    }
  }

 private:
  Env& env_;
  std::map<std::string, int> counts_;
};

TEST(Coroutines, look_again_after_each_suspension) {
  ManualEnv env;
  Stock stock(env);
  stock.put("apples", 1);
  stock.put("pears", 1);
  env.spawn(stock.restock());
  env.advance(1s);
  stock.drop("pears");
  env.advance(1s);
  EXPECT_EQ(stock.count("apples"), 2);
  EXPECT_EQ(stock.count("pears"), 0);
}

// Waiting for a condition

class Mailbox {
 public:
  explicit Mailbox(Env& env) : env_(env), changed_(env) {}

  void put(std::string letter) {
    letters_.push_back(std::move(letter));
    changed_.notify();
  }

  /// The next letter, or "" when none has come within `patience`.
  Task<std::string> take(Duration patience) {
    const auto deadline = env_.clock.steady() + patience;
    while (letters_.empty()) {
      if (!co_await changed_.wait_until(deadline)) break;
    }
    if (letters_.empty()) co_return "";
    std::string letter = std::move(letters_.front());
    letters_.erase(letters_.begin());
    co_return letter;
  }

 private:
  Env& env_;
  Lines letters_;
  Signal changed_;
};

Task<> take_one(Mailbox& box, Duration patience, Lines& taken) { taken.push_back(co_await box.take(patience)); }

TEST(Coroutines, check_a_condition_again_when_a_signal_wakes_them) {
  ManualEnv env;
  Mailbox box(env);
  Lines taken;
  env.spawn(take_one(box, 5s, taken));
  env.spawn(take_one(box, 5s, taken));
  env.run_until_idle();
  box.put("a");  // wakes both; the second finds nothing and waits on
  env.run_until_idle();
  EXPECT_EQ(taken, Lines{"a"});
  env.advance(5s);
  EXPECT_EQ(taken, (Lines{"a", ""}));
}

// Cancelling is destroying

/// A place at the table, given back when this goes.
class Place {
 public:
  explicit Place(std::shared_ptr<int> taken) : taken_(std::move(taken)) { ++*taken_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { --*taken_; }

 private:
  std::shared_ptr<int> taken_;
};

Task<> dine(Env& env, std::shared_ptr<int> taken, Lines& said) {
  const Place place(taken);
  co_await sleep_for(env, 1h);
  said.push_back("thank you");  // never, when the world ends before
}

TEST(Coroutines, are_cancelled_by_destroying_their_frames) {
  ManualEnv env;
  Lines said;
  const auto taken = std::make_shared<int>(0);
  env.spawn(dine(env, taken, said));
  env.run_until_idle();
  EXPECT_EQ(*taken, 1);
  env.drop_all();
  EXPECT_EQ(*taken, 0);
  EXPECT_EQ(said, Lines{});
}

// Children

Task<> fetch(Env& env, int number, std::vector<int>& into) {
  co_await sleep_for(env, std::chrono::seconds{number});
  into.push_back(number * number);
}

Task<int> fetch_all(Env& env, std::vector<int> numbers) {
  std::vector<int> results;
  Tasks children(env);
  for (const int number : numbers) children.spawn(fetch(env, number, results));
  co_await children.join();  // on every way out of this function
  int sum = 0;
  for (const int result : results) sum += result;
  co_return sum;
}

TEST(Coroutines, join_their_children_before_they_end) {
  ManualEnv env;
  const Time begun = env.now();
  EXPECT_EQ(env.run(fetch_all(env, {3, 1, 2})), 14);
  EXPECT_EQ(env.now() - begun, 3s) << "side by side";
}

// Errors

Task<Result<int>> parse_digit(Env& env, std::string text) {
  co_await yield(env);
  if (text.size() != 1 || text[0] < '0' || text[0] > '9') co_return fail(Reason::BadRequest, "not a digit: " + text);
  co_return text[0] - '0';
}

Task<Result<int>> add_digits(Env& env, std::string one, std::string two) {
  SLIPWAY_CO_TRY(first, co_await parse_digit(env, one));
  SLIPWAY_CO_TRY(second, co_await parse_digit(env, two));
  co_return first + second;
}

TEST(Coroutines, return_errors_as_values) {
  ManualEnv env;
  EXPECT_EQ(env.run(add_digits(env, "3", "4")).value(), 7);
  EXPECT_EQ(env.run(add_digits(env, "3", "x")).error().message, "not a digit: x");
}

// Work elsewhere

Task<int> largest(Env& env, std::vector<int> numbers) {
  const auto input = std::make_shared<const std::vector<int>>(std::move(numbers));
  const auto result = std::make_shared<int>(0);
  co_await run_on(env, env.compute, [input, result] { *result = *std::ranges::max_element(*input); });
  co_return *result;
}

TEST(Coroutines, hand_heavy_work_to_a_lane_with_all_it_needs) {
  ManualEnv env;
  EXPECT_EQ(env.run(largest(env, {3, 1, 4, 1, 5})), 5);
}

// Taking turns

Task<> sum_up(Env& env, std::vector<int> numbers, std::int64_t& sum) {
  constexpr std::size_t kTurn = 100;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % kTurn == kTurn - 1) co_await yield(env);
    sum += numbers[i];
  }
}

TEST(Coroutines, let_others_run_in_long_loops) {
  ManualEnv env;
  std::int64_t sum = 0;
  std::int64_t seen = 0;
  env.spawn(sum_up(env, std::vector<int>(1000, 1), sum));
  env.queue().post([&] { seen = sum; });
  env.run_until_idle();
  EXPECT_EQ(seen, 99);
  EXPECT_EQ(sum, 1000);
}

// The page itself

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(std::string(SLIPWAY_SOURCE_DIR) + path).rdbuf();
  return text.str();
}

TEST(CoroutinesPage, shows_examples_that_stand_here_word_for_word) {
  const std::string page = text_of("/docs/coroutines.md");
  const std::string source = text_of("/tests/docs/coroutines_test.cc");
  const std::string fence = "\n```cpp\n";
  int examples = 0;
  for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
    const auto begin = at + fence.size();
    const auto end = page.find("```\n", begin);
    ASSERT_NE(end, std::string::npos);
    const std::string example = page.substr(begin, end - begin);
    ++examples;
    EXPECT_NE(source.find("\n" + example), std::string::npos) << "not compiled:\n" << example;
  }
  EXPECT_GE(examples, 10);
}

}  // namespace
}  // namespace slipway
