// Promotions by commit and by branch in a real repository: done again after every crash, with others who push.
#include "promotion_fixture.h"

namespace slipway::test {
namespace {

using pipeline::GitPromoted;
using Outcome = GitPromoted::Outcome;

/// A Git whose operation number `strikes_at` fails, before it happens or after.
class StrikingGit : public Git {
 public:
  enum class When : bool { before, after };
  StrikingGit(Git& inner, int strikes_at, When when) : inner_(inner), strikes_at_(strikes_at), when_(when) {}
  int operations() const { return operations_; }

  Task<Result<GitRefs>> list_refs(GitRemote r, std::string p) override {
    return cross(inner_.list_refs(std::move(r), std::move(p)));
  }
  Task<Result<GitId>> fetch(GitRemote r, std::string ref) override { return cross(inner_.fetch(std::move(r), std::move(ref))); }
  Task<Result<std::map<std::string, GitId>>> fetch_all(GitRemote r, std::string p) override {
    return cross(inner_.fetch_all(std::move(r), std::move(p)));
  }
  Task<Result<void>> update_ref(GitRemote r, GitRefUpdate u) override {
    return cross(inner_.update_ref(std::move(r), std::move(u)));
  }
  Task<Result<std::vector<GitFile>>> read_tree(GitRemote r, GitId c, GitTreeQuery q) override {
    return cross(inner_.read_tree(std::move(r), std::move(c), std::move(q)));
  }
  Task<Result<GitId>> commit(GitRemote r, GitNewCommit c) override { return cross(inner_.commit(std::move(r), std::move(c))); }
  Task<Result<GitCommitChanges>> read_commit(GitRemote r, GitId id) override {
    return cross(inner_.read_commit(std::move(r), std::move(id)));
  }
  Task<Result<GitCommits>> walk(GitRemote r, GitWalk w) override { return cross(inner_.walk(std::move(r), std::move(w))); }
  Task<Result<bool>> is_ancestor(GitRemote r, GitId a, GitId d) override {
    return cross(inner_.is_ancestor(std::move(r), std::move(a), std::move(d)));
  }
  Task<Result<void>> forget(GitRemote r) override { return cross(inner_.forget(std::move(r))); }

 private:
  template <class T>
  Task<Result<T>> cross(Task<Result<T>> operation) {
    const bool strikes = operations_++ == strikes_at_;
    if (strikes && when_ == When::before) co_return fail(Reason::ServiceUnavailable, "struck");
    Result<T> answer = co_await std::move(operation);
    if (strikes) co_return fail(Reason::Timeout, "struck");
    co_return answer;
  }

