// Functions that are programs of the server's machine: who may map them, how they are run, and what a pipeline sees of them.
#include <fmt/format.h>

#include "base/function_programs.h"
#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class PackageFunctions : public PackageTest {
 public:
  void SetUp() override {
    PackageTest::SetUp();
    repository("edge");
    env_->env().programs = &programs_;
    programs_.add("/opt/functions/shout", [](const ProgramCall& call) -> Result<ProgramEnd> {
      std::string list = call.input;
      for (std::size_t at = 0; (at = list.find("quiet", at)) != std::string::npos;) list.replace(at, 5, "LOUD!");
      return ProgramEnd{.code = 0, .output = list, .error = ""};
    });
    programs_.add("/opt/functions/fails", [](const ProgramCall&) -> Result<ProgramEnd> {
      return ProgramEnd{.code = 3, .output = "", .error = "no such site"};
    });
    programs_.add("/opt/functions/loud", [](const ProgramCall&) -> Result<ProgramEnd> {
      return ProgramEnd{.code = 1, .output = "", .error = std::string(100'000, 'x')};
    });
    programs_.add("/opt/functions/unboxed", [](const ProgramCall&) -> Result<ProgramEnd> {
      return fail(Reason::Forbidden, "exec: \"unboxed\": not run, as the kernel refuses it a sandbox: namespaces: denied");
    });
  }
  Result<Value> map(const std::string& name, const std::string& spec, As as = {}) {
    return create(fmt::format("{{apiVersion: config.porch.kpt.dev/v1alpha1, kind: FunctionConfig, metadata: {{name: {}}}, "
                              "spec: {{image: {}, {}}}}}",
                              name, name, spec),
                  as);
  }
  static std::string program(const std::string& name, const std::string& tags = "[v1]") {
    return fmt::format("binaryExecutor: {{tags: {}, path: /opt/functions/{}}}", tags, name);
  }
  /// The answer to a push of a Kptfile with that pipeline.
  Result<Value> push_pipeline(const std::string& revision, const std::string& image) {
    return push(
        revision, "Kptfile",
        fmt::format("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\npipeline:\n  mutators:\n  - image: {}\n"
                    "    exclude:\n    - kind: Kptfile\n",
                    image));
  }
  std::string package() {
    const std::string name = init("edge", "a", "v1");
    must(push(name, "m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  how: quiet # kept\n"));
    return name;
  }

 protected:
  FunctionPrograms programs_;
};

TEST_F(PackageFunctions, a_mapped_program_runs_in_a_sandbox_as_a_step_of_the_pipeline) {
  must(map("shout", "prefixes: [registry.example/fn], " + program("shout")));
  const std::string name = package();
  const Value done = must(push_pipeline(name, "registry.example/fn/shout:v1"));
  EXPECT_TRUE(file(name, "m.yaml").contains("how: LOUD! # kept")) << file(name, "m.yaml");
  EXPECT_EQ(done["status"]["renderStatus"]["result"]["items"].item(0)["image"], Value("registry.example/fn/shout:v1"));
  ASSERT_EQ(programs_.calls().size(), 1u);
  const ProgramCall& call = programs_.calls().front();
  EXPECT_TRUE(call.sandbox.has_value()) << "without a network and with a read-only root";
  EXPECT_TRUE(call.input.starts_with("apiVersion: config.kubernetes.io/v1\nkind: ResourceList")) << call.input.substr(0, 200);
  EXPECT_EQ(call.tenant, "default");
}

TEST_F(PackageFunctions, only_the_mapped_names_and_tags_run) {
  must(map("shout", "prefixes: [registry.example/fn], " + program("shout")));
  const std::string name = package();
  for (const char* image : {"registry.example/fn/shout:v2", "elsewhere.example/shout:v1", "registry.example/fn/other:v1"}) {
    EXPECT_TRUE(fault(push_pipeline(name, image)).contains("error rendering package")) << image;
  }
  EXPECT_TRUE(programs_.calls().empty());
  must(push_pipeline(name, "shout"));
  EXPECT_EQ(programs_.calls().size(), 1u);
}

TEST_F(PackageFunctions, what_a_server_does_not_run_is_told_with_what_it_does) {
  const std::string name = package();
  for (const char* image : {"starlark:v0.5", "gatekeeper:v1", "registry.example/fn/other:v1"}) {
    const std::string told = fault(push_pipeline(name, image));
    EXPECT_TRUE(told.contains("NotImplemented: ")) << told;
  }
  const std::string told = fault(push(name, "Kptfile",
                                      "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\npipeline:\n"
                                      "  mutators:\n  - exec: ./fn.sh\n"));
  EXPECT_TRUE(told.contains("a server runs no program that a Kptfile names by exec")) << told;
  EXPECT_TRUE(told.contains("FunctionConfig")) << told;
  EXPECT_FALSE(told.contains("--allow-exec")) << told;
}

TEST_F(PackageFunctions, a_program_that_fails_or_is_not_run_says_why_and_nothing_is_stored) {
  must(map("fails", program("fails")));
  must(map("unboxed", program("unboxed")));
  const std::string name = package();
  const std::string before = file(name, "Kptfile");
  EXPECT_TRUE(fault(push_pipeline(name, "fails:v1")).contains("no such site")) << fault(push_pipeline(name, "fails:v1"));
  EXPECT_TRUE(fault(push_pipeline(name, "unboxed:v1")).contains("the kernel refuses it a sandbox"));
  EXPECT_EQ(file(name, "Kptfile"), before);
  must(patch(kRevisions, name, "{metadata: {annotations: {porch.kpt.dev/push-on-render-failure: 'true'}}}",
             client::PatchType::Merge));
  const Value stored = must(push_pipeline(name, "fails:v1"));
  const Value& step = stored["status"]["renderStatus"]["result"]["items"].item(0);
  EXPECT_EQ(step["exitCode"], Value(3)) << json::print_pretty(stored["status"]);
  EXPECT_EQ(step["stderr"], Value("no such site"));
}

TEST_F(PackageFunctions, why_a_rendering_failed_is_in_the_condition_and_a_loud_program_does_not_fill_the_log) {
  must(map("fails", program("fails")));
  must(map("loud", program("loud")));
  const std::string name = package();
  must(patch(kRevisions, name, "{metadata: {annotations: {porch.kpt.dev/push-on-render-failure: 'true'}}}",
             client::PatchType::Merge));
  const auto message = [&] { return kube::condition(revision(name), "ReadyToPropose")["message"].str(); };
  must(push_pipeline(name, "fails:v1"));
  EXPECT_EQ(message(), "the package could not be rendered: fails:v1: exit code 3: no such site");
  must(push_pipeline(name, "loud:v1"));
  EXPECT_TRUE(message().starts_with("the package could not be rendered: loud:v1: exit code 1: xxx")) << message().substr(0, 99);
  // Its text stands in three places, cut to a KiB each: the results, the condition Rendered and ReadyToPropose.
  EXPECT_LT(json::print(get(kRecords, name)).size(), 6'144u);
}

TEST_F(PackageFunctions, a_built_in_function_may_have_another_name) {
  must(map("relabel", "goExecutor: {tags: [v1], id: set-labels}"));
  const std::string name = package();
  must(push(name, "Kptfile",
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\npipeline:\n  mutators:\n  - image: relabel:v1\n"
            "    configMap:\n      team: x\n"));
  EXPECT_TRUE(file(name, "m.yaml").contains("team: x"));
}

TEST_F(PackageFunctions, programs_are_the_administrators_to_map) {
  for (const char* role : {"edit", "admin"}) {
    must(
        create(fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}}}, roleRef: "
                           "{{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {0}}}, subjects: [{{kind: User, "
                           "name: {0}}}]}}",
                           role)));
    const As as{.user = role, .is_admin = false};
    const std::string refused = fault(map("shout", program("shout"), as));
    EXPECT_TRUE(refused.contains("may not runprogram on functionconfigs")) << role << ": " << refused;
    must(map(fmt::format("own-{}", role), "goExecutor: {tags: [v1], id: set-labels}", as));
  }
  must(map("shout", program("shout")));
  const As edit{.user = "edit", .is_admin = false};
  must(patch(kFunctionConfigs, "shout", "{metadata: {labels: {a: b}}}", client::PatchType::Merge, "", edit));
  EXPECT_TRUE(
      fault(patch(kFunctionConfigs, "shout", "{spec: {binaryExecutor: {path: /bin/rm}}}", client::PatchType::Merge, "", edit))
          .contains("may not runprogram"));
  EXPECT_TRUE(fault(patch(kFunctionConfigs, "shout", "{spec: {image: set-site}}", client::PatchType::Merge, "", edit))
                  .contains("may not runprogram"));
  EXPECT_TRUE(fault(map("relative", "binaryExecutor: {tags: [v1], path: bin/x}")).contains("must be a path from the root"));
}

TEST_F(PackageFunctions, a_function_that_renames_resources_leaves_the_kptfile_where_it_is) {
  const std::string name = package();
  const std::string kptfile =
      "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\npipeline:\n  mutators:\n  - image: "
      "ensure-name-substring\n    configMap:\n      prepend: dev-\n";
  must(push(name, "Kptfile", kptfile));
  advance(seconds{1});
  EXPECT_TRUE(repositories_.at("edge")->file("a/Kptfile", "drafts/a/v1").contains("name: a\n"));
  EXPECT_TRUE(file(name, "m.yaml").contains("name: dev-m\n")) << file(name, "m.yaml");
  EXPECT_EQ(repositories_.at("edge")->file("a/kptfile_a.yaml", "drafts/a/v1"), "");
}

}  // namespace
}  // namespace slipway::package_test
