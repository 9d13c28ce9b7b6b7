// The stories of the Pipelines RFC that move versions: from a commit in dev to production, over repositories that the Flux of
// each member applies. Nothing writes a status but the controllers.
#include <fmt/format.h>

#include "delivery/pipeline/own_kinds.h"
#include "stories_fixture.h"

namespace slipway::pipeline_test {
namespace {

using namespace delivery::pipeline;
using Strings = std::vector<std::string>;

constexpr const char* kAllOld = "dev 1.0.0 → staging 1.0.0 → prod 1.0.0";
constexpr const char* kAllNew = "dev 1.1.0 → staging 1.1.0 → prod 1.1.0";

class PromotionStories : public Stories {
 protected:
  /// What CI does: the new version into dev's folder, and nothing else.
  void release_to_dev(const std::string& version) {
    repository_.commit({{"dev/podinfo.yaml", marked_release("dev", version)}}, "release " + version);
  }
  void secret(const std::string& name, const std::string& key, const std::string& value) {
    apply(kHub,
          fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: {}}}, stringData: {{{}: '{}'}}}}", name, key, value));
  }

  Repository repository_{folder_ / "config.git"};
};

TEST_F(PromotionStories, story_4_a_version_goes_on_when_all_targets_of_an_environment_have_it) {
  const auto file = [](const std::string& member, const std::string& version) {
    return std::pair(member + "/podinfo.yaml", marked_release(member, version));
  };
  repository_.commit({file("dev", "1.0.0"), file("staging", "1.0.0"), file("prod", "1.0.0")}, "first");
  join_all();
  for (const std::string& member : members_) follow(member, repository_.path(), member);
  apply(kHub, pipeline_over({{"dev", {"dev", "staging"}}, {"prod", {"prod"}}}, "  " + by_commit(repository_.path())));
  ASSERT_TRUE(until([&] { return line() == "dev 1.0.0 → prod 1.0.0"; })) << json::print_pretty(status());
  repository_.commit({file("dev", "1.1.0")}, "release 1.1.0 to one");
  ASSERT_TRUE(until([&] { return line() == "dev 1.0.0, 1.1.0 (2/2 ready) → prod 1.0.0"; })) << line();
  advance(minutes{10});
  EXPECT_EQ(line(), "dev 1.0.0, 1.1.0 (2/2 ready) → prod 1.0.0");
  repository_.commit({file("staging", "1.1.0")}, "release 1.1.0 to the other");
  EXPECT_TRUE(until([&] { return line() == "dev 1.1.0 → prod 1.1.0"; })) << line();
}

TEST_F(PromotionStories, story_5_promote_by_chart_version) {
  deliver(repository_);
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return line() == kAllNew; })) << json::print_pretty(status());
  EXPECT_EQ(repository_.log("%an: %s"),
            (Strings{"Tester: first", "Tester: release 1.1.0", "Slipway: promote podinfo 1.1.0 to staging",
                     "Slipway: promote podinfo 1.1.0 to prod"}));
  EXPECT_EQ(repository_.file("prod/podinfo.yaml"), marked_release("prod", "1.1.0")) << "the version, and no other byte";
}

TEST_F(PromotionStories, story_5_is_the_same_when_everything_dies_every_few_seconds) {
  deliver(repository_);
  release_to_dev("1.1.0");
  for (int i = 0; i < 12 && line() != kAllNew; ++i) {
    advance(std::chrono::milliseconds{2'700});
    restart();
  }
  ASSERT_TRUE(until([&] { return line() == kAllNew; })) << json::print_pretty(status());
  EXPECT_EQ(repository_.log("%s"),
            (Strings{"first", "release 1.1.0", "promote podinfo 1.1.0 to staging", "promote podinfo 1.1.0 to prod"}));
}

std::string deployment(const std::string& image) {
  return fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: podinfo}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: web
        image: {}
)",
                     image);
}

