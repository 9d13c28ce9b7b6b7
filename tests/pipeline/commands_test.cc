// `slipway pipeline …` as several people use it: what each verb leaves in the cluster, who may, and who is written down.
#include <fmt/format.h>

#include "commands_fixture.h"
#include "delivery/pipeline/own_kinds.h"
#include "delivery/pipeline/pipeline_views.h"
#include "delivery/pipeline/reader_access.h"
#include "kube/well_known.h"

namespace slipway::pipeline_test {
namespace {

using namespace pipeline;  // NOLINT(google-build-using-namespace): the room under test

class Verbs : public PipelineCommands {
 public:
  void SetUp() override {
    PipelineCommands::SetUp();
    make_web();
    for (const char* user : {"promoter", "approver", "second", "holder", "freezer", "reader"}) bind(user, "view");
    grant("promoter", "promotions", "create, patch");
    grant("approver", "approvals", "create, delete");
    grant("second", "approvals", "create");
    grant("holder", "holds", "create, patch, delete");
    grant("freezer", "freezes", "create, delete");
    const auto role = apply({"rbac.authorization.k8s.io", "v1", "clusterroles"},
                            "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: look}, rules: "
                            "[{apiGroups: [helm.toolkit.fluxcd.io], resources: [helmreleases], verbs: [get]}]}",
                            "");
    ASSERT_TRUE(role) << role.error().message;
    for (const char* ns : {"web-dev", "web-staging", "web-prod"}) let_look_into(ns);
  }

