// docs/pipeline-history.md and examples/tekton say what works: the script signs as the server checks, the manifests are
// accepted by a server with Tekton's kinds, and refer to what is there.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/pipeline/hooks.h"
#include "delivery/pipeline/own_kinds.h"
#include "log_fixture.h"

namespace slipway::pipeline_log_test {
namespace {

namespace fs = std::filesystem;
using namespace delivery::pipeline;  // NOLINT: the room under test

std::string file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(std::string(SLIPWAY_SOURCE_DIR) + "/" + path).rdbuf();
  return text.str();
}

std::vector<Object> documents(const std::string& path) {
  std::vector<Object> objects;
  const auto all = json::parse_yaml_all(file(path));
  EXPECT_TRUE(all) << path << (all ? "" : all.error().message);
  if (all) {
    for (const json::YamlDocument& document : *all) objects.push_back(document.value);
  }
  EXPECT_FALSE(objects.empty()) << path;
  return objects;
}

TEST(HistoryPage, has_the_script_as_it_is) {
  const std::string script = file("examples/tekton/announce.sh");
  EXPECT_NE(file("docs/pipeline-history.md").find("```sh\n" + script + "```\n"), std::string::npos);
}

/// Runs the script with programs of ours in place of those that it calls.
class AnnounceTest : public LogTest {
 protected:
  static bool has(const char* program) {
    return std::system(fmt::format("command -v {} > /dev/null 2>&1", program).c_str()) == 0;  // NOLINT: a test's own shell
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  /// What the script calls: a date that is the virtual one, a sleep that does not, and a curl that writes down each call in a
  /// folder of its own and answers with the next of `codes`.
  void prepare(const std::string& codes) {
    fs::create_directories(folder_);
    write("key", "a key with blanks");
    write("codes", codes);
    write("date", fmt::format("#!/bin/sh\necho {}\n", now().time_since_epoch() / std::chrono::seconds{1}));
    write("sleep", "#!/bin/sh\n");
    write("curl",
          fmt::format("#!/bin/sh\ncall=1; while [ -e {0}/$call ]; do call=$((call + 1)); done; mkdir {0}/$call\n"
                      "while [ $# -gt 0 ]; do case \"$1\" in -H) echo \"$2\" >> {0}/$call/headers; shift;; --data-binary) "
                      "printf %s \"$2\" > {0}/$call/body; shift;; http*) printf %s \"$1\" > {0}/$call/url;; esac; shift; "
                      "done\nprintf 'answer %s\\n%s' $call $(cut -d ' ' -f $call {0}/codes)\n",
                      folder_.string()));
  }
  int announce() {
    const std::string command = fmt::format(
        "cd {0} && PATH={0}:$PATH SLIPWAY_URL=http://here NAMESPACE=apps PIPELINE=podinfo KEY_FILE={0}/key VERSION=6.2.0 "
        "COMMIT=c0ffee AUTHOR=ann CREATED=2025-12-31T23:00:00Z IMAGE=web:6.2.0 sh {1}/examples/tekton/announce.sh > {0}/out "
        "2>&1",
        folder_.string(), SLIPWAY_SOURCE_DIR);
    return std::system(command.c_str());  // NOLINT: a test's own shell
  }
  /// The call of that number, from 1; without a target when there was none.
  http::Request sent(int number) const {
    const auto read = [&](const char* name) {
      std::ostringstream text;
      text << std::ifstream(folder_ / std::to_string(number) / name).rdbuf();
      return text.str();
    };
    const std::string url = read("url"), host = "http://here";
    http::Request request{
        .method = "POST", .target = url.empty() ? "" : url.substr(host.size()), .headers = {}, .body = read("body")};
    std::istringstream headers(read("headers"));
    for (std::string line; std::getline(headers, line);) {
      request.headers.add(line.substr(0, line.find(':')), line.substr(line.find(':') + 2));
    }
    return request;
  }
  int answered(std::shared_ptr<HookMemory> memory, http::Request request) {
    for (const client::HttpPath& path : hook_paths(memory)) {
      if (!path.covers(request.target)) continue;
      const auto answer = run(path.run({env(), server()}, request, nullptr));
      return answer ? static_cast<int>(answer->status) : http_code(answer.error().reason);
    }
    return 404;
  }
  void TearDown() override {
    fs::remove_all(folder_);
    LogTest::TearDown();
  }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("slipway-announce-{}", ::getpid());
};

TEST_F(AnnounceTest, the_script_signs_what_the_server_takes_and_each_try_anew) {
  if (!has("sh") || !has("openssl")) GTEST_SKIP() << "no sh or no openssl";
  make_pipeline();
  create({"", "v1", "secrets"}, fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: hooks, namespace: apps}}, data: "
                                            "{{hmac-key: {}}}}}",
                                            base64_encode("a key with blanks")));
  prepare("503 201");
  ASSERT_EQ(announce(), 0);
  const http::Request first = sent(1), second = sent(2);
  ASSERT_FALSE(second.target.empty());
  EXPECT_EQ(first.body, second.body);
  for (const char* name : {"X-Slipway-Nonce", "X-Signature"}) EXPECT_NE(first.headers.get(name), second.headers.get(name));
  const auto memory = std::make_shared<HookMemory>();
  EXPECT_EQ(answered(memory, first), 201);
  EXPECT_EQ(answered(memory, second), 200) << "what took effect, but for its answer, is no fault";
  EXPECT_EQ(answered(memory, second), 401);
  const auto spec = json::decode<ReleaseSpec>(list(kReleases).at(0)["spec"]);
  ASSERT_TRUE(spec);
  EXPECT_EQ(list(kReleases).size(), 1U);
  EXPECT_EQ(spec->version, "6.2.0");
  EXPECT_EQ(spec->author, "ann");
  EXPECT_EQ(spec->artifact_created, *parse_rfc3339("2025-12-31T23:00:00Z"));
}