  Git& inner_;
  int strikes_at_;
  When when_;
  int operations_ = 0;
};

class GitPromotionTest : public PromotionFixture {};

TEST_F(GitPromotionTest, a_promotion_commits_the_version_at_every_marker_and_nothing_else) {
  theirs_.commit(
      {{"prod/other.yml", "v: 'x' # {\"$promotion\": \"default:podinfo:prod\"}\n"}, {"dev/app.yaml", marked("1.0.0")}}, "more");
  auto wanted = promotion("6.3.0", "k1");
  wanted.path = "prod";
  const GitPromoted done = ok(promote_by_commit(git_, wanted));
  EXPECT_EQ(done.outcome, Outcome::Committed);
  EXPECT_TRUE(done.is_on_branch);
  EXPECT_EQ(done.fields.size(), 2U);
  EXPECT_EQ(theirs_.tip(), done.commit);
  EXPECT_EQ(theirs_.bare("show --format= --name-only main"), "prod/app.yaml\nprod/other.yml");
  EXPECT_EQ(prod(), marked("6.3.0"));
  EXPECT_EQ(theirs_.bare("log -1 --format=%B main"), wanted.text.message().substr(0, wanted.text.message().size() - 1));
}

TEST_F(GitPromotionTest, the_same_key_is_done_once) {
  const GitPromoted first = ok(promote_by_commit(git_, promotion("6.3.0", "k1")));
  theirs_.commit({{"prod/app.yaml", marked("6.2.0")}}, "somebody reverts");
  const GitPromoted second = ok(promote_by_commit(git_, promotion("6.3.0", "k1")));
  EXPECT_EQ(second.outcome, Outcome::Found);
  EXPECT_EQ(second.commit, first.commit);
  EXPECT_EQ(prod(), marked("6.2.0"));
}

TEST_F(GitPromotionTest, a_version_that_is_there_needs_no_commit) {
  const GitPromoted done = ok(promote_by_commit(git_, promotion("6.2.0", "k1")));
  EXPECT_EQ(done.outcome, Outcome::AlreadySet);
  EXPECT_EQ(done.commit, theirs_.tip());
  EXPECT_EQ(ok(promote_by_branch(git_, promotion("6.2.0", "k1"), "promotion")).outcome, Outcome::AlreadySet);
  EXPECT_EQ(theirs_.bare("for-each-ref --format='%(refname)'"), "refs/heads/main");
}

TEST_F(GitPromotionTest, without_a_marker_or_with_one_that_cannot_be_set_nothing_is_pushed) {
  auto other = promotion("6.3.0", "k1");
  other.text.marker.environment = "staging";
  Status status = fault(promote_by_commit(git_, other));
  EXPECT_EQ(status.reason, Reason::Invalid);
  EXPECT_EQ(
      status.message,
      "promote podinfo 6.3.0 to staging on main: no field carries the comment # {\"$promotion\": \"default:podinfo:staging\"}");
  const GitId tip = theirs_.commit({{"prod/bad.yaml", "a: [1 # {\"$promotion\": \"default:podinfo:prod\"}\n"}}, "bad");
  status = fault(promote_by_commit(git_, promotion("6.3.0", "k1")));
  EXPECT_EQ(status.reason, Reason::Invalid);
  EXPECT_TRUE(status.message.contains("prod/bad.yaml: yaml: line ")) << status.message;
  EXPECT_EQ(theirs_.tip(), tip);
}

/// Whatever step a crash or a lost answer strikes, the next call ends with one commit of the key.
TEST_F(GitPromotionTest, every_step_may_be_struck_and_is_done_once) {
  const auto count = [&](StrikingGit::When when, bool by_branch) {
    int number = 0;
    for (int at = 0;; ++at) {
      const std::string key = (by_branch ? "b" : "c") + std::to_string(at) + (when == StrikingGit::When::before ? "x" : "y");
      const std::string branch = by_branch ? "p-" + key : "main";
      StrikingGit striking(git_, at, when);
      const auto wanted = promotion("7.0." + key, key);
      const auto struck = run(by_branch ? promote_by_branch(striking, wanted, branch) : promote_by_commit(striking, wanted));
      if (!struck) ok(by_branch ? promote_by_branch(git_, wanted, branch) : promote_by_commit(git_, wanted));
      EXPECT_EQ(commits_with(key, branch), 1) << key;
      EXPECT_EQ(prod(branch), marked("7.0." + key));
      ++number;
      if (striking.operations() <= at) return number;
    }
  };
  for (const auto when : {StrikingGit::When::before, StrikingGit::When::after}) {
    EXPECT_GE(count(when, false), 5);
    EXPECT_GE(count(when, true), 6);
  }
}

TEST_F(GitPromotionTest, whoever_pushes_in_between_is_followed) {
  class Interrupted : public StrikingGit {
   public:
    Interrupted(Git& inner, git::TestRepository& theirs, int times)
        : StrikingGit(inner, -1, When::before), theirs_(theirs), times_(times) {}
    Task<Result<void>> update_ref(GitRemote remote, GitRefUpdate update) override {
      if (times_-- > 0) theirs_.commit({{"others", std::to_string(times_)}}, "others");
      return StrikingGit::update_ref(std::move(remote), std::move(update));
    }

   private:
    git::TestRepository& theirs_;
    int times_;
  };
  Interrupted twice(git_, theirs_, 2);
  EXPECT_EQ(ok(promote_by_commit(twice, promotion("6.3.0", "k1"))).outcome, Outcome::Committed);
  EXPECT_EQ(theirs_.show("main", "others"), "0");
  EXPECT_EQ(prod(), marked("6.3.0"));
  Interrupted always(git_, theirs_, 100);
  const Status status = fault(promote_by_commit(always, promotion("6.4.0", "k2")));
  EXPECT_EQ(status.reason, Reason::Conflict);
  EXPECT_EQ(status.message, "promote podinfo 6.4.0 to prod on main: others pushed first 5 times");
  EXPECT_EQ(commits_with("k2"), 0);
}

TEST_F(GitPromotionTest, a_branch_of_its_own_holds_the_change_until_it_is_merged) {
  const GitPromoted done = ok(promote_by_branch(git_, promotion("6.3.0", "k1"), "promotion"));
  EXPECT_EQ(done.outcome, Outcome::Committed);
  EXPECT_FALSE(done.is_on_branch);
  EXPECT_EQ(prod(), kMarked);
  EXPECT_EQ(prod("promotion"), marked("6.3.0"));
  EXPECT_EQ(ok(promote_by_branch(git_, promotion("6.3.0", "k1"), "promotion")).outcome, Outcome::Found);
  theirs_.git("fetch -q origin");
  theirs_.git("checkout -q main");
  theirs_.git("merge -q --no-ff -m merge origin/promotion");
  theirs_.git("push -q origin main");
  const GitPromoted arrived = ok(promote_by_branch(git_, promotion("6.3.0", "k1"), "promotion"));
  EXPECT_EQ(arrived.outcome, Outcome::Found);
  EXPECT_TRUE(arrived.is_on_branch);
  EXPECT_EQ(arrived.commit, done.commit);
  // The next one starts where the deployed branch is, on the same branch, without force.
  theirs_.commit({{"others", "1"}}, "others");
  EXPECT_EQ(ok(promote_by_branch(git_, promotion("6.4.0", "k2"), "promotion")).outcome, Outcome::Committed);
  EXPECT_EQ(theirs_.bare("rev-list --count main..promotion"), "1");
}

TEST_F(GitPromotionTest, a_newer_promotion_follows_an_unmerged_one_as_a_merge_of_the_deployed_branch) {
  ok(promote_by_branch(git_, promotion("6.3.0", "k1"), "promotion"));
  theirs_.commit({{"others", "1"}}, "others");
  ok(promote_by_branch(git_, promotion("6.4.0", "k2"), "promotion"));
  EXPECT_EQ(prod("promotion"), marked("6.4.0"));
  EXPECT_EQ(theirs_.show("promotion", "others"), "1");
  EXPECT_EQ(theirs_.bare("diff --name-only main...promotion"), "prod/app.yaml");
  EXPECT_EQ(theirs_.bare("fsck --full --strict --no-dangling"), "");
}

TEST_F(GitPromotionTest, what_people_commit_to_the_branch_stays_and_is_told) {
  ok(promote_by_branch(git_, promotion("6.3.0", "k1"), "promotion"));
  const GitId theirs = theirs_.commit({{"prod/tuning.yaml", "x: 1\n"}}, "tune it", "promotion");
  EXPECT_EQ(ok(promote_by_branch(git_, promotion("6.3.0", "k1"), "promotion")).foreign_ids, std::vector<GitId>{theirs});
  const GitPromoted next = ok(promote_by_branch(git_, promotion("6.4.0", "k2"), "promotion"));
  EXPECT_EQ(next.foreign_ids, std::vector<GitId>{theirs});
  EXPECT_EQ(theirs_.show("promotion", "prod/tuning.yaml"), "x: 1");
  EXPECT_EQ(prod("promotion"), marked("6.4.0"));
}

}  // namespace
}  // namespace slipway::test
