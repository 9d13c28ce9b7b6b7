// `slipway pkg …` against a server: what the client itself refuses and tells.
#include "delivery/package/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using delivery::Command;
using delivery::CommandAnswer;
using delivery::CommandCall;

/// Somebody without rights but those of roles.
class UserClient : public client::Client {
 public:
  UserClient(client::Client& server, std::string name) : server_(server) {
    kube::UserInfo who;
    who.name = std::move(name);
    who.groups = {"system:authenticated"};
    user_ = std::make_shared<const kube::UserInfo>(std::move(who));
  }
  Task<Result<client::Reply>> call(client::Request request) override {
    request.user = user_;
    return server_.call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    return server_.watch(std::move(request));
  }

 private:
  client::Client& server_;
  std::shared_ptr<const kube::UserInfo> user_;
};

class PackageCommands : public PackageTest {
 public:
  /// With only this right on revisions, beside looking.
  void allow(const std::string& user, const std::string& resource) {
    must(
        create(fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: {0}, namespace: "
                           "default}}, rules: [{{apiGroups: [porch.kpt.dev], resources: [packagerevisions], verbs: [get, "
                           "list]}}, {{apiGroups: [porch.kpt.dev], resources: [{1}], verbs: [update]}}]}}",
                           user, resource)));
    must(
        create(fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}, "
                           "namespace: default}}, roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {0}}}, "
                           "subjects: [{{kind: User, name: {0}, apiGroup: rbac.authorization.k8s.io}}]}}",
                           user)));
  }
  std::string policy(const std::string& name, const std::string& spec) {
    Value made = json::parse_yaml(fmt::format("{{apiVersion: packages.slipway.dev/v1alpha1, kind: ApprovalPolicy, metadata: "
                                              "{{name: {}, namespace: default}}, spec: {}}}",
                                              name, spec))
                     .value();
    const auto done = env_->run(client::create(slipway_->server(), kApprovalPolicies, made, "test"));
    return done ? "" : done.error().message;
  }
  Result<CommandAnswer> run(const std::string& verb, std::vector<std::string> words,
                            std::map<std::string, std::string> options = {}, client::Client* as = nullptr) {
    const std::vector<Command> all = commands();
    const auto command = std::ranges::find(all, verb, &Command::verb);
    CommandCall call{.env = env_->env(),
                     .client = as == nullptr ? &slipway_->server() : as,
                     .ns = "default",
                     .words = std::move(words),
                     .objects = {},
                     .options = std::move(options)};
    return env_->run(command->run(std::move(call)));
  }
  static std::string said(const Result<CommandAnswer>& answer) {
    if (!answer) return fmt::format("{}: {}", to_string(answer.error().reason), answer.error().message);
    return fmt::format("{}{}", answer->text, fmt::join(answer->notes, "\n"));
  }
};

const std::string kBytes("\x00\xff\xfe\x80", 4);

TEST_F(PackageCommands, files_that_are_no_text_are_refused_by_name_and_named_when_left_out) {
  Repository& blueprints = repository("bp");
  const std::string name = init("bp", "bn", "v1");
  env_->env().files.write("/r.bin", kBytes, 0644).value();
  EXPECT_TRUE(said(run("pkg edit", {name}, {{"file", "r.bin=/r.bin"}})).starts_with("BadRequest: \"r.bin\" is not UTF-8"));
  EXPECT_EQ(blueprints.file("bn/r.bin", "drafts/bn/v1"), "");
  advance(seconds{1});
  blueprints.commit({{"bn/r.bin", kBytes}}, "by git", "drafts/bn/v1");
  ASSERT_TRUE(until([&] { return said(run("pkg pull", {name})).contains("r.bin"); }));
  const std::string pulled = said(run("pkg pull", {name, "/pulled"}));
  EXPECT_TRUE(pulled.contains("not shown, as they are no text, and kept as they are: r.bin")) << pulled;
  env_->env().files.write("/pulled/r.bin", kBytes, 0644).value();
  EXPECT_TRUE(said(run("pkg push", {name, "/pulled"})).starts_with("BadRequest: \"r.bin\" is not UTF-8"));
  EXPECT_EQ(blueprints.file("bn/r.bin", "drafts/bn/v1"), kBytes);
}

