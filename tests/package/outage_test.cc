// A repository that cannot be written for a while: what was decided is told as not pushed, and is pushed once it can be.
#include <fmt/format.h>

#include <filesystem>

#include "delivery/package/why.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

/// Reads and commits, and refuses to change references of the remote.
class ReadOnlyGit : public Git {
 public:
  explicit ReadOnlyGit(Git& inner) : inner_(inner) {}

  Task<Result<GitRefs>> list_refs(GitRemote remote, std::string prefix) override {
    return inner_.list_refs(std::move(remote), std::move(prefix));
  }
  Task<Result<GitId>> fetch(GitRemote remote, std::string ref) override {
    return inner_.fetch(std::move(remote), std::move(ref));
  }
  Task<Result<std::map<std::string, GitId>>> fetch_all(GitRemote remote, std::string prefix) override {
    return inner_.fetch_all(std::move(remote), std::move(prefix));
  }
  Task<Result<void>> update_ref(GitRemote, GitRefUpdate) override {
    co_return fail(Reason::Forbidden, "git: the token may not push");
  }
  Task<Result<std::vector<GitFile>>> read_tree(GitRemote remote, GitId commit, GitTreeQuery query) override {
    return inner_.read_tree(std::move(remote), std::move(commit), std::move(query));
  }
  Task<Result<GitId>> commit(GitRemote remote, GitNewCommit commit) override {
    return inner_.commit(std::move(remote), std::move(commit));
  }
  Task<Result<GitCommitChanges>> read_commit(GitRemote remote, GitId id) override {
    return inner_.read_commit(std::move(remote), std::move(id));
  }
  Task<Result<GitCommits>> walk(GitRemote remote, GitWalk walk) override {
    return inner_.walk(std::move(remote), std::move(walk));
  }
  Task<Result<bool>> is_ancestor(GitRemote remote, GitId ancestor, GitId descendant) override {
    return inner_.is_ancestor(std::move(remote), std::move(ancestor), std::move(descendant));
  }
  Task<Result<void>> forget(GitRemote remote) override { return inner_.forget(std::move(remote)); }

 private:
  Git& inner_;
};

class PackageOutage : public PackageTest {
 public:
  void take_away(const std::string& repository) {
    std::filesystem::rename(repositories_[repository]->path(), folder_ / "away");
  }
  void bring_back(const std::string& repository) {
    std::filesystem::rename(folder_ / "away", repositories_[repository]->path());
  }
  std::string why(const std::string& name) {
    delivery::CommandCall call{
        .env = env_->env(), .client = &slipway_->server(), .ns = "default", .words = {}, .objects = {}, .options = {}};
    return must_text(env_->run(why_revision(std::move(call), revision(name), "")));
  }
  static std::string must_text(const Result<std::string>& text) { return text ? *text : text.error().message; }
};

TEST_F(PackageOutage, what_the_repository_does_not_take_is_told_until_it_does) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "web", "v1");
  advance(seconds{1});
  EXPECT_EQ(condition(name, "NotPushed"), "absent");
  take_away("edge");
  must(propose(name));
  advance(seconds{5});
  EXPECT_EQ(condition(name, "NotPushed"), "True (RepositoryFails)");
  const std::string version = revision(name)["metadata"]["resourceVersion"].str();
  EXPECT_TRUE(why(name).contains("repository edge (NotPushed): ")) << why(name);
  advance(minutes{2});
  EXPECT_EQ(revision(name)["metadata"]["resourceVersion"].str(), version) << "it is said once";
  bring_back("edge");
  ASSERT_TRUE(until([&] { return edge.git("branch --list 'proposed/*'").contains("proposed/web/v1"); }, minutes{3}));
  advance(seconds{1});
  EXPECT_EQ(condition(name, "NotPushed"), "absent");
  EXPECT_FALSE(why(name).contains("NotPushed")) << why(name);
}

TEST_F(PackageOutage, an_approval_that_is_not_pushed_is_answered_with_the_reason_while_clients_still_wait) {
  repository("edge");
  const std::string name = init("edge", "web", "v1");
  must(propose(name));
  advance(seconds{2});
  ReadOnlyGit read_only(*git_);
  env_->env().git = &read_only;
  const Time begun = env_->env().clock.now();
  EXPECT_EQ(fault(approve(name)),
            "Timeout: edge.web.v1 is approved, but repository edge has not taken it yet: git: the token may not push: it is "
            "Published as soon as that has happened");
  EXPECT_LT(env_->env().clock.now() - begun, seconds{28}) << "clients give up after 30 s";
  env_->env().git = git_.get();
  EXPECT_TRUE(until([&] { return lifecycle(name) == "Published"; }));
}

}  // namespace
}  // namespace slipway::package_test
