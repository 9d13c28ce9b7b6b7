// Packages in folders: made, rendered by built-in functions and by programs, judged by their gates, upgraded.
#include <regex>

#include "program.h"

namespace slipway::cli {
namespace {

class Packages : public CommandLine {
 protected:
  std::string put(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string text(const std::string& name) const { return read_file(folder_ / name); }
};

const std::string kMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  k: v # kept\n";

TEST_F(Packages, is_not_ready_until_its_gates_are_met) {
  EXPECT_EQ(slipway({"pkg", "init", "p"}).code, 2) << "there is no such folder";
  put("p/m.yaml", kMap);
  EXPECT_EQ(slipway({"pkg", "init", "p", "--description", "a shop"}).code, 0);
  EXPECT_EQ(slipway({"pkg", "ready", "p"}).out, "ready\n");
  EXPECT_EQ(slipway({"pkg", "gate", "add", "p", "ipam"}).code, 0);
  const Ended waits = slipway({"pkg", "ready", "p"});
  EXPECT_EQ(waits.code, 1);
  EXPECT_EQ(waits.out, "p: not ready\n  ipam: no condition yet\n");
  EXPECT_EQ(slipway({"pkg", "condition", "set", "p", "ipam=True"}).code, 0);
  EXPECT_EQ(slipway({"pkg", "ready", "p"}).code, 0);
}

TEST_F(Packages, render_the_same_in_process_and_through_programs) {
  const auto kptfile = [](const std::string& function) {
    return "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\npipeline:\n  mutators:\n    - " + function +
           "\n      configMap:\n        team: x\n      exclude:\n        - kind: Kptfile\n";
  };
  const char* binary = std::getenv("SLIPWAY_BINARY");
  const std::string program = std::string(binary != nullptr ? binary : SLIPWAY_BINARY_DIR "/slipway") + " fn set-labels";
  put("a/Kptfile", kptfile("image: set-labels:v1"));
  put("a/m.yaml", kMap);
  put("b/Kptfile", kptfile("exec: " + program));
  put("b/m.yaml", kMap);
  EXPECT_EQ(slipway({"pkg", "render", "a"}).code, 0);
  EXPECT_EQ(slipway({"pkg", "render", "b"}).code, 1) << "programs are not run unasked";
  EXPECT_EQ(text("b/m.yaml"), kMap);
  const Ended rendered = slipway({"pkg", "render", "b", "--allow-exec"});
  EXPECT_EQ(rendered.code, 0) << rendered.err;
  EXPECT_EQ(text("a/m.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n  labels:\n    team: x\ndata:\n  k: v # kept\n");
  EXPECT_EQ(text("b/m.yaml"), text("a/m.yaml"));
}

TEST_F(Packages, upgrade_brings_upstreams_change_and_tells_conflicts) {
  put("old/m.yaml", kMap);
  put("new/m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  k: w # kept\n");
  put("p/m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  k: mine # kept\n");
  const Ended upgraded = slipway({"pkg", "upgrade", "p", "--from", "old", "--to", "new"});
  EXPECT_EQ(upgraded.code, 0) << upgraded.err;
  EXPECT_EQ(upgraded.out,
            "conflict: m.yaml ConfigMap m data.k: v → upstream w, local mine; upstream taken\nupgraded, 1 conflict(s)\n");
  EXPECT_NE(text("p/m.yaml").find("k: w # kept"), std::string::npos);
  EXPECT_EQ(slipway({"pkg", "upgrade", "p", "--from", "old", "--to", "new", "--strategy", "magic"}).code, 1);
}

TEST_F(Packages, a_function_that_is_not_built_in_says_so) {
  const Ended ended = slipway({"fn", "starlark"}, "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n");
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("\"starlark\" is not built in"), std::string::npos) << ended.err;
}

/// `pkg why NAME` and `why packagerevision/NAME` are one: policies are in both.
TEST_F(Packages, why_of_a_revision_says_the_same_by_either_name) {
  const std::string git = (folder_ / "edge.git").string();
  ASSERT_EQ(std::system(("git init -q --bare -b main " + git + " && cd " + git +
                         " && git update-ref refs/heads/main $(git -c user.name=a -c user.email=a@b commit-tree -m m $(git "
                         "mktree < /dev/null))")
                            .c_str()),
            0);
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--data-dir", data_dir()});
    const Ended ended = slipway(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  ask({"repo", "register", git, "--name", "edge"});
  ask({"pkg", "init", "web", "--repository", "edge", "--workspace", "v1"});
  ask({"pkg", "propose", "edge.web.v1"});
  put("policy.yaml",
      "apiVersion: packages.slipway.dev/v1alpha1\nkind: ApprovalPolicy\nmetadata: {name: two, namespace: default}\nspec: "
      "{approve: people, people: {count: 2}}\n");
  ask({"apply", "-f", "policy.yaml"});
  const std::string told = ask({"pkg", "why", "edge.web.v1"});
  EXPECT_TRUE(told.contains("an ApprovalPolicy (PolicyWaits): two: 0 of 2 approvals")) << told;
  const auto without_ages = [](const std::string& text) { return std::regex_replace(text, std::regex(R"( \[\d+s\])"), ""); };
  EXPECT_EQ(without_ages(ask({"why", "packagerevision/edge.web.v1"})), without_ages(told));
}

/// A bare repository with one commit, whose tree has what `git mktree` is given for it; BLOB and TREE stand for a file and for
/// a folder with that file.
bool make_repository(const std::filesystem::path& folder, const std::string& entries) {
  const std::string script = "cd " + folder.string() +
                             " && rm -rf odd.git && git init -q --bare odd.git && cd odd.git && git symbolic-ref HEAD "
                             "refs/heads/main && blob=$(echo bad | git hash-object -w --stdin) && tree=$(printf \"100644 blob "
                             "$blob\\tbad\\n\" | git mktree) && root=$(printf '" +
                             entries +
                             "' | sed \"s/BLOB/$blob/;s/TREE/$tree/\" | git mktree) && git update-ref refs/heads/main $(git -c "
                             "user.name=a -c user.email=a@b commit-tree -m m $root)";
  return std::system(script.c_str()) == 0;
}

TEST_F(Packages, get_writes_nothing_outside_of_its_folder) {
  const std::pair<const char*, const char*> rows[] = {
      {"100644 blob BLOB\\tbad\\n040000 tree TREE\\t..\\n", "../bad"},
      {"100644 blob BLOB\\tbad\\n040000 tree TREE\\t.git\\n", ".git/bad"},
      {"100644 blob BLOB\\tbad\\n040000 tree TREE\\t.GIT\\n", ".GIT/bad"},
      {"100644 blob BLOB\\tbad\\n040000 tree TREE\\t.\\n", "./bad"},
  };
  for (const auto& [entries, path] : rows) {
    ASSERT_TRUE(make_repository(folder_, entries)) << path;
    const Ended ended = slipway({"pkg", "get", "file://" + (folder_ / "odd.git").string(), "in/p"});
    EXPECT_EQ(ended.code, 2) << path;
    EXPECT_EQ(ended.err, "error: " + std::string(path) + " is no path of a file in a package\n");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "in")) << path;
  }
  ASSERT_TRUE(make_repository(folder_, "100644 blob BLOB\\tgood\\n"));
  EXPECT_EQ(slipway({"pkg", "get", "file://" + (folder_ / "odd.git").string(), "in/p"}).code, 0);
  EXPECT_EQ(text("in/p/good"), "bad\n");
}

TEST_F(Packages, get_makes_links_within_the_package_and_nothing_where_one_leads_out) {
  const std::string git = (folder_ / "links.git").string();
  const auto commit_link = [&](const std::string& target) {
    const std::string script = "rm -rf " + git + " && git init -q -b main " + git + " && cd " + git +
                               " && mkdir -p p/sub && echo x > p/a.txt && ln -s " + target +
                               " p/sub/link && git add -A && git -c user.name=a -c user.email=a@b commit -qm m";
    return std::system(script.c_str());
  };
  const std::vector<std::string> words{"pkg", "get", "file://" + git + "/p@main", "in/p"};
  for (const char* target : {"../../other", "/etc/passwd", "../sub/../../x", "../../p/a.txt"}) {
    ASSERT_EQ(commit_link(target), 0);
    const Ended ended = slipway(words);
    EXPECT_EQ(ended.code, 2) << target;
    EXPECT_EQ(ended.err, "error: sub/link is a link out of the package, to \"" + std::string(target) + "\"\n");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "in")) << target;
  }
  ASSERT_EQ(commit_link("../a.txt"), 0);
  const Ended ended = slipway(words);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(text("in/p/sub/link"), "x\n");
}

