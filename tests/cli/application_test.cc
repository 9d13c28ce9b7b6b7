// Applications on the command line: delivered over several clusters, stopped for a person, gone on with, rendered without a
// cluster, and what is said of wrong input.
#include "program.h"

namespace slipway::cli {
namespace {

using Applications = CommandLine;

const std::string kHead = "apiVersion: core.oam.dev/v1beta1\nkind: Application\nmetadata: {name: web}\nspec:\n";
const std::string kApproved = kHead +
                              "  components:\n"
                              "    - {name: front, type: webservice, properties: {image: nginx}}\n"
                              "    - {name: back, type: worker, properties: {image: busybox}}\n"
                              "  workflow:\n"
                              "    steps:\n"
                              "      - {name: first, type: apply-component, properties: {component: front}}\n"
                              "      - {name: approve, type: suspend}\n"
                              "      - {name: second, type: apply-component, properties: {component: back}}\n";
const std::string kPlain =
    "plain: {\n\ttype: \"component\"\n\tattributes: workload: definition: {apiVersion: \"v1\", kind: \"ConfigMap\"}\n}\n"
    "template: {\n\toutput: {apiVersion: \"v1\", kind: \"ConfigMap\", data: text: parameter.text}\n"
    "\tparameter: {\n\t\t// +usage=What it says\n\t\ttext: string\n\t}\n}\n";

void expect_has(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "missing \"" << part << "\" in:\n" << text;
  }
}

TEST_F(Applications, one_that_waits_for_a_person_stops_and_goes_on_when_resumed) {
  const Ended held = slipway({"run", "-f", write("a.yaml", kApproved), "--data-dir", data_dir(), "--timeout", "10m"});
  EXPECT_EQ(held.code, 3) << held.out << held.err;
  expect_has(held.err, {"application/web: step approve waits for a person; go on with: slipway workflow resume application/web "
                        "-n default --data-dir " +
                        data_dir()});
  expect_has(slipway({"why", "app/web", "--data-dir", data_dir()}).out, {"waits for a person", "root cause"});
  const Ended tree = slipway({"status", "app/web", "--tree", "--data-dir", data_dir()});
  expect_has(tree.out,
             {"workflowSuspending", "Deployment default/front  1 of 1 ready", "Pod default/front-", "Running, ready"});
  const Ended resumed = slipway({"workflow", "resume", "web", "--data-dir", data_dir(), "--timeout", "10m"});
  EXPECT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  expect_has(resumed.out, {"application/web: resumed", "second: succeeded"});
  expect_has(slipway({"revision", "list", "app/web", "--data-dir", data_dir()}).out, {"web-v1", "delivered", "current"});
}

/// kubevela#7045: an application that never gets healthy says nothing but that it runs.
TEST_F(Applications, what_a_pod_waits_for_is_the_root_cause_of_what_the_application_waits_for) {
  struct Bad {
    std::string pod, cause;
  };
  const std::vector<Bad> cases = {{"slipway.dev/missing-images: nginx",
                                   "container front (ImagePullBackOff): Back-off pulling image \"nginx\"  <- root cause"},
                                  {"slipway.dev/ready-after: never, slipway.dev/run-time: 100ms, slipway.dev/exit-code: '3'",
                                   "container front (CrashLoopBackOff)"}};
  for (const Bad& bad : cases) {
    const std::string text = kHead +
                             "  components:\n    - {name: front, type: webservice, properties: {image: nginx, annotations: {" +
                             bad.pod + "}}}\n";
    const std::string folder = data_dir() + std::to_string(&bad - cases.data());
    const Ended run = slipway({"run", "-f", write("bad.yaml", text), "--data-dir", folder, "--timeout", "3s"});
    EXPECT_EQ(run.code, 3) << run.out << run.err;
    const Ended why = slipway({"why", "app/web", "--data-dir", folder});
    expect_has(why.out, {"step \"front\" (Wait): wait healthy", "because pod front-", bad.cause});
  }
}

TEST_F(Applications, approve_all_lets_everything_go_on) {
  const Ended ended =
      slipway({"run", "-f", write("a.yaml", kApproved), "--data-dir", data_dir(), "--timeout", "10m", "--approve-all"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
}

TEST_F(Applications, several_clusters_get_what_a_topology_says_with_a_definition_out_of_a_cue_file) {
  const std::string application = kHead +
                                  "  components:\n    - {name: note, type: plain, properties: {text: hello}}\n"
                                  "  policies:\n    - {name: where, type: topology, properties: {clusters: [dev, prod]}}\n";
  const std::string secret =
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: vela-system}\n---\n"
      "apiVersion: v1\nkind: Secret\nmetadata: {name: far, namespace: vela-system, labels: {region: eu, "
      "cluster.core.oam.dev/cluster-credential-type: X509Certificate}}\n"
      "stringData: {endpoint: 'https://127.0.0.1:1'}\n";
  const Ended ended =
      slipway({"run", "-f", write("d.cue", kPlain), "-f", write("s.yaml", secret), "-f", write("a.yaml", application),
               "--clusters", "dev,staging,prod", "--data-dir", data_dir(), "--timeout", "10m"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  expect_has(slipway({"status", "app/web", "--tree", "--data-dir", data_dir()}).out, {"cluster dev", "cluster prod"});
  const auto note_in = [&](const std::string& cluster) {
    return slipway({"get", "configmap/note", "-o", "yaml", "--data-dir", data_dir() + "/clusters/" + cluster});
  };
  expect_has(note_in("prod").out, {"text: hello"});
  EXPECT_EQ(note_in("staging").code, 2);
  const std::string by_label =
      "apiVersion: core.oam.dev/v1beta1\nkind: Application\nmetadata: {name: labelled}\nspec:\n"
      "  components: [{name: note, type: plain, properties: {text: a}}]\n"
      "  policies: [{name: t, type: topology, properties: {clusterLabelSelector: {region: eu}}}]\n";
  const Ended tried = slipway({"dry-run", "-f", write("l.yaml", by_label), "--data-dir", data_dir()});
  EXPECT_EQ(tried.code, 0) << tried.err;
  expect_has(tried.out + tried.err, {"in cluster far"});
  expect_has(slipway({"render", "-f", "l.yaml", "-f", "d.cue"}).err, {"as far as is known without a hub (--kubeconfig)"});
  const Ended other = slipway({"run", "-f", "a.yaml", "--clusters", "prod", "--data-dir", data_dir()});
  EXPECT_EQ(other.code, 2);
  expect_has(other.err, {"the first cluster of " + data_dir() + " is dev: name it first in --clusters"});
}

TEST_F(Applications, an_earlier_revision_comes_back) {
  const auto text = [](const std::string& image) {
    return kHead + "  components: [{name: front, type: worker, properties: {image: " + image + "}}]\n";
  };
  const auto run = [&](const std::string& image) {
    return slipway({"run", "-f", write("a.yaml", text(image)), "--data-dir", data_dir(), "--timeout", "10m"}).code;
  };
  ASSERT_EQ(run("one"), 0);
  const Ended none = slipway({"workflow", "rollback", "web", "--data-dir", data_dir()});
  EXPECT_EQ(none.code, 2);
  expect_has(none.err, {"application/web has no earlier revision that was delivered"});
  ASSERT_EQ(run("two"), 0);
  expect_has(slipway({"revision", "diff", "web", "--data-dir", data_dir()}).out,
             {"--- web-v1", "+++ web-v2", "-    image: one", "+    image: two"});
  const Ended back = slipway({"workflow", "rollback", "web", "--data-dir", data_dir(), "--timeout", "10m"});
  EXPECT_EQ(back.code, 0) << back.out << back.err;
  expect_has(back.out, {"application/web: spec of web-v1 is back"});
  expect_has(slipway({"get", "deployment/front", "-o", "yaml", "--data-dir", data_dir()}).out, {"image: one"});
}

TEST_F(Applications, are_rendered_without_a_cluster_and_compared_with_one) {
  const std::string file = write("a.yaml", kApproved);
  const Ended rendered = slipway({"render", "-f", file});
  EXPECT_EQ(rendered.code, 0) << rendered.err;
  expect_has(rendered.out, {"# component front", "# component back", "image: nginx", "kind: Deployment"});
  ASSERT_EQ(slipway({"run", "-f", file, "--data-dir", data_dir(), "--timeout", "10m", "--approve-all"}).code, 0);
  const Ended same = slipway({"diff", "-f", file, "--data-dir", data_dir()});
  EXPECT_EQ(same.out, "") << same.out;
  expect_has(same.err, {"nothing would change"});
  std::string changed = kApproved;
  changed.replace(changed.find("nginx"), 5, "httpd");
  expect_has(slipway({"diff", "-f", write("b.yaml", changed), "--data-dir", data_dir()}).out,
             {"--- live Deployment default/front", "-        image: nginx", "+        image: httpd"});
  expect_has(
      slipway({"dry-run", "-f", "b.yaml", "--data-dir", data_dir()}).out,
      {"Deployment default/front would be changed (component front)", "Deployment default/back unchanged (component back)"});
}

TEST_F(Applications, are_compared_with_the_definitions_of_their_own_namespace) {
  const std::string definition =
      "apiVersion: core.oam.dev/v1beta1\nkind: ComponentDefinition\nmetadata: {name: own, namespace: team}\nspec:\n"
      "  schematic: {cue: {template: 'output: {apiVersion: \"v1\", kind: \"ConfigMap\", data: a: \"b\"}'}}\n";
  const std::string application =
      "apiVersion: core.oam.dev/v1beta1\nkind: Application\nmetadata: {name: web, namespace: team}\n"
      "spec: {components: [{name: c, type: own}]}\n";
  const std::string all =
      "{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n" + definition + "---\n" + application;
  ASSERT_EQ(slipway({"run", "-f", write("all.yaml", all), "--data-dir", data_dir(), "--timeout", "10m"}).code, 0);
  const Ended same = slipway({"diff", "-f", write("a.yaml", application), "--data-dir", data_dir()});
  EXPECT_EQ(same.code, 0) << same.err;
  expect_has(same.err, {"nothing would change"});
}

TEST_F(Applications, definitions_are_applied_where_all_look_for_them) {
  const std::vector<std::string> apply = {"def", "apply", write("d.cue", kPlain), "--data-dir", data_dir()};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = apply;
    all.insert(all.end(), more.begin(), more.end());
    return slipway(all);
  };
  expect_has(with({}).out, {"ComponentDefinition plain applied in namespace vela-system"});
  const Ended chosen = with({"--definition-namespace", "platform"});
  expect_has(chosen.out + chosen.err, {"ComponentDefinition plain applied in namespace platform"});
  expect_has(with({"--definition-namespace", "platform", "--in", "vela-system"}).out, {"applied in namespace vela-system"});
  EXPECT_EQ(with({"--definition-namespace", "No"}).code, 2);
}

TEST_F(Applications, definitions_are_those_of_the_cluster_that_kubeconfig_names) {
  const std::string file = write("config", R"({apiVersion: v1, kind: Config, current-context: far,
    clusters: [{name: far, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: me, user: {}}],
    contexts: [{name: far, context: {cluster: far, user: me}}]})");
  EXPECT_EQ(slipway({"def", "list"}).code, 0);
  setenv("KUBECONFIG", file.c_str(), 1);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"def", "list"}, {"def", "show", "webservice"}}) {
    const Ended ended = slipway(command);
    EXPECT_NE(ended.code, 0) << ended.out;
    expect_has(ended.err, {"127.0.0.1:1"});
  }
  unsetenv("KUBECONFIG");
}

