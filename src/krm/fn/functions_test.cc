// What the corpus does not show of the functions.
#include <gtest/gtest.h>

#include "krm/render.h"

namespace slipway::krm {
namespace {

struct Ran {
  std::string text;  // of a.yaml, or the error
  std::vector<FunctionResult> results;
};

Ran run(std::string_view function, const std::string& text, std::optional<Resource> config) {
  Evaluation made = evaluate({{"a.yaml", text}}, function, std::move(config));
  if (!made.files) return {.text = "error: " + made.files.error().message, .results = made.results};
  return {.text = made.files->contains("a.yaml") ? made.files->at("a.yaml") : "", .results = made.results};
}

std::optional<Resource> config_of(std::string_view text) {
  auto tree = read_one_yaml(text);
  EXPECT_TRUE(tree.has_value());
  Resource made;
  made.tree = *tree;
  return made;
}

std::string resource(std::string_view api_version, std::string_view kind, std::string_view rest) {
  return "apiVersion: " + std::string(api_version) + "\nkind: " + std::string(kind) + "\nmetadata:\n  name: x\n" +
         std::string(rest);
}

TEST(SetNamespace, changes_only_what_the_matcher_names_and_the_references_to_it) {
  const std::string text =
      resource("v1", "ConfigMap", "  namespace: a\n") + "---\n" +
      resource("v1", "Secret",
               "  namespace: b\n  annotations:\n    config.kubernetes.io/depends-on: /namespaces/a/ConfigMap/x\n");
  const Ran made = run("set-namespace", text, config_map({{"namespace", "prod"}, {"namespaceMatcher", "a"}}));
  EXPECT_EQ(
      made.text,
      resource("v1", "ConfigMap", "  namespace: prod\n") + "---\n" +
          resource("v1", "Secret",
                   "  namespace: b\n  annotations:\n    config.kubernetes.io/depends-on: /namespaces/prod/ConfigMap/x\n"));
  EXPECT_EQ(made.results.at(1).message, "`depends-on` annotation namespace [a] updated to \"prod\", 1 value(s) changed");
}

TEST(SetNamespace, needs_a_namespace) {
  EXPECT_EQ(run("set-namespace", resource("v1", "ConfigMap", ""), config_map({})).text,
            "error: `data.namespace` should not be empty");
}

TEST(SetAnnotations, reaches_pod_templates) {
  const Ran made =
      run("set-annotations", resource("apps/v1", "Deployment", "spec:\n  template: {}\n"), config_map({{"k", "true"}}));
  EXPECT_EQ(
      made.text,
      resource(
          "apps/v1", "Deployment",
          "  annotations:\n    k: \"true\"\nspec:\n  template:\n    metadata:\n      annotations:\n        k: \"true\"\n"));
}

TEST(SetImage, takes_init_containers_and_cron_jobs_and_refuses_tag_and_digest) {
  const std::string text =
      resource("batch/v1", "CronJob",
               "spec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          initContainers:\n"
               "          - image: reg:5000/nginx:1\n          containers:\n          - image: nginx\n");
  const Ran made = run("set-image", text, config_map({{"name", "reg:5000/nginx"}, {"newTag", "2"}}));
  EXPECT_TRUE(made.text.contains("- image: reg:5000/nginx:2\n")) << made.text;
  EXPECT_TRUE(made.text.contains("- image: nginx\n"));
  EXPECT_TRUE(
      run("set-image", text, config_map({{"name", "a"}, {"newTag", "2"}, {"digest", "sha256:1"}})).text.starts_with("error: "));
}

TEST(ListSetters, counts_setters_by_name_and_type) {
  const Ran made =
      run("list-setters",
          resource("v1", "ConfigMap",
                   "data:\n  a: 3 # kpt-set: ${n}\n  b: \"x:3\" # kpt-set: ${i}:${n}\n  c: # kpt-set: ${l}\n  - q\n"),
          config_map({}));
  ASSERT_EQ(made.results.size(), 3U);
  EXPECT_EQ(made.results[0].message, "Name: i, Value: x, Type: str, Count: 1");
  EXPECT_EQ(made.results[1].message, "Name: l, Value: [q], Type: array, Count: 1");
  EXPECT_EQ(made.results[2].message, "Name: n, Value: 3, Type: int, Count: 2");
}

TEST(ApplySetters, asks_for_values_that_cannot_be_derived) {
  const Ran made =
      run("apply-setters", resource("v1", "ConfigMap", "data:\n  a: zz # kpt-set: ${x}-${y}\n"), config_map({{"x", "1"}}));
  EXPECT_EQ(made.text, "error: values for setters [${y}] must be provided");
}

TEST(SearchReplace, makes_a_field_by_an_absolute_path) {
  const Ran made =
      run("search-replace", resource("v1", "ConfigMap", ""), config_map({{"by-path", "data.a.b"}, {"put-value", "1"}}));
  EXPECT_EQ(made.text, resource("v1", "ConfigMap", "data:\n  a:\n    b: 1\n"));
  EXPECT_TRUE(
      run("search-replace", "", config_map({{"by-magic", "x"}})).text.starts_with("error: invalid matcher \"by-magic\""));
}

TEST(ApplyReplacements, picks_items_by_a_field_and_parts_by_a_delimiter) {
  const std::string text =
      resource("v1", "ConfigMap", "data:\n  host: a.b\n") + "---\n" +
      resource("v1", "Pod", "spec:\n  containers:\n  - name: c\n    image: reg/x:1\n  - name: d\n    image: reg/y:1\n");
  const Ran made = run("apply-replacements", text,
                       config_of("apiVersion: fn.kpt.dev/v1alpha1\nkind: ApplyReplacements\nmetadata:\n  name: "
                                 "r\nreplacements:\n- source:\n    kind: ConfigMap\n"
                                 "    fieldPath: data.host\n    options:\n      delimiter: .\n      index: 1\n  targets:\n  - "
                                 "select:\n      kind: Pod\n    fieldPaths:\n"
                                 "    - spec.containers.[name=d].image\n    options:\n      delimiter: /\n      index: 0\n"));
  EXPECT_TRUE(made.text.contains("image: reg/x:1\n")) << made.text;
  EXPECT_TRUE(made.text.contains("image: b/y:1\n")) << made.text;
}

TEST(ApplyReplacements, refuses_sources_that_are_not_one) {
  const auto config = config_of("kind: ApplyReplacements\nreplacements:\n- source:\n    kind: Secret\n  targets: []\n");
  EXPECT_EQ(run("apply-replacements", resource("v1", "ConfigMap", ""), config).text, "error: nothing selected by kind: Secret");
}

TEST(GenConfigmap, fills_templates_with_params) {
  const auto config = config_of(
      "apiVersion: fn.kpt.dev/v1alpha1\nkind: GenConfigMap\nmetadata:\n  name: g\nparams:\n  who: you\ndata:\n- type: "
      "literal\n  key: a\n"
      "  value: b\n- type: gotmpl\n  key: c\n  value: hello {{ .who }}\n");
  Evaluation made = evaluate({}, "gen-configmap", config);
  ASSERT_TRUE(made.files.has_value());
  EXPECT_EQ(made.files->at("configmap_g.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: g\ndata:\n  a: b\n  c: hello you\n");
  auto wrong = config_of("metadata:\n  name: g\ndata:\n- type: gotmpl\n  key: c\n  value: '{{ range }}'\n");
  EXPECT_EQ(evaluate({}, "gen-configmap", wrong).files.error().reason, Reason::NotImplemented);
}

TEST(Kubeval, takes_schemas_from_crds_of_the_package) {
  const std::string crd =
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: as.x.io\nspec:\n  group: x.io\n "
      " names:\n    kind: A\n    plural: as\n"
      "  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      "
      "openAPIV3Schema:\n        type: object\n        properties:\n"
      "          spec:\n            type: object\n            required: [num]\n            properties:\n              num:\n   "
      "    "
      "         type: integer\n---\n";
  const Ran made = run("kubeval", crd + resource("x.io/v1", "A", "spec:\n  num: z\n"), config_map({{"strict", "true"}}));
  ASSERT_EQ(made.results.size(), 1U);
  EXPECT_EQ(made.results[0].message, "Invalid type. Expected: integer, given: string");
  EXPECT_EQ(made.results[0].field_path, "spec.num");
  EXPECT_EQ(run("kubeval", resource("y.io/v1", "B", ""), config_map({})).results.size(), 1U);
  EXPECT_TRUE(run("kubeval", resource("y.io/v1", "B", ""), config_map({{"ignore_missing_schemas", "true"}})).results.empty());
}

TEST(DeleteAnnotations, removes_several_at_once) {
  const Ran made =
      run("delete-annotations", resource("v1", "ConfigMap", "  annotations:\n    a: \"1\"\n    b: \"2\"\n    c: \"3\"\n"),
          config_map({{"annotationKeys", "a, c"}}));
  EXPECT_EQ(made.text, resource("v1", "ConfigMap", "  annotations:\n    b: \"2\"\n"));
}

}  // namespace
}  // namespace slipway::krm
