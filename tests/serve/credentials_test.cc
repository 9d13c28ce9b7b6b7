#include "serve/credentials.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway::serve {
namespace {

using std::chrono::hours;

constexpr Duration kYear = hours{24 * 365};

class CredentialsTest : public ::testing::Test {
 protected:
  Credentials open() {
    auto opened = open_credentials(env_, "/pki", {"slipway.example"});
    SLIPWAY_CHECK(opened.has_value(), opened ? "" : opened.error().message);
    return *opened;
  }
  std::string file(const std::string& name) { return env_.files().read("/pki/" + name).value_or(""); }

  /// Every certificate is valid now, and of the authority.
  void expect_believable(const Credentials& credentials) {
    for (const std::string& pem :
         {credentials.authority_pem, credentials.server.certificate_pem, credentials.admin.certificate_pem}) {
      const auto info = net::describe(pem);
      ASSERT_TRUE(info);
      EXPECT_LE(info->not_before, env_.now()) << info->common_name;
      EXPECT_GT(info->not_after, env_.now()) << info->common_name;
      EXPECT_TRUE(net::is_issued_by(pem, credentials.authority_pem)) << info->common_name;
    }
  }

  ManualEnv env_;
};

TEST_F(CredentialsTest, are_made_once) {
  const Credentials first = open();
  expect_believable(first);
  env_.advance(hours{24});
  const Credentials again = open();
  EXPECT_EQ(again.authority_pem, first.authority_pem);
  EXPECT_EQ(again.server.certificate_pem, first.server.certificate_pem);
  EXPECT_EQ(again.admin.certificate_pem, first.admin.certificate_pem);
}

TEST_F(CredentialsTest, made_with_the_clock_a_year_ahead_are_made_again_once_it_is_right) {
  env_.clock().step_wall(kYear);
  const Credentials ahead = open();
  env_.clock().step_wall(-kYear);
  const Credentials now = open();
  expect_believable(now);
  EXPECT_NE(now.authority_pem, ahead.authority_pem);
  EXPECT_EQ(file("ca-replaced.crt"), ahead.authority_pem);
  EXPECT_EQ(open().authority_pem, now.authority_pem);
}

TEST_F(CredentialsTest, issued_with_the_clock_a_year_ahead_are_issued_again_by_the_same_authority) {
  const Credentials first = open();
  env_.clock().step_wall(kYear);
  const Credentials ahead = open();
  EXPECT_NE(ahead.server.certificate_pem, first.server.certificate_pem);
  env_.clock().step_wall(-kYear);
  const Credentials now = open();
  expect_believable(now);
  EXPECT_EQ(now.authority_pem, first.authority_pem);
}

TEST_F(CredentialsTest, are_renewed_before_they_run_out) {
  const Credentials first = open();
  env_.clock().step_wall(kYear - hours{24 * 29});
  const Credentials renewed = open();
  EXPECT_NE(renewed.server.certificate_pem, first.server.certificate_pem);
  EXPECT_EQ(renewed.authority_pem, first.authority_pem);
  expect_believable(renewed);
}

TEST_F(CredentialsTest, of_an_authority_that_has_run_out_follow_its_successor) {
  const Credentials first = open();
  env_.clock().step_wall(kYear * 10 + hours{24});
  const Credentials now = open();
  EXPECT_NE(now.authority_pem, first.authority_pem);
  expect_believable(now);
}

}  // namespace
}  // namespace slipway::serve
