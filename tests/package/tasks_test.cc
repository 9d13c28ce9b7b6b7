// Clone, copy and upgrade, from revisions and from any Git repository; functions run by the server; files of all kinds.
#include <fmt/format.h>

#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class PackageTasks : public PackageTest {
 public:
  /// A published package with one Deployment of so many replicas.
  std::string published(const std::string& repository, const std::string& package, const std::string& workspace,
                        const std::string& task, int replicas) {
    const std::string name = draft(repository, package, workspace, task);
    must(push(name, "web.yaml", deployment(replicas)));
    must(propose(name));
    must(approve(name));
    return name;
  }
  static std::string deployment(int replicas) {
    return fmt::format(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web # the front\nspec:\n  replicas: {}\n  template: {{}}\n",
        replicas);
  }
  /// As a clone has it: marked, and else byte by byte.
  static std::string cloned(int replicas) {
    return fmt::format(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: # kpt-merge: /web\n  name: web # the front\n  annotations:\n"
        "    internal.kpt.dev/upstream-identifier: 'apps|Deployment|default|web'\nspec:\n  replicas: {}\n  template: {{}}\n",
        replicas);
  }
  static std::string clone_of(const std::string& name) {
    return fmt::format("{{type: clone, clone: {{upstreamRef: {{upstreamRef: {{name: {}}}}}}}}}", name);
  }
  static std::string upgrade_of(const std::string& local, const std::string& strategy) {
    return fmt::format(
        "{{type: upgrade, upgrade: {{oldUpstreamRef: {{name: blueprints.web.v1}}, newUpstreamRef: {{name: blueprints.web.v2}}, "
        "localPackageRevisionRef: {{name: {}}}, strategy: {}}}}}",
        local, strategy);
  }
};

TEST_F(PackageTasks, a_clone_has_its_upstream_and_a_deployment_its_context) {
  repository("blueprints");
  repository("edge", Deployment::Yes);
  published("blueprints", "web", "v1", "{type: init, init: {}}", 2);
  const std::string name =
      draft("edge", "shop/web", "v1", "{type: clone, clone: {upstreamRef: {upstreamRef: {name: blueprints.web.v1}}}}");
  EXPECT_EQ(name, "edge.shop.web.v1");
  EXPECT_EQ(file(name, "web.yaml"), cloned(2));
  const Value object = revision(name);
  EXPECT_EQ(object["status"]["upstreamLock"]["git"]["ref"], Value("web/v1")) << json::print_pretty(object);
  EXPECT_TRUE(file(name, "Kptfile").contains("ref: web/v1"));
  EXPECT_TRUE(file(name, "package-context.yaml").contains("data:\n  name: web\n  package-path: shop/web\n"))
      << file(name, "package-context.yaml");
  EXPECT_EQ(fault(remove(kRevisions, "blueprints.web.v1")).substr(0, 9), "Forbidden");
  must(move("blueprints.web.v1", "DeletionProposed"));
  EXPECT_TRUE(fault(remove(kRevisions, "blueprints.web.v1")).contains("is the upstream of edge.shop.web.v1"));
}

TEST_F(PackageTasks, a_record_from_before_upstream_names_is_found_as_a_dependent_too) {
  repository("blueprints");
  repository("edge");
  published("blueprints", "web", "v1", "{type: init, init: {}}", 2);
  const std::string name = draft("edge", "web", "v1", clone_of("blueprints.web.v1"));
  must(move("blueprints.web.v1", "DeletionProposed"));
  advance(seconds{2});
  const auto upstream = [&] { return get(kRecords, name)["spec"]["upstreamName"]; };
  const auto forget = [&] {
    must(put(kRecords, get(kRecords, name).without_path({"spec", "upstreamName"}), "", As{.user = ""}));
  };
  forget();
  ASSERT_TRUE(until([&] { return upstream() == Value("blueprints.web.v1"); })) << "it is written once";
  EXPECT_EQ(get(kRecords, "blueprints.web.v1")["spec"]["upstreamName"], Value("-")) << "never left empty";
  forget();
  EXPECT_EQ(upstream(), Value()) << "no time has passed: nothing has written it again";
  EXPECT_TRUE(fault(remove(kRevisions, "blueprints.web.v1")).contains("is the upstream of edge.web.v1"));
}

