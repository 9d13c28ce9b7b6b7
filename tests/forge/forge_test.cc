// The three forges through the real HTTP client, against a server that takes their documented forms only.
#include "delivery/pipeline/forge.h"

#include "forge_server.h"
#include "net/client.h"
#include "promotion_fixture.h"

namespace slipway::test {
namespace {

using pipeline::CheckState;
using pipeline::CommitCheck;
using pipeline::Forge;
using pipeline::ForgeApproval;
using pipeline::GitPromoted;
using pipeline::NewPullRequest;
using pipeline::PullRequestView;
using pipeline::PullState;

constexpr const char* kBranch = "promotion-default-podinfo-prod";

class ForgeTest : public PromotionFixture, public testing::WithParamInterface<Dialect (*)()> {
 protected:
  ForgeTest() {
    auto client = net::Client::make(real_.env(), {});
    SLIPWAY_CHECK(client.has_value(), "no HTTP client");
    http_ = std::move(*client);
    serving_.spawn(server_.run());
    forge_ = make(ForgeServer::kToken);
  }
  ~ForgeTest() override {
    EXPECT_TRUE(server_.faults().empty()) << server_.faults().front();
    real_.shut();
  }

  std::unique_ptr<Forge> make(std::string token, std::string url = "") {
    auto made = pipeline::make_forge(*http_, {.provider = server_.dialect().name,
                                              .url = url.empty() ? server_.repository_url() : url,
                                              .api_url = server_.api_url() + "/",
                                              .token = std::move(token)});
    SLIPWAY_CHECK(made.has_value(), "no forge");
    return std::move(*made);
  }
  NewPullRequest pull_of(const pipeline::GitPromotion& promotion) const {
    return {.source = kBranch, .target = "main", .text = promotion.text, .body = "Soaked for *two hours* in staging."};
  }
  /// Commit, then pull request, as a controller does it.
  PullRequestView promote(const std::string& version, const std::string& key) {
    const auto wanted = promotion(version, key);
    ok(promote_by_branch(git_, wanted, kBranch));
    return ok(ensure_open(*forge_, pull_of(wanted)));
  }
  std::optional<PullRequestView> find(const std::string& key) { return ok(forge_->find(kBranch, key)); }
  Pull& server_pull(const PullRequestView& view) { return *server_.find(view.id); }

