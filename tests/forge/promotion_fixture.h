// A real repository with two marked environments, the real Git on lanes, and a promotion to bring into it.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "delivery/pipeline/git_promotion.h"
#include "git/repositories.h"
#include "git/test_repository.h"
#include "os/real_env.h"

namespace slipway::test {

namespace pipeline = delivery::pipeline;

constexpr const char* kMarked = "spec:\n  version: 6.2.0 # {\"$promotion\": \"default:podinfo:prod\"}\n";

/// Where `version` stands in kMarked.
inline std::string marked(const std::string& version) {
  std::string text = kMarked;
  return text.replace(text.find("6.2.0"), 5, version);
}

class PromotionFixture : public testing::Test {
 protected:
  PromotionFixture() { theirs_.commit({{"prod/app.yaml", kMarked}, {"README.md", kMarked}}, "start"); }
  ~PromotionFixture() override { real_.shut(); }

  /// Runs a task of the logic thread to its end.
  template <class T>
  Result<T> run(Task<Result<T>> task) {
    std::optional<Result<T>> result;
    auto store = [](PromotionFixture& test, Task<Result<T>> inner, std::optional<Result<T>>& into) -> Task<> {
      into = co_await std::move(inner);
      test.real_.stop();
    };
    Tasks tasks(real_.env());
    tasks.spawn(store(*this, std::move(task), result));
    real_.run();
    return std::move(*result);
  }
  template <class T>
  T ok(Task<Result<T>> task) {
    auto result = run(std::move(task));
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : T{};
  }
  template <class T>
  Status fault(Task<Result<T>> task) {
    auto result = run(std::move(task));
    EXPECT_FALSE(result);
    return result ? Status{} : result.error();
  }

  pipeline::GitPromotion promotion(std::string version, std::string key) const {
    return {.remote = {.url = theirs_.path(), .space = "default"},
            .branch = "main",
            .text = {"podinfo", std::move(version), std::move(key), {"default", "podinfo", "prod"}},
            .author = {"Slipway", "slipway@example.org", Time{std::chrono::seconds{1'767'300'000}}, 0}};
  }
  /// How many commits of a branch have the key.
  int commits_with(const std::string& key, const std::string& branch = "main") const {
    return std::atoi(
        theirs_.bare("log --format=%B " + branch + " | grep -c '^Slipway-Promotion: " + key + "$' || true").c_str());
  }
  std::string prod(const std::string& branch = "main") const { return theirs_.show(branch, "prod/app.yaml") + "\n"; }

  git::TestRepository theirs_;
  git::TemporaryFolder data_;
  os::RealEnv real_{{.log_level = LogLevel::Error}};
  git::Repositories git_{real_.env(), real_.open_lane("mirrors"), {&real_.open_lane("git")}, {.folder = data_ / "git"}};
};

}  // namespace slipway::test
