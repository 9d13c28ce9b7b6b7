#include "server/access/access_fixture.h"

namespace slipway::server {

class Authentication : public AccessTest {
 public:
  static std::string name_of(const Result<UserPtr>& user) { return user ? (*user)->name : user.error().message; }
};

TEST_F(Authentication, reads_user_and_groups_from_a_verified_certificate) {
  Credentials credentials;
  credentials.certificate = {.common_name = "kate", .organizations = {"ops"}, .sha256 = "ab"};
  const auto who = server_->authenticate(credentials);
  ASSERT_TRUE(who);
  EXPECT_EQ((*who)->name, "kate");
  EXPECT_EQ((*who)->groups, (std::vector<std::string>{"ops", "system:authenticated"}));
  EXPECT_EQ((*who)->extra.at("authentication.kubernetes.io/credential-id").front(), "X509SHA256=ab");
}

TEST_F(Authentication, knows_static_tokens) {
  const auto who = authenticate({{"authorization", "Bearer secret"}});
  ASSERT_TRUE(who);
  EXPECT_EQ((*who)->name, "alice");
  EXPECT_EQ((*who)->uid, "u1");
  EXPECT_EQ((*who)->groups, (std::vector<std::string>{"devs", "ops", "system:authenticated"}));
}

TEST_F(Authentication, a_file_of_tokens_has_three_or_four_fields) {
  EXPECT_EQ(read_static_tokens("t,u\n").error().message, "line 1 of the token file: want token,user,uid[,\"group,group\"]");
  const auto tokens = read_static_tokens("# people\n\na,\"x \"\"y\"\"\",1\n");
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->at("a")->name, "x \"y\"");
}

TEST_F(Authentication, a_wrong_token_is_unauthorized_and_none_is_anonymous) {
  const auto wrong = authenticate({{"Authorization", "Bearer nonsense"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().reason, Reason::Unauthorized);
  const auto nobody = authenticate({});
  ASSERT_TRUE(nobody);
  EXPECT_EQ((*nobody)->name, "system:anonymous");
  EXPECT_EQ((*nobody)->groups, (std::vector<std::string>{"system:unauthenticated"}));
}

TEST_F(Authentication, takes_a_browsers_token_from_its_subprotocols) {
  EXPECT_EQ(
      name_of(authenticate({{"Sec-WebSocket-Protocol", "v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0"}})),
      "alice");
}

TEST_F(Authentication, a_token_of_a_service_account_names_it) {
  const auto who = authenticate({{"Authorization", "Bearer " + token_of("default")}});
  ASSERT_TRUE(who);
  EXPECT_EQ((*who)->name, "system:serviceaccount:default:default");
  EXPECT_EQ((*who)->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}));
  EXPECT_EQ((*who)->uid, must(get(kAccounts, "default"))["metadata"]["uid"].str());
}

TEST_F(Authentication, a_token_ends_with_its_time) {
  const std::string token = token_of("default", "{expirationSeconds: 600}");
  env_.advance(std::chrono::seconds{599});
  EXPECT_TRUE(authenticate({{"Authorization", "Bearer " + token}}));
  env_.advance(std::chrono::seconds{1});
  EXPECT_FALSE(authenticate({{"Authorization", "Bearer " + token}}));
}

TEST_F(Authentication, a_token_ends_with_its_account_even_when_one_of_that_name_follows) {
  const std::string token = token_of("default");
  must(remove(kAccounts, "default"));
  EXPECT_TRUE(get(kAccounts, "default"));  // the server has made it again
  EXPECT_FALSE(authenticate({{"Authorization", "Bearer " + token}}));
}

TEST_F(Authentication, a_token_ends_with_the_object_it_is_bound_to) {
  must(create(kSecrets, yaml("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}}")));
  const std::string token = token_of("default", "{boundObjectRef: {apiVersion: v1, kind: Secret, name: s}}");
  EXPECT_TRUE(authenticate({{"Authorization", "Bearer " + token}}));
  must(remove(kSecrets, "s"));
  EXPECT_FALSE(authenticate({{"Authorization", "Bearer " + token}}));
}

TEST_F(Authentication, a_token_for_another_audience_is_none_for_the_server) {
  EXPECT_FALSE(authenticate({{"Authorization", "Bearer " + token_of("default", "{audiences: [vault]}")}}));
}

TEST_F(Authentication, acting_for_another_takes_the_verb_impersonate) {
  const auto refused = authenticate({{"Authorization", "Bearer secret"}, {"Impersonate-User", "bob"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "users \"bob\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in API group \"\" at the cluster "
            "scope");
  must(create(kClusterRoles, role("imp", "[{apiGroups: [''], resources: [users], verbs: [impersonate]}]", "")));
  must(create(kClusterRoleBindings, binding("imp", "ClusterRole", "imp", "{kind: User, name: alice}", "")));
  const auto who = authenticate({{"Authorization", "Bearer secret"}, {"Impersonate-User", "bob"}});
  ASSERT_TRUE(who);
  EXPECT_EQ((*who)->name, "bob");
  EXPECT_EQ((*who)->groups, (std::vector<std::string>{"system:authenticated"}));
  EXPECT_EQ(
      name_of(authenticate(
          {{"Authorization", "Bearer secret"}, {"Impersonate-User", "bob"}, {"Impersonate-Group", "system:masters"}})),
      "groups \"system:masters\" is forbidden: User \"alice\" cannot impersonate resource \"groups\" in API group \"\" at "
      "the cluster scope");
}

TEST_F(Authentication, an_impersonated_service_account_has_the_groups_of_one) {
  Credentials credentials;
  credentials.certificate = {.common_name = "root", .organizations = {"system:masters"}, .sha256 = ""};
  credentials.take_header("Impersonate-User", "system:serviceaccount:tools:ci");
  credentials.take_header("Impersonate-Extra-Example.com%2Fscope", "a");
  const auto who = server_->authenticate(credentials);
  ASSERT_TRUE(who);
  EXPECT_EQ((*who)->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:tools", "system:authenticated"}));
  EXPECT_EQ((*who)->extra.at("example.com/scope"), (std::vector<std::string>{"a"}));
}

}  // namespace slipway::server