TEST_F(PackageCommands, approve_of_somebody_who_may_only_vote_is_a_vote_and_why_names_what_policies_wait_for) {
  repository("edge", Deployment::Yes);
  allow("vera", "packagerevisions/votes");
  allow("otto", "packagerevisions/status");
  EXPECT_EQ(policy("two", "{approve: people, people: {count: 2}}"), "");
  EXPECT_EQ(policy("night",
                   "{approve: always, windows: [{name: night, rrule: 'FREQ=DAILY;BYHOUR=3;BYMINUTE=0', duration: "
                   "1m}]}"),
            "");
  const std::string name = init("edge", "web", "v1");
  must(propose(name));
  UserClient vera(slipway_->server(), "vera");
  UserClient otto(slipway_->server(), "otto");
  EXPECT_EQ(said(run("pkg approve", {name}, {}, &vera)),
            "edge.web.v1: your vote (approve) is noted, for ApprovalPolicies that ask people");
  EXPECT_TRUE(said(run("pkg approve", {name}, {}, &otto)).contains("forbidden"));
  const Value votes = revision(name)["status"]["votes"];
  ASSERT_EQ(votes.size(), 1U);
  EXPECT_EQ(votes.item(0)["user"], Value("vera"));
  EXPECT_EQ(lifecycle(name), "Proposed");
  const std::string why = said(run("pkg why", {name}));
  EXPECT_TRUE(why.contains("two: ") && why.contains("1 of 2")) << why;
  EXPECT_TRUE(why.contains("night: window night: ")) << why;
}

TEST_F(PackageCommands, why_names_the_rollout_that_decides_in_place_of_policies) {
  repository("bp");
  repository("edge", Deployment::Yes);
  const std::string blueprint = init("bp", "web", "v1");
  must(propose(blueprint));
  must(approve(blueprint));
  const std::string name = draft("edge", "web", "v1", "{type: clone, clone: {upstreamRef: {upstreamRef: {name: bp.web.v1}}}}");
  must(
      create("{apiVersion: packages.slipway.dev/v1alpha1, kind: PackageRollout, metadata: {name: web-1}, spec: {upstream: "
             "{repo: bp, package: web, revision: 1}, paused: true, steps: [{percent: 100}]}}"));
  must(propose(name));
  EXPECT_EQ(policy("all", "{approve: always}"), "");
  advance(seconds{10});
  EXPECT_EQ(lifecycle(name), "Proposed");
  const std::string why = said(run("pkg why", {name}));
  EXPECT_TRUE(why.contains("packagerollout/web-1 approves what follows its upstream, policies do not")) << why;
  EXPECT_TRUE(why.contains("0 of 1 approved")) << why;
}

TEST_F(PackageCommands, a_pull_into_a_folder_with_local_changes_is_refused) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  said(run("pkg pull", {name, "/web"}));
  EXPECT_TRUE(said(run("pkg pull", {name, "/web"})).contains("files of edge.a.v1 are in /web")) << "as it was pulled";
  env_->env().files.write("/web/mine.txt", "mine: true\n", 0644).value();
  const std::string refused = said(run("pkg pull", {name, "/web"}));
  EXPECT_TRUE(refused.contains("/web has changes that were made after it was pulled: push them")) << refused;
  EXPECT_EQ(env_->env().files.read("/web/mine.txt").value(), "mine: true\n");
  const std::string pushed = said(run("pkg push", {name, "/web"}));
  ASSERT_EQ(file(name, "mine.txt"), "mine: true\n") << pushed;
  EXPECT_TRUE(said(run("pkg pull", {name, "/web"})).contains("are in /web")) << "what was pushed is not lost";
  EXPECT_EQ(env_->env().files.read("/web/mine.txt").value(), "mine: true\n");
  env_->env().files.write("/web/mine.txt", "mine: false\n", 0644).value();
  said(run("pkg pull", {name, "/web"}, {{"force", "true"}}));
  EXPECT_EQ(env_->env().files.read("/web/mine.txt").value(), "mine: true\n");
}

