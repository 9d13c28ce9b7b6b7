// Conditions and gates that people commit with git: they count as those that come by the API, under the commit's author, whom
// nothing has verified.
#include <fmt/format.h>

#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using client::PatchType;

class PackageGitVerdicts : public PackageTest {
 public:
  void begin(Deployment deployment = Deployment::No) { edge_ = &repository("edge", deployment); }
  /// The draft's Kptfile with these lists in place of its own, committed with git and read.
  void commit(const std::string& gates, const std::string& conditions, const std::map<std::string, std::string>& more = {}) {
    advance(seconds{2});
    std::map<std::string, std::string> files = more;
    files["a/Kptfile"] = kptfile(gates, conditions);
    edge_->commit(files, "by hand", "drafts/a/v1");
    look();
  }
  void look() { advance(minutes{6}); }
  std::string kptfile(const std::string& gates, const std::string& conditions) {
    std::string text = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\ninfo:\n  description: a test\n";
    if (!gates.empty()) text += "  readinessGates:\n" + gates;
    if (!conditions.empty()) text += "status:\n  conditions:\n" + conditions;
    return text;
  }
  static std::string gate(const std::string& type) { return fmt::format("  - conditionType: {}\n", type); }
  static std::string said(const std::string& type, const std::string& status, const std::string& message = "") {
    return fmt::format("  - type: {}\n    status: \"{}\"\n{}", type, status,
                       message.empty() ? "" : fmt::format("    message: {}\n", message));
  }
  std::string draft_of_kptfile(const std::string& gates = "", const std::string& conditions = "") {
    const std::string name = init("edge", "a", "v1");
    must(push(name, "Kptfile", kptfile(gates, conditions)));
    return name;
  }
  Value owned_gate(const std::string& name, const std::string& type, const std::string& owner) {
    const Value now = revision(name);
    const Value made = json::object({{"conditionType", type}, {"owner", owner}});
    const Value& gates = now["spec"]["readinessGates"];
    return must(put(kRevisions, now.with_path({"spec", "readinessGates"}, gates.with_item(gates.size(), made))));
  }
  std::string owner(const std::string& name, const std::string& type) {
    return kube::condition(revision(name), type)["owner"].str();
  }
  Result<Value> say(const std::string& name, const std::string& type, const std::string& status) {
    return patch(kRevisions, name,
                 fmt::format("{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {{name: {}}}, status: "
                             "{{conditions: [{{type: {}, status: '{}'}}]}}}}",
                             name, type, status),
                 PatchType::Apply, type + "-controller");
  }
  std::string gates(const std::string& name) {
    std::string text;
    for (const Value& one : revision(name)["spec"]["readinessGates"].items()) {
      text += fmt::format("{}:{} ", one["conditionType"].as_string(), json::print(one["sources"]));
    }
    return text;
  }

 protected:
  Repository* edge_ = nullptr;
};

TEST_F(PackageGitVerdicts, a_condition_that_a_commit_sets_counts_and_the_next_edit_keeps_it) {
  begin(Deployment::Yes);
  const std::string name = draft_of_kptfile(gate("sec"));
  commit(gate("sec"), said("sec", "True", "looked at it"));
  EXPECT_EQ(condition(name, "sec"), "True");
  EXPECT_EQ(owner(name, "sec"), "git:tester@example.org");
  must(push(name, "notes.txt", "more\n"));
  EXPECT_EQ(condition(name, "sec"), "Unknown (ContentChanged)") << "it was about the content before";
  advance(seconds{2});
  EXPECT_TRUE(edge_->file("a/Kptfile", "drafts/a/v1").contains("was True: looked at it"));
}

TEST_F(PackageGitVerdicts, a_commit_of_content_with_a_condition_is_a_verdict_about_that_content) {
  begin();
  const std::string name = draft_of_kptfile();
  must(say(name, "ipam", "True"));
  advance(minutes{2});
  commit("", said("ipam", "True") + said("sec", "True"),
         {{"a/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"}});
  EXPECT_EQ(condition(name, "sec"), "True");
  EXPECT_EQ(condition(name, "ipam"), "Unknown (ContentChanged)") << "the commit left it as it was";
  EXPECT_EQ(owner(name, "ipam"), "ipam-controller");
}

TEST_F(PackageGitVerdicts, a_draft_that_is_pushed_with_git_has_the_conditions_of_its_author) {
  begin();
  edge_->commit({{"a/Kptfile", kptfile(gate("sec"), said("sec", "True"))}}, "by hand", "drafts/a/v1");
  look();
  EXPECT_EQ(condition("edge.a.v1", "sec"), "True");
  EXPECT_EQ(owner("edge.a.v1", "sec"), "git:tester@example.org");
}

TEST_F(PackageGitVerdicts, a_condition_that_a_commit_removes_goes) {
  begin();
  const std::string name = draft_of_kptfile("", said("sec", "True") + said("lint", "False"));
  commit("", said("lint", "False"));
  EXPECT_EQ(condition(name, "sec"), "absent");
  EXPECT_EQ(condition(name, "lint"), "False");
}

TEST_F(PackageGitVerdicts, the_flip_of_an_owned_gate_by_a_commit_is_a_claim) {
  begin(Deployment::Yes);
  const std::string name = draft_of_kptfile();
  owned_gate(name, "sec", "netops");
  advance(minutes{2});
  commit(gate("sec"), said("sec", "True", "fine"));
  EXPECT_EQ(condition(name, "sec"), "Unknown (Imported)");
  EXPECT_EQ(owner(name, "sec"), "git:tester@example.org");
  EXPECT_EQ(kube::condition(revision(name), "sec")["message"], Value("was True: fine"));
  EXPECT_TRUE(fault(propose(name)).starts_with("Invalid"));
}