TEST_F(PromotionStories, story_5_promote_by_image_tag) {
  const auto chart = [](const std::string& tag) {
    return release("9.0.0", "web",
                   fmt::format("  values:\n    image:\n      tag: {} {}\n", tag, marker("default:web:prod:tag")));
  };
  const std::string staging_marker = " " + marker("default:web:staging");
  repository_.commit({{"dev/web.yaml", deployment("web:1.0.0")},
                      {"staging/web.yaml", deployment("web:1.0.0" + staging_marker)},
                      {"prod/web.yaml", chart("1.0.0")}},
                     "first");
  join_all();
  for (const std::string& member : members_) follow(member, repository_.path(), member);
  apply(kHub, pipeline_over({{"dev", {"dev"}}, {"staging", {"staging"}}, {"prod", {"prod"}}},
                            "  " + by_commit(repository_.path()), "web", "Deployment"));
  ASSERT_TRUE(until([&] { return version("prod", "web") == "web:1.0.0"; })) << json::print_pretty(status("web"));
  repository_.commit({{"dev/web.yaml", deployment("web:1.1.0")}}, "release 1.1.0");
  ASSERT_TRUE(until([&] { return version("prod", "web") == "web:1.1.0"; })) << json::print_pretty(status("web"));
  EXPECT_EQ(version("staging", "web"), "web:1.1.0");
  EXPECT_EQ(repository_.file("staging/web.yaml"), deployment("web:1.1.0" + staging_marker));
  EXPECT_EQ(repository_.file("prod/web.yaml"), chart("1.1.0"));
  EXPECT_EQ(repository_.log("%s").size(), 4U);
}

TEST_F(PromotionStories, story_7_a_commit_of_ci_to_dev_alone_moves_everything) {
  deliver(repository_);
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return line() == kAllNew; })) << json::print_pretty(status());
  EXPECT_EQ(repository_.git("log --author=Tester --format= --name-only -1"), "dev/podinfo.yaml\n");
  EXPECT_TRUE(web_.calls.empty());
}

TEST_F(PromotionStories, story_7_a_signed_webhook_is_a_hint_and_what_runs_decides) {
  secret("hooks", "hmac-key", "a-key-of-the-test");
  deliver(repository_);
  EXPECT_EQ(tell("dev", "9.9.9", "another-key"), 401);
  EXPECT_EQ(tell("dev", "9.9.9", "a-key-of-the-test"), 204);
  advance(minutes{2});
  EXPECT_EQ(line(), kAllOld) << "9.9.9 does not run in dev";
  EXPECT_EQ(list(kHub, kReleases).size(), 1U);
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return version("dev") == "1.1.0"; }));
  EXPECT_EQ(tell("dev", "1.1.0", "a-key-of-the-test"), 204);
  EXPECT_TRUE(until([&] { return line() == kAllNew; })) << json::print_pretty(status());
}

TEST_F(PromotionStories, story_8_goes_on_by_itself_once_a_cluster_is_back) {
  deliver(repository_);
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return repository_.log("%s").back() == "promote podinfo 1.1.0 to staging"; }));
  cut("staging");
  ASSERT_TRUE(until([&] { return target("staging")["state"] == Value("unreachable"); }));
  advance(minutes{10});
  EXPECT_EQ(promotion("staging"), "1.1.0 Settling TargetUnreachable");
  EXPECT_EQ(repository_.file("prod/podinfo.yaml"), marked_release("prod", "1.0.0"));
  mend("staging");
  EXPECT_TRUE(until([&] { return line() == kAllNew; })) << json::print_pretty(status());
}

TEST_F(PromotionStories, story_8_what_comes_meanwhile_overtakes_what_waits) {
  deliver(repository_);
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return promotion("staging").starts_with("1.1.0 "); }));
  cut("staging");
  ASSERT_TRUE(until([&] { return target("staging")["state"] == Value("unreachable"); }));
  release_to_dev("1.2.0");
  ASSERT_TRUE(until([&] { return version("dev") == "1.2.0"; }));
  advance(minutes{5});
  mend("staging");
  ASSERT_TRUE(until([&] { return line() == "dev 1.2.0 → staging 1.2.0 → prod 1.2.0"; })) << json::print_pretty(status());
  // 1.1.0 ran in staging when it came back: it may go on while 1.2.0 follows.
  for (const char* name : {"staging", "prod"}) {
    Strings into;
    for (const std::string& subject : repository_.log("%s")) {
      if (subject.ends_with(fmt::format(" to {}", name))) into.push_back(subject.substr(0, subject.rfind(" to ")));
    }
    EXPECT_EQ(into, (Strings{"promote podinfo 1.1.0", "promote podinfo 1.2.0"})) << name;
  }
}

