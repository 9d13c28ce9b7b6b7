// Against real bare repositories that the git program makes, reads and checks.
#include "git/repositories.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "git/test_repository.h"

namespace slipway::git {
namespace {

constexpr const char* kMain = "refs/heads/main";

class RepositoriesTest : public testing::Test {
 protected:
  void TearDown() override { env_.drop_all(); }

  template <class T>
  T ok(Task<Result<T>> task) {
    auto result = env_.run(std::move(task));
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : T{};
  }
  void fine(Task<Result<void>> task) {
    const auto result = env_.run(std::move(task));
    EXPECT_TRUE(result) << result.error().message;
  }
  template <class T>
  Status fault(Task<Result<T>> task) {
    auto result = env_.run(std::move(task));
    EXPECT_FALSE(result);
    return result ? Status{} : result.error();
  }

  GitId commit(std::vector<GitId> parents, std::vector<GitChange> changes, std::string message = "change\n") {
    GitNewCommit wanted{.parents = std::move(parents), .changes = std::move(changes), .message = std::move(message)};
    wanted.author = {"Slipway", "slipway@example.org", Time{std::chrono::seconds{1'767'300'000}}, 60};
    return ok(git_.commit(remote_, std::move(wanted)));
  }
  Status commit_fault(std::vector<GitId> parents, std::vector<GitChange> changes) {
    GitNewCommit wanted{.parents = std::move(parents), .changes = std::move(changes), .message = "m"};
    wanted.author = {"Slipway", "slipway@example.org"};
    return fault(git_.commit(remote_, std::move(wanted)));
  }
  std::vector<std::string> paths(const GitId& id, GitTreeQuery query = {}) {
    std::vector<std::string> names;
    for (const GitFile& file : ok(git_.read_tree(remote_, id, std::move(query)))) names.push_back(file.path);
    return names;
  }
  GitRefUpdate update(std::string ref, std::optional<GitId> expected, std::optional<GitId> target) {
    return {std::move(ref), std::move(expected), std::move(target)};
  }

  TestRepository theirs_;
  TemporaryFolder data_;
  ManualEnv env_;
  InlineLane lane_{env_.queue()};
  Repositories git_{env_, {&lane_}, {&lane_}, {.folder = data_ / "git"}};
  GitRemote remote_{.url = theirs_.path(), .space = "team"};
};

TEST_F(RepositoriesTest, lists_references_and_what_head_points_at) {
  const GitId tip = theirs_.commit({{"a", "1"}}, "one");
  theirs_.git("tag -a -m t v1");
  theirs_.git("push -q origin v1");
  const GitRefs all = ok(git_.list_refs(remote_, ""));
  EXPECT_EQ(all.head, kMain);
  ASSERT_EQ(all.refs.size(), 2U);
  EXPECT_EQ(all.refs[0], (GitRef{kMain, tip}));
  EXPECT_EQ(all.refs[1].name, "refs/tags/v1");
  EXPECT_EQ(ok(git_.list_refs(remote_, "refs/tags/")).refs.size(), 1U);
}

TEST_F(RepositoriesTest, fetches_a_branch_and_reads_its_files) {
  theirs_.commit({{"a.yaml", "a: 1\n"}, {"d/b.yaml", "b: 1\r\n"}, {"d/c.txt", std::string("\0bin", 4)}}, "one");
  const GitId tip = ok(git_.fetch(remote_, kMain));
  EXPECT_EQ(tip, theirs_.tip());
  const auto files = ok(git_.read_tree(remote_, tip, {}));
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].content, "a: 1\n");
  EXPECT_EQ(files[1].content, "b: 1\r\n");
  EXPECT_EQ(files[2].content, std::string("\0bin", 4));
  EXPECT_EQ(paths(tip, {.path = "d"}), (std::vector<std::string>{"d/b.yaml", "d/c.txt"}));
  const auto yaml = ok(git_.read_tree(remote_, tip, {.path = "d", .suffixes = {".yaml"}}));
  EXPECT_TRUE(yaml[0].content);
  EXPECT_FALSE(yaml[1].content);
  EXPECT_EQ(ok(git_.read_tree(remote_, tip, {.path = "a.yaml"}))[0].content, "a: 1\n");
  EXPECT_EQ(fault(git_.read_tree(remote_, tip, {.path = "nowhere"})).reason, Reason::NotFound);
  EXPECT_EQ(fault(git_.read_tree(remote_, tip, {.path = "../etc"})).reason, Reason::BadRequest);
}

TEST_F(RepositoriesTest, fetches_again_what_has_come_since) {
  theirs_.commit({{"a", "1"}}, "one");
  ok(git_.fetch(remote_, kMain));
  const GitId two = theirs_.commit({{"a", "2"}}, "two");
  EXPECT_EQ(ok(git_.fetch(remote_, kMain)), two);
  EXPECT_EQ(ok(git_.read_tree(remote_, two, {}))[0].content, "2");
}

TEST_F(RepositoriesTest, bounds_are_kept_and_named) {
  const GitId tip = theirs_.commit({{"a", "12345"}, {"b", "123"}, {"c", "1"}}, "one");
  ok(git_.fetch(remote_, kMain));
  EXPECT_FALSE(ok(git_.read_tree(remote_, tip, {.max_file_bytes = 4}))[0].content);
  const Status large = fault(git_.read_tree(remote_, tip, {.large = GitTreeQuery::Large::refuse, .max_file_bytes = 4}));
  EXPECT_EQ(large.message, "git: file a has 5 bytes, over 4 (max_file_bytes)");
  EXPECT_EQ(large.reason, Reason::RequestEntityTooLarge);
  EXPECT_EQ(fault(git_.read_tree(remote_, tip, {.max_total_bytes = 8})).message,
            "git: the files have more than 8 bytes (max_total_bytes)");
  const auto some = ok(git_.read_tree(remote_, tip, {.containing = "23", .max_total_bytes = 8}));
  EXPECT_TRUE(some[0].content && some[1].content && !some[2].content);
  EXPECT_EQ(fault(git_.read_tree(remote_, tip, {.max_files = 2})).message, "git: more than 2 files (max_files)");
}

TEST_F(RepositoriesTest, commits_without_a_checkout_and_the_git_program_agrees) {
  theirs_.commit({{"keep", "k"}, {"d/gone", "g"}, {"d/e/change", "1"}, {"x/only", "o"}}, "one");
  theirs_.git("update-index --chmod=+x keep");
  theirs_.git("commit -q -m mode");
  theirs_.git("push -q origin main");
  const GitId base = ok(git_.fetch(remote_, kMain));
  const GitId made = commit({base},
                            {{"d/e/change", "2"},
                             {"d/gone", std::nullopt},
                             {"x", std::nullopt},
                             {"new/file", "n"},
                             {"keep", "kk"},
                             {"absent/file", std::nullopt}},
                            "subject\n\nSlipway-Promotion: k1\n");
  fine(git_.update_ref(remote_, update(kMain, base, made)));
  EXPECT_EQ(theirs_.tip(), made);
  EXPECT_EQ(theirs_.bare("fsck --full --strict --no-dangling"), "");
  EXPECT_EQ(theirs_.bare("ls-tree -r --name-only main"), "d/e/change\nkeep\nnew/file");
  EXPECT_EQ(theirs_.bare("ls-tree main keep").substr(0, 6), "100755");
  EXPECT_EQ(theirs_.show("main", "d/e/change"), "2");
  EXPECT_EQ(theirs_.bare("log -1 --format=%an,%ae,%ad,%cn --date=raw main"),
            "Slipway,slipway@example.org,1767300000 +0100,Slipway");
  EXPECT_EQ(theirs_.bare("log -1 --format='%(trailers:key=Slipway-Promotion,valueonly)' main"), "k1");
  const auto changes = ok(git_.read_commit(remote_, made));
  EXPECT_EQ(changes.paths, (std::vector<std::string>{"d/e/change", "d/gone", "keep", "new/file", "x/only"}));
  EXPECT_EQ(changes.commit.parents, std::vector<GitId>{base});
  EXPECT_EQ(changes.commit.author.utc_offset_minutes, 60);
}

TEST_F(RepositoriesTest, the_same_input_gives_the_same_commit) {
  const GitId base = ok(git_.fetch(remote_, kMain));
  EXPECT_EQ(commit({base}, {{"a", "1"}}), commit({base}, {{"a", "1"}}));
}

TEST_F(RepositoriesTest, paths_that_escape_or_clash_make_no_commit) {
  theirs_.commit({{"file", "1"}, {"folder/x", "1"}}, "one");
  const GitId base = ok(git_.fetch(remote_, kMain));
  for (const char* path : {"../x", "/x", ".git/hooks/post-update", "a/../x", "file/below", "folder", ""}) {
    EXPECT_EQ(commit_fault({base}, {{path, "x"}}).reason, Reason::BadRequest) << path;
  }
  EXPECT_EQ(commit_fault({base}, {{"a", "1"}, {"a", "2"}}).reason, Reason::BadRequest);
  EXPECT_EQ(commit_fault({base}, {{"a", "1"}, {"a/b", "2"}}).reason, Reason::BadRequest);
  EXPECT_EQ(commit_fault({"0123456789abcdef0123456789abcdef01234567"}, {{"a", "1"}}).reason, Reason::NotFound);
}

TEST_F(RepositoriesTest, a_file_may_become_a_folder_when_it_is_removed_too) {
  theirs_.commit({{"a", "1"}}, "one");
  const GitId made = commit({ok(git_.fetch(remote_, kMain))}, {{"a", std::nullopt}, {"a/b", "2"}});
  EXPECT_EQ(paths(made), std::vector<std::string>{"a/b"});
}

TEST_F(RepositoriesTest, a_first_commit_fills_an_empty_repository) {
  git_program(theirs_.folder().path(), "init -q --bare empty.git");
  remote_.url = theirs_.folder() / "empty.git";
  EXPECT_EQ(fault(git_.fetch(remote_, kMain)).reason, Reason::NotFound);
  const GitId made = commit({}, {{"a", "1"}});
  fine(git_.update_ref(remote_, update(kMain, std::nullopt, made)));
  EXPECT_EQ(git_program(remote_.url, "rev-parse main"), made);
}

TEST_F(RepositoriesTest, a_push_onto_a_moved_branch_is_a_conflict_and_changes_nothing) {
  const GitId base = ok(git_.fetch(remote_, kMain));
  const GitId ours = commit({base}, {{"a", "ours"}});
  const GitId faster = theirs_.commit({{"a", "theirs"}}, "theirs");
  const Status status = fault(git_.update_ref(remote_, update(kMain, base, ours)));
  EXPECT_EQ(status.reason, Reason::Conflict);
  EXPECT_EQ(status.message, "git: push refs/heads/main to " + theirs_.path() + ": it is " + faster + ", not " + base +
                                ": somebody else was faster");
  EXPECT_EQ(theirs_.tip(), faster);
}

TEST_F(RepositoriesTest, nothing_is_ever_forced) {
  const GitId one = theirs_.commit({{"a", "1"}}, "one");
  ok(git_.fetch(remote_, kMain));
  const GitId unrelated = commit({}, {{"b", "1"}});
  const Status status = fault(git_.update_ref(remote_, update(kMain, one, unrelated)));
  EXPECT_EQ(status.reason, Reason::BadRequest);
  EXPECT_TRUE(status.message.ends_with("pushes are never forced")) << status.message;
  EXPECT_EQ(theirs_.tip(), one);
}

TEST_F(RepositoriesTest, branches_and_tags_are_created_only_where_none_is_and_deleted_only_where_seen) {
  const GitId one = theirs_.commit({{"a", "1"}}, "one");
  ok(git_.fetch(remote_, kMain));
  fine(git_.update_ref(remote_, update("refs/tags/pkg/v1", std::nullopt, one)));
  EXPECT_EQ(theirs_.tip("refs/tags/pkg/v1"), one);
  const GitId two = commit({one}, {{"a", "2"}});
  EXPECT_EQ(fault(git_.update_ref(remote_, update("refs/tags/pkg/v1", std::nullopt, two))).reason, Reason::Conflict);
  EXPECT_EQ(fault(git_.update_ref(remote_, update("refs/tags/pkg/v1", two, std::nullopt))).reason, Reason::Conflict);
  EXPECT_EQ(theirs_.tip("refs/tags/pkg/v1"), one);
  fine(git_.update_ref(remote_, update("refs/heads/drafts/pkg/ws", std::nullopt, two)));
  fine(git_.update_ref(remote_, update("refs/heads/drafts/pkg/ws", two, std::nullopt)));
  EXPECT_EQ(fault(git_.update_ref(remote_, update("refs/heads/drafts/pkg/ws", two, std::nullopt))).reason, Reason::Conflict);
  EXPECT_EQ(fault(git_.update_ref(remote_, update("refs/heads/main/below", std::nullopt, two))).reason, Reason::Conflict);
  theirs_.bare("pack-refs --all");
  EXPECT_EQ(fault(git_.update_ref(remote_, update("refs/tags/pkg", std::nullopt, two))).reason, Reason::Conflict);
  EXPECT_EQ(ok(git_.list_refs(remote_, "")).refs.size(), 2U);
}

TEST_F(RepositoriesTest, a_checked_out_branch_of_a_local_repository_is_left_alone) {
  theirs_.commit({{"a", "1"}}, "one");
  remote_.url = theirs_.folder() / "work";
  const GitId base = ok(git_.fetch(remote_, kMain));
  const GitId made = commit({base}, {{"a", "2"}});
  EXPECT_EQ(fault(git_.update_ref(remote_, update(kMain, base, made))).reason, Reason::Forbidden);
}

TEST_F(RepositoriesTest, a_writer_that_holds_the_lock_makes_a_conflict) {
  const GitId base = ok(git_.fetch(remote_, kMain));
  const GitId made = commit({base}, {{"a", "2"}});
  std::ofstream(theirs_.path() + "/refs/heads/main.lock") << "";
  EXPECT_EQ(fault(git_.update_ref(remote_, update(kMain, base, made))).reason, Reason::Conflict);
  std::filesystem::remove(theirs_.path() + "/refs/heads/main.lock");
  fine(git_.update_ref(remote_, update(kMain, base, made)));
}

TEST_F(RepositoriesTest, finds_commits_by_a_line_of_their_message) {
  theirs_.commit({{"a", "1"}}, "promote app 1 to prod\n\nSlipway-Promotion: k1\nSlipway-Version: 1\n");
  const GitId squashed = theirs_.commit({{"a", "2"}}, "merge (#3)\n\n* promote app\n\nSlipway-Promotion: k2\n\nmore text\n");
  theirs_.commit({{"a", "3"}}, "Slipway-Promotion: k3\n\nthe subject is no trailer\n");
  const GitId tip = ok(git_.fetch(remote_, kMain));
  const auto found = ok(git_.walk(remote_, {.tip = tip, .trailer_key = "Slipway-Promotion", .trailer_value = "k2"}));
  ASSERT_EQ(found.commits.size(), 1U);
  EXPECT_EQ(found.commits[0].id, squashed);
  EXPECT_TRUE(found.is_complete);
  EXPECT_EQ(ok(git_.walk(remote_, {.tip = tip, .trailer_key = "Slipway-Promotion"})).commits.size(), 2U);
  EXPECT_TRUE(ok(git_.walk(remote_, {.tip = tip, .trailer_key = "Slipway-Promotion", .trailer_value = "k3"})).commits.empty());
  EXPECT_FALSE(ok(git_.walk(remote_, {.tip = tip, .max_commits = 2})).is_complete);
}

TEST_F(RepositoriesTest, walks_the_history_of_a_path_since_a_commit) {
  const GitId one = theirs_.commit({{"d/a", "1"}, {"b", "1"}}, "one");
  const GitId two = theirs_.commit({{"b", "2"}}, "two");
  const GitId three = theirs_.commit({{"d/a", "2"}}, "three");
  const GitId tip = ok(git_.fetch(remote_, kMain));
  const auto ids = [&](GitWalk walk) {
    std::vector<GitId> found;
    for (const GitCommit& commit : ok(git_.walk(remote_, std::move(walk))).commits) found.push_back(commit.id);
    return found;
  };
  EXPECT_EQ(ids({.tip = tip, .path = "d"}), (std::vector<GitId>{three, one}));
  EXPECT_EQ(ids({.tip = tip, .path = "b"}), (std::vector<GitId>{two, one}));
  EXPECT_EQ(ids({.tip = tip, .base = one}), (std::vector<GitId>{three, two}));
  EXPECT_TRUE(ok(git_.is_ancestor(remote_, one, three)));
  EXPECT_TRUE(ok(git_.is_ancestor(remote_, one, one)));
  EXPECT_FALSE(ok(git_.is_ancestor(remote_, three, one)));
}

TEST_F(RepositoriesTest, fetches_all_references_of_a_prefix_at_once) {
  const GitId one = theirs_.commit({{"a", "1"}}, "one");
  theirs_.git("push -q origin HEAD:drafts/a HEAD:drafts/b");
  const auto found = ok(git_.fetch_all(remote_, "refs/heads/drafts/"));
  EXPECT_EQ(found, (std::map<std::string, GitId>{{"refs/heads/drafts/a", one}, {"refs/heads/drafts/b", one}}));
  EXPECT_TRUE(ok(git_.fetch_all(remote_, "refs/tags/")).empty());
}

TEST_F(RepositoriesTest, absent_things_are_not_found_and_named) {
  EXPECT_EQ(fault(git_.read_tree(remote_, "0123456789abcdef0123456789abcdef01234567", {})).message,
            "git: nothing was fetched from " + theirs_.path() + " yet");
  EXPECT_EQ(fault(git_.fetch(remote_, "refs/heads/nobody")).message, "git: " + theirs_.path() + " has no refs/heads/nobody");
  remote_.url = "/nonexistent/repository.git";
  const Status status = fault(git_.fetch(remote_, kMain));
  EXPECT_EQ(status.reason, Reason::NotFound);
  EXPECT_EQ(status.message, "git: no repository at /nonexistent/repository.git");
  remote_.url = data_.path();
  EXPECT_EQ(fault(git_.list_refs(remote_, "")).reason, Reason::NotFound);
}

TEST_F(RepositoriesTest, spaces_do_not_see_each_others_objects) {
  const GitId tip = ok(git_.fetch(remote_, kMain));
  remote_.space = "others";
  EXPECT_EQ(fault(git_.read_tree(remote_, tip, {})).reason, Reason::NotFound);
}

TEST_F(RepositoriesTest, local_repositories_can_be_switched_off) {
  Repositories strict(env_, {&lane_}, {&lane_}, {.folder = data_ / "strict", .local_remotes = LocalRemotes::refuse});
  const Status refused = fault(strict.list_refs(remote_, ""));
  EXPECT_EQ(refused.reason, Reason::Forbidden);
  EXPECT_TRUE(refused.message.contains("--allow-local-git")) << refused.message;
}

TEST_F(RepositoriesTest, a_broken_mirror_is_made_again) {
  ok(git_.fetch(remote_, kMain));
  for (const auto& entry : std::filesystem::directory_iterator(data_ / "git")) {
    std::filesystem::remove(entry.path() / "HEAD");
    std::filesystem::remove_all(entry.path() / "objects");
  }
  EXPECT_EQ(ok(git_.fetch(remote_, kMain)), theirs_.tip());
  fine(git_.forget(remote_));
  EXPECT_TRUE(std::filesystem::is_empty(data_ / "git"));
}

/// A process that dies after copying objects and before setting the reference leaves objects that nothing refers to.
TEST_F(RepositoriesTest, what_a_dead_writer_left_does_no_harm) {
  const GitId base = ok(git_.fetch(remote_, kMain));
  const GitId made = commit({base}, {{"a", "2"}});
  fine(git_.update_ref(remote_, update("refs/heads/tmp", std::nullopt, made)));
  theirs_.bare("update-ref -d refs/heads/tmp");
  fine(git_.update_ref(remote_, update(kMain, base, made)));
  EXPECT_EQ(theirs_.tip(), made);
  EXPECT_EQ(theirs_.bare("fsck --full --no-dangling"), "");
}

TEST_F(RepositoriesTest, a_lock_that_a_dead_process_left_in_the_mirror_holds_nobody_up) {
  ok(git_.fetch(remote_, kMain));
  for (const auto& entry : std::filesystem::directory_iterator(data_ / "git")) {
    std::ofstream(entry.path() / "refs/heads/main.lock") << "";
    std::filesystem::create_directories(entry.path() / "refs/slipway");
    std::ofstream(entry.path() / "refs/slipway/pushed.lock") << "";
  }
  const GitId tip = theirs_.commit({{"a", "1"}}, "one");
  EXPECT_EQ(ok(git_.fetch(remote_, kMain)), tip);
}

TEST_F(RepositoriesTest, hooks_of_a_repository_are_not_run_by_us) {
  const GitId base = ok(git_.fetch(remote_, kMain));
  for (const char* hook : {"update", "post-update", "reference-transaction", "pre-receive"}) {
    const std::string file = theirs_.path() + "/hooks/" + hook;
    std::filesystem::create_directories(theirs_.path() + "/hooks");
    std::ofstream(file) << "#!/bin/sh\ntouch " << (data_ / "ran") << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::all);
  }
  fine(git_.update_ref(remote_, update(kMain, base, commit({base}, {{"a", "2"}}))));
  EXPECT_FALSE(std::filesystem::exists(data_ / "ran"));
}

/// A lane whose work waits until the test runs it.
class HeldLane : public Lane {
 public:
  explicit HeldLane(RunQueue& queue) : queue_(queue) {}
  void submit(std::move_only_function<void()> work, std::move_only_function<void()> done) override {
    work_ = std::move(work);
    done_ = std::move(done);
  }
  bool has_work() const { return static_cast<bool>(work_); }
  void run() {
    std::exchange(work_, {})();
    queue_.post(std::exchange(done_, {}));
  }