TEST_F(PackageGitVerdicts, what_the_log_and_a_commit_say_differently_is_not_lost) {
  begin();
  const std::string name = draft_of_kptfile();
  must(say(name, "sec", "Unknown"));
  advance(minutes{2});
  edge_->commit({{"a/Kptfile", kptfile("", said("sec", "True", "fine"))}}, "by hand", "drafts/a/v1");
  must(say(name, "sec", "False"));
  look();
  EXPECT_EQ(condition(name, "sec"), "Unknown (Imported)");
  const std::string message = kube::condition(revision(name), "sec")["message"].str();
  EXPECT_TRUE(message.contains("git:tester@example.org") && message.contains("sec-controller")) << message;
}

TEST_F(PackageGitVerdicts, gates_come_and_go_with_commits) {
  begin();
  const std::string name = draft_of_kptfile(gate("sec"));
  must(say(name, "lint", "True"));
  advance(minutes{2});
  commit(gate("sec") + gate("lint"), said("lint", "True"));
  EXPECT_EQ(gates(name), "lint:[\"git:tester@example.org\"] sec:[\"user:alice\"] ");
  EXPECT_EQ(condition(name, "lint"), "True") << "a gate is no other content";
  commit(gate("sec"), said("lint", "True"));
  EXPECT_EQ(gates(name), "sec:[\"user:alice\"] ");
}

TEST_F(PackageGitVerdicts, a_gate_that_is_not_a_commits_to_remove_is_written_back) {
  begin();
  repository("bp");
  const std::string blueprint = init("bp", "a", "v1");
  must(push(blueprint, "Kptfile", kptfile(gate("sec"), "")));
  must(propose(blueprint));
  must(approve(blueprint));
  const std::string name = draft("edge", "a", "v1", "{type: clone, clone: {upstreamRef: {upstreamRef: {name: bp.a.v1}}}}");
  EXPECT_EQ(gates(name), "sec:[\"upstream\"] ");
  advance(seconds{2});
  std::string bare = edge_->file("a/Kptfile", "drafts/a/v1");
  const auto at = bare.find("  readinessGates:");
  ASSERT_NE(at, std::string::npos) << bare;
  bare.erase(at, bare.find("sec", at) + 4 - at);
  edge_->commit({{"a/Kptfile", bare}}, "without the gate", "drafts/a/v1");
  look();
  EXPECT_EQ(gates(name), "sec:[\"upstream\"] ");
  advance(minutes{2});
  EXPECT_TRUE(edge_->file("a/Kptfile", "drafts/a/v1").contains("conditionType: sec"))
      << edge_->file("a/Kptfile", "drafts/a/v1");
  EXPECT_TRUE(edge_->git("log --format=%B drafts/a/v1").contains("Gate-Kept: sec (asked for by upstream)"))
      << edge_->git("log -3 --format=%B drafts/a/v1");
}

TEST_F(PackageGitVerdicts, each_flip_is_named_in_the_commit_that_catches_up_and_by_an_event) {
  begin();
  const std::string name = draft_of_kptfile();
  advance(seconds{2});
  for (int i = 0; i < 3; ++i) must(say(name, "ipam", i % 2 == 0 ? "False" : "True"));
  must(say(name, "sec", "True"));
  advance(minutes{2});
  const std::string message = edge_->git("log -1 --format='%(trailers)' drafts/a/v1");
  std::vector<std::string> flips;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    const std::string line = message.substr(at, end - at);
    if (line.starts_with("Condition-Flip: ")) flips.push_back(line.substr(16, line.rfind(" at ") - 16));
    at = end + 1;
  }
  EXPECT_EQ(flips, (std::vector<std::string>{"ipam=False by ipam-controller", "ipam=True by ipam-controller",
                                             "ipam=False by ipam-controller", "sec=True by sec-controller"}))
      << message;
  bool is_told = false;
  for (const Value& event : list({"", "v1", "events"})) {
    is_told |= event["involvedObject"]["name"].as_string() == name && event["reason"].as_string() == "ConditionFlipped" &&
               event["message"].as_string().contains("sec=True by sec-controller at ");
  }
  EXPECT_TRUE(is_told);
}

TEST_F(PackageGitVerdicts, flips_that_end_where_they_began_are_in_the_history_too) {
  begin();
  const std::string name = draft_of_kptfile();
  must(say(name, "ipam", "False"));
  advance(minutes{2});
  const std::size_t commits = edge_->log("%H", "drafts/a/v1").size();
  must(say(name, "ipam", "True"));
  must(say(name, "ipam", "False"));
  advance(minutes{2});
  EXPECT_EQ(edge_->log("%H", "drafts/a/v1").size(), commits + 1);
  EXPECT_TRUE(edge_->git("log -1 --format=%B drafts/a/v1").contains("Condition-Flip: ipam=True by ipam-controller at "));
  advance(minutes{5});
  EXPECT_EQ(edge_->log("%H", "drafts/a/v1").size(), commits + 1) << "once";
}

TEST_F(PackageGitVerdicts, the_flips_of_a_proposal_are_in_the_commit_that_publishes_it) {
  begin();
  const std::string name = draft_of_kptfile();
  must(propose(name));
  must(say(name, "seen", "True"));
  must(approve(name));
  EXPECT_TRUE(edge_->git("log -1 --format=%B main").contains("Condition-Flip: seen=True by seen-controller at "))
      << edge_->git("log -1 --format=%B main");
}

}  // namespace
}  // namespace slipway::package_test
