// Paths of families where the API server is elsewhere.
#include "serve/family_paths.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway::serve {
namespace {

/// A cluster that is not asked anything here.
class NoCluster : public client::Client {
 public:
  Task<Result<client::Reply>> call(client::Request) override { co_return fail(Reason::ServiceUnavailable, "no cluster"); }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override {
    co_return fail(Reason::ServiceUnavailable, "no cluster");
  }
};

class FamilyPathsTest : public testing::Test {
 protected:
  static client::HttpPath row(std::string prefix, client::HttpPath::Access access) {
    return {.prefix = std::move(prefix),
            .methods = {"POST"},
            .access = access,
            .max_body_bytes = 10,
            .run = [](client::ServedContext, http::Request request,
                      std::shared_ptr<const kube::UserInfo> user) -> Task<Result<http::Response>> {
              EXPECT_EQ(user, nullptr);
              if (request.body == "bad") co_return fail(Reason::Unauthorized, "not signed");
              http::Response response;
              response.status = 204;
              co_return response;
            }};
  }
  int status_of(std::string method, std::string target, std::string body = "") {
    http::Request request{.method = std::move(method), .target = std::move(target), .headers = {}, .body = std::move(body)};
    const net::Answer answer = env_.run(paths_.answer(std::move(request), nullptr));
    last_ = std::get<http::Response>(answer).body;
    return std::get<http::Response>(answer).status;
  }

  ManualEnv env_{ManualEnv::Options{}};
  NoCluster cluster_;
  FamilyPaths paths_{
      env_, cluster_, {row("/hook", client::HttpPath::Access::Anyone), row("/inner", client::HttpPath::Access::Authorized)}};
  std::string last_;
};

TEST_F(FamilyPathsTest, answers_what_anyone_may_call_and_nothing_else) {
  EXPECT_EQ(status_of("POST", "/hook/a?x=y"), 204);
  EXPECT_EQ(status_of("POST", "/hook"), 204);
  EXPECT_EQ(status_of("POST", "/hooks"), 404);
  EXPECT_EQ(status_of("POST", "/inner"), 404) << "nobody is authenticated here";
  EXPECT_EQ(status_of("GET", "/api/v1/secrets"), 404);
  EXPECT_EQ(status_of("GET", "/hook/a"), 405);
  EXPECT_EQ(status_of("POST", "/hook/a", std::string(11, 'x')), 413);
  EXPECT_EQ(status_of("POST", "/hook/a", "bad"), 401);
  EXPECT_NE(last_.find("\"reason\":\"Unauthorized\""), std::string::npos) << last_;
  EXPECT_EQ(status_of("GET", "/healthz"), 200);
}

TEST_F(FamilyPathsTest, a_source_that_was_refused_often_is_not_heard_for_a_while) {
  for (std::size_t i = 0; i < SourceLimit::kMaxRefused; ++i) EXPECT_EQ(status_of("POST", "/hook/a", "bad"), 401) << i;
  EXPECT_EQ(status_of("POST", "/hook/a", "bad"), 429);
  env_.advance(SourceLimit::kWindow);
  EXPECT_EQ(status_of("POST", "/hook/a"), 204);
}

}  // namespace
}  // namespace slipway::serve