  /// Everybody who is known may see the application there.
  void let_look_into(const std::string& ns) {
    ASSERT_TRUE(apply(kube::kNamespaces, fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}", ns), ""));
    const auto bound = apply({"rbac.authorization.k8s.io", "v1", "rolebindings"},
                             "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: look}, roleRef: "
                             "{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: look}, subjects: [{apiGroup: "
                             "rbac.authorization.k8s.io, kind: Group, name: 'system:authenticated'}]}",
                             ns);
    ASSERT_TRUE(bound) << bound.error().message;
  }

  void promotion(const std::string& name, const std::string& environment, const std::string& release, const std::string& status,
                 int attempt = 1) {
    const auto made =
        apply(kPromotions, fmt::format("{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Promotion, metadata: {{name: "
                                       "{}}}, spec: {{pipeline: web, environment: {}, release: {}, attempt: {}}}}}",
                                       name, environment, release, attempt));
    ASSERT_TRUE(made) << made.error().message;
    write_status(kPromotions, name, status);
  }
};

TEST_F(Verbs, promote_makes_the_promotion_that_the_controller_would_make_and_tells_who_asked) {
  const std::string uid = (*get(kPipelines, "web"))["metadata"]["uid"].str();
  const std::string name = promotion_name("web", uid, "prod", "web-2", 1);
  EXPECT_EQ(run("promoter", "promote", {"web"}, {{"to", "prod"}, {"comment", "ready"}}),
            fmt::format("promotion/{}: 1.1.0 is to get into prod as promoter\n", name));
  const Value made = only(kPromotions);
  EXPECT_EQ(kube::name(made), name);
  EXPECT_EQ(made["spec"].without("by"),
            yaml("{pipeline: web, environment: prod, release: web-2, attempt: 1, action: promote, comment: ready}"));
  EXPECT_EQ(made["spec"]["by"]["user"].as_string(), "promoter");
  EXPECT_EQ(run("promoter", "promote", {"pipeline/web"}, {{"to", "prod"}}),
            fmt::format("BadRequest: pipeline/web: 1.1.0 is on its way into prod already (promotion/{}: Waiting)", name));
  EXPECT_EQ(run("promoter", "promote", {"web"}, {{"to", "prod"}, {"skip-gates", "true"}}),
            fmt::format("promotion/{}: its gates are not asked any more\n", name));
  EXPECT_TRUE(only(kPromotions)["spec"]["skipGates"].as_bool());
}

TEST_F(Verbs, each_right_is_that_on_its_kind) {
  const auto refused = [&](const std::string& user, const std::string& verb, const std::map<std::string, std::string>& options,
                           const std::string& resource) {
    const std::string said = run(user, verb, {"web"}, options);
    EXPECT_TRUE(said.starts_with("Forbidden: ") && said.contains(resource)) << user << " " << verb << ": " << said;
  };
  refused("approver", "promote", {{"to", "prod"}}, "promotions.pipelines.slipway.dev");
  refused("approver", "rollback", {{"environment", "prod"}, {"version", "1.1.0"}}, "promotions.pipelines.slipway.dev");
  refused("promoter", "approve", {{"environment", "prod"}, {"version", "1.1.0"}}, "approvals.pipelines.slipway.dev");
  refused("promoter", "reject", {{"environment", "prod"}, {"version", "1.1.0"}}, "approvals.pipelines.slipway.dev");
  refused("approver", "pause", {}, "holds.pipelines.slipway.dev");
  refused("holder", "freeze", {}, "freezes.pipelines.slipway.dev");
  run("holder", "pause", {"web"});
  refused("promoter", "resume", {}, "holds.pipelines.slipway.dev");
  EXPECT_EQ(list(kPromotions).size() + list(kApprovals).size() + list(kFreezes).size(), 0U);
}

TEST_F(Verbs, edit_only_reads_what_view_reads_and_admin_may_all) {
  bind("editor", "edit");
  bind("owner", "admin");
  EXPECT_TRUE(run("editor", "approve", {"web"}, {{"environment", "prod"}, {"version", "1.1.0"}}).starts_with("Forbidden"));
  EXPECT_TRUE(run("editor", "promote", {"web"}, {{"to", "prod"}}).starts_with("Forbidden"));
  EXPECT_TRUE(run("editor", "status", {"web"}).contains("prod"));
  EXPECT_TRUE(run("reader", "why", {"web"}).contains("web"));
  EXPECT_TRUE(run("owner", "promote", {"web"}, {{"to", "prod"}}).contains("as owner"));
  EXPECT_TRUE(run("owner", "approve", {"web"}, {{"environment", "prod"}}).contains("as owner"));
}

TEST_F(Verbs, approvals_are_of_who_gave_them_whatever_they_write) {
  promotion("to-prod", "prod", "web-2", "{phase: Waiting, reason: ApprovalMissing}");
  EXPECT_TRUE(run("approver", "approve", {"web"}, {{"environment", "prod"}, {"gate", "leads"}, {"comment", "fine"}})
                  .ends_with(": 1.1.0 approved for prod as approver\n"));
  const Value made = only(kApprovals);
  EXPECT_EQ(made["spec"].without("by"),
            yaml("{pipeline: web, environment: prod, release: web-2, gate: leads, decision: approve, comment: fine}"));
  EXPECT_EQ(made["spec"]["by"]["user"].as_string(), "approver");
  EXPECT_EQ(made["spec"]["by"]["groups"], yaml("[system:authenticated]"));

  ClientOf forger(server(), "second", {});
  const auto forged =
      env_.run(client::create(forger, kApprovals,
                              yaml("{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Approval, metadata: {name: forged, "
                                   "namespace: shop}, spec: {pipeline: web, environment: prod, release: web-2, by: {user: "
                                   "approver, groups: [leads]}}}"),
                              "forger"));
  ASSERT_TRUE(forged) << forged.error().message;
  EXPECT_EQ((*forged)["spec"]["by"]["user"].as_string(), "second");
}

TEST_F(Verbs, what_was_said_never_changes) {
  promotion("to-prod", "prod", "web-2", "{phase: Waiting}");
  run("", "approve", {"web"}, {{"environment", "prod"}});
  const std::string approval(kube::name(only(kApprovals)));
  const auto patched = [&](const kube::Resource& resource, const std::string& name, const std::string& patch) {
    const auto done = env_.run(client::merge_patch(server(), resource, {"shop", name}, yaml(patch), "tester"));
    return done ? std::string("accepted") : done.error().message;
  };
  EXPECT_TRUE(patched(kApprovals, approval, "{spec: {decision: reject}}").contains("what was said stays")) << "of an approval";
  EXPECT_TRUE(patched(kReleases, "web-1", "{spec: {version: 2.0.0}}").contains("a release never changes"));
  EXPECT_TRUE(patched(kPromotions, "to-prod", "{spec: {environment: dev}}").contains("environment never changes"));
  EXPECT_TRUE(patched(kPromotions, "to-prod", "{spec: {attempt: 2}}").contains("attempt never changes"));
  EXPECT_EQ(patched(kPromotions, "to-prod", "{spec: {comment: why not}}"), "accepted");
  EXPECT_EQ(patched(kReleases, "web-1", "{metadata: {labels: {a: b}}}"), "accepted");
}

TEST_F(Verbs, a_promotion_can_be_named_where_it_is_known) {
  promotion("to-prod", "prod", "web-2", "{phase: Waiting, reason: ApprovalMissing}");
  EXPECT_TRUE(run("approver", "approve", {"promotion/to-prod"}).contains("1.1.0 approved for prod as approver"));
  EXPECT_EQ(run("approver", "approve", {"promotion/to-dev"}),
            "NotFound: promotions.pipelines.slipway.dev \"to-dev\" not found");
}

TEST_F(Verbs, a_rejection_is_lifted_and_then_the_release_may_be_tried_again) {
  promotion("to-prod", "prod", "web-2", "{phase: Waiting, reason: ApprovalMissing}");
  EXPECT_TRUE(run("approver", "reject", {"web"}, {{"environment", "prod"}, {"comment", "too slow"}})
                  .ends_with(": 1.1.0 rejected for prod as approver\n"));
  EXPECT_TRUE(run("approver", "lift", {"web"}, {{"environment", "prod"}}).contains("nothing was rejected in prod"));
  write_status(kPromotions, "to-prod", "{phase: Rejected, reason: RefusedByPerson, message: too slow}");
  EXPECT_TRUE(run("promoter", "promote", {"web"}, {{"to", "prod"}})
                  .contains("was rejected in prod (Rejected, RefusedByPerson: too slow)"));
  EXPECT_TRUE(run("approver", "lift", {"web"}, {{"environment", "prod"}}).ends_with(": 1.1.0 lifted in prod as approver\n"));
  write_status(kPromotions, "to-prod", "{phase: Rejected, reason: RefusedByPerson, lifted: true}");
  EXPECT_TRUE(run("promoter", "promote", {"web"}, {{"to", "prod"}}).contains("is to get into prod"));
  EXPECT_EQ(list(kPromotions).size(), 2U);
}

TEST_F(Verbs, a_rollback_is_a_promotion_of_what_ran_before) {
  promotion("one", "staging", "web-1", "{phase: Succeeded, ended: '2026-01-01T00:00:00Z'}");
  promotion("two", "staging", "web-2", "{phase: Succeeded, ended: '2026-01-02T00:00:00Z'}");
  EXPECT_TRUE(run("promoter", "rollback", {"web"}, {{"environment", "staging"}, {"comment", "errors"}})
                  .ends_with(": 1.0.0 goes back into staging as promoter\n"));
  const std::string name = promotion_name("web", (*get(kPipelines, "web"))["metadata"]["uid"].str(), "staging", "web-1", 2);
  EXPECT_EQ((*get(kPromotions, name))["spec"].without("by"),
            yaml("{pipeline: web, environment: staging, release: web-1, attempt: 2, action: rollback, comment: errors}"));
}

TEST_F(Verbs, holds_begin_and_end) {
  EXPECT_TRUE(run("holder", "hold", {"web"}, {{"environment", "dev\nprod"}, {"comment", "audit"}})
                  .ends_with(": nothing is promoted into dev, prod as holder\n"));
  EXPECT_EQ(only(kHolds)["spec"]["environments"], yaml("[dev, prod]"));
  EXPECT_TRUE(run("promoter", "promote", {"web"}, {{"to", "prod"}}).contains("(prod is held: it waits for the end of hold/"));
  EXPECT_TRUE(run("holder", "resume", {"web"}, {{"environment", "prod"}}).ends_with(": holds dev only\n"));
  EXPECT_EQ(only(kHolds)["spec"]["environments"], yaml("[dev]"));
  EXPECT_TRUE(run("holder", "resume", {"web"}, {{"environment", "dev"}}).ends_with(": over\n"));
  EXPECT_TRUE(list(kHolds).empty());
  EXPECT_EQ(run("holder", "resume", {"web"}), "(pipeline/web is not held)");

  EXPECT_TRUE(run("holder", "pause", {"web"}, {{"for", "2h"}}).contains("nothing is promoted into any environment until "));
  EXPECT_TRUE(run("holder", "resume", {"web"}, {{"environment", "dev"}})
                  .contains("holds all environments: resume without --environment ends it"));
  EXPECT_TRUE(run("holder", "resume", {"web"}).ends_with(": over\n"));
}

TEST_F(Verbs, freezes_begin_and_end) {
  EXPECT_EQ(
      run("freezer", "freeze", {"xmas"},
          {{"pipeline", "web"}, {"environment", "prod"}, {"from", "2026-12-20T00:00:00Z"}, {"until", "2027-01-02T00:00:00Z"}}),
      "freeze/xmas: nothing is promoted into prod of web from 2026-12-20T00:00:00Z until 2027-01-02T00:00:00Z as freezer\n");
  EXPECT_EQ(
      only(kFreezes)["spec"].without("by"),
      yaml("{pipelines: [web], environments: [prod], from: '2026-12-20T00:00:00Z', until: '2027-01-02T00:00:00Z', targets: "
           "[{namespace: web-prod}]}"));
  EXPECT_EQ(run("freezer", "unfreeze", {"easter"}), "NotFound: freeze \"easter\" is not in namespace shop: it has xmas");
  EXPECT_EQ(run("freezer", "unfreeze", {"xmas"}), "freeze/xmas: over\n");
  EXPECT_EQ(
      run("freezer", "freeze", {"friday"},
          {{"rrule", "FREQ=WEEKLY;BYDAY=FR;BYHOUR=15"},
           {"duration", "57h"},
           {"time-zone", "Europe/Berlin"},
           {"cluster-label", "tier=gold"}}),
      "freeze/friday: nothing is promoted into any environment of any pipeline of shop while FREQ=WEEKLY;BYDAY=FR;BYHOUR=15 as "
      "freezer\n");
  EXPECT_EQ(
      only(kFreezes)["spec"].without("by"),
      yaml("{clusterLabels: {tier: gold}, window: {rrule: 'FREQ=WEEKLY;BYDAY=FR;BYHOUR=15', timeZone: Europe/Berlin, duration: "
           "57h0m0s, freeze: true}}"));
}

struct WrongCase {
  std::string verb;
  std::vector<std::string> words;
  std::map<std::string, std::string> options;
  std::string said;
};

TEST_F(Verbs, wrong_input_is_told_with_what_to_do) {
  const WrongCase cases[] = {
      {"status", {}, {}, "BadRequest: name one pipeline: slipway pipeline status NAME"},
      {"status", {"a", "b"}, {}, "BadRequest: name one pipeline: slipway pipeline status NAME"},
      {"status", {"wep"}, {}, "NotFound: pipeline \"wep\" is not in namespace shop: it has web"},
      {"status", {"web"}, {{"output", "xml"}}, "BadRequest: --output \"xml\": must be table or wide or json"},
      {"list", {}, {{"output", "wide"}}, "BadRequest: --output \"wide\": must be table or json"},
      {"why",
       {"web"},
       {{"environment", "qa"}},
       "BadRequest: pipeline/web: it has no environment qa: it has dev, staging, prod"},
      {"diff",
       {"web"},
       {{"to", "dev"}},
       "BadRequest: pipeline/web: nothing comes before dev: new versions get in there from outside"},
      {"inventory", {}, {}, "BadRequest: say what is listed: slipway pipeline inventory --charts, --images, or --problems"},
      {"promote", {"web"}, {}, "BadRequest: pipeline/web: say which environment with --to: it has dev, staging, prod"},
      {"hold", {"web"}, {}, "BadRequest: say which environment with --environment; to hold all, slipway pipeline pause NAME"},
      {"hold",
       {"web"},
       {{"environment", "qa"}},
       "BadRequest: pipeline/web: it has no environment qa: it has dev, staging, prod"},
      {"pause", {"web"}, {{"until", "tomorrow"}}, "BadRequest: --until \"tomorrow\": must be a time like 2026-12-24T00:00:00Z"},
      {"pause", {"web"}, {{"for", "-1h"}}, "BadRequest: --for \"-1h\": must be a duration like 2h30m"},
      {"pause", {"web"}, {{"for", "1h"}, {"until", "2027-01-01T00:00:00Z"}}, "BadRequest: give one of --until and --for"},
      {"freeze", {}, {}, "BadRequest: name the freeze: slipway pipeline freeze NAME"},
      {"freeze",
       {"f"},
       {{"duration", "1h"}},
       "BadRequest: --duration and --time-zone are of a freeze that comes again: give --rrule too"},
      {"freeze", {"f"}, {{"cluster-label", "gold"}}, "BadRequest: --cluster-label \"gold\": must be KEY=VALUE"},
      {"freeze",
       {"f"},
       {{"from", "2026-12-20T00:00:00Z"}, {"until", "2026-12-19T00:00:00Z"}},
       "BadRequest: spec.until: Invalid value: \"2026-12-19T00:00:00Z\": must be after spec.from, 2026-12-20T00:00:00Z"},
      {"freeze",
       {"f"},
       {{"pipeline", "wep"}},
       "Invalid: Freeze.pipelines.slipway.dev \"f\" is invalid: spec.pipelines[0]: Not found: \"wep\": namespace \"shop\" has "
       "no such "
       "pipeline"}};
  for (const WrongCase& one : cases) EXPECT_EQ(run("", one.verb, one.words, one.options), one.said) << one.verb;
}

TEST_F(Verbs, the_process_itself_is_local_and_says_that_this_does_not_count_everywhere) {
  promotion("to-prod", "prod", "web-2", "{phase: Waiting}");
  const std::string said = run("", "approve", {"web"}, {{"environment", "prod"}});
  EXPECT_TRUE(said.contains("approved for prod as local\n(it bears no authenticated user")) << said;
}

TEST_F(Verbs, reading_verbs_print_what_the_objects_say) {
  EXPECT_TRUE(run("reader", "list", {}).starts_with("NAME  APPLICATION      VERSIONS"));
  EXPECT_TRUE(run("", "list", {}, {{"all-namespaces", "true"}}).contains("shop       web   HelmRelease web"));
  EXPECT_EQ(yaml(run("reader", "list", {}, {{"output", "json"}})),
            yaml("[{namespace: shop, name: web, application: {kind: HelmRelease, name: web}, versions: {dev: 1.1.0, staging: "
                 "1.1.0, prod: "
                 "1.0.0}, ready: 'True'}]"));
  EXPECT_TRUE(run("reader", "status", {"web"}).contains("prod         1.0.0    1/1"));
  EXPECT_TRUE(run("reader", "status", {"web"}, {{"output", "table"}})
                  .starts_with("ENVIRONMENT  CLUSTER  NAMESPACE    NAME  READY  VERSION"));
  EXPECT_EQ(run("reader", "status", {"web"}, {{"problems", "true"}}), "no problems\n");
  run("promoter", "promote", {"web"}, {{"to", "prod"}});
  const Value all = yaml(run("reader", "status", {"web"}, {{"output", "json"}}));
  EXPECT_EQ(all["promotions"].item(0)["by"].as_string(), "promoter");
  EXPECT_EQ(all["promotions"].item(0)["version"].as_string(), "1.1.0");
  EXPECT_EQ(all["releases"].size(), 2U);
  EXPECT_EQ(all["status"]["line"].as_string(), "dev 1.1.0 → staging 1.1.0 → prod 1.0.0");
  EXPECT_TRUE(run("reader", "inventory", {}, {{"charts", "true"}}).contains("only namespace shop"))
      << "who may not list everywhere";
  EXPECT_EQ(yaml(run("", "inventory", {}, {{"images", "true"}, {"output", "json"}})).size(), 3U);
}

TEST_F(Verbs, why_names_a_hold_that_no_promotion_waits_for) {
  EXPECT_EQ(run("reader", "why", {"web"}), "pipeline/web waits for nothing: dev 1.1.0 → staging 1.1.0 → prod 1.0.0\n");
  run("holder", "hold", {"web"}, {{"environment", "prod"}, {"comment", "audit"}});
  const std::string said = run("reader", "why", {"web"}, {{"environment", "prod"}});
  EXPECT_TRUE(said.contains("which covers prod") && said.contains("user holder") &&
              said.contains("slipway pipeline resume web ends it"))
      << said;
  EXPECT_TRUE(run("reader", "why", {"web"}, {{"environment", "dev"}}).contains("waits for nothing"));
}

TEST_F(Verbs, diff_compares_values_in_the_own_cluster) {
  const kube::Resource definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  const kube::Resource releases{"helm.toolkit.fluxcd.io", "v2", "helmreleases"};
  EXPECT_TRUE(run("", "diff", {"web"})
                  .ends_with("(values are not compared: no matches for kind \"HelmRelease\" in version "
                             "\"helm.toolkit.fluxcd.io/v2\")"));
  EXPECT_TRUE(run("reader", "diff", {"web"}).starts_with("staging → prod\n- version 1.0.0\n+ version 1.1.0"));
  ASSERT_TRUE(apply(definitions, R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helmreleases.helm.toolkit.fluxcd.io}
spec:
  group: helm.toolkit.fluxcd.io
  names: {kind: HelmRelease, listKind: HelmReleaseList, plural: helmreleases, singular: helmrelease}
  scope: Namespaced
  versions:
    - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
)",
                    ""));
  env_.advance(std::chrono::seconds{2});
  for (const auto& [ns, replicas] : {std::pair{"web-staging", 1}, {"web-prod", 3}}) {
    const auto made =
        apply(releases,
              fmt::format("{{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {{name: web}}, spec: "
                          "{{values: {{replicas: {}, same: true}}}}}}",
                          replicas),
              ns);
    ASSERT_TRUE(made) << made.error().message;
  }
  EXPECT_EQ(run("", "diff", {"web"}),
            "staging → prod\n- version 1.0.0\n+ version 1.1.0 (release web-2)\n- image web:1.0.0\n+ image web:1.1.0\n"
            "values that differ, staging and prod (a promotion leaves them alone):\n  values.replicas: 1 | 3\n");
}

TEST_F(PipelineCommands, who_reads_a_pipeline_sees_of_its_targets_what_they_may_see) {
  make_web();
  bind("reader", "view");
  const auto rows = [&](const std::string& user) {
    const Value status = yaml(run(user, "status", {"web"}, {{"output", "json"}}))["status"];
    std::string told;
    for (const auto& [name, environment] : status["environments"].members()) {
      for (const Value& row : environment["targets"].items()) {
        told += fmt::format("{} {} {}\n", row["namespace"].as_string(), row["state"].as_string(), row["revision"].as_string());
      }
    }
    return told;
  };
  EXPECT_EQ(rows(""), "web-dev settled 1.1.0\nweb-staging settled 1.1.0\nweb-prod settled 1.0.0\n");
  EXPECT_EQ(rows("reader"), "web-dev forbidden \nweb-staging forbidden \nweb-prod forbidden \n");
  const std::string images = run("reader", "inventory", {}, {{"images", "true"}, {"output", "json"}});
  EXPECT_EQ(images.find("web-dev"), std::string::npos) << images;
}

TEST_F(PipelineCommands, any_client_that_reads_views_sees_what_its_user_may_see) {
  make_web();
  bind("reader", "view");
  const auto who = [](const char* name) {
    return std::make_shared<kube::UserInfo>(kube::UserInfo{.name = name, .uid = "", .groups = {}, .extra = {}});
  };
  const auto ask = [&](const char* user, client::Verb verb, std::string name) {
    client::Request request;
    request.verb = verb;
    request.resource = pipeline::kPipelineViews;
    request.ns = "shop";
    request.name = std::move(name);
    if (*user != 0) request.user = who(user);
    return env_.run(server().call(std::move(request)));
  };
  const auto dev = [](const Value& view) { return view["status"]["environments"]["dev"]["targets"].item(0)["state"].str(); };
  const auto all = ask("", client::Verb::Get, "web");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->object["kind"].as_string(), "PipelineView");
  EXPECT_EQ(all->object["spec"], (*get(pipeline::kPipelines, "web"))["spec"]);
  EXPECT_EQ(dev(all->object), "settled");
  const auto seen = ask("reader", client::Verb::Get, "web");
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(dev(seen->object), "forbidden");
  EXPECT_EQ(seen->object["status"]["environments"]["dev"]["version"], all->object["status"]["environments"]["dev"]["version"]);
  const auto list = ask("reader", client::Verb::List, "");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->object["kind"].as_string(), "PipelineViewList");
  ASSERT_EQ(list->object["items"].size(), 1U);
  EXPECT_EQ(dev(list->object["items"].item(0)), "forbidden");
  EXPECT_EQ(ask("", client::Verb::Get, "nothing").error().message, "pipelineviews.pipelines.slipway.dev \"nothing\" not found");
  EXPECT_EQ(ask("stranger", client::Verb::Get, "web").error().reason, Reason::Forbidden);
  EXPECT_EQ(ask("", client::Verb::Delete, "web").error().reason, Reason::MethodNotAllowed);
}