TEST_F(PackageTasks, init_makes_a_subpackage_where_it_is_told_to) {
  repository("edge");
  const std::string name =
      draft("edge", "web", "v1", "{type: init, init: {subpackage: parts/db, description: a store, keywords: [db]}}");
  EXPECT_TRUE(file(name, "Kptfile").contains("name: web\n")) << file(name, "Kptfile");
  EXPECT_FALSE(file(name, "Kptfile").contains("a store"));
  EXPECT_TRUE(file(name, "parts/db/Kptfile").contains("name: db\n")) << file(name, "parts/db/Kptfile");
  EXPECT_TRUE(file(name, "parts/db/Kptfile").contains("description: a store"));
  const auto refused = create(
      "{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {}, spec: {packageName: b, repository: edge, "
      "workspaceName: v1, tasks: [{type: init, init: {subpackage: ../b}}]}}");
  EXPECT_TRUE(fault(refused).starts_with("Invalid: ")) << fault(refused);
  EXPECT_TRUE(fault(refused).contains("spec.tasks[0].init.subpackage")) << fault(refused);
}

TEST_F(PackageTasks, an_upgrade_merges_what_both_sides_changed_and_tells_conflicts) {
  repository("blueprints");
  repository("edge");
  published("blueprints", "web", "v1", "{type: init, init: {}}", 2);
  published("blueprints", "web", "v2", "{type: edit, edit: {sourceRef: {name: blueprints.web.v1}}}", 5);
  const std::string local =
      draft("edge", "web", "v1", "{type: clone, clone: {upstreamRef: {upstreamRef: {name: blueprints.web.v1}}}}");
  must(push(local, "web.yaml", deployment(3)));
  must(push(local, "own.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n"));
  must(propose(local));
  must(approve(local));
  const std::string name = draft("edge", "web", "v2",
                                 "{type: upgrade, upgrade: {oldUpstreamRef: {name: blueprints.web.v1}, newUpstreamRef: {name: "
                                 "blueprints.web.v2}, localPackageRevisionRef: {name: edge.web.v1}}}");
  EXPECT_TRUE(file(name, "web.yaml").contains("replicas: 5"));
  EXPECT_TRUE(file(name, "own.yaml").contains("name: own"));
  EXPECT_EQ(condition(name, "UpgradeConflicts"), "True (UpstreamTaken)");
  EXPECT_EQ(revision(name)["status"]["upstreamLock"]["git"]["ref"], Value("web/v2"));
}

TEST_F(PackageTasks, the_context_of_a_deployment_outlives_copies_and_upgrades) {
  repository("blueprints");
  repository("edge", Deployment::Yes);
  published("blueprints", "web", "v1", "{type: init, init: {}}", 2);
  published("blueprints", "web", "v2", "{type: edit, edit: {sourceRef: {name: blueprints.web.v1}}}", 5);
  const std::string local = draft("edge", "web", "v1", clone_of("blueprints.web.v1"));
  const std::string context = file(local, "package-context.yaml") + "  site: north\n";
  must(push(local, "package-context.yaml", context));
  must(propose(local));
  must(approve(local));
  const std::string copy = draft("edge", "web", "v2", "{type: edit, edit: {sourceRef: {name: edge.web.v1}}}");
  EXPECT_EQ(file(copy, "package-context.yaml"), context) << "a copy changes no byte";
  EXPECT_EQ(file(copy, "web.yaml"), cloned(2));
  int number = 3;
  for (const char* strategy : {"resource-merge", "copy-merge", "force-delete-replace", "fast-forward"}) {
    const std::string name = draft("edge", "web", fmt::format("v{}", number++), upgrade_of("edge.web.v1", strategy));
    EXPECT_TRUE(file(name, "package-context.yaml").contains("  name: web\n  package-path: web\n  site: north\n"))
        << strategy << ": " << file(name, "package-context.yaml");
    EXPECT_EQ(file(name, "web.yaml"), cloned(5)) << strategy;
  }
}

