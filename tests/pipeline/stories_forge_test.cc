// Story 6 of the Pipelines RFC, at each forge: staging by itself, production by pull request. The forge is that of tests/forge,
// over a real repository, and answers in virtual time: requests are handed to its routes without sockets.
#include <fmt/format.h>

#include "../forge/forge_server.h"
#include "net/http.h"
#include "stories_fixture.h"

namespace slipway::pipeline_test {
namespace {

using test::Dialect;
using test::ForgeServer;
using test::Pull;

class ForgeWeb : public HttpClient {
 public:
  explicit ForgeWeb(ForgeServer& forge) : forge_(forge) {}

  Task<Result<http::Response>> send(HttpCall call) override {
    const std::string_view root = "http://forge.test";
    if (is_cut || !call.url.starts_with(root)) co_return fail(Reason::ServiceUnavailable, "connection refused: " + call.url);
    co_return forge_.answer({.method = call.method,
                             .target = call.url.substr(root.size()),
                             .headers = std::move(call.headers),
                             .body = std::move(call.body)});
  }

  bool is_cut = false;

 private:
  ForgeServer& forge_;
};

/// The repository by its address at the forge.
class ForgeGit : public Git {
 public:
  ForgeGit(Git& git, std::string url, std::string path) : git_(git), url_(std::move(url)), path_(std::move(path)) {}

  Task<Result<GitRefs>> list_refs(GitRemote remote, std::string prefix) override {
    return git_.list_refs(here(std::move(remote)), std::move(prefix));
  }
  Task<Result<GitId>> fetch(GitRemote remote, std::string ref) override {
    return git_.fetch(here(std::move(remote)), std::move(ref));
  }
  Task<Result<std::map<std::string, GitId>>> fetch_all(GitRemote remote, std::string prefix) override {
    return git_.fetch_all(here(std::move(remote)), std::move(prefix));
  }
  Task<Result<void>> update_ref(GitRemote remote, GitRefUpdate update) override {
    return git_.update_ref(here(std::move(remote)), std::move(update));
  }
  Task<Result<std::vector<GitFile>>> read_tree(GitRemote remote, GitId commit, GitTreeQuery query) override {
    return git_.read_tree(here(std::move(remote)), std::move(commit), std::move(query));
  }
  Task<Result<GitId>> commit(GitRemote remote, GitNewCommit commit) override {
    return git_.commit(here(std::move(remote)), std::move(commit));
  }
  Task<Result<GitCommitChanges>> read_commit(GitRemote remote, GitId id) override {
    return git_.read_commit(here(std::move(remote)), std::move(id));
  }
  Task<Result<GitCommits>> walk(GitRemote remote, GitWalk walk) override {
    return git_.walk(here(std::move(remote)), std::move(walk));
  }
  Task<Result<bool>> is_ancestor(GitRemote remote, GitId ancestor, GitId descendant) override {
    return git_.is_ancestor(here(std::move(remote)), std::move(ancestor), std::move(descendant));
  }
  Task<Result<void>> forget(GitRemote remote) override { return git_.forget(here(std::move(remote))); }

 private:
  GitRemote here(GitRemote remote) const {
    if (remote.url == url_) remote.url = path_;
    return remote;
  }

  Git& git_;
  std::string url_;
  std::string path_;
};

class ForgeStories : public Stories, public testing::WithParamInterface<Dialect (*)()> {
 public:
  ForgeStories() { http_ = &forge_web_; }
  void SetUp() override {
    Stories::SetUp();
    forge_git_ = std::make_unique<ForgeGit>(*git_, forge_.repository_url(), theirs_.path());
    env_->env().git = forge_git_.get();
  }
  void TearDown() override {
    EXPECT_TRUE(forge_.faults().empty()) << forge_.faults().front();
    Stories::TearDown();
  }