TEST_F(AnnounceTest, the_script_fails_where_it_is_refused_or_nobody_answers) {
  if (!has("sh") || !has("openssl")) GTEST_SKIP() << "no sh or no openssl";
  for (const auto& [codes, tries] : {std::pair{"422 201", 1}, {"000 500 429 408 201", 4}}) {
    fs::remove_all(folder_);
    prepare(codes);
    EXPECT_NE(announce(), 0) << codes;
    EXPECT_FALSE(sent(tries).target.empty()) << codes;
    EXPECT_TRUE(sent(tries + 1).target.empty()) << codes;
  }
}

constexpr const char* kTekton = "tekton.dev";

std::set<std::string> names(const Value& list) {
  std::set<std::string> found;
  for (const Value& one : list.items()) found.insert(one["name"].str());
  return found;
}

/// What "$(params.x)" and "$(workspaces.y.path)" in a text name.
std::set<std::string> named_in(const std::string& text, const std::string& what) {
  std::set<std::string> found;
  const std::string begin = "$(" + what + ".";
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const auto from = at + begin.size();
    found.insert(text.substr(from, text.find_first_of(".)", from) - from));
  }
  return found;
}

bool contains_all(const std::set<std::string>& all, const std::set<std::string>& some) {
  return std::ranges::includes(all, some);
}

