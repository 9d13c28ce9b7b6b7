#include "delivery/application/identity.h"

#include <gtest/gtest.h>

#include "delivery/application/kind.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

kube::Object application(const std::string& annotations, int spec) {
  return *json::parse(R"({"metadata":{"name":"a","namespace":"team","annotations":)" + annotations + R"(},"spec":{"x":)" +
                      std::to_string(spec) + "}}");
}

const kube::UserInfo kAnn{.name = "ann", .uid = "", .groups = {"dev", "a,system:masters", "ops"}, .extra = {}};

kube::Asker asker(const kube::UserInfo* user, bool may = true) {
  return {user, [may](std::string_view, const kube::Resource&, std::string_view, std::string_view) { return may; }};
}

TEST(Identity, is_who_writes_the_spec_whatever_the_body_says) {
  const std::string forged = R"({"app.oam.dev/username":"root","app.oam.dev/group":"system:masters","x":"y"})";
  const std::string ann = R"({"app.oam.dev/username":"ann","app.oam.dev/group":"dev,ops","x":"y"})";
  const std::string bob = R"({"app.oam.dev/username":"bob","app.oam.dev/group":"","x":"y"})";
  const struct {
    const char* what;
    kube::Object object;
    kube::Object old;
    const kube::UserInfo* user;
    std::string expected;
  } cases[] = {
      {"a create", application(forged, 1), {}, &kAnn, ann},
      {"a change of the spec", application(forged, 2), application(bob, 1), &kAnn, ann},
      {"a change of something else", application(forged, 1), application(bob, 1), &kAnn, bob},
      {"a change of something else that nobody is recorded for", application(forged, 1), application(R"({"x":"y"})", 1), &kAnn,
       R"({"x":"y"})"},
      {"a service account that is taken away", application(forged, 1),
       application(R"({"app.oam.dev/service-account-name":"weak","app.oam.dev/username":"bob"})", 1), &kAnn, ann},
      {"the process itself", application(bob, 2), application(bob, 1), nullptr, bob},
  };
  for (const auto& one : cases) {
    const kube::Object made = record_identity(one.object, one.old, asker(one.user));
    EXPECT_EQ(made["metadata"]["annotations"], *json::parse(one.expected)) << one.what;
  }
}

TEST(Identity, of_a_service_account_needs_the_right_to_impersonate_it) {
  const std::string account = R"({"app.oam.dev/service-account-name":"deployer"})";
  const auto refused = [](const kube::Object& object, const kube::Object& old, bool may) {
    return check_service_account(object, old, asker(&kAnn, may)).size() == 1;
  };
  EXPECT_TRUE(refused(application(account, 1), {}, false));
  EXPECT_FALSE(refused(application(account, 1), {}, true));
  EXPECT_FALSE(refused(application("{}", 1), {}, false));
  EXPECT_TRUE(refused(application(account, 1), application("{}", 1), false)) << "named now";
  EXPECT_TRUE(refused(application(account, 2), application(account, 1), false)) << "another spec for it";
  EXPECT_FALSE(refused(application(account, 1), application(account, 1), false)) << "as it was";
}

TEST(Identity, a_service_account_has_the_name_of_one) {
  for (const char* account : {"../kube-system/admin", "a:b", "A", "a b"}) {
    const auto causes = check_service_account(
        application(fmt::format(R"({{"app.oam.dev/service-account-name":"{}"}})", account), 1), {}, asker(&kAnn, true));
    ASSERT_EQ(causes.size(), 1U) << account;
    EXPECT_EQ(causes[0].reason, "FieldValueInvalid");
  }
}

TEST(Identity, is_read_back_from_the_annotations) {
  EXPECT_EQ(identity_of(application("{}", 1)), nullptr);
  const auto user = identity_of(application(R"({"app.oam.dev/username":"ann","app.oam.dev/group":"dev,ops"})", 1));
  ASSERT_NE(user, nullptr);
  EXPECT_EQ(user->name, "ann");
  EXPECT_EQ(user->groups, (std::vector<std::string>{"dev", "ops"}));
  const auto account =
      identity_of(application(R"({"app.oam.dev/username":"ann","app.oam.dev/service-account-name":"deployer"})", 1));
  EXPECT_EQ(account->name, "system:serviceaccount:team:deployer");
  EXPECT_EQ(account->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:team", "system:authenticated"}));
}

}  // namespace
}  // namespace slipway::delivery::application
