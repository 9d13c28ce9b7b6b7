// The process is killed before and after every operation on Git, which are all gaps between what the log says and what the
// repository has, and started again over the same files. A user who repeats what has not happened yet comes to the same end.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

/// Counts operations, and stops the world at one of them.
struct Fate {
  std::size_t kill_at = SIZE_MAX;  // moment: 2 n before operation n, 2 n + 1 after it
  std::size_t moments = 0;
  bool is_dead = false;
  std::string last{};
};

class MortalGit : public Git {
 public:
  MortalGit(Env& env, Git& inner, Fate& fate) : inner_(inner), fate_(fate), never_(env) {}

  Task<Result<GitRefs>> list_refs(GitRemote remote, std::string prefix) override {
    return cross("list", inner_.list_refs(std::move(remote), std::move(prefix)));
  }
  Task<Result<GitId>> fetch(GitRemote remote, std::string ref) override {
    return cross("fetch " + ref, inner_.fetch(std::move(remote), ref));
  }
  Task<Result<std::map<std::string, GitId>>> fetch_all(GitRemote remote, std::string prefix) override {
    return cross("fetch all", inner_.fetch_all(std::move(remote), std::move(prefix)));
  }
  Task<Result<void>> update_ref(GitRemote remote, GitRefUpdate update) override {
    return cross("push " + update.ref, inner_.update_ref(std::move(remote), update));
  }
  Task<Result<GitId>> commit(GitRemote remote, GitNewCommit commit) override {
    return cross("commit", inner_.commit(std::move(remote), std::move(commit)));
  }
  Task<Result<std::vector<GitFile>>> read_tree(GitRemote remote, GitId commit, GitTreeQuery query) override {
    return inner_.read_tree(std::move(remote), std::move(commit), std::move(query));
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
  template <class T>
  Task<T> cross(std::string what, Task<T> operation) {
    co_await pass("before " + what);
    T answer = co_await std::move(operation);
    co_await pass("after " + what);
    co_return answer;
  }
  Task<> pass(std::string what) {
    if (fate_.is_dead) co_await never_.wait();
    if (fate_.moments++ != fate_.kill_at) co_return;
    fate_.is_dead = true;
    fate_.last = what;
    co_await never_.wait();
  }

  Git& inner_;
  Fate& fate_;
  Signal never_;
};

class PackageCrash : public PackageTest {
 public:
  void mortal() {
    mortal_ = std::make_unique<MortalGit>(env_->env(), *git_, fate_);
    env_->env().git = mortal_.get();
  }
  /// The request, unless the process dies meanwhile; whether it was answered well.
  bool ask(client::Request request) {
    auto done = std::make_shared<std::optional<bool>>();
    Tasks tasks(env_->env());
    request.ns = "default";
    tasks.spawn([](client::Client& server, client::Request wanted, std::shared_ptr<std::optional<bool>> told) -> Task<> {
      const auto reply = co_await server.call(std::move(wanted));
      *told = reply.has_value();
    }(slipway_->server(), std::move(request), done));
    for (int i = 0; i < 400 && !*done && !fate_.is_dead; ++i) advance(std::chrono::milliseconds{100});
    if (!fate_.is_dead) return done->value_or(false);
    die();
    return false;
  }
  void die() {
    ++deaths_;
    restart();
    mortal_.reset();
    fate_.is_dead = false;
    mortal();
    advance(seconds{1});
  }
  bool ask_with(client::Verb verb, const Value& body, const kube::Resource& resource, const std::string& subresource = "",
                const std::string& name = "edge.a.v1") {
    client::Request request;
    request.verb = verb;
    request.resource = resource;
    request.name = verb == client::Verb::Create ? "" : name;
    request.subresource = subresource;
    request.body = body;
    return ask(std::move(request));
  }
  /// As the log has it; without git, so that looking costs no moment.
  Value record() { return get(kRecords, "edge.a.v1"); }
  std::string at() { return record()["spec"]["lifecycle"].str(); }

