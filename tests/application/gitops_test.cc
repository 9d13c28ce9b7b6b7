// Use case 4: what an application renders is committed and pushed to a real repository; Argo CD or Flux take it from there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../remotes/servers.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "outside_plane.h"

namespace slipway::oracle_test {
namespace {

class GitOps : public ::testing::Test {
 protected:
  /// Delivers `image`; `step` is what the step's properties have beside the repository.
  std::string deliver(const std::string& image, const std::string& step = "", const std::string& more = "") {
    const std::string refusal = outside_.apply(fmt::format(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {{name: a}}
spec:
  components:
  - {{name: web, type: webservice, properties: {{image: "{}", ports: [{{port: 80, expose: true}}]}}}}{}
  policies:
  - {{name: two, type: topology, properties: {{clusters: [local, cluster-worker]}}}}
  workflow:
    steps:
    - {{name: push, type: gitops, properties: {{gitRepo: "{}"{}}}}}
)",
                                                           image, more, url_, step));
    return refusal.empty() ? outside_.end() : refusal;
  }
  std::string tree(const std::string& branch = "main") {
    return outside_.repository().bare("ls-tree -r --name-only " + branch);
  }
  std::string show(const std::string& path, const std::string& branch = "main") {
    return outside_.repository().show(branch, path);
  }