TEST_F(PackageCommands, why_names_the_drift_of_a_draft_and_it_is_not_ready) {
  Repository& edge = repository("edge", Deployment::Yes);
  const std::string name = init("edge", "web", "v1");
  advance(seconds{1});
  edge.git("branch -f drafts/web/v1 main");
  edge.commit({{"web/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n"}}, "other", "drafts/web/v1");
  ASSERT_TRUE(until([&] { return condition(name, "Drift") != "absent"; }));
  EXPECT_EQ(condition(name, "ReadyToPropose"), "False (Drift)");
  const std::string why = said(run("pkg why", {name}));
  EXPECT_TRUE(why.contains("refs/heads/drafts/web/v1 is at ")) << why;
  EXPECT_FALSE(why.contains("all gates are met")) << why;
}

TEST_F(PackageCommands, what_is_said_of_a_drift_is_done_at_once) {
  Repository& edge = repository("edge", Deployment::Yes);
  const std::string name = init("edge", "web", "v1");
  advance(seconds{1});
  edge.git("branch -f drafts/web/v1 main");
  edge.commit({{"web/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n"}}, "other", "drafts/web/v1");
  ASSERT_TRUE(until([&] { return condition(name, "Drift") != "absent"; }));
  const auto say = [&](const char* what) {
    return patch(kRevisions, name, fmt::format("{{metadata: {{annotations: {{packages.slipway.dev/drift: {}}}}}}}", what),
                 client::PatchType::Merge);
  };
  const std::string told = fault(say("bogus"));
  EXPECT_TRUE(told.contains("Unsupported value: \"bogus\": supported values: \"theirs\", \"ours\"")) << told;
  must(say("theirs"));
  EXPECT_TRUE(until([&] { return condition(name, "Drift") == "absent"; }, seconds{10}));
}

TEST_F(PackageCommands, a_selection_that_is_none_is_refused) {
  repository("edge");
  init("edge", "web", "v1");
  EXPECT_EQ(said(run("pkg list", {}, {{"lifecycle", "Bogus"}})),
            "BadRequest: --lifecycle \"Bogus\": must be Draft or Proposed or Published or DeletionProposed");
  EXPECT_TRUE(said(run("pkg list", {}, {{"revision", "abc"}})).starts_with("BadRequest: --revision \"abc\": must be a number"));
  EXPECT_TRUE(said(run("pkg list", {}, {{"revision", "0"}, {"lifecycle", "Draft"}})).contains("edge.web.v1"));
}

TEST_F(PackageCommands, open_gates_that_are_only_reported_are_told_as_warnings) {
  repository("bp");
  const std::string name = init("bp", "web", "v1");
  must(patch(kRevisions, name, "{spec: {readinessGates: [{conditionType: ipam}]}}", client::PatchType::Merge));
  const std::string told = said(run("pkg propose", {name}));
  EXPECT_TRUE(told.contains("warning: bp.web.v1: spec.readinessGates[ipam]: ")) << told;
  EXPECT_TRUE(told.contains("(gates are only reported in this repository)")) << told;
}

TEST_F(PackageCommands, a_rollout_without_its_upstream_says_so) {
  const auto roll = [&](const std::string& name, const std::string& repository) {
    const Value made = json::parse_yaml(fmt::format("{{apiVersion: packages.slipway.dev/v1alpha1, kind: PackageRollout, "
                                                    "metadata: {{name: {}, namespace: default}}, spec: {{upstream: {{repo: "
                                                    "{}, package: web, revision: 7}}, steps: [{{percent: 100}}]}}}}",
                                                    name, repository))
                           .value();
    must(env_->run(client::create(slipway_->server(), kRollouts, made, "test")));
  };
  repository("bp");
  roll("one", "bp");
  roll("two", "none");
  const auto text = [&](const std::string& name) {
    return kube::condition(get(kRollouts, name), "Progressing")["message"].str();
  };
  EXPECT_TRUE(until([&] { return text("one") == "package bp/web has no published revision 7"; })) << text("one");
  EXPECT_TRUE(until([&] { return text("two") == "Repository none is not there, or cannot be used"; })) << text("two");
  repository("none");
  EXPECT_TRUE(until([&] { return text("two") == "package none/web has no published revision 7"; })) << text("two");
}