 protected:
  /// Each member follows its folder of the forge's repository; podinfo 1.0.0 runs everywhere.
  void deliver_at_forge() {
    for (const std::string& member : members_) {
      theirs_.commit({{member + "/podinfo.yaml", marked_release(member, "1.0.0")}}, member);
    }
    join_all();
    for (const std::string& member : members_) follow(member, forge_.repository_url(), member);
    apply(kHub, fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: forge}}, stringData: {{token: '{}'}}}}",
                            ForgeServer::kToken));
    const std::string by_pull_request = fmt::format(
        "    promotion: {{strategy: {{pull-request: {{type: {}, url: '{}', apiUrl: '{}', baseBranch: main, secretRef: {{name: "
        "forge}}}}}}}}\n",
        forge_.dialect().name, forge_.repository_url(), forge_.api_url());
    apply(kHub, pipeline_over({{"dev", {"dev"}}, {"staging", {"staging"}}, {"prod", {"prod"}, by_pull_request}},
                              "  " + by_commit(forge_.repository_url())));
    ASSERT_TRUE(until([&] { return version("prod") == "1.0.0" && version("dev") == "1.0.0" && version("staging") == "1.0.0"; }))
        << json::print_pretty(status());
  }
  void release_to_dev(const std::string& version) {
    theirs_.commit({{"dev/podinfo.yaml", marked_release("dev", version)}}, "release " + version);
  }

  git::TestRepository theirs_;
  ForgeServer forge_{theirs_, GetParam()()};
  ForgeWeb forge_web_{forge_};
  std::unique_ptr<ForgeGit> forge_git_;
};

TEST_P(ForgeStories, story_6_staging_by_itself_and_production_by_pull_request) {
  deliver_at_forge();
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.1.0 Running PullRequestOpen"; })) << json::print_pretty(status());
  EXPECT_EQ(line(), "dev 1.1.0 → staging 1.1.0 → prod 1.0.0");
  advance(minutes{10});
  ASSERT_EQ(forge_.pulls().size(), 1U) << "opened once";
  const Pull& pull = forge_.pulls().front();
  EXPECT_EQ(pull.title, "promote podinfo 1.1.0 to prod");
  EXPECT_EQ(pull.source, "promotion-default-podinfo-prod");
  EXPECT_EQ(pull.target, "main");
  EXPECT_FALSE(environment("prod")["promotion"]["pullRequest"].as_string().empty());
  EXPECT_EQ(version("prod"), "1.0.0");
  ASSERT_TRUE(forge_.merge(pull.id));
  EXPECT_TRUE(until([&] { return line() == "dev 1.1.0 → staging 1.1.0 → prod 1.1.0"; })) << json::print_pretty(status());
  EXPECT_TRUE(until([&] { return promotion("prod") == "1.1.0 Succeeded Succeeded"; })) << promotion("prod");
  EXPECT_EQ(theirs_.show("main", "prod/podinfo.yaml") + "\n", marked_release("prod", "1.1.0"));
}

TEST_P(ForgeStories, story_6_a_newer_version_takes_the_place_of_one_that_was_not_merged) {
  deliver_at_forge();
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.1.0 Running PullRequestOpen"; })) << json::print_pretty(status());
  release_to_dev("1.2.0");
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.2.0 Running PullRequestOpen"; })) << json::print_pretty(status());
  std::vector<int> open;
  for (const Pull& pull : forge_.pulls()) {
    if (pull.state == Pull::State::Open) open.push_back(pull.id);
  }
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(forge_.find(open.front())->title, "promote podinfo 1.2.0 to prod");
  ASSERT_TRUE(forge_.merge(open.front()));
  EXPECT_TRUE(until([&] { return line() == "dev 1.2.0 → staging 1.2.0 → prod 1.2.0"; })) << json::print_pretty(status());
}

TEST_P(ForgeStories, story_6_a_pull_request_that_a_person_closes_is_a_no) {
  deliver_at_forge();
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.1.0 Running PullRequestOpen"; })) << json::print_pretty(status());
  Pull& pull = *forge_.find(1);
  pull.head = forge_.head(pull);
  pull.state = Pull::State::Closed;
  ++pull.version;
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.1.0 Rejected PullRequestClosed"; })) << promotion("prod");
  advance(minutes{30});
  EXPECT_EQ(forge_.pulls().size(), 1U);
  EXPECT_EQ(line(), "dev 1.1.0 → staging 1.1.0 → prod 1.0.0");
}

