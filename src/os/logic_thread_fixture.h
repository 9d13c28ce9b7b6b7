// For tests over a real Env: tasks run on its logic thread, to their end.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "os/real_env.h"

namespace slipway::os {

/// A test with things that use `real_` calls real_.shut() in its destructor, before they go.
class LogicThreadTest : public testing::Test {
 protected:
  template <class T>
  Result<T> run(Task<Result<T>> task) {
    std::optional<Result<T>> result;
    auto store = [](RealEnv& real, Task<Result<T>> inner, std::optional<Result<T>>& into) -> Task<> {
      into = co_await std::move(inner);
      real.stop();
    };
    Tasks tasks(real_.env());
    tasks.spawn(store(real_, std::move(task), result));
    real_.run();
    return std::move(*result);
  }
  /// EXPECTs a success.
  template <class T>
  T ok(Task<Result<T>> task) {
    auto result = run(std::move(task));
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : T{};
  }
  /// EXPECTs a failure.
  template <class T>
  Status fault(Task<Result<T>> task) {
    auto result = run(std::move(task));
    EXPECT_FALSE(result);
    return result ? Status{} : result.error();
  }

  RealEnv real_{{.log_level = LogLevel::Error}};
};

}  // namespace slipway::os
