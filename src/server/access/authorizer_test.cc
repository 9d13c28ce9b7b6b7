#include "server/access/access_fixture.h"

namespace slipway::server {

class Authorization : public AccessTest {};

TEST_F(Authorization, refuses_a_user_without_roles_in_upstreams_words) {
  EXPECT_EQ(message(as(user("bob"), request(Verb::List, kPods, ""))),
            "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"");
  EXPECT_EQ(message(as(user("bob"), request(Verb::Get, kJobs, "x"))),
            "jobs.batch \"x\" is forbidden: User \"bob\" cannot get resource \"jobs\" in API group \"batch\" in the namespace "
            "\"default\"");
  EXPECT_EQ(
      message(as(user("bob"), request(Verb::List, kClusterRoles, "", ""))),
      "clusterroles.rbac.authorization.k8s.io is forbidden: User \"bob\" cannot list resource \"clusterroles\" in API group "
      "\"rbac.authorization.k8s.io\" at the cluster scope");
  EXPECT_EQ(reason(as(user("bob"), request(Verb::List, kPods, ""))), "Forbidden");
}

TEST_F(Authorization, takes_a_namespace_to_lie_in_itself) {
  EXPECT_EQ(message(as(user("bob"), request(Verb::Get, kNamespaces, "default", ""))),
            "namespaces \"default\" is forbidden: User \"bob\" cannot get resource \"namespaces\" in API group \"\" in the "
            "namespace \"default\"");
}

TEST_F(Authorization, names_the_subresource) {
  Request made = request(Verb::Update, kJobs, "x");
  made.subresource = "status";
  EXPECT_EQ(message(as(user("bob"), made)),
            "jobs.batch \"x\" is forbidden: User \"bob\" cannot update resource \"jobs/status\" in API group \"batch\" in the "
            "namespace \"default\"");
}

TEST_F(Authorization, lets_the_process_and_masters_do_everything) {
  EXPECT_TRUE(list(kSecrets));
  EXPECT_TRUE(as(user("eve", {"system:masters"}), request(Verb::List, kSecrets, "")));
}

TEST_F(Authorization, a_binding_gives_a_role_in_its_namespace_only) {
  let_bob("[{apiGroups: [''], resources: [configmaps], verbs: [get, list]}]");
  EXPECT_TRUE(as(user("bob"), request(Verb::List, kConfigMaps, "")));
  EXPECT_EQ(reason(as(user("bob"), request(Verb::List, kConfigMaps, "", "kube-system"))), "Forbidden");
  EXPECT_EQ(reason(as(user("bob"), request(Verb::List, kConfigMaps, "", ""))), "Forbidden");
  EXPECT_EQ(reason(as(user("bob"), request(Verb::List, kSecrets, ""))), "Forbidden");
  EXPECT_EQ(reason(as(user("rob"), request(Verb::List, kConfigMaps, ""))), "Forbidden");
}

TEST_F(Authorization, a_user_whose_rights_are_narrowed_may_do_what_all_may) {
  let_bob("[{apiGroups: [''], resources: [configmaps], verbs: [get, list]}]");
  must(create(kRoles, role("anns", "[{apiGroups: [''], resources: [configmaps, secrets], verbs: [list]}]")));
  must(create(kRoleBindings, binding("anns", "Role", "anns", "{kind: User, name: ann}")));
  const auto narrowed = [](UserPtr who, std::vector<kube::UserInfo> by, const char* ns) {
    auto made = std::make_shared<kube::UserInfo>(*who);
    made->narrowing = std::make_shared<const kube::Narrowing>(kube::Narrowing{.ns = ns, .by = std::move(by)});
    return UserPtr(made);
  };
  const UserPtr both = narrowed(user("ann"), {*user("bob")}, "default");
  EXPECT_TRUE(as(both, request(Verb::List, kConfigMaps, "")));
  EXPECT_TRUE(
      message(as(both, request(Verb::List, kSecrets, ""))).ends_with(": it uses what \"bob\" wrote, who may not do this"))
      << message(as(both, request(Verb::List, kSecrets, "")));
  EXPECT_FALSE(as(both, request(Verb::Get, kConfigMaps, "x"))) << "ann may not";
  const UserPtr root = narrowed(user("root", {"system:masters"}), {*user("bob")}, "default");
  EXPECT_FALSE(as(root, request(Verb::List, kSecrets, ""))) << "masters are narrowed too";
  EXPECT_TRUE(message(as(root, request(Verb::List, kConfigMaps, "", "kube-system")))
                  .ends_with("it uses what others wrote (\"bob\"), and so reaches nothing outside the namespace default"));
  const UserPtr anywhere = narrowed(user("root", {"system:masters"}), {*user("root2", {"system:masters"})}, "");
  EXPECT_TRUE(as(anywhere, request(Verb::List, kSecrets, "", "kube-system")));
  // Bindings give nothing that one of them could not give.
  must(create(kRoleBindings, binding("binder", "ClusterRole", "admin", "{kind: User, name: carol}")));
  const Value grant = binding("grant", "ClusterRole", "cluster-admin", "{kind: User, name: carol}");
  EXPECT_EQ(reason(create_as(narrowed(user("root", {"system:masters"}), {*user("carol")}, "default"), kRoleBindings, grant)),
            "Forbidden");
}

TEST_F(Authorization, a_change_of_a_role_or_binding_counts_at_once) {
  let_bob("[{apiGroups: [''], resources: [configmaps], verbs: [list]}]");
  must(update(kRoles, role("bobs", "[{apiGroups: [''], resources: [secrets], verbs: [list]}]")));
  EXPECT_EQ(reason(as(user("bob"), request(Verb::List, kConfigMaps, ""))), "Forbidden");
  EXPECT_TRUE(as(user("bob"), request(Verb::List, kSecrets, "")));
  must(remove(kRoleBindings, "bobs"));
  EXPECT_EQ(reason(as(user("bob"), request(Verb::List, kSecrets, ""))), "Forbidden");
}

TEST_F(Authorization, a_binding_waits_for_its_role_and_outlives_it) {
  must(create(kRoleBindings, binding("early", "Role", "late", "{kind: User, name: bob}")));
  const auto list_maps = [&] { return as(user("bob"), request(Verb::List, kConfigMaps, "")); };
  EXPECT_FALSE(list_maps());
  must(create(kRoles, role("late", "[{apiGroups: [''], resources: [configmaps], verbs: [list]}]")));
  EXPECT_TRUE(list_maps());
  must(remove(kRoles, "late"));
  EXPECT_TRUE(message(list_maps()).ends_with(": RBAC: role.rbac.authorization.k8s.io \"late\" not found"));
  must(create(kRoles, role("late", "[{apiGroups: [''], resources: [configmaps], verbs: [list]}]")));
  EXPECT_TRUE(list_maps());
}

TEST_F(Authorization, a_change_of_subjects_takes_from_some_and_leaves_others) {
  must(create(kRoles, role("r", "[{apiGroups: [''], resources: [configmaps], verbs: [list]}]")));
  must(create(kRoleBindings,
              binding("b", "Role", "r", "{kind: User, name: ann}, {kind: User, name: bob}, {kind: User, name: bob}")));
  EXPECT_TRUE(as(user("bob"), request(Verb::List, kConfigMaps, "")));
  must(update(kRoleBindings, binding("b", "Role", "r", "{kind: User, name: ann}")));
  EXPECT_FALSE(as(user("bob"), request(Verb::List, kConfigMaps, "")));
  EXPECT_TRUE(as(user("ann"), request(Verb::List, kConfigMaps, "")));
}

TEST_F(Authorization, a_write_of_one_binding_among_ten_thousand_costs_one_object) {
  std::vector<store::Write> writes;
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = fmt::format("b{:05}", i);
    writes.push_back({"/registry/rbac.authorization.k8s.io/rolebindings/default/" + name,
                      binding(name, "Role", "r", fmt::format("{{kind: User, name: u{}}}", i)), 0});
  }
  must(create(kRoles, role("r", "[{apiGroups: [''], resources: [configmaps], verbs: [list]}]")));
  ASSERT_TRUE(env_.run(store_->append(std::move(writes))));
  Authorizer authorizer(*store_);
  const Attributes list_maps{.verb = "list", .group = "", .version = "v1", .resource = "configmaps", .ns = "default"};
  EXPECT_TRUE(authorizer.decide(*user("u9999"), list_maps).is_allowed);
  EXPECT_FALSE(authorizer.decide(*user("bob"), list_maps).is_allowed);
  const auto before = authorizer.objects_read();
  must(create(kRoleBindings, binding("one", "Role", "r", "{kind: User, name: bob}")));
  EXPECT_TRUE(authorizer.decide(*user("bob"), list_maps).is_allowed);
  must(remove(kRoleBindings, "one"));
  EXPECT_FALSE(authorizer.decide(*user("bob"), list_maps).is_allowed);
  EXPECT_EQ(authorizer.objects_read() - before, 2U);
}

TEST_F(Authorization, what_a_broken_deletecollection_deleted_is_out_of_force) {
  must(create(kRoles, role("r", "[{apiGroups: [''], resources: [configmaps], verbs: [list]}]")));
  std::vector<store::Write> writes;
  for (int i = 0; i < 700; ++i) {
    const std::string name = fmt::format("b{:03}", i);
    writes.push_back({"/registry/rbac.authorization.k8s.io/rolebindings/default/" + name,
                      binding(name, "Role", "r", fmt::format("{{kind: User, name: u{}}}", i)), 0});
  }
  ASSERT_TRUE(env_.run(store_->append(std::move(writes))));
  const auto may_list = [&](const char* name) { return as(user(name), request(Verb::List, kConfigMaps, "")).has_value(); };
  ASSERT_TRUE(may_list("u0"));
  const auto before = store_->revision();
  std::optional<Result<Reply>> outcome;
  const auto collect = [](Server& server, Request asked, std::optional<Result<Reply>>& into) -> Task<> {
    into = co_await server.call(std::move(asked));
  };
  env_.spawn(collect(*server_, request(Verb::DeleteCollection, kRoleBindings, ""), outcome));
  ASSERT_TRUE(env_.run_until([&] { return store_->revision() > before; }));
  ASSERT_EQ(store_->revision(), before + 128) << "one batch";
  vfs_.fail_next(1'000);
  ASSERT_TRUE(env_.run_until([&] { return outcome.has_value(); }));
  EXPECT_FALSE(*outcome);
  EXPECT_FALSE(may_list("u0"));
  EXPECT_TRUE(may_list("u699"));
}

TEST_F(Authorization, a_rule_with_names_takes_a_watch_of_that_name) {
  let_bob("[{apiGroups: [''], resources: [configmaps], resourceNames: [a], verbs: [get, list]}]");
  Request made = request(Verb::List, kConfigMaps, "");
  EXPECT_EQ(reason(as(user("bob"), made)), "Forbidden");
  made.field_selector = "metadata.name=a";
  EXPECT_TRUE(as(user("bob"), made));
  made.field_selector = "metadata.name=b";
  EXPECT_EQ(reason(as(user("bob"), made)), "Forbidden");
}

TEST_F(Authorization, reads_the_selected_name_as_the_list_reads_it) {
  let_bob("[{apiGroups: [''], resources: [configmaps], resourceNames: [a], verbs: [list, watch, deletecollection]}]");
  const auto list_by = [&](std::string selector) {
    Request made = request(Verb::List, kConfigMaps, "");
    made.field_selector = std::move(selector);
    return as(user("bob"), std::move(made));
  };
  EXPECT_TRUE(list_by("metadata.namespace=default,metadata.name==a"));
  EXPECT_EQ(reason(list_by("metadata.namespace=x\\,metadata.name=a")), "Forbidden") << "an escaped comma ends no term";
  EXPECT_EQ(reason(list_by("metadata.name!=a")), "Forbidden");
  EXPECT_EQ(reason(list_by("metadata.name=a,x")), "Forbidden") << "a selector that cannot be read names nothing";
}

TEST_F(Authorization, a_deletecollection_takes_no_name_from_its_selector) {
  let_bob("[{apiGroups: [''], resources: [configmaps], resourceNames: [a], verbs: [deletecollection]}]");
  must(create(kConfigMaps, config_map("a")));
  Request made = request(Verb::DeleteCollection, kConfigMaps, "");
  made.field_selector = "metadata.name=a";
  EXPECT_EQ(message(as(user("bob"), made)),
            "configmaps is forbidden: User \"bob\" cannot deletecollection resource \"configmaps\" in API group \"\" in the "
            "namespace \"default\"");
  EXPECT_TRUE(get(kConfigMaps, "a"));
}

TEST_F(Authorization, a_watch_is_authorized_as_such) {
  let_bob("[{apiGroups: [''], resources: [configmaps], verbs: [list]}]");
  Request made = request(Verb::List, kConfigMaps, "");
  made.user = user("bob");
  const auto watch = env_.run(server_->watch(made));
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().message,
            "configmaps is forbidden: User \"bob\" cannot watch resource \"configmaps\" in API group \"\" in the namespace "
            "\"default\"");
}

TEST_F(Authorization, a_missing_role_is_told_with_the_refusal) {
  must(create(kRoleBindings, binding("lost", "ClusterRole", "nothing", "{kind: User, name: bob}")));
  EXPECT_TRUE(message(as(user("bob"), request(Verb::List, kPods, "")))
                  .ends_with(": RBAC: clusterrole.rbac.authorization.k8s.io \"nothing\" not found"));
}

TEST_F(Authorization, knows_groups_and_service_accounts) {
  must(create(kRoles, role("r", "[{apiGroups: [''], resources: [configmaps], verbs: [list]}]")));
  must(create(kRoleBindings, binding("g", "Role", "r", "{kind: Group, name: devs}")));
  must(create(kRoleBindings, binding("s", "Role", "r", "{kind: ServiceAccount, name: ci, namespace: tools}")));
  EXPECT_TRUE(as(user("x", {"devs"}), request(Verb::List, kConfigMaps, "")));
  EXPECT_TRUE(as(user("system:serviceaccount:tools:ci"), request(Verb::List, kConfigMaps, "")));
  EXPECT_FALSE(as(user("system:serviceaccount:default:ci"), request(Verb::List, kConfigMaps, "")));
}

TEST_F(Authorization, who_may_only_patch_cannot_create_by_applying) {
  let_bob("[{apiGroups: [''], resources: [configmaps], verbs: [patch]}]");
  Request made = request(Verb::Patch, kConfigMaps, "new");
  made.patch_type = client::PatchType::Apply;
  made.field_manager = "bob";
  made.body = yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}");
  EXPECT_EQ(message(as(user("bob"), made)),
            "configmaps \"new\" is forbidden: User \"bob\" cannot create resource \"configmaps\" in API group \"\" in the "
            "namespace \"default\"");
  must(create(kConfigMaps, config_map("new")));
  EXPECT_TRUE(as(user("bob"), made));
}