TEST_F(Verbs, who_watches_views_sees_each_change_with_the_rights_that_they_have_then) {
  const auto watch = [&](const char* user) {
    client::Request request;
    request.resource = kPipelineViews;
    request.ns = "shop";
    request.user = std::make_shared<kube::UserInfo>(
        kube::UserInfo{.name = user, .uid = "", .groups = {"system:authenticated"}, .extra = {}});
    return env_.run(server().watch(std::move(request)));
  };
  EXPECT_EQ(watch("stranger").error().reason, Reason::Forbidden);
  auto seen = watch("reader");
  ASSERT_TRUE(seen) << seen.error().message;
  const auto next = [&] {
    std::string told;
    const auto events = env_.run((*seen)->next());
    if (!events) return events.error().message;
    for (const client::WatchEvent& event : *events) {
      told += fmt::format("{} {} {} {};", to_string(event.type), event.object["kind"].as_string(), kube::name(event.object),
                          event.object["status"]["environments"]["dev"]["targets"].item(0)["state"].as_string());
    }
    return told;
  };
  const auto change = [&](const char* line) {
    write_status(kPipelines, "web", json::print((*get(kPipelines, "web"))["status"].with("line", line)));
  };
  EXPECT_EQ(next(), "ADDED PipelineView web settled;");
  change("another");
  EXPECT_EQ(next(), "MODIFIED PipelineView web settled;");
  ASSERT_TRUE(env_.run(client::remove(server(), {"rbac.authorization.k8s.io", "v1", "rolebindings"}, {"web-dev", "look"})));
  env_.advance(std::chrono::minutes{1});
  change("a third");
  EXPECT_EQ(next(), "MODIFIED PipelineView web forbidden;") << "what was taken from them meanwhile";
  ASSERT_TRUE(env_.run(client::remove(server(), kPipelines, {"shop", "web"})));
  EXPECT_EQ(next(), "DELETED PipelineView web forbidden;");
}