TEST_F(PromotionStories, a_rollback_by_a_person_goes_through_the_repository_and_stays) {
  deliver(repository_);
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.1.0 Succeeded Succeeded"; }));
  advance(minutes{1});
  const std::string said = command("", "rollback", {"podinfo"}, {{"environment", "prod"}, {"comment", "errors"}});
  EXPECT_TRUE(said.contains(": 1.0.0 goes back into prod as local")) << said;
  ASSERT_TRUE(until([&] { return line() == "dev 1.1.0 → staging 1.1.0 → prod 1.0.0"; })) << json::print_pretty(status());
  advance(minutes{30});
  EXPECT_EQ(line(), "dev 1.1.0 → staging 1.1.0 → prod 1.0.0");
  EXPECT_EQ(repository_.file("prod/podinfo.yaml"), marked_release("prod", "1.0.0"));
  EXPECT_EQ(repository_.log("%s").back(), "promote podinfo 1.0.0 to prod");
}

constexpr const char* kStoryBadPods =
    "  values: {podAnnotations: {slipway.dev/ready-after: never}}\n  upgrade: {remediation: {retries: 1}}\n";

TEST_F(PromotionStories, story_8_goes_on_by_itself_once_a_release_that_was_rolled_back_gets_good) {
  deliver(repository_);
  repository_.commit({{"staging/podinfo.yaml", marked_release("staging", "1.0.0", "  upgrade: {remediation: {retries: 1}}\n")},
                      {"dev/podinfo.yaml", marked_release("dev", "1.1.0")}},
                     "release 1.1.0");
  ASSERT_TRUE(until([&] { return version("dev") == "1.1.0"; }));
  repository_.commit({{"staging/podinfo.yaml", marked_release("staging", "1.1.0", kStoryBadPods)}}, "oops");
  ASSERT_TRUE(until([&] { return target("staging")["state"] == Value("rolled back"); })) << json::print_pretty(status());
  advance(minutes{5});
  EXPECT_EQ(promotion("staging"), "1.1.0 Rejected RolledBackByAgent");
  EXPECT_EQ(repository_.file("prod/podinfo.yaml"), marked_release("prod", "1.0.0"));
  repository_.commit({{"staging/podinfo.yaml", marked_release("staging", "1.1.0")}}, "the cause is gone");
  EXPECT_TRUE(until([&] { return line() == kAllNew; })) << json::print_pretty(status());
  EXPECT_EQ(promotion("staging"), "1.1.0 Succeeded Succeeded");
}

