// Bad input: a clear message, exit code 2, and nothing changed.
#include "program.h"

namespace slipway::cli {
namespace {

using BadInput = CommandLine;

std::string simulated(const std::string& steps) {
  return "apiVersion: batch.slipway.dev/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  steps:\n" + steps;
}

const std::string kTemplate =
    "jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: none}]}}}}";

struct Case {
  const char* name;
  std::string text;
  std::vector<const char*> says;
};

std::vector<Case> cases() {
  const std::string step = "{" + kTemplate + "}";
  return {
      {"a_cycle_is_named",
       simulated("    a: {dependencies: [c], " + kTemplate + "}\n    b: {dependencies: [a], " + kTemplate +
                 "}\n    c: {dependencies: [b], " + kTemplate + "}\n"),
       {"cycle", "w.yaml:1"}},
      {"an_unknown_dependency_has_a_suggestion",
       simulated("    build: " + step + "\n    test: {dependencies: [biuld], " + kTemplate + "}\n"),
       {"spec.steps[test].dependencies", "biuld", "build"}},
      {"own_dependency", simulated("    a: {dependencies: [a], " + kTemplate + "}\n"), {"spec.steps[a].dependencies"}},
      {"neither_template_nor_reference", simulated("    a: {dependencies: []}\n"), {"spec.steps[a]"}},
      {"both_template_and_reference",
       simulated("    a: {externalRef: {apiVersion: batch/v1, kind: Job, name: x}, " + kTemplate + "}\n"),
       {"spec.steps[a]"}},
      {"a_map_where_a_list_belongs",
       simulated("    a: {dependencies: {dependencyIDs: [b]}, " + kTemplate + "}\n    b: " + step + "\n"),
       {".spec.steps.a.dependencies: expected list, got map", "w.yaml:6"}},
      {"an_unknown_field", simulated("    a: {dependecies: [], " + kTemplate + "}\n"), {"dependecies"}},
      {"a_number_out_of_range", simulated("    a: {timeoutSeconds: -5, " + kTemplate + "}\n"), {"timeoutSeconds"}},
      {"malformed_yaml_has_line_and_column", "a: [1, 2\nb: }\n", {"w.yaml", "line 2", "column"}},
      {"malformed_json_has_line_and_column", "{\"a\": 1,\n \"b\" 2}\n", {"w.yaml", "line 2", "column"}},
      {"duplicate_keys", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}\n", {"name", "line 3"}},
      {"deep_nesting", std::string(10'000, '[') + std::string(10'000, ']'), {"deep"}},
      {"no_kind", "apiVersion: v1\nmetadata: {name: x}\n", {"kind is missing", "w.yaml:1"}},
      {"an_unknown_kind", "apiVersion: v1\nkind: Frob\nmetadata: {name: x}\n", {"Frob"}},
      {"no_objects", "# nothing\n", {"no objects"}},
  };
}

TEST_F(BadInput, is_told_clearly_and_changes_nothing) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const Ended ended = slipway({"run", "-f", write("w.yaml", one.text), "--data-dir", data_dir()});
    EXPECT_EQ(ended.code, 2) << ended.out << ended.err;
    for (const char* text : one.says)
      EXPECT_NE(ended.err.find(text), std::string::npos) << "missing \"" << text << "\" in:\n" << ended.err;
    const Ended listed = slipway({"get", "workflows", "--data-dir", data_dir()});
    EXPECT_NE(listed.err.find("No resources found"), std::string::npos) << listed.out << listed.err;
  }
}

TEST_F(BadInput, one_bad_object_keeps_the_good_ones_out) {
  const std::string good = simulated("    a: {" + kTemplate + "}\n");
  const std::string bad = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {completions: -1}\n";
  EXPECT_EQ(slipway({"run", "-f", write("w.yaml", good + "---\n" + bad), "--data-dir", data_dir()}).code, 2);
  EXPECT_EQ(slipway({"get", "workflow/w", "--data-dir", data_dir()}).code, 2);
}

TEST_F(BadInput, one_bad_object_keeps_a_new_namespace_out) {
  const std::string ns = "apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n---\n";
  const std::string bad = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {completions: -1}\n";
  EXPECT_EQ(slipway({"run", "-f", write("w.yaml", ns + bad), "--data-dir", data_dir()}).code, 2);
  EXPECT_EQ(slipway({"get", "namespace/fresh", "--data-dir", data_dir()}).code, 2);
}

TEST_F(BadInput, thirty_chained_diamonds_are_checked_at_once) {
  std::string steps = "    s0: {" + kTemplate + "}\n";
  for (int i = 0; i < 30; ++i) {
    const std::string from = "s" + std::to_string(i);
    for (const char* side : {"l", "r"})
      steps += "    " + std::string(side) + std::to_string(i) + ": {dependencies: [" + from + "], " + kTemplate + "}\n";
    steps += "    s" + std::to_string(i + 1) + ": {dependencies: [l" + std::to_string(i) + ", r" + std::to_string(i) + "], " +
             kTemplate + "}\n";
  }
  const Ended ended = slipway({"run", "-f", write("w.yaml", simulated(steps)), "--data-dir", data_dir()});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(BadInput, a_large_body_is_refused) {
  const std::string big =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n  x: " + std::string(10'000'000, 'x') + "\n";
  const Ended ended = slipway({"run", "-f", write("w.yaml", big), "--data-dir", data_dir()});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("large"), std::string::npos) << ended.err;
}

TEST_F(BadInput, a_foreign_database_is_left_alone) {
  std::filesystem::create_directories(data_dir());
  ASSERT_EQ(std::system(("sqlite3 " + data_dir() + "/cluster.db 'create table t(x); insert into t values(1)'").c_str()), 0);
  const std::string before = read_file(data_dir() + "/cluster.db");
  const Ended ended =
      slipway({"run", "-f", write("w.yaml", simulated("    a: {" + kTemplate + "}\n")), "--data-dir", data_dir()});
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("not a Slipway database"), std::string::npos) << ended.err;
  EXPECT_EQ(read_file(data_dir() + "/cluster.db"), before);
}

