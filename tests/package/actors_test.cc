// Many actors, one verdict: the actors of tests/nephio as clients of a server. Each pulls a draft's files, does what it can and
// pushes them back, its verdicts in the Kptfile, as Nephio's functions do; none is told of the others. The draft proposes
// itself once its gate is met.
#include <fmt/format.h>

#include "../nephio/actors.h"
#include "delivery/package/content.h"
#include "json/text.h"
#include "package_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;
using nephio::Actor;
using nephio::Inventory;

constexpr const char* kObjects[][2] = {
    {"deployment.yaml", R"({apiVersion: workload.nephio.org/v1alpha1, kind: NFDeployment, metadata: {name: upf-edge},
       spec: {provider: upf.example.org}})"},
    {"cluster.yaml", R"({apiVersion: infra.nephio.org/v1alpha1, kind: WorkloadCluster, metadata: {name: edge},
       spec: {clusterName: edge, cnis: [macvlan], masterInterface: eth1}})"},
    {"capacity.yaml", R"({apiVersion: req.nephio.org/v1alpha1, kind: Capacity, metadata: {name: dataplane, annotations:
       {specializer.nephio.org/owner: workload.nephio.org/v1alpha1.NFDeployment.upf-edge}}, spec: {maxUplinkThroughput: 10G}})"},
    {"n3.yaml", R"({apiVersion: req.nephio.org/v1alpha1, kind: Interface, metadata: {name: n3, annotations:
       {specializer.nephio.org/owner: workload.nephio.org/v1alpha1.NFDeployment.upf-edge, specializer.nephio.org/namespace: upf}},
       spec: {networkInstance: {name: vpc-ran}, cniType: macvlan, attachmentType: vlan}})"}};

class PackageActors : public PackageTest {
 public:
  /// A draft with those objects, which asks to be proposed by itself.
  std::string package() {
    repository("edge", Deployment::Yes);
    const std::string name = init("edge", "upf", "v1");
    Value object = files(name);
    for (const auto& [path, text] : kObjects) object = object.with_path({"spec", "resources", path}, std::string(text) + "\n");
    must(put(kResources, object));
    return name;
  }
  void automate(const std::string& name) {
    must(patch(kRevisions, name, fmt::format("{{metadata: {{annotations: {{{}: 'true'}}}}}}", kAutoLifecycle),
               client::PatchType::Merge));
  }

  /// One turn of an actor; false when it finds nothing to do.
  bool act(const Actor& actor, const std::string& name) {
    const Value pulled = files(name);
    std::map<std::string, std::string> paths;
    std::vector<Value> objects;
    for (const auto& [path, text] : pulled["spec"]["resources"].members()) {
      if (!path.ends_with(".yaml") && path != "Kptfile") continue;
      objects.push_back(json::parse_yaml(text.str()).value());
      paths.emplace(nephio::ref_of(objects.back()), path);
    }
    Inventory inventory(std::move(objects));
    const std::vector<Value> before = inventory.items();
    actor.act(inventory);
    if (inventory.items() == before) return false;
    Value pushed = pulled;
    for (const Value& one : inventory.items()) {
      const auto known = paths.find(nephio::ref_of(one));
      const bool is_same = std::ranges::find(before, one) != before.end();
      if (is_same) continue;
      const std::string path = known != paths.end()
                                   ? known->second
                                   : fmt::format("{}-{}.yaml", one["kind"].as_string(), one["metadata"]["name"].as_string());
      const std::string text =
          path == "Kptfile" ? kptfile(pulled["spec"]["resources"]["Kptfile"].str(), one) : json::print_pretty(one) + "\n";
      pushed = pushed.with_path({"spec", "resources", path}, text);
    }
    must(put(kResources, pushed, "", {.user = actor.name}));
    return true;
  }
  /// The Kptfile's text with the gates and conditions of `wanted`.
  static std::string kptfile(const std::string& text, const Value& wanted) {
    std::vector<std::string> gates;
    for (const Value& one : wanted["info"]["readinessGates"].items()) gates.push_back(one["conditionType"].str());
    Conditions conditions;
    for (const Value& one : wanted["status"]["conditions"].items()) {
      const std::string_view status = one["status"].as_string();
      conditions.push_back({.type = one["type"].str(),
                            .status = status == "True"    ? Truth::True
                                      : status == "False" ? Truth::False
                                                          : Truth::Unknown,
                            .reason = one["reason"].str(),
                            .message = one["message"].str()});
    }
    return with_verdicts(text, gates_of(gates, kPackageSource), conditions);
  }
  /// Rounds in which some actor found something to do, at most `bound`.
  int converge(const std::vector<Actor>& all, const std::string& name, int bound) {
    for (int round = 0; round < bound; ++round) {
      bool is_still = true;
      for (const Actor& one : all) is_still &= !act(one, name);
      if (is_still) return round;
    }
    return bound;
  }
};

TEST_F(PackageActors, that_know_nothing_of_each_other_bring_a_draft_to_ready_and_it_proposes_itself) {
  const std::string name = package();
  const int rounds = converge(nephio::actors(), name, 20);
  EXPECT_LT(rounds, 20) << json::print_pretty(revision(name)["status"]["conditions"]);
  EXPECT_EQ(condition(name, "nephio.org.Specializer.specialize"), "True (Ready)");
  EXPECT_EQ(condition(name, "ReadyToPropose").substr(0, 4), "True");
  EXPECT_TRUE(file(name, "deployment.yaml").contains("10.0.0.10/24"));
  automate(name);
  EXPECT_TRUE(until([&] { return lifecycle(name) == "Proposed"; }, minutes{1}));
}

TEST_F(PackageActors, keep_in_a_reason_whose_condition_it_is_through_changes_of_others) {
  const std::string name = package();
  EXPECT_LT(converge(nephio::actors(), name, 20), 20);
  const std::string claim = "ipam.resource.nephio.org/v1alpha1.IPClaim.upf-edge-n3-ipv4";
  must(push(name, "note.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: note}\n"));
  EXPECT_EQ(condition(name, claim), "Unknown (req.nephio.org/v1alpha1.Interface.n3)");
  EXPECT_TRUE(file(name, "Kptfile").contains("message: 'ContentChanged: was True")) << file(name, "Kptfile");
}

TEST_F(PackageActors, that_wait_for_a_missing_one_leave_a_draft_that_says_so) {
  const std::string name = package();
  std::vector<Actor> some = nephio::actors();
  std::erase_if(some, [](const Actor& one) { return one.name == "vlan-fn"; });
  automate(name);
  EXPECT_LT(converge(some, name, 20), 20);
  advance(minutes{1});
  EXPECT_EQ(lifecycle(name), "Draft");
  EXPECT_NE(condition(name, "vlan.resource.nephio.org/v1alpha1.VLANClaim.upf-edge-n3").substr(0, 4), "True");
  EXPECT_NE(condition(name, "nephio.org.Specializer.specialize").substr(0, 4), "True");
}

}  // namespace
}  // namespace slipway::package_test