 private:
  RunQueue& queue_;
  std::move_only_function<void()> work_;
  std::move_only_function<void()> done_;
};

TEST_F(RepositoriesTest, the_next_lane_is_the_tenants_that_has_the_fewest_operations_under_way) {
  HeldLane one(env_.queue());
  HeldLane two(env_.queue());
  Repositories git(env_, {&lane_}, {&one, &two}, {.folder = data_ / "fair"});
  std::vector<std::string> ended;
  Tasks tasks(env_);
  const auto list = [&](std::string space) -> Task<> {
    GitRemote remote = remote_;
    remote.space = space;
    EXPECT_TRUE((co_await git.list_refs(remote, "")).has_value());
    ended.push_back(space);
  };
  for (const char* space : {"a1", "a1", "a1", "a1", "b"}) tasks.spawn(list(space));
  env_.run_until_idle();
  // Operations of one mirror come one after the other, so the busy tenant has one lane here, and the other is free.
  EXPECT_TRUE(one.has_work() && two.has_work());
  two.run();
  env_.run_until_idle();
  EXPECT_EQ(ended, std::vector<std::string>{"b"});
  for (int i = 0; i < 4; ++i) {
    (one.has_work() ? one : two).run();
    env_.run_until_idle();
  }
  EXPECT_EQ(ended.size(), 5U);
}

TEST_F(RepositoriesTest, a_tenant_that_asks_much_does_not_hold_up_another) {
  HeldLane one(env_.queue());
  Repositories git(env_, {&lane_}, {&one}, {.folder = data_ / "fair"});
  std::vector<std::string> ended;
  Tasks tasks(env_);
  // Each with a mirror of its own, so that all of them want the lane.
  const auto list = [&](std::string space, std::string url) -> Task<> {
    GitRemote remote{.url = url, .space = space};
    static_cast<void>(co_await git.list_refs(remote, ""));
    ended.push_back(space);
  };
  for (int i = 0; i < 5; ++i) tasks.spawn(list("busy", theirs_.path() + std::string(static_cast<std::size_t>(i), '/')));
  tasks.spawn(list("other", theirs_.path()));
  for (int i = 0; i < 2; ++i) {
    env_.run_until_idle();
    ASSERT_TRUE(one.has_work());
    one.run();
  }
  env_.run_until_idle();
  EXPECT_EQ(ended, (std::vector<std::string>{"busy", "other"}));
  for (int i = 0; i < 4; ++i) {
    one.run();
    env_.run_until_idle();
  }
}

TEST_F(RepositoriesTest, an_operation_that_gets_no_lane_in_time_says_so) {
  HeldLane one(env_.queue());
  Repositories git(env_, {&lane_}, {&one}, {.folder = data_ / "fair"});
  Tasks tasks(env_);
  tasks.spawn([](Repositories& git, GitRemote remote) -> Task<> { static_cast<void>(co_await git.list_refs(remote, "")); }(
                                                          git, remote_));
  env_.run_until_idle();
  GitRemote other = remote_;
  other.space = "other";
  other.timeout = std::chrono::seconds{5};
  Status status;
  tasks.spawn([](Repositories& git, GitRemote remote, Status& into) -> Task<> {
    into = (co_await git.list_refs(remote, "")).error();
  }(git, other, status));
  env_.advance(std::chrono::seconds{6});
  EXPECT_EQ(status.reason, Reason::Timeout) << status.message;
  EXPECT_TRUE(status.message.contains("no turn within the time-out")) << status.message;
  one.run();
  env_.run_until_idle();
}

TEST_F(RepositoriesTest, after_a_stop_no_remote_is_asked) {
  git_.stop();
  EXPECT_EQ(fault(git_.list_refs(remote_, "")).reason, Reason::ServiceUnavailable);
}

}  // namespace
}  // namespace slipway::git
