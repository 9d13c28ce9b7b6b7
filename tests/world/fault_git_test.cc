// The simulated controllers' way to git: two points per operation, a real repository behind them.
#include "sim/fault_git.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "git/repositories.h"
#include "git/test_repository.h"
#include "sim/world.h"

namespace slipway::sim {
namespace {

/// Lets everything pass but the point that a test names.
class OneStop : public Gate {
 public:
  bool pass(Moment moment, std::string_view what, bool is_write) override {
    points.push_back(std::string(moment == Moment::BeforeSend ? "before " : "after ") + std::string(what) +
                     (is_write ? " (write)" : ""));
    return points.size() != stop_at;
  }
  std::vector<std::string> points;
  std::size_t stop_at = 0;  // from 1
};

class FaultGitTest : public testing::Test {
 protected:
  void TearDown() override { env_.drop_all(); }

  /// fetch, commit, push.
  Task<Result<GitId>> change(std::string content) {
    SLIPWAY_CO_TRY(base, co_await git_.fetch(remote_, "refs/heads/main"));
    GitNewCommit wanted{.parents = {base}, .changes = {{"a", std::move(content)}}, .message = "change\n"};
    wanted.author = {"Slipway", "slipway@example.org"};
    SLIPWAY_CO_TRY(made, co_await git_.commit(remote_, std::move(wanted)));
    SLIPWAY_CO_TRY_VOID(co_await git_.update_ref(remote_, {"refs/heads/main", base, made}));
    co_return made;
  }

  git::TestRepository theirs_;
  git::TemporaryFolder data_;
  ManualEnv env_;
  InlineLane lane_{env_.queue()};
  OneStop gate_;
  FaultGit git_{std::make_unique<git::Repositories>(env_, std::vector<Lane*>{&lane_}, std::vector<Lane*>{&lane_},
                                                    git::RepositoriesOptions{.folder = data_ / "git"}),
                gate_};
  GitRemote remote_{.url = theirs_.path(), .space = "team"};
};

TEST_F(FaultGitTest, each_operation_has_two_points) {
  const auto made = env_.run(change("1"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(theirs_.tip(), *made);
  EXPECT_EQ(gate_.points,
            (std::vector<std::string>{"before GIT fetch refs/heads/main", "after GIT fetch refs/heads/main",
                                      "before GIT commit (write)", "after GIT commit (write)",
                                      "before GIT push refs/heads/main (write)", "after GIT push refs/heads/main (write)"}));
}

TEST_F(FaultGitTest, before_nothing_happens_and_after_it_has_happened) {
  const std::string base = theirs_.tip();
  gate_.stop_at = 5;
  EXPECT_EQ(env_.run(change("1")).error().reason, Reason::ServiceUnavailable);
  EXPECT_EQ(theirs_.tip(), base);
  gate_.points.clear();
  gate_.stop_at = 6;
  EXPECT_EQ(env_.run(change("1")).error().reason, Reason::Timeout);
  EXPECT_EQ(theirs_.show("main", "a"), "1");
}

TEST(WorldGit, a_world_gives_its_server_and_its_controllers_the_git_of_the_test_for_each_process_anew) {
  const git::TemporaryFolder data;
  int made = 0;
  WorldOptions options;
  options.git = [&](Env& env) {
    ++made;
    return std::make_unique<git::Repositories>(env, std::vector<Lane*>{&env.compute}, std::vector<Lane*>{&env.compute},
                                               git::RepositoriesOptions{.folder = data / "git"});
  };
  World world(options);
  world.start();
  EXPECT_EQ(made, 2);
  world.inject(FaultKind::CrashControllers);
  world.run_until_quiet(std::chrono::seconds{5});
  EXPECT_EQ(made, 3);
  world.inject(FaultKind::CrashBoth);
  world.run_until_quiet(std::chrono::seconds{5});
  EXPECT_EQ(made, 5);
}

}  // namespace
}  // namespace slipway::sim
