#include "server/access/access_fixture.h"

namespace slipway::server {

class Reviews : public AccessTest {
 public:
  Result<Value> review(const UserPtr& who, std::string group, std::string plural, std::string_view body, std::string ns = "") {
    Request made = request(Verb::Create, {std::move(group), "v1", std::move(plural)}, "", std::move(ns));
    made.body = yaml(body);
    return as(who, std::move(made));
  }
  Value self_review(const UserPtr& who, std::string_view attributes) {
    return must(review(who, "authorization.k8s.io", "selfsubjectaccessreviews",
                       fmt::format("{{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: "
                                   "{{resourceAttributes: {}}}}}",
                                   attributes)))["status"];
  }
};

TEST_F(Reviews, tell_whether_one_may_and_why) {
  let_bob("[{apiGroups: [''], resources: [pods], verbs: [list]}]");
  EXPECT_EQ(self_review(user("bob"), "{namespace: default, verb: list, resource: pods}"),
            yaml("{allowed: true, reason: 'RBAC: allowed by RoleBinding \"bobs/default\" of Role \"bobs\" to User \"bob\"'}"));
  EXPECT_EQ(self_review(user("bob"), "{namespace: default, verb: delete, resource: pods}"), yaml("{allowed: false}"));
}

TEST_F(Reviews, of_others_take_a_right_of_their_own) {
  constexpr auto kBody =
      "{apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: bob, groups: [system:masters], "
      "resourceAttributes: {verb: get, resource: pods}}}";
  EXPECT_EQ(reason(review(user("bob"), "authorization.k8s.io", "subjectaccessreviews", kBody)), "Forbidden");
  EXPECT_TRUE(must(review(nullptr, "authorization.k8s.io", "subjectaccessreviews", kBody))["status"]["allowed"].as_bool());
}

TEST_F(Reviews, refuse_a_question_about_nothing_or_two_things) {
  EXPECT_EQ(
      message(review(user("bob"), "authorization.k8s.io", "selfsubjectaccessreviews",
                     "{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {}}")),
      "SelfSubjectAccessReview.authorization.k8s.io \"\" is invalid: spec.resourceAttributes: Invalid value: null: exactly "
      "one of nonResourceAttributes or resourceAttributes must be specified");
}

TEST_F(Reviews, of_one_namespace_stay_in_it) {
  constexpr auto kBody =
      "{apiVersion: authorization.k8s.io/v1, kind: LocalSubjectAccessReview, spec: {user: bob, "
      "resourceAttributes: {namespace: other, verb: get, resource: pods}}}";
  EXPECT_EQ(message(review(nullptr, "authorization.k8s.io", "localsubjectaccessreviews", kBody, "default")),
            "LocalSubjectAccessReview.authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid value: "
            "\"other\": must match metadata.namespace");
}

TEST_F(Reviews, list_ones_own_rules_in_a_namespace) {
  let_bob("[{apiGroups: [''], resources: [pods], verbs: [list]}]");
  // Without groups one may not even ask; with the usual one, what that gives comes too.
  EXPECT_EQ(reason(review(user("bob", {}), "authorization.k8s.io", "selfsubjectrulesreviews", "{}")), "Forbidden");
  const Value own =
      must(review(user("bob"), "authorization.k8s.io", "selfsubjectrulesreviews",
                  "{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectRulesReview, spec: {namespace: default}}"));
  const auto items = own["status"]["resourceRules"].items();
  EXPECT_EQ(items[items.size() - 1], yaml("{apiGroups: [''], resources: [pods], verbs: [list]}"));
  EXPECT_FALSE(own["status"]["incomplete"].as_bool(true));
  EXPECT_FALSE(own["status"]["nonResourceRules"].empty());
}

TEST_F(Reviews, tell_who_one_is) {
  const Value who = must(review(user("bob", {"system:authenticated"}), "authentication.k8s.io", "selfsubjectreviews",
                                "{apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview}"));
  EXPECT_EQ(who["status"]["userInfo"], yaml("{username: bob, groups: ['system:authenticated']}"));
}

TEST_F(Reviews, tell_who_a_token_belongs_to) {
  const auto about = [&](std::string_view token) {
    Request made = request(Verb::Create, {"authentication.k8s.io", "v1", "tokenreviews"}, "", "");
    made.body = json::object(
        {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", json::object({{"token", token}})}});
    return must(object_of(std::move(made)))["status"];
  };
  const Value known = about(token_of("default"));
  EXPECT_TRUE(known["authenticated"].as_bool());
  EXPECT_EQ(known["user"]["username"].str(), "system:serviceaccount:default:default");
  EXPECT_EQ(known["audiences"], yaml("['https://kubernetes.default.svc.cluster.local']"));
  EXPECT_FALSE(about("nonsense")["authenticated"].as_bool());
}

TEST_F(Reviews, are_only_created) {
  EXPECT_EQ(reason(object_of(request(Verb::List, {"authorization.k8s.io", "v1", "selfsubjectaccessreviews"}, "", ""))),
            "MethodNotAllowed");
}

class Tokens : public AccessTest {
 public:
  Result<Value> ask(std::string account, std::string_view spec) {
    Request made = request(Verb::Create, kAccounts, std::move(account));
    made.subresource = "token";
    made.body = yaml(fmt::format("{{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {}}}", spec));
    return object_of(std::move(made));
  }
};

TEST_F(Tokens, last_an_hour_unless_said) {
  const Value made = must(ask("default", "{audiences: null, expirationSeconds: null, boundObjectRef: null}"));
  EXPECT_EQ(made["spec"]["expirationSeconds"].as_int(), 3600);
  EXPECT_EQ(made["status"]["expirationTimestamp"].str(), to_rfc3339(env_.now() + std::chrono::hours{1}));
}

TEST_F(Tokens, last_ten_minutes_at_least) {
  EXPECT_EQ(message(ask("default", "{expirationSeconds: 599}")),
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a "
            "duration less than 10 minutes");
}

TEST_F(Tokens, are_of_accounts_that_are_there) {
  EXPECT_EQ(message(ask("ghost", "{}")), "serviceaccounts \"ghost\" not found");
}

TEST_F(Tokens, are_bound_to_what_is_there_only) {
  EXPECT_EQ(message(ask("default", "{boundObjectRef: {apiVersion: v1, kind: Secret, name: s}}")), "secrets \"s\" not found");
  EXPECT_EQ(message(ask("default", "{boundObjectRef: {apiVersion: v1, kind: Service, name: s}}")),
            "cannot bind token to object of type v1, Kind=Service");
}

class DefaultAccounts : public AccessTest {};

TEST_F(DefaultAccounts, are_in_every_namespace_as_soon_as_it_is_there) {
  for (const char* ns : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    EXPECT_TRUE(get(kAccounts, "default", ns)) << ns;
  }
  must(create(kNamespaces, yaml("{apiVersion: v1, kind: Namespace, metadata: {name: new}}")));
  EXPECT_TRUE(get(kAccounts, "default", "new"));
}

TEST_F(DefaultAccounts, come_again_unless_the_namespace_is_going) {
  must(create(kNamespaces, yaml("{apiVersion: v1, kind: Namespace, metadata: {name: new}}")));
  must(remove(kAccounts, "default", "", "new"));
  EXPECT_TRUE(get(kAccounts, "default", "new"));
  must(remove(kNamespaces, "new", "", ""));
  must(remove(kAccounts, "default", "", "new"));
  EXPECT_EQ(reason(get(kAccounts, "default", "new")), "NotFound");
}

TEST_F(DefaultAccounts, are_those_of_pods_that_name_none) {
  const auto pod = [](std::string_view name, std::string_view more) {
    return yaml(
        fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: {}, namespace: default}}, spec: {{{}containers: "
                    "[{{name: c, image: i}}]}}}}",
                    name, more));
  };
  EXPECT_EQ(must(create(kPods, pod("a", "")))["spec"]["serviceAccountName"].str(), "default");
  EXPECT_EQ(must(create(kPods, pod("b", "serviceAccountName: ci, ")))["spec"]["serviceAccountName"].str(), "ci");
}

}  // namespace slipway::server