TEST_F(PackageTasks, a_resource_that_was_renamed_is_still_upgraded) {
  repository("blueprints");
  repository("edge");
  published("blueprints", "web", "v1", "{type: init, init: {}}", 2);
  published("blueprints", "web", "v2", "{type: edit, edit: {sourceRef: {name: blueprints.web.v1}}}", 5);
  const std::string local = draft("edge", "web", "v1", clone_of("blueprints.web.v1"));
  std::string renamed = file(local, "web.yaml");
  renamed.replace(renamed.find("name: web"), 9, "name: north-web");
  must(push(local, "web.yaml", renamed));
  must(propose(local));
  must(approve(local));
  const std::string name = draft("edge", "web", "v2", upgrade_of("edge.web.v1", "resource-merge"));
  EXPECT_TRUE(file(name, "web.yaml").contains("name: north-web")) << file(name, "web.yaml");
  EXPECT_TRUE(file(name, "web.yaml").contains("replicas: 5"));
  EXPECT_EQ(file(name, "web.yaml").find("kind: Deployment"), file(name, "web.yaml").rfind("kind: Deployment"));
}

TEST_F(PackageTasks, a_package_of_any_git_repository_can_be_cloned) {
  repository("edge");
  Repository foreign(folder_ / "foreign.git");
  foreign.commit({{"stacks/web/Kptfile",
                   "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\nstatus:\n  conditions:\n"
                   "  - type: seen\n    status: \"True\"\n"},
                  {"stacks/web/web.yaml", deployment(1)}},
                 "begin", "release");
  const std::string name =
      draft("edge", "web", "v1",
            fmt::format("{{type: clone, clone: {{upstreamRef: {{type: git, git: {{repo: '{}', ref: release, "
                        "directory: stacks/web}}}}}}}}",
                        foreign.path()));
  EXPECT_EQ(file(name, "web.yaml"), cloned(1));
  EXPECT_EQ(condition(name, "seen"), "Unknown (Imported)") << "a claim";
  EXPECT_EQ(revision(name)["status"]["upstreamLock"]["git"]["directory"], Value("stacks/web"));
  const std::string commit = foreign.git("rev-parse release").substr(0, 40);
  foreign.commit({{"stacks/web/web.yaml", deployment(2)}}, "later", "release");
  const std::string by_commit =
      draft("edge", "web-of-commit", "v1",
            fmt::format("{{type: clone, clone: {{upstreamRef: {{type: git, git: {{repo: '{}', ref: '{}', "
                        "directory: stacks/web}}}}}}}}",
                        foreign.path(), commit));
  EXPECT_TRUE(file(by_commit, "web.yaml").contains("replicas: 1")) << file(by_commit, "web.yaml");
  EXPECT_EQ(revision(by_commit)["status"]["upstreamLock"]["git"]["commit"], Value(commit));
  const auto missing =
      create(fmt::format("{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {{}}, spec: "
                         "{{packageName: b, repository: edge, workspaceName: v1, tasks: [{{type: clone, clone: "
                         "{{upstreamRef: {{type: git, git: {{repo: '{}', ref: none, directory: x}}}}}}}}]}}}}",
                         foreign.path()));
  EXPECT_TRUE(fault(missing).starts_with("NotFound: ")) << fault(missing);
  EXPECT_TRUE(fault(missing).contains("has no branch or tag \"none\""));
}

