// The strategy pull-request as the promotion controller carries it out, at each forge: opened once, merged, closed, withdrawn,
// and marked while a freeze is in force.
#include "delivery/pipeline/change_git.h"

#include "forge_server.h"
#include "net/client.h"
#include "promotion_fixture.h"

namespace slipway::test {
namespace {

using Kind = pipeline::PromotionEffect::Kind;
using Stage = pipeline::ChangeState::Stage;

constexpr const char* kProposedBranch = "promotion-default-podinfo-prod";

class ProposeTest : public PromotionFixture, public testing::WithParamInterface<Dialect (*)()> {
 protected:
  ProposeTest() {
    auto client = net::Client::make(real_.env(), {});
    SLIPWAY_CHECK(client.has_value(), "no HTTP client");
    http_ = std::move(*client);
    serving_.spawn(server_.run());
    auto made = pipeline::make_forge(*http_, {.provider = server_.dialect().name,
                                              .url = server_.repository_url(),
                                              .api_url = server_.api_url(),
                                              .token = ForgeServer::kToken});
    SLIPWAY_CHECK(made.has_value(), "no forge");
    forge_ = std::move(*made);
  }
  ~ProposeTest() override {
    EXPECT_TRUE(server_.faults().empty()) << server_.faults().front();
    real_.shut();
  }

  pipeline::ChangeState act(Kind kind, const std::string& version, const std::string& key) {
    order_.key = key;
    order_.environment = "prod";
    order_.release.version = version;
    auto task = [](ProposeTest& test, Kind what, pipeline::GitPromotion wanted) -> Task<Result<pipeline::ChangeState>> {
      auto result = co_await pipeline::propose(test.git_, *test.forge_, std::move(wanted), what, test.order_);
      if (!result) co_return fail(result.error().error);
      co_return std::move(*result);
    };
    pipeline::ChangeState state = ok(task(*this, kind, promotion(version, key)));
    order_.status.is_marked_frozen = state.is_marked_frozen;
    return state;
  }

  ForgeServer server_{real_.env(), theirs_, GetParam()()};
  Tasks serving_{real_.env()};
  std::unique_ptr<net::Client> http_;
  std::unique_ptr<pipeline::Forge> forge_;
  pipeline::ChangeOrder order_{};
};

TEST_P(ProposeTest, is_opened_once_and_its_merge_is_seen) {
  const auto opened = act(Kind::Bring, "6.3.0", "k1");
  EXPECT_EQ(opened.stage, Stage::Proposed);
  EXPECT_EQ(act(Kind::Bring, "6.3.0", "k1").pull_request, opened.pull_request);
  EXPECT_EQ(server_.pulls().size(), 1U);
  ASSERT_TRUE(server_.merge(server_.pulls().front().id));
  EXPECT_EQ(act(Kind::Look, "6.3.0", "k1").stage, Stage::Made);
  EXPECT_EQ(prod(), marked("6.3.0"));
}

TEST_P(ProposeTest, is_withdrawn_for_a_newer_one_unless_it_was_merged) {
  act(Kind::Bring, "6.3.0", "k1");
  EXPECT_EQ(act(Kind::Withdraw, "6.3.0", "k1").stage, Stage::Closed);
  EXPECT_EQ(act(Kind::Withdraw, "6.3.0", "k1").stage, Stage::Closed);
  EXPECT_EQ(act(Kind::Withdraw, "6.3.0", "nobody").stage, Stage::Closed);
  EXPECT_EQ(act(Kind::Bring, "6.4.0", "k2").stage, Stage::Proposed);
  EXPECT_EQ(prod(kProposedBranch), marked("6.4.0"));
  ASSERT_TRUE(server_.merge(server_.pulls().back().id));
  EXPECT_EQ(act(Kind::Withdraw, "6.4.0", "k2").stage, Stage::Made) << "it is in: nothing is to be taken back";
  EXPECT_EQ(act(Kind::Bring, "6.3.0", "k1").stage, Stage::Closed) << "what was closed stays closed";
}

TEST_P(ProposeTest, a_freeze_sets_a_failing_status_and_its_end_a_passing_one) {
  act(Kind::Bring, "6.3.0", "k1");
  server_.require_check("slipway/freeze");
  order_.is_frozen = true;
  EXPECT_TRUE(act(Kind::Look, "6.3.0", "k1").is_marked_frozen);
  const int before = server_.requests();
  act(Kind::Look, "6.3.0", "k1");
  EXPECT_LE(server_.requests() - before, 2) << "the status is set once";
  EXPECT_FALSE(server_.merge(server_.pulls().front().id));
  order_.is_frozen = false;
  EXPECT_FALSE(act(Kind::Bring, "6.3.0", "k1").is_marked_frozen);
  EXPECT_TRUE(server_.merge(server_.pulls().front().id));
}

INSTANTIATE_TEST_SUITE_P(Providers, ProposeTest, testing::Values(&github_dialect, &gitlab_dialect, &bitbucket_dialect));

}  // namespace
}  // namespace slipway::test