TEST_F(Authorization, everybody_may_see_health_and_version_and_only_known_users_discovery) {
  const UserPtr nobody = user("system:anonymous", {"system:unauthenticated"});
  for (const char* path : {"/version", "/livez", "/readyz", "/healthz"}) {
    EXPECT_TRUE(server_->authorize(nobody, Attributes::of_path("get", path))) << path;
  }
  EXPECT_TRUE(server_->authorize(user("bob"), Attributes::of_path("get", "/apis/apps/v1")));
  const auto refused = server_->authorize(nobody, Attributes::of_path("get", "/apis"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "forbidden: User \"system:anonymous\" cannot get path \"/apis\"");
  EXPECT_FALSE(server_->authorize(user("bob"), Attributes::of_path("get", "/metrics")));
  EXPECT_FALSE(server_->authorize(user("bob"), Attributes::of_path("post", "/version")));
}

TEST(Policy, a_rule_names_resources_subresources_and_all_of_one_subresource) {
  const auto allows = [](std::string_view rule, std::string resource, std::string subresource) {
    const Attributes what{
        .verb = "get", .group = "apps", .resource = std::move(resource), .subresource = std::move(subresource)};
    return server::allows(PolicyRule::of(yaml(rule)), what);
  };
  constexpr auto kPlain = "{apiGroups: [apps], resources: [deployments], verbs: [get]}";
  constexpr auto kScale = "{apiGroups: ['*'], resources: ['*/scale'], verbs: ['*']}";
  constexpr auto kAll = "{apiGroups: [apps], resources: ['*'], verbs: [get]}";
  EXPECT_TRUE(allows(kPlain, "deployments", ""));
  EXPECT_FALSE(allows(kPlain, "deployments", "scale"));
  EXPECT_TRUE(allows(kScale, "deployments", "scale"));
  EXPECT_FALSE(allows(kScale, "deployments", ""));
  EXPECT_FALSE(allows(kScale, "deployments", "status"));
  EXPECT_TRUE(allows(kAll, "deployments", "status"));
  EXPECT_FALSE(allows("{apiGroups: [''], resources: ['*'], verbs: [get]}", "deployments", ""));
}

TEST(Policy, a_path_may_end_in_a_star) {
  const PolicyRule rule = PolicyRule::of(yaml("{nonResourceURLs: [/healthz, /logs/*], verbs: [get]}"));
  EXPECT_TRUE(allows(rule, Attributes::of_path("get", "/logs/a/b")));
  EXPECT_TRUE(allows(rule, Attributes::of_path("get", "/healthz")));
  EXPECT_FALSE(allows(rule, Attributes::of_path("get", "/healthz/etcd")));
  EXPECT_FALSE(allows(rule, Attributes::of_path("get", "/log")));
}

TEST(Policy, what_is_missing_is_told_by_thing_with_its_verbs) {
  const auto held = policy_rules(yaml("[{apiGroups: [''], resources: [pods], verbs: [get]}]"));
  const auto wanted = policy_rules(yaml("[{apiGroups: [''], resources: [pods, nodes], verbs: [get, list]}]"));
  const auto missing = missing_rules(held, wanted).rules;
  ASSERT_EQ(missing.size(), 2U);
  EXPECT_EQ(missing[0].to_string(), R"({APIGroups:[""], Resources:["nodes"], Verbs:["get" "list"]})");
  EXPECT_EQ(missing[1].to_string(), R"({APIGroups:[""], Resources:["pods"], Verbs:["list"]})");
}

TEST(Policy, a_rule_for_one_name_does_not_cover_all_names) {
  const auto one = policy_rules(yaml("[{apiGroups: [''], resources: [pods], resourceNames: [a], verbs: [get]}]"));
  const auto all = policy_rules(yaml("[{apiGroups: [''], resources: [pods], verbs: [get]}]"));
  EXPECT_TRUE(missing_rules(all, one).empty());
  EXPECT_EQ(missing_rules(one, all).rules.size(), 1U);
  const auto empty = policy_rules(yaml("[{apiGroups: [''], resources: [pods], resourceNames: [''], verbs: [get]}]"));
  EXPECT_EQ(missing_rules(empty, all).rules.size(), 1U);
}

}  // namespace slipway::server