struct Wrong {
  std::vector<std::string> arguments;
  std::string says;
};

TEST_F(Applications, what_is_wrong_in_a_file_is_told_with_its_line) {
  const auto file = [&](const std::string& name, const std::string& components) {
    return write(name, kHead + "  components:\n" + components);
  };
  file("type.yaml", "    - name: front\n      type: wroker\n");
  file("image.yaml", "    - name: front\n      type: worker\n      properties:\n        image: 7\n");
  file("port.yaml",
       "    - name: front\n      type: webservice\n      properties:\n        image: a\n        ports:\n          - port: x\n");
  file("trait.yaml",
       "    - name: front\n      type: worker\n      properties: {image: a}\n      traits:\n        - type: scaler\n"
       "          properties:\n            replicas: many\n");
  write("none.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
  std::string broken = kPlain;
  broken.replace(broken.find("parameter.text"), 14, "parametr.text");
  write("broken.cue", broken);
  write("member.cue", "import \"vela/op\"\nx: type: \"workflow-step\"\ntemplate: {\n\tdo: op.#Nope\n}\n");
  write("package.cue", "import \"ext/thing\"\nx: type: \"workflow-step\"\ntemplate: {\n\tdo: thing.#Do\n}\n");
  const std::vector<Wrong> cases = {
      {{"render", "-f", "type.yaml"},
       "type.yaml:7: application web: ComponentDefinition.core.oam.dev \"wroker\" not found (did you mean \"worker\"?)\n"},
      {{"render", "-f", "image.yaml"},
       "image.yaml:9: application web: component front: parameter.image: must be string, but is 7\n"},
      {{"render", "-f", "port.yaml"},
       "port.yaml:11: application web: component front: parameter.ports.0.port: must be int, but is \"x\"\n"},
      {{"render", "-f", "trait.yaml"}, "trait.yaml:12: application web: component front, trait scaler: parameter.replicas: "},
      {{"render", "-f", "none.yaml"}, "there is no Application in the files given with -f\n"},
      {{"def", "vet", "broken.cue"}, "broken.cue: ComponentDefinition plain: template: output.data.text: reference"},
      {{"def", "vet", "member.cue"},
       "member.cue: WorkflowStepDefinition x: template: package \"vela/op\" has no #Nope (op.#Nope):\n    x.cue:3:8\n"},
      {{"def", "vet", "package.cue"},
       "package.cue: WorkflowStepDefinition x: template: package \"ext/thing\" not found; NotImplemented: packages of Package"},
      {{"def", "vet", "none.yaml"}, "none.yaml: there is no definition in it\n"},
      {{"def", "show", "nonesuch"}, "there is no definition nonesuch, and no file of that name"}};
  for (const Wrong& wrong : cases) {
    const Ended ended = slipway(wrong.arguments);
    EXPECT_EQ(ended.code, 2) << wrong.arguments.at(0);
    EXPECT_EQ(ended.out, "");
    EXPECT_TRUE(ended.err.starts_with("slipway: " + wrong.says)) << ended.err << "\nexpected: " << wrong.says;
  }
}

TEST_F(Applications, what_admission_refuses_is_told_with_its_line) {
  write("type.yaml", kHead + "  components:\n    - name: front\n      type: wroker\n");
  const Ended ended = slipway({"run", "-f", "type.yaml", "--data-dir", data_dir()});
  EXPECT_EQ(ended.code, 2) << ended.out;
  expect_has(ended.err, {"type.yaml:1: ", "spec.components[0].type", "wroker", "(type.yaml:7)"});
}

TEST_F(Applications, a_fault_in_an_item_of_a_list_is_told_with_its_line) {
  write("list.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n"
        "- apiVersion: core.oam.dev/v1beta1\n  kind: Application\n  metadata: {name: web}\n  spec:\n    components:\n"
        "      - name: front\n        type: wroker\n");
  const Ended run = slipway({"run", "-f", "list.yaml", "--data-dir", data_dir()});
  EXPECT_EQ(run.code, 2) << run.out;
  expect_has(run.err, {"list.yaml:7: ", "(list.yaml:13)"});
  const Ended rendered = slipway({"render", "-f", "list.yaml"});
  EXPECT_TRUE(rendered.err.starts_with("slipway: list.yaml:13: application web: ")) << rendered.err;
}

TEST_F(Applications, what_cannot_be_done_now_is_refused_with_the_reason) {
  const std::string plain = kHead + "  components: [{name: front, type: worker, properties: {image: a}}]\n";
  ASSERT_EQ(slipway({"run", "-f", write("a.yaml", plain), "--data-dir", data_dir(), "--timeout", "10m"}).code, 0);
  const std::vector<Wrong> cases = {
      {{"workflow", "resume", "web"}, "application/web: the workflow has finished\n"},
      {{"workflow", "suspend", "app/web"}, "application/web: the workflow has finished\n"},
      {{"workflow", "terminate", "app", "web"}, "application/web: the workflow has finished\n"},
      {{"workflow", "restart", "app/web", "--step", "front"}, "application/web: step front has not failed\n"},
      {{"workflow", "restart", "app/web", "--step", "none"}, "application/web: the workflow has no step none that has begun\n"},
      {{"workflow", "resume", "none"}, "applications.core.oam.dev \"none\" not found\n"},
      {{"workflow", "resume", "pod/web"},
       "say which application or workflowrun: slipway workflow resume application/NAME, slipway workflow resume "
       "workflowrun/NAME\n"},
      {{"revision", "rollback", "web", "--revision", "9"}, "application/web has no revision 9; it has web-v1\n"},
      {{"revision", "diff", "web"}, "web-v1 is the first revision: there is none to compare it with\n"},
      {{"status", "app/web", "--watch"}, "--watch needs a server, such as `slipway up`: give --kubeconfig "},
      {{"exec", "app/web", "--", "true"},
       "pods run only while something serves them, such as `slipway up`: give --kubeconfig "}};
  for (Wrong wrong : cases) {
    const std::string what = wrong.arguments.at(0) + " " + wrong.arguments.at(1);
    wrong.arguments.insert(
        wrong.arguments.begin() + 1 + (wrong.arguments.at(0) == "workflow" || wrong.arguments.at(0) == "revision"),
        {"--data-dir", data_dir()});
    const Ended ended = slipway(wrong.arguments);
    EXPECT_EQ(ended.code, 2) << what << ended.out;
    EXPECT_TRUE(ended.err.starts_with("slipway: " + wrong.says)) << what << ": " << ended.err << "expected: " << wrong.says;
  }
  const Ended again = slipway({"workflow", "restart", "web", "--data-dir", data_dir(), "--timeout", "10m"});
  EXPECT_EQ(again.code, 0) << again.err;
  expect_has(again.out, {"application/web: runs again"});
}

TEST_F(Applications, definitions_are_listed_described_and_applied) {
  expect_has(slipway({"def", "list"}).out, {"webservice ", "ComponentDefinition", "(built in)"});
  expect_has(slipway({"def", "show", "scaler"}).out, {"TraitDefinition scaler", "PARAMETER", "replicas   *1 | int  no"});
  write("d.cue", kPlain);
  expect_has(slipway({"def", "gen-docs", "d.cue"}).out,
             {"## Components", "### plain", "| `text` | `string` | yes | What it says |"});
  const Ended applied = slipway({"def", "apply", "d.cue", "--data-dir", data_dir()});
  EXPECT_EQ(applied.code, 0) << applied.err;
  EXPECT_EQ(applied.out, "ComponentDefinition plain applied in namespace vela-system\n");
  expect_has(slipway({"def", "list", "--data-dir", data_dir()}).out, {"plain ", "vela-system"});
}

}  // namespace
}  // namespace slipway::cli