TEST_P(ForgeStories, story_8_goes_on_by_itself_once_the_forge_is_back) {
  deliver_at_forge();
  forge_web_.is_cut = true;
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.1.0 Running ForgeFailed"; })) << json::print_pretty(status());
  advance(minutes{10});
  EXPECT_EQ(promotion("prod"), "1.1.0 Running ForgeFailed");
  forge_web_.is_cut = false;
  ASSERT_TRUE(until([&] { return forge_.pulls().size() == 1; }));
  ASSERT_TRUE(forge_.merge(1));
  EXPECT_TRUE(until([&] { return line() == "dev 1.1.0 → staging 1.1.0 → prod 1.1.0"; })) << json::print_pretty(status());
}

TEST_P(ForgeStories, story_3_a_pipeline_is_proposed_by_a_pull_request) {
  theirs_.commit({{"README.md", "shop\n"}}, "begin");
  ASSERT_TRUE(env_->env().files.write("/token", std::string(ForgeServer::kToken) + "\n", 0600));
  const std::map<std::string, std::string> options = {{"app", "HelmRelease/podinfo"},
                                                      {"environment", "dev=podinfo\nprod=prod/podinfo"},
                                                      {"pull-request", "true"},
                                                      {"git-url", forge_.repository_url()},
                                                      {"git-forge", forge_.dialect().name},
                                                      {"git-api-url", forge_.api_url()},
                                                      {"git-user", "ann"},
                                                      {"git-password-file", "/token"}};
  const std::string proposed = command("", "create", {"podinfo"}, options);
  EXPECT_TRUE(proposed.starts_with("pipelines/podinfo.yaml: proposed: http")) << proposed;
  ASSERT_EQ(forge_.pulls().size(), 1U);
  EXPECT_EQ(forge_.pulls().front().title, "pipeline podinfo");
  EXPECT_EQ(forge_.pulls().front().source, "pipeline-default-podinfo");
  EXPECT_EQ(forge_.pulls().front().target, "main");
  const std::string again = command("", "create", {"podinfo"}, options);
  EXPECT_TRUE(again.starts_with("pipelines/podinfo.yaml: is proposed already: http")) << again;
  EXPECT_EQ(forge_.pulls().size(), 1U);
  ASSERT_TRUE(forge_.merge(1));
  apply(kHub, theirs_.show("main", "pipelines/podinfo.yaml"));
  EXPECT_EQ(get(kHub, delivery::pipeline::kPipelines, "podinfo")["spec"]["environments"].size(), 2U);
}

TEST_P(ForgeStories, deleting_a_pipeline_closes_its_open_pull_requests) {
  deliver_at_forge();
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.1.0 Running PullRequestOpen"; })) << json::print_pretty(status());
  forge_web_.is_cut = true;
  remove(kHub, delivery::pipeline::kPipelines, "podinfo");
  advance(minutes{1});
  EXPECT_FALSE(get(kHub, delivery::pipeline::kPipelines, "podinfo").is_null()) << "it waits for the forge";
  forge_web_.is_cut = false;
  ASSERT_TRUE(until([&] { return get(kHub, delivery::pipeline::kPipelines, "podinfo").is_null(); }));
  ASSERT_EQ(forge_.pulls().size(), 1U);
  EXPECT_EQ(forge_.pulls().front().state, Pull::State::Closed);
}

TEST_P(ForgeStories, a_pipeline_goes_all_the_same_when_its_forge_stays_away) {
  deliver_at_forge();
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.1.0 Running PullRequestOpen"; })) << json::print_pretty(status());
  forge_web_.is_cut = true;
  remove(kHub, delivery::pipeline::kPipelines, "podinfo");
  EXPECT_TRUE(until([&] { return get(kHub, delivery::pipeline::kPipelines, "podinfo").is_null(); }, minutes{15}));
  const std::vector<Value> events = list(kHub, {"", "v1", "events"}, "default");
  EXPECT_TRUE(std::ranges::any_of(events, [](const Value& one) { return one["reason"].as_string() == "PullRequestLeftOpen"; }));
}

INSTANTIATE_TEST_SUITE_P(Providers, ForgeStories,
                         testing::Values(&test::github_dialect, &test::gitlab_dialect, &test::bitbucket_dialect));

}  // namespace
}  // namespace slipway::pipeline_test
