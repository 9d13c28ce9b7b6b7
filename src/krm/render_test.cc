#include "krm/render.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "krm/command.h"

namespace slipway::krm {
namespace {

std::string kptfile(std::string_view pipeline) {
  return "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\npipeline:\n" + std::string(pipeline);
}

const std::string kMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n";

TEST(Render, changes_what_selectors_take_and_nothing_else) {
  const Files files{
      {"Kptfile",
       kptfile("  mutators:\n  - image: set-labels\n    configMap:\n      a: b\n    selectors:\n    - kind: ConfigMap\n")},
      {"m.yaml", kMap}};
  const RenderOutcome made = render(files);
  ASSERT_TRUE(made.files.has_value()) << made.log;
  EXPECT_EQ(made.files->at("m.yaml"), kMap + "  labels:\n    a: b\n");
  EXPECT_EQ(made.files->at("Kptfile"), files.at("Kptfile"));
}

TEST(Render, goes_through_subpackages_before_what_is_around_them) {
  const std::string sub = "  mutators:\n  - image: set-labels\n    configMap:\n      by: sub\n";
  const Files files{{"Kptfile", kptfile("  mutators:\n  - image: set-labels\n    configMap:\n      by: root\n")},
                    {"a/Kptfile", kptfile(sub)},
                    {"a/b/Kptfile", kptfile(sub)},
                    {"a-b/Kptfile", kptfile(sub)},
                    {"a/b/m.yaml", kMap}};
  const RenderOutcome made = render(files);
  ASSERT_TRUE(made.files.has_value()) << made.log;
  std::vector<std::string> order;
  for (const RenderStep& step : made.steps) order.push_back(step.package);
  EXPECT_EQ(order, (std::vector<std::string>{"a/b", "a", "a-b", ""}));
  EXPECT_EQ(made.files->at("a/b/m.yaml"), kMap + "  labels:\n    by: root\n");
}

TEST(Render, keeps_the_places_of_what_a_function_renames_and_the_kptfile) {
  const Files files{
      {"Kptfile", kptfile("  mutators:\n  - image: ensure-name-substring\n    configMap:\n      prepend: dev-\n")},
      {"m.yaml", kMap}};
  const RenderOutcome made = render(files);
  ASSERT_TRUE(made.files.has_value()) << made.log;
  EXPECT_EQ(*made.files, (Files{{"Kptfile", files.at("Kptfile")},
                                {"m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dev-m\n"}}));
}

TEST(Render, fails_when_it_leaves_no_kptfile_that_can_be_read) {
  const auto with = [](const std::string& put) {
    return Files{{"Kptfile", kptfile("  mutators:\n  - image: search-replace\n    configMap:\n      by-path: " + put +
                                     "\n    "
                                     "selectors:\n    - kind: Kptfile\n")}};
  };
  const RenderOutcome renamed = render(with("kind\n      put-value: ConfigMap"));
  ASSERT_FALSE(renamed.files.has_value());
  EXPECT_TRUE(renamed.files.error().message.starts_with("the pipeline leaves a Kptfile that cannot be read: "))
      << renamed.files.error().message;
}

// Each way a function may be run leaves the same files; the order of members is that which kpt leaves.
TEST(Render, gives_programs_and_built_in_functions_the_same_places_for_what_they_make) {
  const std::string generate =
      "apiVersion: fn.kpt.dev/v1alpha1\nkind: GenConfigMap\nmetadata:\n  name: made\n  annotations:\n    "
      "config.kubernetes.io/local-config: \"true\"\n";
  const auto files = [&](std::string_view by) {
    const auto step = [&](std::string_view name) { return fmt::format("  - {}: {}\n", by, name); };
    return Files{{"Kptfile", kptfile("  mutators:\n" + step("set-namespace") + "    configMap:\n      namespace: shop\n" +
                                     step("set-annotations") + "    configMap:\n      a: b\n")},
                 {"m.yaml", kMap},
                 {"sub/Kptfile", kptfile("  mutators:\n" + step("gen-configmap") + "    configPath: g.yaml\n")},
                 {"sub/g.yaml", generate}};
  };
  const RenderOutcome built_in = render(files("image"));
  Render programs(files("exec"), {.allows_exec = true});
  while (const auto call = programs.advance()) {
    const CommandOutcome made = fn_command(call->program, call->input);
    programs.answer({.exit_code = made.code, .output = made.output, .errors = made.errors});
  }
  const RenderOutcome run = std::move(programs).finish();
  ASSERT_TRUE(built_in.files.has_value()) << built_in.log;
  ASSERT_TRUE(run.files.has_value()) << run.log;
  EXPECT_EQ(run.files->at("m.yaml"), kMap + "  annotations:\n    a: b\n  namespace: shop\n");
  EXPECT_TRUE(run.files->contains("sub/configmap_made.yaml"));
  for (const auto& [path, text] : *run.files) {
    if (!path.ends_with("Kptfile")) EXPECT_EQ(built_in.files->at(path), text) << path;
  }
}

TEST(Render, drops_what_validators_change) {
  const Files files{{"Kptfile", kptfile("  validators:\n  - image: set-labels\n    configMap:\n      a: b\n")},
                    {"m.yaml", kMap}};
  const RenderOutcome made = render(files);
  ASSERT_TRUE(made.files.has_value());
  EXPECT_EQ(*made.files, files);
  EXPECT_TRUE(made.steps.at(0).is_validator);
}

TEST(Render, changes_nothing_when_a_function_fails_and_says_so_in_the_status) {
  const Files files{
      {"Kptfile", kptfile("  mutators:\n  - image: set-labels\n    configMap:\n      a: b\n  - image: set-namespace\n")},
      {"m.yaml", kMap}};
  const RenderOutcome made = render(files, {.writes_status = true});
  ASSERT_FALSE(made.files.has_value());
  EXPECT_EQ(made.unrendered.at("m.yaml"), kMap);
  EXPECT_TRUE(made.unrendered.at("Kptfile").contains("reason: RenderFailed")) << made.unrendered.at("Kptfile");
  EXPECT_EQ(made.steps.size(), 2U);
  EXPECT_EQ(made.steps[1].exit_code, 1);
}

TEST(Render, names_images_that_are_not_built_in) {
  const Files files{{"Kptfile", kptfile("  mutators:\n  - image: reg/starlark:v0.5\n")}, {"m.yaml", kMap}};
  const RenderOutcome made = render(files);
  ASSERT_FALSE(made.files.has_value());
  EXPECT_EQ(made.files.error().reason, Reason::NotImplemented);
  EXPECT_TRUE(made.files.error().message.contains("reg/starlark:v0.5")) << made.files.error().message;
  EXPECT_TRUE(made.files.error().message.contains("cue-mutate"));
}

TEST(Render, refuses_programs_unless_they_are_allowed) {
  const Files files{{"Kptfile", kptfile("  mutators:\n  - exec: ./fn.sh\n")}, {"m.yaml", kMap}};
  EXPECT_EQ(render(files).files.error().reason, Reason::Forbidden);
  Render running(files, {.allows_exec = true});
  auto call = running.advance();
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->program, "./fn.sh");
  std::string output = call->input;
  output.replace(output.find("name: m\n"), 8, "name: n\n");
  running.answer({.exit_code = 0, .output = output, .errors = ""});
  EXPECT_FALSE(running.advance().has_value());
  const RenderOutcome made = std::move(running).finish();
  ASSERT_TRUE(made.files.has_value()) << made.log;
  EXPECT_EQ(made.files->at("m.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: n\n");
}

TEST(Render, puts_comments_back_that_a_program_dropped) {
  const Files files{{"Kptfile", kptfile("  mutators:\n  - exec: x\n")},
                    {"m.yaml", "# head\napiVersion: v1\nkind: ConfigMap # c\nmetadata:\n  name: m\n"}};
  Render running(files, {.allows_exec = true});
  auto call = running.advance();
  ASSERT_TRUE(call.has_value());
  auto list = read_resource_list(call->input);
  ASSERT_TRUE(list.has_value());
  ASSERT_TRUE((*find_function("drop-comments"))(*list).has_value());
  running.answer({.exit_code = 0, .output = write_resource_list(*list), .errors = ""});
  EXPECT_FALSE(running.advance().has_value());
  EXPECT_EQ(*std::move(running).finish().files, files);
}

TEST(Render, lets_an_administrator_map_an_image_to_a_program) {
  const Files files{{"Kptfile", kptfile("  mutators:\n  - image: reg/mine:v1\n")}, {"m.yaml", kMap}};
  const auto mine = [](const std::string& image) {
    return image == "reg/mine:v1" ? std::optional<std::string>("/opt/mine") : std::nullopt;
  };
  Render running(files, {.program_for = mine});
  auto call = running.advance();
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->program, "/opt/mine");
  running.answer({.exit_code = 3, .output = "", .errors = "no luck"});
  EXPECT_FALSE(running.advance().has_value());
  const RenderOutcome made = std::move(running).finish();
  EXPECT_EQ(made.steps.at(0).exit_code, 3);
  EXPECT_TRUE(made.files.error().message.contains("no luck"));
}

TEST(Render, judges_with_cel_and_cue) {
  const std::string deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  replicas: 1 # few\n";
  const Files cel{
      {"Kptfile",
       kptfile("  validators:\n  - image: cel-validate\n    configMap:\n      replicas: object.spec.replicas >= 2\n")},
      {"d.yaml", deployment}};
  const RenderOutcome refused = render(cel);
  EXPECT_FALSE(refused.files.has_value());
  ASSERT_EQ(refused.steps.at(0).results.size(), 1U);
  EXPECT_EQ(refused.steps[0].results[0].message, "failed rule: object.spec.replicas >= 2");
  EXPECT_EQ(refused.steps[0].results[0].file_path, "d.yaml");
  const Files cue{
      {"Kptfile",
       kptfile(
           "  mutators:\n  - image: cue-mutate\n    configMap:\n      source: |\n        object: {\n          kind: string\n   "
           "       metadata: labels: team: \"x\"\n          ...\n        }\n"
           "  validators:\n  - image: cue-validate\n    configMap:\n      source: |\n        object: spec: replicas: >=1\n")},
      {"d.yaml", deployment}};
  const RenderOutcome mutated = render(cue);
  ASSERT_TRUE(mutated.files.has_value()) << mutated.log;
  EXPECT_EQ(
      mutated.files->at("d.yaml"),
      "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  labels:\n    team: x\nspec:\n  replicas: 1 # few\n");
}

TEST(Wire, carries_paths_and_results_both_ways) {
  ResourceList list;
  Resource resource;
  auto tree = read_one_yaml(kMap);
  ASSERT_TRUE(tree.has_value());
  resource.tree = *tree;
  resource.path = "a/m.yaml";
  resource.index = 2;
  list.items.push_back(resource);
  list.results.push_back(FunctionResult::warning("hm").at(resource).field("data.x"));
  auto again = read_resource_list(write_resource_list(list));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->items.at(0).path, "a/m.yaml");
  EXPECT_EQ(again->items[0].index, 2U);
  EXPECT_EQ(write_yaml(again->items[0].tree), kMap);
  EXPECT_EQ(result_value(again->results.at(0)), result_value(list.results[0]));
}