TEST_F(PackageTasks, the_pipeline_runs_at_each_put_and_its_failure_stores_nothing) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  must(push(name, "ns.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: old\n"));
  const std::string pipeline =
      file(name, "Kptfile") + "pipeline:\n  mutators:\n  - image: set-namespace\n    configMap:\n      namespace: shop\n";
  const Value done = must(push(name, "Kptfile", pipeline));
  EXPECT_TRUE(file(name, "ns.yaml").contains("namespace: shop")) << file(name, "ns.yaml");
  EXPECT_EQ(done["status"]["renderStatus"]["result"]["exitCode"], Value(0)) << json::print_pretty(done["status"]);
  EXPECT_EQ(done["status"]["renderStatus"]["result"]["items"].item(0)["image"], Value("set-namespace"));

  advance(seconds{1});
  const std::string tip = edge.git("rev-parse drafts/a/v1");
  const std::string broken = pipeline + "  - image: starlark\n";
  const auto refused = push(name, "Kptfile", broken);
  EXPECT_TRUE(fault(refused).starts_with("InternalError: Internal error occurred: error rendering package")) << fault(refused);
  advance(seconds{1});
  EXPECT_EQ(edge.git("rev-parse drafts/a/v1"), tip);
  must(patch(kRevisions, name, "{metadata: {annotations: {porch.kpt.dev/push-on-render-failure: 'true'}}}",
             client::PatchType::Merge));
  const Value stored = must(push(name, "Kptfile", broken));
  EXPECT_NE(stored["status"]["renderStatus"]["error"].str(), "");
  EXPECT_TRUE(file(name, "Kptfile").contains("starlark"));
  EXPECT_NE(files(name)["status"]["renderStatus"]["error"].str(), "") << "it can be read later too";
}

TEST_F(PackageTasks, a_put_that_a_validator_refuses_says_which_field_of_which_file) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  must(push(name, "Kptfile", file(name, "Kptfile") + "pipeline:\n  validators:\n  - image: kubeval\n"));
  const std::string told = fault(push(name, "a.yaml",
                                      "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  replicas: "
                                      "\"three\"\n  selector:\n    matchLabels:\n "
                                      "     app: a\n  template:\n    metadata:\n      labels:\n        app: a\n    spec:\n     "
                                      " containers:\n      - name: a\n        "
                                      "image: nginx\n"));
  EXPECT_TRUE(told.contains("error rendering package")) << told;
  EXPECT_TRUE(told.contains("\n[error] apps/v1 Deployment a, spec.replicas (a.yaml): ")) << told;
}

TEST_F(PackageTasks, programs_that_a_kptfile_names_are_refused) {
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  const auto refused = push(name, "Kptfile", file(name, "Kptfile") + "pipeline:\n  mutators:\n  - exec: /bin/true\n");
  EXPECT_TRUE(fault(refused).contains("exec")) << fault(refused);
}

TEST_F(PackageTasks, bytes_come_back_as_they_were_put_and_others_files_stay) {
  Repository& edge = repository("edge");
  const std::string name = init("edge", "a", "v1");
  advance(seconds{1});
  edge.commit({{"a/logo.png", std::string("\x89PNG\xff\xfe", 6)}}, "a picture", "drafts/a/v1");
  must(patch(kRepositories, "edge", fmt::format("{{spec: {{sync: {{runOnceAt: '{}'}}}}}}", to_rfc3339(env_->now())),
             client::PatchType::Merge));
  advance(seconds{5});
  const std::string windows = "line one\r\nline two\r\n";
  must(push(name, "notes.txt", windows));
  EXPECT_EQ(file(name, "notes.txt"), windows);
  advance(seconds{1});
  EXPECT_EQ(edge.file("a/logo.png", "drafts/a/v1"), std::string("\x89PNG\xff\xfe", 6)) << "not shown, not lost";
  EXPECT_EQ(edge.file("a/notes.txt", "drafts/a/v1"), windows);
  EXPECT_FALSE(files(name)["spec"]["resources"].has("logo.png"));
}

TEST_F(PackageTasks, a_copy_without_functions_has_the_bytes_of_its_source) {
  Repository& edge = repository("edge");
  const std::string text = "# by hand\r\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name:   m}\r\n";
  const std::string name = init("edge", "a", "v1");
  must(push(name, "m.yaml", text));
  must(propose(name));
  must(approve(name));
  draft("edge", "a", "v2", "{type: edit, edit: {sourceRef: {name: edge.a.v1}}}");
  advance(seconds{1});
  EXPECT_EQ(edge.file("a/m.yaml", "drafts/a/v2"), text);
}

}  // namespace
}  // namespace slipway::package_test