  OutsidePlane outside_;
  std::string url_ = outside_.repository().path();
};

constexpr const char* kDone = "running push:succeeded";

TEST_F(GitOps, pushes_what_is_rendered_and_applies_nothing) {
  EXPECT_EQ(deliver("web:1"), kDone) << outside_.message(0);
  EXPECT_EQ(tree(), "a/web.yaml");
  const std::string text = show("a/web.yaml");
  EXPECT_TRUE(text.starts_with("# Written by Slipway for Application c-oracle/a: changes here are lost.\n")) << text;
  const auto objects = json::parse_yaml_all(text);
  ASSERT_TRUE(objects) << text;
  ASSERT_EQ(objects->size(), 2u) << text;
  EXPECT_EQ((*objects)[0].value["kind"].as_string(), "Deployment");
  EXPECT_EQ((*objects)[0].value["metadata"]["namespace"].as_string(), kNamespace);
  EXPECT_EQ((*objects)[1].value["kind"].as_string(), "Service");
  EXPECT_TRUE(outside_.find("apps/v1", "Deployment", "web").is_null()) << "nothing is applied";
  EXPECT_EQ(outside_.log(), std::vector<std::string>{"deliver c-oracle/a a-v1"});
  EXPECT_EQ(outside_.repository().bare("log -1 --format=%B%an main"),
            "deliver c-oracle/a a-v1\n\nSlipway-Application: c-oracle/a\nSlipway-Revision: a-v1\nSlipway");
  EXPECT_EQ(outside_.message(0), fmt::format("pushed {} to main: 1 file", outside_.repository().tip().substr(0, 12)));
}

TEST_F(GitOps, a_restart_pushes_nothing_and_a_new_revision_what_has_changed) {
  ASSERT_EQ(deliver("web:1"), kDone);
  ASSERT_EQ(
      outside_.plane().write_status(
          json::object(
              {{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "Application"}, {"namespace", kNamespace}, {"name", "a"}}),
          client::PatchType::Merge, *json::parse(R"({"status": {"workflow": null}})")),
      "");
  EXPECT_EQ(outside_.end(), kDone);
  EXPECT_EQ(outside_.log().size(), 1u);
  EXPECT_EQ(outside_.message(0), "main has it: nothing to push");
  ASSERT_EQ(deliver("web:2"), kDone);
  EXPECT_EQ(outside_.log(), (std::vector<std::string>{"deliver c-oracle/a a-v2", "deliver c-oracle/a a-v1"}));
  EXPECT_NE(show("a/web.yaml").find("image: web:2"), std::string::npos);
}

TEST_F(GitOps, removes_its_own_files_and_leaves_those_of_others) {
  ASSERT_EQ(deliver("web:1", ", path: ''", "\n  - {name: db, type: worker, properties: {image: 'db:1'}}"), kDone)
      << outside_.message(0);
  outside_.repository().commit({{"README.yaml", "kind: Readme\n"}}, "people");
  EXPECT_EQ(tree(), "README.yaml\ndb.yaml\nweb.yaml");
  ASSERT_EQ(deliver("web:1", ", path: ''"), kDone) << outside_.message(0);
  EXPECT_EQ(tree(), "README.yaml\nweb.yaml");
}

TEST_F(GitOps, does_not_write_over_files_of_others) {
  outside_.repository().commit({{"a/web.yaml", "kind: Theirs\n"}}, "people");
  EXPECT_EQ(deliver("web:1"), "workflowFailed push:failed/Action");
  EXPECT_NE(outside_.message(0).find("a/web.yaml is there and was not written by Application c-oracle/a: choose another path"),
            std::string::npos)
      << outside_.message(0);
  EXPECT_EQ(show("a/web.yaml"), "kind: Theirs");
}

TEST_F(GitOps, a_topology_makes_a_folder_for_each_cluster) {
  EXPECT_EQ(deliver("web:1", ", policies: [two], path: env"), kDone) << outside_.message(0);
  EXPECT_EQ(tree(), "env/cluster-worker/web.yaml\nenv/local/web.yaml");
}

TEST_F(GitOps, a_rendered_secret_is_refused_unless_it_is_said_what_to_do) {
  const std::string secret =
      "\n  - {name: key, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: Secret, metadata: {name: key}, "
      "stringData: {word: hidden}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: open}}]}}";
  EXPECT_EQ(deliver("web:1", "", secret), "workflowFailed push:failed/Action");
  EXPECT_EQ(
      outside_.message(0),
      "component key renders Secret key, which everybody could read in the repository: set secrets to omit (it is left out) "
      "or include");
  EXPECT_EQ(outside_.log().size(), 0u);
  EXPECT_EQ(deliver("web:1", ", secrets: omit", secret), kDone);
  EXPECT_EQ(show("a/key.yaml").find("hidden"), std::string::npos);
  EXPECT_EQ(deliver("web:1", ", secrets: include", secret), kDone);
  EXPECT_NE(show("a/key.yaml").find("hidden"), std::string::npos);
}

TEST_F(GitOps, pushes_to_a_branch_for_a_pull_request_until_it_is_merged) {
  const std::string step = ", pullRequestBranch: slipway-a";
  ASSERT_EQ(deliver("web:1", step), kDone) << outside_.message(0);
  const auto& remote = outside_.repository();
  EXPECT_EQ(outside_.log("main").size(), 0u) << "main is left alone";
  EXPECT_EQ(outside_.log("slipway-a"), std::vector<std::string>{"deliver c-oracle/a a-v1"});
  EXPECT_EQ(outside_.message(0), fmt::format("pushed {} to slipway-a: 1 file, to be merged into main by a pull request",
                                             remote.tip("slipway-a").substr(0, 12)));
  // A person works on it; the next revision goes on top and keeps that.
  remote.git("fetch -q origin");
  remote.commit({{"NOTES", "checked"}}, "people", "slipway-a");
  ASSERT_EQ(deliver("web:2", step), kDone) << outside_.message(0);
  EXPECT_EQ(outside_.log("slipway-a"),
            (std::vector<std::string>{"deliver c-oracle/a a-v2", "people", "deliver c-oracle/a a-v1"}));
  EXPECT_EQ(tree("slipway-a"), "NOTES\na/web.yaml");
  // It is merged: the same again needs no push, the next revision starts from main.
  remote.bare("update-ref refs/heads/main refs/heads/slipway-a");
  ASSERT_EQ(deliver("web:3", step), kDone) << outside_.message(0);
  EXPECT_EQ(remote.bare("log --format=%s main..slipway-a"), "deliver c-oracle/a a-v3");
}

TEST_F(GitOps, makes_the_first_branch_of_an_empty_repository_but_no_other) {
  outside_.repository().bare("update-ref -d refs/heads/main");
  ASSERT_EQ(deliver("web:1"), kDone) << outside_.message(0);
  EXPECT_EQ(tree(), "a/web.yaml");
  EXPECT_EQ(deliver("web:1", ", branch: other"), "workflowFailed push:failed/FailedAfterRetries");
  EXPECT_NE(outside_.message(0).find("refs/heads/other"), std::string::npos) << outside_.message(0);
}

TEST_F(GitOps, pushes_over_ssh_with_the_key_of_the_secret) {
  if (!git::SshRemote::is_possible()) GTEST_SKIP() << "no sshd on this machine: ssh is not tested";
  const git::SshRemote server(outside_.repository());
  url_ = server.url();
  EXPECT_EQ(deliver("web:1"), "workflowFailed push:failed/FailedAfterRetries");
  EXPECT_NE(outside_.message(0).find("host key of 127.0.0.1 is not in the known hosts"), std::string::npos)
      << outside_.message(0);
  const Value data = json::object({{"identity", server.key() + "\n"}, {"known_hosts", server.known_hosts()}});
  ASSERT_EQ(outside_.apply(json::print(json::object({{"apiVersion", "v1"},
                                                     {"kind", "Secret"},
                                                     {"metadata", json::object({{"name", "deploy-key"}})},
                                                     {"stringData", data}}))),
            "");
  EXPECT_EQ(deliver("web:1", ", credentials: {secretRef: {name: deploy-key}}"), kDone) << outside_.message(0);
  EXPECT_EQ(tree(), "a/web.yaml");
}

TEST_F(GitOps, says_which_secret_is_missing) {
  EXPECT_TRUE(deliver("web:1", ", credentials: {secretRef: {name: keys}}").find("push:failed") != std::string::npos);
  EXPECT_NE(outside_.message(0).find("keys"), std::string::npos) << outside_.message(0);
  EXPECT_EQ(outside_.log().size(), 0u);
}

TEST(Seed, 18_the_rendered_resources_are_pushed) {
  OutsidePlane outside;
  outside.repository().bare("update-ref refs/heads/branch refs/heads/main");
  EXPECT_EQ(outside.apply_seed("18.definitions.yaml"), "");
  EXPECT_EQ(outside.apply_seed("18.yaml", {{"git-repo-url", outside.repository().path()}}), "");
  EXPECT_EQ(outside.end(), "running step-0:succeeded") << outside.message(0);
  EXPECT_EQ(outside.log("branch"), std::vector<std::string>{"deliver c-oracle/a a-v1"});
  EXPECT_EQ(outside.repository().bare("ls-tree -r --name-only branch"), "a/mysvc.yaml");
}

}  // namespace
}  // namespace slipway::oracle_test
