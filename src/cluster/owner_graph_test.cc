#include "cluster/owner_graph.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

using json::Value;

const kube::Resource kThings{"example.com", "v1", "things"};
using Uids = std::vector<std::string>;

Value owner(const std::string& uid, bool blocks = false) {
  return json::object(
      {{"apiVersion", "example.com/v1"}, {"kind", "Thing"}, {"name", uid}, {"uid", uid}, {"blockOwnerDeletion", blocks}});
}

Value thing(const std::string& uid, const std::vector<Value>& owners = {}) {
  Value metadata = json::object({{"name", uid}, {"namespace", "default"}, {"uid", uid}});
  json::ArrayBuilder references;
  for (const Value& each : owners) references.add(each);
  if (!owners.empty()) metadata = metadata.with("ownerReferences", references.build());
  return json::object({{"metadata", metadata}});
}

Value waiting(const Value& object) {
  return object.with_path({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z")
      .with_path({"metadata", "finalizers"}, json::array({Value("foregroundDeletion")}));
}

TEST(OwnerGraph, asks_for_a_look_at_dependents_when_their_owner_goes) {
  OwnerGraph graph;
  EXPECT_EQ(graph.change(kThings, {}, thing("a")), Uids{});
  EXPECT_EQ(graph.change(kThings, {}, thing("b", {owner("a")})), Uids{});
  EXPECT_EQ(graph.change(kThings, {}, thing("c", {owner("a"), owner("x")})), Uids{});
  EXPECT_EQ(graph.change(kThings, thing("a"), {}), (Uids{"b", "c"}));
}

TEST(OwnerGraph, asks_for_a_look_at_dependents_when_their_owner_is_replaced_by_one_of_its_name) {
  OwnerGraph graph;
  graph.change(kThings, {}, thing("b", {owner("a")}));
  EXPECT_EQ(graph.change(kThings, thing("a"), thing("a2")), Uids{"b"});
}

TEST(OwnerGraph, asks_for_a_look_at_dependents_once_when_their_owner_begins_to_wait) {
  OwnerGraph graph;
  const Value a = thing("a");
  graph.change(kThings, {}, a);
  graph.change(kThings, {}, thing("b", {owner("a", true)}));
  EXPECT_EQ(graph.change(kThings, a, waiting(a)), Uids{"b"});
  EXPECT_EQ(graph.change(kThings, waiting(a), waiting(a).with("status", 1)), Uids{});
  EXPECT_TRUE(graph.has_blocking_dependents("a"));
}

TEST(OwnerGraph, asks_for_a_look_at_a_waiting_owner_when_a_dependent_goes_or_lets_go) {
  OwnerGraph graph;
  const Value b = thing("b", {owner("a", true)});
  const Value c = thing("c", {owner("a", true)});
  graph.change(kThings, {}, waiting(thing("a")));
  graph.change(kThings, {}, b);
  graph.change(kThings, {}, c);
  EXPECT_EQ(graph.change(kThings, b, {}), Uids{"a"});
  EXPECT_TRUE(graph.has_blocking_dependents("a"));
  EXPECT_EQ(graph.change(kThings, c, thing("c", {owner("a", false)})), Uids{"a"}) << "it does not block any more";
  EXPECT_FALSE(graph.has_blocking_dependents("a"));
  EXPECT_EQ(graph.dependents("a"), std::set<std::string>{"c"});
}

TEST(OwnerGraph, does_not_ask_for_owners_that_wait_for_nothing) {
  OwnerGraph graph;
  const Value b = thing("b", {owner("a")});
  graph.change(kThings, {}, thing("a"));
  graph.change(kThings, {}, b);
  EXPECT_EQ(graph.change(kThings, b, {}), Uids{});
  EXPECT_EQ(graph.find("b"), nullptr);
}

TEST(OwnerGraph, forgets_a_resource_and_finds_dependents_on_a_kind) {
  OwnerGraph graph;
  graph.change(kThings, {}, thing("b", {owner("a")}));
  EXPECT_EQ(graph.dependents_on_kind("example.com", "Thing"), Uids{"b"});
  EXPECT_EQ(graph.dependents_on_kind("other.com", "Thing"), Uids{});
  graph.forget(kThings);
  EXPECT_TRUE(graph.dependents("a").empty());
}

}  // namespace
}  // namespace slipway::cluster