TEST_F(PackageCommands, an_upgrade_tells_what_both_sides_changed) {
  repository("bp");
  repository("edge");
  const auto map = [](const std::string& value) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  k: " + value + "\n";
  };
  const auto publish = [&](const std::string& name, const std::string& value) {
    must(push(name, "m.yaml", map(value)));
    must(propose(name));
    must(approve(name));
  };
  publish(init("bp", "web", "v1"), "one");
  publish(draft("edge", "web", "v1", "{type: clone, clone: {upstreamRef: {upstreamRef: {name: bp.web.v1}}}}"), "mine");
  publish(draft("bp", "web", "v2", "{type: edit, edit: {sourceRef: {name: bp.web.v1}}}"), "two");
  const std::string told = said(run("pkg upgrade", {"edge.web.v1"}, {{"workspace", "v2"}}));
  EXPECT_TRUE(told.starts_with("edge.web.v1 upgraded to edge.web.v2\n")) << told;
  EXPECT_TRUE(told.contains("both sides changed: m.yaml ConfigMap m data.k: one → upstream two, local mine")) << told;
}

TEST_F(PackageCommands, a_revision_that_was_read_from_git_is_upgraded_by_its_lock) {
  repository("bp");
  repository("edge");
  const auto publish = [&](const std::string& name) {
    must(propose(name));
    must(approve(name));
  };
  publish(init("bp", "web", "v1"));
  publish(draft("edge", "web", "v1", "{type: clone, clone: {upstreamRef: {upstreamRef: {name: bp.web.v1}}}}"));
  publish(draft("bp", "web", "v2", "{type: edit, edit: {sourceRef: {name: bp.web.v1}}}"));
  for (const char* name : {"edge", "bp"}) {
    must(remove(kRepositories, name));
    ASSERT_TRUE(until([&] { return get(kRepositories, name).is_null(); }));
    register_repository(name, Deployment::No);
  }
  ASSERT_TRUE(until([&] { return !revision("edge.web.v1").is_null() && !revision("bp.web.v2").is_null(); }));
  const std::string seen = said(run("pkg upgrade", {}, {{"discover", "upstream"}}));
  EXPECT_TRUE(seen.contains("edge.web.v1") && seen.contains("v2")) << seen;
  const std::string told = said(run("pkg upgrade", {"edge.web.v1"}, {{"workspace", "next"}}));
  EXPECT_TRUE(told.starts_with("edge.web.v1 upgraded to edge.web.next\n")) << told;
}

TEST_F(PackageCommands, conditions_that_are_computed_cannot_be_set) {
  repository("edge");
  const std::string name = init("edge", "web", "v1");
  EXPECT_EQ(said(run("pkg condition", {"set", name, "ReadyToPropose=True"})),
            "BadRequest: ReadyToPropose is computed by Slipway and cannot be set");
  EXPECT_TRUE(said(run("pkg condition", {"set", name, "Drift=False"})).starts_with("BadRequest: Drift is computed"));
}

TEST_F(PackageCommands, a_folder_that_makes_no_name_is_named) {
  Repository& edge = repository("edge");
  edge.commit({{"BAD_Name/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: b\n"}}, "bad");
  ASSERT_TRUE(until([&] {
    return json::print(get(kRepositories, "edge")["status"])
        .contains("folder \\\"BAD_Name\\\" of refs/heads/main is not served");
  })) << json::print(get(kRepositories, "edge")["status"]);
}

}  // namespace
}  // namespace slipway::package_test