TEST(Wire, takes_old_spellings_and_refuses_other_kinds) {
  auto old = read_resource_list(
      "apiVersion: config.kubernetes.io/v1beta1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: A\n  metadata:\n    "
      "name: a\n    annotations:\n"
      "      config.kubernetes.io/path: x.yaml\nresults:\n  items:\n  - message: m\n    field:\n      suggestedValue: 3\n");
  ASSERT_TRUE(old.has_value()) << old.error().message;
  EXPECT_EQ(old->items.at(0).path, "x.yaml");
  EXPECT_EQ(old->results.at(0).proposed_value, json::Value(3));
  EXPECT_EQ(read_resource_list("kind: List\n").error().reason, Reason::BadRequest);
}

TEST(Render, prints_how_long_a_program_took_and_results_without_severity_as_information) {
  const Files files{{"Kptfile", kptfile("  mutators:\n  - exec: slow\n")}};
  Render running(files, {.allows_exec = true});
  const auto call = running.advance();
  ASSERT_TRUE(call.has_value());
  const std::string list = call->input + "results:\n- message: hello\n";
  running.answer({.exit_code = 0, .output = list, .errors = "", .took = std::chrono::milliseconds{1250}});
  EXPECT_FALSE(running.advance().has_value());
  const std::string log = std::move(running).finish().log;
  EXPECT_TRUE(log.contains("[PASS] \"slow\" in 1.2s\n")) << log;
  EXPECT_TRUE(log.contains("[info]: hello\n")) << log;
}