TEST_F(LogTest, manifests_of_tekton_are_accepted_by_a_server_with_its_kinds) {
  for (const char* kind : {"Task", "Pipeline", "PipelineRun"}) {
    create(kube::Resource{"apiextensions.k8s.io", "v1", "customresourcedefinitions"}, fmt::format(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {1}s.tekton.dev}}
spec:
  group: tekton.dev
  scope: Namespaced
  names: {{kind: {0}, plural: {1}s, singular: {1}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
)",
                                                                                                  kind, lower(kind)));
  }
  create({"", "v1", "namespaces"}, "{apiVersion: v1, kind: Namespace, metadata: {name: apps}}");
  advance(std::chrono::seconds{1});
  for (const char* path : {"examples/tekton/tasks.yaml", "examples/tekton/pipeline.yaml", "examples/tekton/delivery.yaml"}) {
    for (const Object& object : documents(path)) {
      const auto kind = kube::GroupVersionKind::of(object);
      ASSERT_TRUE(kind);
      const kube::Resource resource{kind->group, kind->version, lower(kind->kind) + "s"};
      const Object placed = object.with_path({"metadata", "namespace"}, "apps");
      const auto made = run(client::create(server(), resource, placed, "tester"));
      EXPECT_TRUE(made) << path << " " << kube::name(object) << ": " << (made ? "" : made.error().message);
      const auto strict = made ? run(client::get(server(), resource, {"apps", std::string(kube::name(object))})) : made;
      if (strict) EXPECT_EQ((*strict)["spec"]["tasks"], object["spec"]["tasks"]);
    }
  }
}

TEST(TektonExample, tasks_use_what_they_declare) {
  for (const Object& task : documents("examples/tekton/tasks.yaml")) {
    const std::string name(kube::name(task));
    EXPECT_EQ(kube::GroupVersionKind::of(task)->group, kTekton);
    const Value& spec = task["spec"];
    const std::string steps = json::print(spec["steps"]);
    EXPECT_EQ(named_in(steps, "params"), names(spec["params"])) << name;
    EXPECT_EQ(named_in(steps, "workspaces"), names(spec["workspaces"])) << name;
    EXPECT_EQ(named_in(steps, "results"), names(spec["results"])) << name;
    for (const Value& step : spec["steps"].items()) {
      EXPECT_TRUE(step["script"].as_string().starts_with("#!/bin/sh\n")) << name;
      EXPECT_EQ(named_in(step["script"].str(), "params").size(), 0U)
          << name << ": values of others do not belong into a script";
    }
    if (name == "announce") EXPECT_EQ(spec["steps"].item(0)["script"].str(), file("examples/tekton/announce.sh"));
  }
}

TEST(TektonExample, the_pipeline_lints_tests_scans_builds_publishes_and_announces) {
  std::map<std::string, Object> tasks;
  for (const Object& task : documents("examples/tekton/tasks.yaml")) tasks[std::string(kube::name(task))] = task;
  const std::vector<Object> objects = documents("examples/tekton/pipeline.yaml");
  ASSERT_EQ(objects.size(), 2U);
  const Value& spec = objects[0]["spec"];
  EXPECT_EQ(names(spec["tasks"]), (std::set<std::string>{"announce", "build", "checkout", "lint", "publish", "scan", "test"}));
  EXPECT_EQ(named_in(json::print(spec["tasks"]), "params"), names(spec["params"]));
  for (const Value& one : spec["tasks"].items()) {
    const std::string name = one["name"].str();
    ASSERT_TRUE(tasks.contains(one["taskRef"]["name"].str())) << name;
    const Value& task = tasks[one["taskRef"]["name"].str()]["spec"];
    EXPECT_TRUE(contains_all(names(task["params"]), names(one["params"]))) << name;
    for (const Value& parameter : task["params"].items()) {
      EXPECT_TRUE(parameter.has("default") || names(one["params"]).contains(parameter["name"].str())) << name;
    }
    EXPECT_EQ(names(one["workspaces"]), names(task["workspaces"])) << name;
    for (const Value& before : one["runAfter"].items()) EXPECT_TRUE(names(spec["tasks"]).contains(before.str())) << name;
    for (const std::string& source : named_in(json::print(one), "tasks")) EXPECT_TRUE(names(spec["tasks"]).contains(source));
  }
  EXPECT_EQ(names(objects[1]["spec"]["params"]), names(spec["params"]));
  EXPECT_EQ(names(objects[1]["spec"]["workspaces"]), names(spec["workspaces"]));
}

}  // namespace
}  // namespace slipway::pipeline_log_test
