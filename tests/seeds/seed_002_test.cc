// Promises of the proposal about package conditions (seed 002) that no other test shows; promises.tsv lists them all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../package/package_fixture.h"
#include "base/function_programs.h"
#include "go_types.h"
#include "json/text.h"
#include "krm/kptfile.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using client::PatchType;
using Names = std::vector<std::string>;

class Seed002 : public PackageTest {
 public:
  /// A controller of that name sets a condition by server-side apply.
  Result<Value> say(const std::string& name, const std::string& type, const std::string& status,
                    const std::string& controller) {
    return patch(kRevisions, name,
                 fmt::format("{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {{name: {}}}, status: "
                             "{{conditions: [{{type: {}, status: '{}'}}]}}}}",
                             name, type, status),
                 PatchType::Apply, controller);
  }
  /// A controller of that name asks for a gate by server-side apply.
  Result<Value> gate(const std::string& name, const std::string& type, const std::string& controller) {
    return patch(kRevisions, name,
                 fmt::format("{{apiVersion: porch.kpt.dev/v1alpha1, kind: PackageRevision, metadata: {{name: {}}}, spec: "
                             "{{readinessGates: [{{conditionType: {}}}]}}}}",
                             name, type),
                 PatchType::Apply, controller);
  }
  Names gates(const std::string& name) {
    Names types;
    const Value now = revision(name);
    for (const Value& one : now["spec"]["readinessGates"].items()) types.push_back(one["conditionType"].str());
    std::ranges::sort(types);
    return types;
  }
  void automate(const std::string& name) {
    must(patch(kRevisions, name, fmt::format("{{metadata: {{annotations: {{{}: 'true'}}}}}}", kAutoLifecycle),
               PatchType::Merge));
  }
  void publish(const std::string& name) {
    must(propose(name));
    must(approve(name));
  }

 protected:
  FunctionPrograms programs_;
};

TEST_F(Seed002, the_types_as_printed_are_those_of_kptfile_and_revision) {
  const auto go = seeds_test::read_go("seed002/types.go");
  const std::string field = go.types.at("ReadinessGate").at(0).json;
  const std::string in_kptfile = go.types.at("PackageInfo").at(0).json;
  const std::string in_spec = go.types.at("PackageRevisionSpec").at(0).json;
  repository("edge");
  const std::string name = init("edge", "a", "v1");
  const Value list = json::array({json::object({{field, "ipam"}})});
  must(put(kRevisions, revision(name).with_path({"spec", in_spec}, list)));
  EXPECT_EQ(revision(name)["spec"][in_spec].item(0)[field].as_string(), "ipam");
  const auto kptfile = json::parse_yaml(file(name, "Kptfile"));
  ASSERT_TRUE(kptfile);
  EXPECT_EQ(json::print((*kptfile)["info"][in_kptfile]), json::print(list)) << file(name, "Kptfile");
}

TEST_F(Seed002, a_controller_adds_a_gate_and_another_meets_it) {
  repository("edge", Deployment::Yes);
  const std::string name = init("edge", "a", "v1");
  must(gate(name, "policy", "policy-controller"));
  must(say(name, "policy", "True", "policy-controller"));
  must(gate(name, "ipam", "network-controller"));
  EXPECT_EQ(gates(name), (Names{"ipam", "policy"}));
  automate(name);
  advance(minutes{1});
  EXPECT_EQ(lifecycle(name), "Draft");
  must(say(name, "ipam", "True", "ipam-controller"));
  EXPECT_TRUE(until([&] { return lifecycle(name) == "Proposed"; }, minutes{1}));
}

TEST_F(Seed002, a_clone_of_a_clone_has_the_gates_of_both_and_its_own) {
  for (const char* one : {"blueprints", "region"}) repository(one);
  repository("edge", Deployment::Yes);
  const std::string first = init("blueprints", "a", "v1");
  must(gate(first, "ipam", "author"));
  publish(first);
  const auto clone = [&](const std::string& into, const std::string& of) {
    return draft(into, "a", "v1", fmt::format("{{type: clone, clone: {{upstreamRef: {{upstreamRef: {{name: {}}}}}}}}}", of));
  };
  const std::string second = clone("region", first);
  must(gate(second, "vlan", "region-team"));
  publish(second);
  const std::string third = clone("edge", second);
  must(gate(third, "capacity", "site-team"));
  EXPECT_EQ(gates(third), (Names{"capacity", "ipam", "vlan"}));
  EXPECT_EQ(revision(third)["status"]["ready"].as_string(), "0/3");
}

TEST_F(Seed002, a_copy_is_not_proposed_by_itself) {
  repository("edge", Deployment::Yes);
  const std::string name = init("edge", "a", "v1");
  automate(name);
  ASSERT_TRUE(until([&] { return lifecycle(name) == "Proposed"; }, minutes{1}));
  must(approve(name));
  const std::string next = draft("edge", "a", "v2", fmt::format("{{type: edit, edit: {{sourceRef: {{name: {}}}}}}}", name));
  advance(minutes{10});
  EXPECT_EQ(lifecycle(next), "Draft");
  automate(next);
  EXPECT_TRUE(until([&] { return lifecycle(next) == "Proposed"; }, minutes{1}));
}