// As `kpt fn render` leaves them.
TEST(Render, reads_and_writes_json_files_as_resources) {
  const Files files{
      {"Kptfile",
       kptfile("  mutators:\n  - image: set-labels\n    configMap:\n      a: b\n    exclude:\n    - kind: Kptfile\n")},
      {"m.json",
       R"({"kind":"ConfigMap", "apiVersion":"v1","metadata":{"name":"m"}, "data":{"z":"<1>","b":"é"}, "list":[1,2.50,{}]})"},
      {"two.json",
       "{\"kind\": \"A\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"one\"}}\n---\n"
       "{\"kind\": \"B\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"two\"}}\n"}};
  const RenderOutcome made = render(files);
  ASSERT_TRUE(made.files.has_value()) << made.log;
  EXPECT_EQ(made.files->at("m.json"),
            "{\n  \"apiVersion\": \"v1\",\n  \"data\": {\n    \"b\": \"é\",\n    \"z\": \"\\u003c1\\u003e\"\n  },\n  \"kind\": "
            "\"ConfigMap\",\n  \"list\": [\n    1,\n    2.5,\n    {}\n  ],\n  \"metadata\": {\n    \"labels\": {\n      \"a\": "
            "\"b\"\n    },\n    \"name\": \"m\"\n  }\n}\n");
  EXPECT_EQ(made.files->at("two.json"),
            "{\"kind\": \"A\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"one\", labels: {a: b}}}\n---\n"
            "{\"kind\": \"B\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"two\", labels: {a: b}}}\n");
}

}  // namespace
}  // namespace slipway::krm