// Blanks part words but within double quotes; what follows a '#' is for people.
std::vector<std::string> words_in(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool is_quoted = false;
  for (const char c : line.substr(0, line.find(" #")) + " ") {
    if (c == '"') is_quoted = !is_quoted;
    if (c != '"' && (c != ' ' || is_quoted)) word += c;
    if (c == ' ' && !is_quoted && !word.empty()) words.push_back(std::exchange(word, ""));
  }
  return words;
}

TEST_F(Packages, the_pages_lines_for_folders_run_as_they_stand) {
  const std::string page = read_file(std::string(SLIPWAY_SOURCE_DIR) + "/docs/package.md");
  for (const char* folder : {"web", "web-before", "upstream-1", "upstream-2"}) put(std::string(folder) + "/m.yaml", kMap);
  const std::string list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";
  std::vector<int> codes;
  for (auto at = page.find("    slipway pkg init web "); at != std::string::npos && page.compare(at, 4, "    ") == 0;) {
    const auto end = page.find('\n', at);
    std::vector<std::string> words = words_in(page.substr(at, end - at));
    words.erase(words.begin());
    const bool has_input = words.size() > 2 && words[words.size() - 2] == "<";
    if (has_input) words.resize(words.size() - 2);
    const Ended ended = has_input ? slipway(words, list) : slipway(words);
    codes.push_back(ended.code);
    if (ended.code > 1) ADD_FAILURE() << page.substr(at, end - at) << ended.err;
    at = end + 1;
  }
  // `ready` finds a gate that is not met, `diff` a difference.
  EXPECT_EQ(codes, (std::vector<int>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace slipway::cli