TEST_F(Seed002, a_published_package_had_all_its_conditions) {
  Repository& edge = repository("edge", Deployment::Yes);
  const std::string name = init("edge", "a", "v1");
  must(gate(name, "ipam", "network-controller"));
  EXPECT_EQ(fault(propose(name)).substr(0, 7), "Invalid");
  must(say(name, "ipam", "True", "ipam-controller"));
  must(propose(name));
  must(say(name, "ipam", "False", "ipam-controller"));
  EXPECT_EQ(fault(approve(name)).substr(0, 7), "Invalid");
  EXPECT_EQ(edge.file("a/Kptfile"), "") << "nothing is on the branch";
  must(say(name, "ipam", "True", "ipam-controller"));
  must(approve(name));
  const auto kptfile = json::parse_yaml(edge.file("a/Kptfile"));
  ASSERT_TRUE(kptfile);
  EXPECT_EQ((*kptfile)["status"]["conditions"].item(0)["status"].as_string(), "True") << edge.file("a/Kptfile");
}

TEST_F(Seed002, one_controller_flips_proposals_and_another_approves_them) {
  repository("edge", Deployment::Yes);
  for (const char* package : {"a", "b", "c"}) {
    const std::string name = init("edge", package, "v1");
    must(patch(kRevisions, name, fmt::format("{{metadata: {{labels: {{ring: {}}}}}}}", *package == 'c' ? "two" : "one"),
               PatchType::Merge));
    must(propose(name));
  }
  // Knows nothing of what is approved: says of each proposal that its label selects whether it may go on.
  for (const Value& one : list(kRevisions, "spec.lifecycle=Proposed,spec.repository=edge", "ring=one")) {
    const std::string name(kube::name(one));
    must(say(name, "rollout", name == "edge.a.v1" ? "True" : "False", "rollout-controller"));
  }
  // Knows nothing of rollouts: approves what has the condition.
  for (const Value& one : list(kRevisions, "spec.lifecycle=Proposed")) {
    if (kube::is_true(one, "rollout")) must(approve(std::string(kube::name(one))));
  }
  EXPECT_EQ(lifecycle("edge.a.v1"), "Published");
  EXPECT_EQ(lifecycle("edge.b.v1"), "Proposed");
  EXPECT_EQ(lifecycle("edge.c.v1"), "Proposed");
  EXPECT_FALSE(repositories_.at("edge")->file("a/Kptfile").empty()) << "it is merged";
}

TEST_F(Seed002, folder_and_server_show_the_same_list) {
  repository("edge", Deployment::Yes);
  const std::string name = init("edge", "a", "v1");
  must(gate(name, "ipam", "network-controller"));
  must(gate(name, "policy", "policy-controller"));
  must(say(name, "policy", "True", "policy-controller"));
  const auto kptfile = krm::read_kptfile(file(name, "Kptfile"));
  ASSERT_TRUE(kptfile) << kptfile.error().message;
  Names open;
  for (const krm::UnmetGate& one : krm::unmet_gates(*kptfile)) open.push_back(one.type);
  EXPECT_EQ(open, (Names{"ipam"}));
  const Value now = revision(name);
  EXPECT_EQ(now["status"]["ready"].as_string(), "1/2");
  EXPECT_TRUE(kube::condition(now, "ReadyToPropose")["message"].as_string().contains("ipam")) << json::print(now["status"]);
}

/// A package function as a site writes it: the condition `addressed` is True once the ConfigMap has an address.
Result<ProgramEnd> judge_addresses(const ProgramCall& call) {
  Value list = json::parse_yaml(call.input).value();
  bool has_address = false;
  std::size_t at = 0;
  for (std::size_t i = 0; i < list["items"].size(); ++i) {
    const Value& one = list["items"].item(i);
    if (one["kind"].as_string() == "ConfigMap") has_address |= one["data"].has("address");
    if (one["kind"].as_string() == "Kptfile") at = i;
  }
  const Value conditions = json::array({json::object({{"type", "addressed"}, {"status", has_address ? "True" : "False"}})});
  const Value kptfile = list["items"].item(at).with_path({"status", "conditions"}, conditions);
  return ProgramEnd{.code = 0, .output = json::print(list.with("items", list["items"].with_item(at, kptfile))), .error = ""};
}

TEST_F(Seed002, a_function_of_the_pipeline_sets_a_condition) {
  env_->env().programs = &programs_;
  programs_.add("/opt/functions/judge", judge_addresses);
  repository("edge", Deployment::Yes);
  must(
      create("{apiVersion: config.porch.kpt.dev/v1alpha1, kind: FunctionConfig, metadata: {name: judge}, spec: {image: judge, "
             "binaryExecutor: {tags: [v1], path: /opt/functions/judge}}}"));
  const std::string name = init("edge", "a", "v1");
  must(push(name, "m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n"));
  must(push(name, "Kptfile",
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: a\ninfo:\n  readinessGates:\n  - conditionType: "
            "addressed\npipeline:\n  mutators:\n  - image: judge:v1\n"));
  EXPECT_EQ(condition(name, "addressed").substr(0, 5), "False");
  EXPECT_EQ(fault(propose(name)).substr(0, 7), "Invalid");
  must(push(name, "m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {address: 10.0.0.1}\n"));
  EXPECT_EQ(condition(name, "addressed").substr(0, 4), "True");
  must(propose(name));
}

}  // namespace
}  // namespace slipway::package_test