TEST_F(PipelineCommands, one_review_per_user_cluster_and_namespace_is_kept_for_a_minute) {
  make_web();
  bind("reader", "view");
  const Value web = *get(pipeline::kPipelines, "web");
  pipeline::ReaderAccess access(env_.env());
  const auto who = [](const char* name) {
    return std::make_shared<kube::UserInfo>(kube::UserInfo{.name = name, .uid = "", .groups = {}, .extra = {}});
  };
  const auto hidden = [&](const char* name) {
    const auto seen = env_.run(access.seen(server(), who(name), web));
    EXPECT_TRUE(seen) << seen.error().message;
    return seen ? (*seen)["environments"]["dev"]["targets"].item(0)["state"].str() : "";
  };
  EXPECT_EQ(hidden("reader"), "forbidden");
  EXPECT_EQ(access.reviews(), 3U) << "three namespaces";
  EXPECT_EQ(hidden("reader"), "forbidden");
  EXPECT_EQ(access.reviews(), 3U);
  EXPECT_EQ(hidden("other"), "forbidden");
  EXPECT_EQ(access.reviews(), 6U);
  env_.advance(std::chrono::minutes{2});
  EXPECT_EQ(hidden("reader"), "forbidden");
  EXPECT_EQ(access.reviews(), 9U);
}

}  // namespace
}  // namespace slipway::pipeline_test