TEST_F(BadInput, a_newer_database_is_left_alone) {
  ASSERT_EQ(slipway({"run", "-f", write("w.yaml", simulated("    a: {" + kTemplate + "}\n")), "--data-dir", data_dir()}).code,
            0);
  ASSERT_EQ(std::system(("sqlite3 " + data_dir() + "/cluster.db 'pragma user_version=99'").c_str()), 0);
  const Ended ended = slipway({"get", "workflows", "--data-dir", data_dir()});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("newer"), std::string::npos) << ended.err;
}

TEST_F(BadInput, a_broken_database_says_so) {
  std::filesystem::create_directories(data_dir());
  std::ofstream(data_dir() + "/cluster.db") << std::string(8192, '\x5a');
  const Ended ended =
      slipway({"run", "-f", write("w.yaml", simulated("    a: {" + kTemplate + "}\n")), "--data-dir", data_dir()});
  EXPECT_NE(ended.code, 0);
  EXPECT_NE(ended.err.find("cluster.db"), std::string::npos) << ended.err;
}

/// Under the name of a plugin of kubectl the program has fewer commands.
TEST_F(BadInput, a_missing_or_unknown_command_lists_those_that_there_are) {
  const Ended alone = slipway({});
  EXPECT_EQ(alone.code, 2);
  EXPECT_TRUE(alone.err.starts_with("slipway needs one of these commands (each has --help):\n")) << alone.err;
  EXPECT_NE(alone.err.find("\n  describe "), std::string::npos) << alone.err;
  const Ended unknown = slipway({"frob"});
  EXPECT_TRUE(unknown.err.starts_with("slipway has no command frob; it has these")) << unknown.err;
  const Ended inner = slipway({"rollout", "frob"});
  EXPECT_TRUE(inner.err.starts_with("slipway rollout has no command frob; it has these")) << inner.err;
  EXPECT_NE(inner.err.find("\n  approve "), std::string::npos) << inner.err;

  const char* binary = std::getenv("SLIPWAY_BINARY");
  const std::string real = binary != nullptr ? binary : SLIPWAY_BINARY_DIR "/slipway";
  const std::filesystem::path link = folder_ / "kubectl-slipway";
  std::filesystem::create_symlink(std::filesystem::absolute(real), link);
  setenv("SLIPWAY_BINARY", link.c_str(), 1);
  const Ended plugin = slipway({});
  const Ended pipeline = slipway({"pipeline", "list"});
  setenv("SLIPWAY_BINARY", real.c_str(), 1);
  EXPECT_EQ(plugin.code, 2);
  EXPECT_TRUE(plugin.err.starts_with("kubectl slipway needs one of these commands")) << plugin.err;
  EXPECT_EQ(pipeline.code, 2);
  EXPECT_TRUE(
      pipeline.err.starts_with("kubectl slipway has no command pipeline (use: slipway pipeline); "
                               "it has these"))
      << pipeline.err;
}

TEST_F(BadInput, wrong_arguments_exit_with_2) {
  EXPECT_EQ(slipway({"frob"}).code, 2);
  EXPECT_EQ(slipway({"run"}).code, 2);
  EXPECT_EQ(slipway({"run", "-f", "absent.yaml"}).code, 2);
  EXPECT_EQ(slipway({"run", "-f", "x", "--pod-runtime", "docker"}).code, 2);
  EXPECT_EQ(slipway({"get", "workflows", "--data-dir", (folder_ / "nowhere").string()}).code, 2);
  EXPECT_EQ(slipway({"version"}).code, 0);
}

}  // namespace
}  // namespace slipway::cli