  ForgeServer server_{real_.env(), theirs_, GetParam()()};
  Tasks serving_{real_.env()};
  std::unique_ptr<net::Client> http_;
  std::unique_ptr<Forge> forge_;
};

TEST_P(ForgeTest, a_promotion_opens_one_pull_request_and_finds_it_by_its_key) {
  EXPECT_FALSE(find("k1"));
  const PullRequestView opened = promote("6.3.0", "k1");
  EXPECT_EQ(opened.state, PullState::Open);
  EXPECT_EQ(opened.title, "promote podinfo 6.3.0 to prod");
  EXPECT_EQ(opened.source, kBranch);
  EXPECT_EQ(opened.target, "main");
  EXPECT_EQ(opened.head, theirs_.tip(kBranch));
  EXPECT_TRUE(opened.url.starts_with("https://forge.example/")) << opened.url;
  EXPECT_EQ(opened.description, "Soaked for *two hours* in staging.\n\n" + promotion("6.3.0", "k1").text.trailers());
  EXPECT_FALSE(opened.merged);
  // A person retitles it and adds words; titles are no key.
  server_pull(opened).title = "please look at this";
  server_pull(opened).description += "\r\nreviewed by Ann\r\n";
  EXPECT_EQ(promote("6.3.0", "k1").id, opened.id);
  EXPECT_EQ(server_.pulls().size(), 1U);
  EXPECT_FALSE(find("k"));
}

TEST_P(ForgeTest, a_merge_is_seen_with_its_commit_and_the_promotion_has_arrived) {
  for (const auto style : {ForgeServer::Style::merge, ForgeServer::Style::squash}) {
    const bool is_squash = style == ForgeServer::Style::squash;
    const std::string key = is_squash ? "k2" : "k1";
    const std::string version = is_squash ? "6.4.0" : "6.3.0";
    const PullRequestView opened = promote(version, key);
    ASSERT_TRUE(server_.merge(server_pull(opened).id, style));
    const PullRequestView merged = ok(forge_->read(opened.id));
    EXPECT_EQ(merged.state, PullState::Merged);
    EXPECT_EQ(merged.merged, theirs_.tip());
    EXPECT_EQ(find(key)->merged, theirs_.tip());
    const GitPromoted arrived = ok(promote_by_branch(git_, promotion(version, key), kBranch));
    EXPECT_EQ(arrived.outcome, GitPromoted::Outcome::Found);
    EXPECT_TRUE(arrived.is_on_branch);
    EXPECT_EQ(prod(), marked(version));
  }
  EXPECT_EQ(server_.pulls().size(), 2U);
}

TEST_P(ForgeTest, a_newer_promotion_takes_the_open_pull_request_over) {
  const PullRequestView older = promote("6.3.0", "k1");
  server_.review(server_pull(older).id, {"ann", "APPROVED", ""});
  const PullRequestView newer = promote("6.4.0", "k2");
  EXPECT_EQ(newer.id, older.id);
  EXPECT_EQ(newer.title, "promote podinfo 6.4.0 to prod");
  EXPECT_FALSE(find("k1"));
  EXPECT_EQ(find("k2")->id, older.id);
  EXPECT_EQ(server_pull(older).reviews.size(), 1U);
}

TEST_P(ForgeTest, a_pull_request_of_somebody_else_on_the_branch_is_left_alone) {
  theirs_.git("push -q origin HEAD:" + std::string(kBranch));
  Pull pull{.title = "mine", .description = "by hand", .source = kBranch, .target = "main"};
  server_.add(pull);
  const Status status = fault(ensure_open(*forge_, pull_of(promotion("6.3.0", "k1"))));
  EXPECT_EQ(status.reason, Reason::Conflict);
  EXPECT_EQ(server_.pulls().front().title, "mine");
}

TEST_P(ForgeTest, one_of_a_fork_speaks_for_no_promotion) {
  const PullRequestView opened = promote("6.3.0", "k1");
  Pull pull = server_pull(opened);
  pull.is_of_fork = true;
  pull.state = Pull::State::Closed;
  pull.head = opened.head;
  server_.add(pull);
  EXPECT_EQ(find("k1")->id, opened.id);
  EXPECT_EQ(find("k1")->state, PullState::Open);
}

TEST_P(ForgeTest, a_closed_pull_request_stays_found_and_is_not_opened_again) {
  const PullRequestView opened = promote("6.3.0", "k1");
  EXPECT_EQ(ok(forge_->close(opened)).state, PullState::Closed);
  EXPECT_EQ(find("k1")->state, PullState::Closed);
  EXPECT_EQ(promote("6.3.0", "k1").state, PullState::Closed);
  EXPECT_EQ(server_.pulls().size(), 1U);
  EXPECT_EQ(promote("6.4.0", "k2").state, PullState::Open);
  EXPECT_EQ(server_.pulls().size(), 2U);
}

TEST_P(ForgeTest, a_failing_check_stops_the_merge_and_a_succeeding_one_lets_it_go) {
  const PullRequestView opened = promote("6.3.0", "k1");
  server_.require_check("slipway/freeze");
  EXPECT_FALSE(server_.merge(server_pull(opened).id));
  CommitCheck check{.commit = opened.head, .state = CheckState::Failure, .description = std::string(1000, 'x')};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(run(forge_->set_check(check)));
  EXPECT_FALSE(server_.merge(server_pull(opened).id));
  for (const CheckState state : {CheckState::Pending, CheckState::Pending, CheckState::Success, CheckState::Success}) {
    check.state = state;
    check.url = "https://slipway.example/p";
    const auto set = run(forge_->set_check(check));
    EXPECT_TRUE(set) << set.error().message;
  }
  EXPECT_TRUE(server_.merge(server_pull(opened).id));
}

TEST_P(ForgeTest, the_last_word_of_each_reviewer_counts) {
  const PullRequestView opened = promote("6.3.0", "k1");
  const int id = server_pull(opened).id;
  EXPECT_TRUE(ok(forge_->approvals(opened)).empty());
  for (const auto& [user, state] : std::vector<std::pair<std::string, std::string>>{{"cyd", "APPROVED"},
                                                                                    {"ann", "CHANGES_REQUESTED"},
                                                                                    {"ann", "APPROVED"},
                                                                                    {"ann", "COMMENTED"},
                                                                                    {"bob", "APPROVED"},
                                                                                    {"bob", "CHANGES_REQUESTED"}}) {
    server_.review(id, {user, state, ""});
  }
  const std::string commit = server_.dialect().name == "gitlab" ? "" : opened.head;
  EXPECT_EQ(ok(forge_->approvals(opened)), (std::vector<ForgeApproval>{{"ann", commit}, {"cyd", commit}}));
}

TEST_P(ForgeTest, pages_are_turned_until_the_key_is_found) {
  theirs_.git("push -q origin HEAD:" + std::string(kBranch));
  for (int i = 0; i < 120; ++i) {
    Pull pull{.title = "t", .description = "Slipway-Promotion: n" + std::to_string(i), .source = kBranch, .target = "main"};
    Pull& added = server_.add(pull);
    added.state = Pull::State::Closed;
    added.head = theirs_.tip();
  }
  EXPECT_EQ(find("n0")->id, "1");
  EXPECT_EQ(find("n119")->id, "120");
  EXPECT_FALSE(find("n120"));
}

TEST_P(ForgeTest, refusals_have_their_reasons_and_name_no_token) {
  const auto stranger = make("a-wrong-token");
  Status status = fault(stranger->find(kBranch, "k1"));
  EXPECT_EQ(status.reason, Reason::Unauthorized);
  EXPECT_FALSE(status.message.contains("wrong-token")) << status.message;
  EXPECT_TRUE(status.message.ends_with(": 401: bad credentials")) << status.message;
  EXPECT_EQ(fault(forge_->read("99")).reason, Reason::NotFound);
  EXPECT_EQ(fault(make(ForgeServer::kToken, "https://forge.example/no/thing.git")->find(kBranch, "k1")).reason,
            Reason::NotFound);
  server_.answer_next(429, {{"Retry-After", "17"}});
  status = fault(forge_->read("1"));
  EXPECT_EQ(status.reason, Reason::TooManyRequests);
  EXPECT_EQ(status.retry_after_seconds, 17);
  server_.answer_next(403, {{"x-ratelimit-remaining", "0"}});
  EXPECT_EQ(fault(forge_->read("1")).reason, Reason::TooManyRequests);
  for (const auto& [code, reason] : std::vector<std::pair<int, Reason>>{{403, Reason::Forbidden},
                                                                        {409, Reason::Conflict},
                                                                        {422, Reason::Invalid},
                                                                        {301, Reason::BadRequest},
                                                                        {502, Reason::ServiceUnavailable}}) {
    server_.answer_next(code);
    EXPECT_EQ(fault(forge_->read("1")).reason, reason) << code;
  }
}

TEST_P(ForgeTest, a_second_open_one_is_refused_by_the_forge) {
  promote("6.3.0", "k1");
  const Reason reason = fault(forge_->open(pull_of(promotion("6.3.0", "k1")))).reason;
  EXPECT_EQ(reason, server_.dialect().name == "github" ? Reason::Invalid : Reason::Conflict);
}

std::string name_of(const testing::TestParamInfo<Dialect (*)()>& info) {
  std::string name = info.param().name;
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Providers, ForgeTest, testing::Values(&github_dialect, &gitlab_dialect, &bitbucket_dialect), name_of);

/// Remembers where a call goes.
class Spy : public HttpClient {
 public:
  Task<Result<http::Response>> send(HttpCall call) override {
    url = call.url.substr(0, call.url.find('?'));
    co_return fail(Reason::ServiceUnavailable, "nobody is there");
  }
  std::string url;
};

class ForgeBase : public PromotionFixture {
 protected:
  std::string base(const std::string& provider, const std::string& url) {
    Spy spy;
    auto forge = pipeline::make_forge(spy, {.provider = provider, .url = url});
    if (!forge) return std::string(to_string(forge.error().reason));
    fault((*forge)->read("7"));
    return spy.url;
  }
};

TEST_F(ForgeBase, the_api_is_found_by_the_repositorys_url) {
  EXPECT_EQ(base("github", "https://github.com/team/config"), "https://api.github.com/repos/team/config/pulls/7");
  EXPECT_EQ(base("github", "git@github.com:team/config.git"), "https://api.github.com/repos/team/config/pulls/7");
  EXPECT_EQ(base("github", "https://git.example/team/config.git"), "https://git.example/api/v3/repos/team/config/pulls/7");
  EXPECT_EQ(base("gitlab", "ssh://git@git.example:2222/a/b/c.git"),
            "https://git.example/api/v4/projects/a%2Fb%2Fc/merge_requests/7");
  EXPECT_EQ(base("gitlab", "https://me@git.example:8443/a/c.git"),
            "https://git.example:8443/api/v4/projects/a%2Fc/merge_requests/7");
  const std::string bitbucket = "https://git.example/rest/api/1.0/projects/KEY/repos/config/pull-requests/7";
  EXPECT_EQ(base("bitbucket-server", "https://git.example/scm/KEY/config.git"), bitbucket);
  EXPECT_EQ(base("bitbucket-server", "ssh://git@git.example:7999/KEY/config.git"), bitbucket);
  EXPECT_EQ(base("bitbucket-server", "https://git.example/projects/KEY/repos/config"), bitbucket);
}

TEST_F(ForgeBase, what_is_no_forge_is_refused) {
  EXPECT_EQ(base("azure-devops", "https://git.example/a/b"), "NotImplemented");
  EXPECT_EQ(base("gitea", "https://git.example/a/b"), "Invalid");
  for (const char* url : {"/srv/git/x.git", "file:///srv/x", "https://git.example/only", "https://", "x"}) {
    EXPECT_EQ(base("github", url), "BadRequest") << url;
  }
}

}  // namespace
}  // namespace slipway::test