TEST_F(PromotionStories, story_9_progress_is_seen_at_each_stage) {
  deliver(repository_,
          "    promotion: {manual: true, strategy: {commit: {url: '" + repository_.path() + "', baseBranch: main}}}\n");
  Strings seen;
  const auto look = [&] {
    const std::string now = fmt::format("{} | {} | {}", line(), promotion("staging"), promotion("prod"));
    if (seen.empty() || seen.back() != now) seen.push_back(now);
    return promotion("prod").contains("ApprovalMissing");
  };
  // Once what was found running is recorded as arrived.
  ASSERT_TRUE(until([&] { return promotion("prod") == "1.0.0 Succeeded Succeeded"; }));
  release_to_dev("1.1.0");
  ASSERT_TRUE(until(look)) << json::print_pretty(status());
  EXPECT_EQ(environment("prod")["waitingApproval"]["revision"], Value("1.1.0"));
  const std::string shown = command("", "status", {"podinfo"});
  EXPECT_TRUE(shown.contains("\nPending: ApprovalMissing: prod: somebody has to approve it (manual)\n")) << shown;
  EXPECT_TRUE(shown.contains("prod         1.0.0    1/1    1 settled  1.1.0 Waiting ApprovalMissing 1s\n")) << shown;
  command("", "approve", {"podinfo"}, {{"environment", "prod"}});
  ASSERT_TRUE(until([&] { return look(), line() == kAllNew && promotion("prod").contains("Succeeded"); }));
  look();
  EXPECT_EQ(
      seen,
      (Strings{"dev 1.0.0 → staging 1.0.0 → prod 1.0.0 | 1.0.0 Succeeded Succeeded | 1.0.0 Succeeded Succeeded",
               "dev 1.0.0 (0/1 ready) → staging 1.0.0 → prod 1.0.0 | 1.0.0 Succeeded Succeeded | 1.0.0 Succeeded Succeeded",
               "dev 1.1.0 → staging 1.0.0 → prod 1.0.0 | 1.0.0 Succeeded Succeeded | 1.0.0 Succeeded Succeeded",
               "dev 1.1.0 → staging 1.0.0 → prod 1.0.0 | 1.1.0 Settling TargetNotReady | 1.0.0 Succeeded Succeeded",
               "dev 1.1.0 → staging 1.0.0 (0/1 ready) → prod 1.0.0 | 1.1.0 Settling TargetNotReady | 1.0.0 Succeeded Succeeded",
               "dev 1.1.0 → staging 1.1.0 → prod 1.0.0 | 1.1.0 Settling TargetNotReady | 1.0.0 Succeeded Succeeded",
               "dev 1.1.0 → staging 1.1.0 → prod 1.0.0 | 1.1.0 Succeeded Succeeded | 1.1.0 Waiting ApprovalMissing",
               "dev 1.1.0 → staging 1.1.0 → prod 1.0.0 | 1.1.0 Succeeded Succeeded | 1.1.0 Settling TargetNotReady",
               "dev 1.1.0 → staging 1.1.0 → prod 1.0.0 (0/1 ready) | 1.1.0 Succeeded Succeeded | 1.1.0 Settling TargetNotReady",
               "dev 1.1.0 → staging 1.1.0 → prod 1.1.0 | 1.1.0 Succeeded Succeeded | 1.1.0 Settling TargetNotReady",
               "dev 1.1.0 → staging 1.1.0 → prod 1.1.0 | 1.1.0 Succeeded Succeeded | 1.1.0 Succeeded Succeeded"}));
}

TEST_F(PromotionStories, story_10_who_may_pause_and_resume) {
  deliver(repository_);
  apply(kHub, R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: pauses}
rules: [{apiGroups: [pipelines.slipway.dev], resources: [holds], verbs: [create, delete, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: olga}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: pauses}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: olga}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: olga}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}
)");
  EXPECT_TRUE(command("ann", "pause", {"podinfo"}).starts_with("Forbidden: "));
  const std::string paused = command("olga", "pause", {"podinfo"}, {{"comment", "databases move"}});
  EXPECT_TRUE(paused.contains("nothing is promoted into any environment as olga")) << paused;
  release_to_dev("1.1.0");
  ASSERT_TRUE(until([&] { return promotion("staging") == "1.1.0 Waiting Held"; })) << json::print_pretty(status());
  advance(minutes{10});
  EXPECT_EQ(line(), "dev 1.1.0 → staging 1.0.0 → prod 1.0.0");
  EXPECT_TRUE(command("ann", "why", {"podinfo"}).contains("databases move")) << command("ann", "why", {"podinfo"});
  EXPECT_TRUE(command("ann", "resume", {"podinfo"}).starts_with("Forbidden: ")) << command("ann", "resume", {"podinfo"});
  EXPECT_EQ(repository_.log("%s").size(), 2U);
  EXPECT_TRUE(command("olga", "resume", {"podinfo"}).ends_with(": over\n"));
  EXPECT_TRUE(until([&] { return line() == kAllNew; })) << json::print_pretty(status());
}

}  // namespace
}  // namespace slipway::pipeline_test
