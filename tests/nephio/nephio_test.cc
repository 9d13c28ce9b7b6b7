// Nephio's functions as actors: each case of the corpus ends in the recorded package, and all of them together bring a package
// to "ready" in a bounded number of rounds, or say what they wait for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "actors.h"
#include "json/text.h"
#include "krm/corpus_test.h"

namespace slipway::nephio {
namespace {

std::vector<Value> documents(const std::string& text) {
  std::vector<Value> found;
  const auto read = json::parse_yaml_all(text);
  EXPECT_TRUE(read) << text;
  if (!read) return found;
  for (const json::YamlDocument& one : *read) found.push_back(one.value);
  return found;
}

/// The package of a case, and what it is expected to become.
struct Case {
  std::vector<Value> given{};
  std::vector<Value> expected{};
};
Case case_of(const std::string& folder) {
  Case made;
  for (const auto& [path, text] : krm::corpus_files(folder)) {
    auto found = documents(text);
    if (path == "_expected.yaml") {
      for (const Value& one : found.front()["items"].items()) made.expected.push_back(sorted(one));
    } else {
      for (Value& one : found) made.given.push_back(std::move(one));
    }
  }
  std::ranges::sort(made.expected, {}, ref_of);
  return made;
}

std::string text_of(const std::vector<Value>& items) {
  std::string text;
  for (const Value& one : items) text += json::print_pretty(one) + "\n";
  return text;
}

TEST(NephioCorpus, every_function_ends_in_the_recorded_package) {
  krm::Suite suite("nephio");
  for (const Actor& actor : actors()) {
    const std::string folder = "nephio/" + actor.name;
    for (const std::string& name : krm::corpus_cases(folder)) {
      const Case one = case_of(folder + "/" + name);
      Inventory package(one.given);
      actor.act(package);
      const std::string got = text_of(package.items());
      suite.judge(fmt::format("{}/{}", actor.name, name), krm::difference(got, text_of(one.expected)));
      actor.act(package);
      EXPECT_EQ(text_of(package.items()), got) << actor.name << "/" << name << ": a second run changes nothing";
    }
  }
}

constexpr const char* kPackage = R"(
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: upf}
---
apiVersion: workload.nephio.org/v1alpha1
kind: NFDeployment
metadata: {name: upf-edge}
spec: {provider: upf.example.org}
---
apiVersion: infra.nephio.org/v1alpha1
kind: WorkloadCluster
metadata: {name: edge}
spec: {clusterName: edge, cnis: [macvlan], masterInterface: eth1}
---
apiVersion: req.nephio.org/v1alpha1
kind: Capacity
metadata: {name: dataplane, annotations: {specializer.nephio.org/owner: workload.nephio.org/v1alpha1.NFDeployment.upf-edge}}
spec: {maxUplinkThroughput: 10G}
---
apiVersion: req.nephio.org/v1alpha1
kind: DataNetwork
metadata: {name: internet, annotations: {specializer.nephio.org/owner: workload.nephio.org/v1alpha1.NFDeployment.upf-edge}}
spec: {networkInstance: {name: vpc-internet}, pools: [{name: pool1, prefixLength: 8}]}
---
apiVersion: req.nephio.org/v1alpha1
kind: Interface
metadata:
  name: n3
  annotations: {specializer.nephio.org/owner: workload.nephio.org/v1alpha1.NFDeployment.upf-edge, specializer.nephio.org/namespace: upf}
spec: {networkInstance: {name: vpc-ran}, cniType: macvlan, attachmentType: vlan}
)";

TEST(NephioActors, bring_a_package_to_ready_in_any_order) {
  std::vector<Actor> order = actors();
  std::string first;
  for (std::size_t turn = 0; turn < 2 * order.size(); ++turn) {
    std::ranges::rotate(order, order.begin() + 1);
    if (turn == order.size()) std::ranges::reverse(order);
    Inventory package(documents(kPackage));
    const Convergence end = converge(package, order);
    ASSERT_EQ(end.verdict, Verdict::Ready) << (end.waiting.empty() ? "" : end.waiting.front());
    EXPECT_LE(end.rounds, 6);
    std::vector<Value> objects = package.items();
    // The order of conditions is that of the actors.
    std::erase_if(objects, [](const Value& one) { return one["kind"].as_string() == "Kptfile"; });
    if (first.empty()) first = text_of(objects);
    ASSERT_EQ(text_of(objects), first);
  }
  EXPECT_TRUE(first.contains("\"address\": \"10.0.0.10/24\"")) << first;
}

TEST(NephioActors, say_what_they_wait_for_when_one_of_them_is_missing) {
  std::vector<Actor> some = actors();
  std::erase_if(some, [](const Actor& one) { return one.name == "vlan-fn"; });
  Inventory package(documents(kPackage));
  const Convergence end = converge(package, some);
  EXPECT_EQ(end.verdict, Verdict::NoProgress);
  EXPECT_EQ(end.waiting, (std::vector<std::string>{
                             "req.nephio.org/v1alpha1.Interface.n3: update for condition",
                             "vlan.resource.nephio.org/v1alpha1.VLANClaim.upf-edge-n3: create initial resource",
                             "nephio.org.Specializer.specialize: not ready",
                             "workload.nephio.org/v1alpha1.NFDeployment.upf-edge: update for condition",
                         }));
}

TEST(NephioActors, that_undo_each_other_are_stopped_at_the_bound) {
  std::vector<Actor> all = actors();
  int turn = 0;
  all.push_back({"restless", [&turn](Inventory& package) { package.say("restless", ++turn % 2 == 0, "again"); }});
  Inventory package(documents(kPackage));
  EXPECT_EQ(converge(package, all, 20).verdict, Verdict::Endless);
}

}  // namespace
}  // namespace slipway::nephio