  /// One step towards the end, by what is there. False: it is over.
  bool step() {
    if (fate_.is_dead) die();
    const std::string now = at();
    const Value object = revision("edge.a.v1");
    if (now.empty() && is_deleted_) return step_of_branch();
    if (now.empty()) {
      ask_with(
          client::Verb::Create,
          *json::parse_yaml("{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {namespace: default}, "
                            "spec: {packageName: a, repository: edge, workspaceName: v1, tasks: [{type: init, init: {}}]}}"),
          kRevisions);
      return true;
    }
    if (now == "Draft" && !record()["spec"]["files"].has("own.txt")) {
      const Value files = get(kResources, "edge.a.v1");
      if (fate_.is_dead) return true;
      ask_with(client::Verb::Update, files.with_path({"spec", "resources", "own.txt"}, "own\n"), kResources);
      return true;
    }
    if (now == "Draft") {
      ask_with(client::Verb::Update, object.with_path({"spec", "lifecycle"}, "Proposed"), kRevisions);
      return true;
    }
    if (now == "Proposed") {
      ask_with(client::Verb::Update, object.with_path({"spec", "lifecycle"}, "Published"), kRevisions, "approval");
      return true;
    }
    if (now == "Published" && main_.empty()) {
      main_ = repositories_["edge"]->git("log --format=%s main");
      EXPECT_EQ(repositories_["edge"]->git("tag"), "a/v1\n");
      EXPECT_EQ(repositories_["edge"]->file("a/own.txt"), "own\n");
    }
    if (now == "Published") {
      ask_with(client::Verb::Update, object.with_path({"spec", "lifecycle"}, "DeletionProposed"), kRevisions);
      return true;
    }
    is_deleted_ = true;
    ask_with(client::Verb::Delete, {}, kRevisions);
    return true;
  }
  /// Then what the branch has is deleted too.
  bool step_of_branch() {
    const std::string name = "edge.a.main";
    const Value now = get(kRecords, name);
    if (now.is_null()) return !repositories_["edge"]->file("a/own.txt").empty();  // it will be read
    if (now["spec"]["lifecycle"].as_string() == "Published") {
      const Value object = revision(name);
      ask_with(client::Verb::Update, object.with_path({"spec", "lifecycle"}, "DeletionProposed"), kRevisions, "", name);
    } else {
      ask_with(client::Verb::Delete, {}, kRevisions, "", name);
    }
    return true;
  }
  /// All of it, killed at that moment; what main's history says, and what is left.
  std::string play(std::size_t kill_at) {
    fate_ = {.kill_at = SIZE_MAX};
    deaths_ = 0;
    is_deleted_ = false;
    main_.clear();
    Repository& edge = repository("edge");
    mortal();
    fate_.kill_at = fate_.moments + kill_at;
    const std::size_t first = fate_.moments;
    for (int i = 0; i < 60; ++i) {
      if (!step()) break;
      advance(seconds{1});
      if (fate_.is_dead) die();
    }
    advance(seconds{70});
    if (fate_.is_dead) die();
    moments_ = fate_.moments - first;
    EXPECT_TRUE(record().is_null()) << json::print_pretty(record());
    EXPECT_TRUE(get(kRecords, "edge.a.main").is_null());
    return fmt::format("{}{}{}{}{}", main_, edge.git("log -1 --format=%s main"), edge.git("ls-tree -r main --name-only"),
                       edge.git("tag"), edge.git("for-each-ref --format='%(refname)' refs/heads"));
  }

 protected:
  Fate fate_{};
  std::unique_ptr<MortalGit> mortal_;
  bool is_deleted_ = false;
  std::string main_{};
  std::size_t moments_ = 0;
  int deaths_ = 0;
};

TEST_F(PackageCrash, at_any_operation_on_git_ends_as_without) {
  const std::string clean = play(SIZE_MAX / 2);
  EXPECT_EQ(clean, "Approve a/v1\nSave a/v1\nSave a/v1\nbegin\nDelete a\nREADME.md\nrefs/heads/main\n");
  const std::size_t all = moments_;
  const char* every = std::getenv("SLIPWAY_SIM_EVERY");
  const std::size_t stride = every == nullptr ? 7 : std::max<std::size_t>(1, std::strtoull(every, nullptr, 10));
  std::size_t tried = 0;
  for (std::size_t moment = 0; moment < all; moment += stride) {
    close();
    mortal_.reset();
    life_ = fmt::format("-{}", moment);
    env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs()});
    open();
    ASSERT_EQ(play(moment), clean) << "killed " << fate_.last;
    EXPECT_EQ(deaths_, 1) << "at moment " << moment;
    ++tried;
  }
  fmt::print("package: {} moments, {} tried\n", all, tried);
}

}  // namespace
}  // namespace slipway::package_test
