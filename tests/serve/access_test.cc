#include "serve/access.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway::serve {

namespace {

void put(ManualEnv& env, const std::string& folder, const std::string& name, std::string_view text) {
  ASSERT_TRUE(env.files().make_folders(folder));
  ASSERT_TRUE(env.files().write(folder + "/" + name, text, 0600));
}

}  // namespace

TEST(Access, signs_with_one_key_for_ever) {
  ManualEnv env;
  const auto first = open_access(env, "/d/clusters/a", "/d");
  ASSERT_TRUE(first) << first.error().message;
  const auto token = first->signer->sign(R"({"sub":"x"})");
  ASSERT_TRUE(token);
  const auto again = open_access(env, "/d/clusters/a", "/d");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->signer->verify(*token), R"({"sub":"x"})");
}

TEST(Access, a_token_of_one_cluster_is_none_of_another) {
  ManualEnv env;
  const auto a = open_access(env, "/d/clusters/a", "/d");
  const auto b = open_access(env, "/d/clusters/b", "/d");
  ASSERT_TRUE(a && b);
  const auto refused = b->signer->verify(*a->signer->sign("{}"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::Unauthorized);
}

TEST(Access, static_tokens_are_those_of_the_cluster_and_of_all) {
  ManualEnv env;
  put(env, "/d", "tokens.csv", "t1,alice,1\nt2,bob,2\n");
  put(env, "/d/clusters/a", "tokens.csv", "t2,carol,3\n");
  const auto a = open_access(env, "/d/clusters/a", "/d");
  ASSERT_TRUE(a) << a.error().message;
  EXPECT_EQ(a->static_tokens.at("t1")->name, "alice");
  EXPECT_EQ(a->static_tokens.at("t2")->name, "carol");
}

TEST(Access, a_broken_key_is_told_not_replaced) {
  ManualEnv env;
  put(env, "/d/pki", "sa.key", "nonsense");
  EXPECT_FALSE(open_access(env, "/d", "/d"));
}

TEST(Access, only_a_verified_certificate_names_a_user) {
  net::ConnectionInfo connection;
  connection.certificate.common_name = "eve";
  connection.certificate.sha256 = "ab";
  EXPECT_FALSE(credentials_of(connection, {}).certificate);
  connection.certificate.is_verified = true;
  EXPECT_TRUE(credentials_of(connection, {}).certificate);
}

}  // namespace slipway::serve
