#include "delivery/package/conditions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "delivery/package/gates.h"
#include "delivery/package/readiness.h"
#include "kube/object.h"

namespace slipway::delivery::package {
namespace {

const Files kFiles{{"Kptfile", "kind: Kptfile\n"}, {"app.yaml", "a"}, {"net/ip.yaml", "b"}};
const ContentView kContent{kFiles};
constexpr Time kConditionsStart = Time(std::chrono::hours{500'000});

Condition said(std::string type, Truth status, std::string message = "", std::vector<std::string> scope = {}) {
  return {.type = std::move(type), .status = status, .message = std::move(message), .scope = std::move(scope)};
}

Write by(std::string_view who, int second = 0, const ContentView& content = kContent) {
  return {.object = "edge.a.v1", .by = who, .now = kConditionsStart + std::chrono::seconds{second}, .content = content};
}

Conditions set(std::initializer_list<std::pair<std::string, Condition>> rows) {
  Conditions out;
  for (const auto& [who, one] : rows) set_condition(out, one, by(who));
  return out;
}

std::string shown(const Conditions& conditions) {
  std::string out;
  for (const Condition& one : conditions) out += fmt::format("{}={}:{} ", one.type, json::enum_name(one.status), one.owner);
  return out;
}

TEST(PackageConditions, a_verdict_has_owner_age_digest_and_scope) {
  Conditions all;
  set_condition(all, said("ipam", Truth::False, "no address", {"net/**"}), by("ipam", 1));
  set_condition(all, said("ipam", Truth::False, "still none"), by("ipam", 5));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].since, kConditionsStart + std::chrono::seconds{1});  // the status did not change
  EXPECT_EQ(all[0].message, "still none");
  EXPECT_EQ(all[0].scope, std::vector<std::string>{"net/**"});  // left out: unchanged
  EXPECT_EQ(all[0].digest, kContent.digest());
  EXPECT_EQ(all[0].scope_digest, scope_digest(kFiles, all[0].scope));
  set_condition(all, said("ipam", Truth::True), by("bob", 9));
  EXPECT_EQ(all[0].since, kConditionsStart + std::chrono::seconds{9});
  EXPECT_EQ(all[0].owner, "bob");
}

TEST(PackageConditions, an_old_copy_changes_only_what_its_sender_changed) {
  const Conditions base = set({{"ipam", said("ipam", Truth::False)}, {"vlan", said("vlan", Truth::False)}});
  Conditions current = base;
  set_condition(current, said("vlan", Truth::True), by("vlan", 3));
  set_condition(current, said("dnn", Truth::True), by("dnn", 4));
  Conditions sent = base;
  sent[0].status = Truth::True;
  const auto merged = merge_put(base, current, sent, by("ipam", 5));
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  EXPECT_EQ(shown(*merged), "ipam=True:ipam vlan=True:vlan dnn=True:dnn ");
}

TEST(PackageConditions, only_the_same_type_conflicts_and_says_who) {
  const Conditions base = set({{"ipam", said("ipam", Truth::False)}, {"vlan", said("vlan", Truth::False)}});
  Conditions current = base;
  set_condition(current, said("ipam", Truth::False, "none left"), by("ipam", 3));
  Conditions sent = base;
  sent[0].status = Truth::True;
  sent[1].status = Truth::True;
  const auto refused = merge_put(base, current, sent, by("alice", 5));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::Conflict);
  ASSERT_EQ(refused.error().causes.size(), 1U);
  EXPECT_EQ(refused.error().causes[0].field, "status.conditions[ipam]");
  EXPECT_EQ(refused.error().causes[0].message, "was set to False by ipam meanwhile");
  EXPECT_EQ(
      refused.error().message,
      "Operation cannot be fulfilled on packagerevisions.porch.kpt.dev \"edge.a.v1\": the object has been modified; please "
      "apply your changes to the latest version and try again; status.conditions[ipam]: was set to False by ipam "
      "meanwhile");
  sent[0] = current[0];
  EXPECT_TRUE(merge_put(base, current, sent, by("alice", 5)).has_value());  // both said the same
}

TEST(PackageConditions, what_is_left_out_goes_unless_it_changed_meanwhile) {
  const Conditions base = set({{"a", said("a", Truth::True)}, {"b", said("b", Truth::True)}});
  const Conditions sent{base[1]};
  EXPECT_EQ(shown(*merge_put(base, base, sent, by("alice"))), "b=True:b ");
  Conditions current = base;
  set_condition(current, said("a", Truth::False), by("a", 3));
  EXPECT_FALSE(merge_put(base, current, sent, by("alice")).has_value());
  EXPECT_EQ(shown(*merge_put(base, {base[1]}, sent, by("alice"))), "b=True:b ");  // gone already
  const auto revived = merge_put(base, {base[1]}, {said("a", Truth::False), base[1]}, by("alice"));
  ASSERT_FALSE(revived.has_value());
  EXPECT_EQ(revived.error().causes[0].message, "was removed meanwhile");
}

TEST(PackageConditions, computed_and_doubled_types_are_not_stored) {
  const Conditions sent{said("ReadyToPropose", Truth::True), said("a", Truth::True)};
  EXPECT_EQ(shown(*merge_put({}, {}, sent, by("x"))), "a=True:x ");
  const auto doubled = merge_put({}, {}, {said("a", Truth::True), said("a", Truth::False)}, by("x"));
  ASSERT_FALSE(doubled.has_value());
  EXPECT_EQ(doubled.error().message,
            "PackageRevision.porch.kpt.dev \"edge.a.v1\" is invalid: status.conditions[a]: Duplicate value: \"a\"");
  Conditions many;
  for (std::size_t i = 0; i <= kMostConditions; ++i) many.push_back(said(fmt::format("t{}", i), Truth::True));
  EXPECT_FALSE(merge_put({}, {}, many, by("x")).has_value());
}

TEST(PackageConditions, apply_touches_only_its_own_and_takes_back_what_it_sends_no_more) {
  Conditions all = set({{"vlan", said("vlan", Truth::True)}});
  all = *merge_apply(all, {said("ipam", Truth::True), said("pool", Truth::True)}, by("ipam"), Force::No);
  all = *merge_apply(all, {said("ipam", Truth::False)}, by("ipam"), Force::No);
  EXPECT_EQ(shown(all), "vlan=True:vlan ipam=False:ipam ");
  const auto refused = merge_apply(all, {said("vlan", Truth::False)}, by("ipam"), Force::No);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "Apply failed with 1 conflict: conflict with \"vlan\": .status.conditions[type=\"vlan\"].status");
  EXPECT_EQ(shown(*merge_apply(all, {said("vlan", Truth::True), said("ipam", Truth::False)}, by("ipam"), Force::No)),
            "vlan=True:vlan ipam=False:ipam ");  // the same verdict is no conflict, and stays its owner's
  EXPECT_EQ(shown(*merge_apply(all, {said("vlan", Truth::False)}, by("ipam"), Force::Yes)), "vlan=False:ipam ");
}

/// A hundred writers, each with a type of its own and a copy that is as old as it likes: nothing is lost, none conflicts.
TEST(PackageConditions, a_hundred_writers_lose_nothing_in_any_order) {
  constexpr int kWriters = 100;
  std::vector<Conditions> history{{}};
  std::vector<int> flips(kWriters, 0);
  std::uint64_t seed = 7;
  const auto next = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33) % below;
  };
  for (int step = 0; step < 2'000; ++step) {
    const auto writer = static_cast<std::size_t>(next(kWriters));
    const std::string type = fmt::format("t{}", writer);
    // As old as up to 50 versions, but not older than its own last write.
    std::size_t read = history.size() - 1;
    for (std::size_t back = next(50); back > 0 && read > 0; --back) {
      const Condition* then = find(history[read - 1], type);
      const Condition* now = find(history.back(), type);
      if ((then == nullptr) != (now == nullptr) || (now != nullptr && !(*then == *now))) break;
      --read;
    }
    const Conditions base = history[read];
    Conditions sent = base;
    ++flips[writer];
    const Condition mine = said(type, flips[writer] % 2 == 0 ? Truth::False : Truth::True, fmt::format("{}", flips[writer]));
    const auto at = std::ranges::find(sent, type, &Condition::type);
    if (at == sent.end()) {
      sent.push_back(mine);
    } else {
      at->status = mine.status;
      at->message = mine.message;
    }
    const bool is_apply = next(3) == 0;
    const auto merged = is_apply ? merge_apply(history.back(), {mine}, by(type, step), Force::No)
                                 : merge_put(base, history.back(), sent, by(type, step));
    ASSERT_TRUE(merged.has_value()) << merged.error().message;
    history.push_back(*merged);
    if (history.size() > 60) history.erase(history.begin());
  }
  for (int writer = 0; writer < kWriters; ++writer) {
    const Condition* last = find(history.back(), fmt::format("t{}", writer));
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->message, fmt::format("{}", flips[static_cast<std::size_t>(writer)]));
  }
}

TEST(PackageConditions, new_content_and_new_revisions_make_them_unknown) {
  const Conditions all = set({{"ipam", said("ipam", Truth::True, "ok", {"net/**"})},
                              {"bob", said("reviewed", Truth::True, "fine")},
                              {"sec", said("scan", Truth::False)}});
  Files files = kFiles;
  files["app.yaml"] = "changed";
  const ContentView changed{files};
  const Conditions after = reset(all, kContentChanged, changed, kConditionsStart + std::chrono::seconds{60});
  EXPECT_EQ(shown(after), "ipam=True:ipam reviewed=Unknown:bob scan=Unknown:sec ");
  EXPECT_EQ(after[0].digest, changed.digest());
  EXPECT_EQ(after[1].reason, "ContentChanged");
  EXPECT_EQ(after[1].message, "was True: fine");
  EXPECT_EQ(after[1].digest, kContent.digest());  // what it was about
  EXPECT_EQ(after[1].since, kConditionsStart + std::chrono::seconds{60});
  EXPECT_EQ(after[2].message, "was False");
  files["net/ip.yaml"] = "other";
  EXPECT_EQ(shown(reset(after, kContentChanged, ContentView{files}, kConditionsStart)),
            "ipam=Unknown:ipam reviewed=Unknown:bob scan=Unknown:sec ");
  // Equal bytes are no reason to trust a new revision.
  EXPECT_EQ(shown(reset(all, kNewRevision, kContent, kConditionsStart)),
            "ipam=True:ipam reviewed=Unknown:bob scan=Unknown:sec ");
  EXPECT_EQ(reset(all, kNewRevision, kContent, kConditionsStart)[1].reason, "NewRevision");
  EXPECT_EQ(reset(after, kNewRevision, kContent, kConditionsStart)[1].message, "was True: fine");  // not told twice
}

TEST(PackageConditions, a_reason_that_names_an_object_stays_and_the_message_says_why_it_is_unknown) {
  Condition claim = said("IPClaim.n3", Truth::True, "done");
  claim.reason = "req.nephio.org/v1alpha1.Interface.n3";
  Condition silent = claim;
  silent.type = "IPClaim.n4";
  silent.message = "";
  const Conditions all = set({{"ipam", claim}, {"ipam", silent}});
  const Conditions after = reset(all, kContentChanged, kContent, kConditionsStart);
  EXPECT_EQ(shown(after), "IPClaim.n3=Unknown:ipam IPClaim.n4=Unknown:ipam ");
  EXPECT_EQ(after[0].reason, claim.reason);
  EXPECT_EQ(after[0].message, "ContentChanged: was True: done");
  EXPECT_EQ(after[1].message, "ContentChanged: was True");
  EXPECT_EQ(reset(after, kContentChanged, kContent, kConditionsStart)[0].message, after[0].message);  // not told twice
  const Conditions copy = reset(after, kNewRevision, kContent, kConditionsStart);
  EXPECT_EQ(copy[0].reason, claim.reason);
  EXPECT_EQ(copy[0].message, "NewRevision: was True: done");
  EXPECT_EQ(imported({claim}, kConditionsStart)[0].reason, claim.reason);
  EXPECT_EQ(imported({claim}, kConditionsStart)[0].message, "Imported: was True: done");
}

TEST(PackageConditions, what_comes_out_of_git_is_a_claim) {
  const Conditions claims = imported(
      {said("a", Truth::True, "done"), said("ReadyToApprove", Truth::True), said("a", Truth::False)}, kConditionsStart);
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(shown(claims), "a=Unknown:import ");
  EXPECT_EQ(claims[0].reason, "Imported");
  EXPECT_EQ(claims[0].message, "was True: done");
}

std::string shown(const Gates& gates) {
  std::string out;
  for (const ReadinessGate& one : gates) {
    out += one.type + "[";
    for (const std::string& source : one.sources) out += (out.ends_with('[') ? "" : ",") + source;
    out += "]" + (one.owner.empty() ? "" : "@" + one.owner) + " ";
  }
  return out;
}

GateWriter as(std::string_view source) {
  return {.source = std::string(source), .names = {std::string(source.substr(source.find(':') + 1))}};
}

TEST(PackageGates, a_gate_stays_while_somebody_asks_for_it) {
  Gates gates;
  add_gate(gates, "ipam", kUpstreamSource);
  add_gate(gates, "ipam", "policy:edge", "netops");
  add_gate(gates, "ipam", "policy:edge");
  add_gate(gates, "a", "user:alice");
  EXPECT_EQ(shown(gates), "a[user:alice] ipam[policy:edge,upstream]@netops ");
  const auto without = [](const Gates& all, const GateWriter& who) { return merge_gates(all, all, {all.front()}, who, "x"); };
  EXPECT_EQ(without(gates, as("user:alice")).error().causes.at(0).message,
            "Forbidden: is asked for by policy:edge, upstream; only they, or who may approve (update "
            "packagerevisions/approval), remove it");
  const auto less = without(gates, as("policy:edge"));
  ASSERT_TRUE(less.has_value());
  EXPECT_EQ(shown(*less), "a[user:alice] ipam[upstream]@netops ");
  EXPECT_EQ(shown(*without(*less, as(kUpstreamSource))), "a[user:alice] ");
  EXPECT_TRUE(needs_any_right(gates, gates, {gates.front()}, as("user:alice")));
  EXPECT_EQ(shown(*without(gates, {.source = "user:alice", .names = {"alice"}, .right = GateRight::Any})), "a[user:alice] ")
      << "who may approve drops any gate";
}

TEST(PackageGates, a_put_merges_by_type) {
  Gates base = gates_of(std::vector<std::string>{"render", "sec"}, kPackageSource);
  add_gate(base, "sec", "policy:p");
  Gates current = base;
  add_gate(current, "late", "user:bob");
  const Gates sent{{.type = "sec"}, {.type = "mine", .owner = "team"}};
  const auto merged = merge_gates(base, current, sent, as("user:alice"), "edge.a.v1");
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  EXPECT_EQ(shown(*merged), "late[user:bob] mine[user:alice]@team sec[package,policy:p] ");
  const auto taken = merge_gates(base, current, {{.type = "render"}}, as("user:alice"), "edge.a.v1");
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(shown(*taken), "late[user:bob] render[package] sec[policy:p] ");  // its share only
  const auto refused = merge_gates(*taken, *taken, {{.type = "render"}, {.type = "late"}}, as("user:alice"), "edge.a.v1");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "PackageRevision.porch.kpt.dev \"edge.a.v1\" is invalid: spec.readinessGates[sec]: Forbidden: is asked for by "
            "policy:p; only they, or who may approve (update packagerevisions/approval), remove it");
  EXPECT_FALSE(merge_gates({}, {}, {{.type = "ReadyToPropose"}}, as("user:alice"), "x").has_value());
  EXPECT_FALSE(merge_gates({}, {}, {{.type = ""}}, as("user:alice"), "x").has_value());
}

TEST(PackageGates, one_that_is_sent_twice_is_refused) {
  const auto refused =
      merge_gates({}, {}, {{.type = "a", .owner = "ann"}, {.type = "a", .owner = "bea"}}, as("user:x"), "edge.a.v1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().causes.at(0).message, "Duplicate value: \"a\"");
}

TEST(PackageGates, an_upgrade_changes_only_upstreams_share) {
  Gates upstream = gates_of(std::vector<std::string>{"ipam", "render"}, kPackageSource);
  add_gate(upstream, "sec", "user:vendor");
  Gates local = cloned(upstream);
  EXPECT_EQ(shown(local), "ipam[upstream] render[upstream] sec[upstream] ");
  add_gate(local, "xandar", "user:alice");
  add_gate(local, "ipam", "policy:p");
  const Gates next = gates_of(std::vector<std::string>{"render", "scan"}, kPackageSource);
  EXPECT_EQ(shown(upgraded(local, upstream, next)), "ipam[policy:p] render[upstream] scan[upstream] xandar[user:alice] ");
}

TEST(PackageGates, an_upgrade_leaves_what_was_dropped_and_keeps_what_was_changed_here) {
  Gates upstream = gates_of(std::vector<std::string>{"ipam", "sec"}, kPackageSource);
  add_gate(upstream, "sec", kPackageSource, "vendor");
  Gates local = cloned(upstream);
  local.erase(local.begin());
  local[0].owner = "netops";
  local[0].at = GateAt::Approve;
  Gates next = upstream;
  add_gate(next, "scan", kPackageSource);
  const Gates made = upgraded(local, upstream, next);
  EXPECT_EQ(shown(made), "scan[upstream] sec[upstream]@netops ");
  EXPECT_EQ(made.at(1).at, GateAt::Approve);
  EXPECT_EQ(shown(upgraded(local, {}, next)), "ipam[upstream] scan[upstream] sec[upstream]@vendor ")
      << "the old upstream did not have them: the new one asks for them";
}

TEST(PackageGates, owner_and_step_are_changed_by_their_owner_who_asked_or_who_may_approve) {
  Gates gates;
  add_gate(gates, "sec", "user:alice", "netops");
  Gates sent = gates;
  sent[0].owner = "bob";
  EXPECT_FALSE(merge_gates(gates, gates, sent, as("user:bob"), "x").has_value());
  for (const GateWriter& who : {as("user:alice"), GateWriter{.source = "user:carl", .names = {"carl", "netops"}},
                                GateWriter{.source = "user:ann", .names = {"ann"}, .right = GateRight::Any}}) {
    const auto made = merge_gates(gates, gates, sent, who, "x");
    ASSERT_TRUE(made.has_value()) << who.source;
    EXPECT_EQ(made->at(0).owner, "bob");
  }
  sent = gates;
  sent[0].at = GateAt::Propose;
  EXPECT_FALSE(merge_gates(gates, gates, sent, as("user:bob"), "x").has_value()) << "it would be asked less";
  // Who gives a gate of the package an owner asks for it: others cannot take it back.
  const Gates open = gates_of(std::vector<std::string>{"sec"}, kPackageSource);
  Gates owned = open;
  owned[0].owner = "netops";
  const auto made = merge_gates(open, open, owned, as("user:alice"), "x");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(shown(*merge_gates(*made, *made, {}, as("user:bob"), "x")), "sec[user:alice]@netops ");
}

TEST(PackageGates, each_step_asks_its_own) {
  Gates gates = gates_of(std::vector<std::string>{"both"}, kPackageSource);
  add_gate(gates, "first", "x", "", GateAt::Propose);
  add_gate(gates, "second", "x", "", GateAt::Approve);
  EXPECT_EQ(shown(gates_at(gates, Lifecycle::Draft)), "both[package] first[x] ");
  EXPECT_EQ(shown(gates_at(gates, Lifecycle::Proposed)), "both[package] second[x] ");
  EXPECT_EQ(gates_at(gates, Lifecycle::Published).size(), 3U);
}

TEST(PackageReadiness, the_punch_list_says_what_who_and_how_long) {
  Gates gates = gates_of(std::vector<std::string>{"a", "b", "c", "ipam"}, kPackageSource);
  add_gate(gates, "b", "policy:p", "team-b");
  Conditions conditions = set({{"x", said("a", Truth::True)}, {"x", said("other", Truth::False)}});
  set_condition(conditions, said("ipam", Truth::False, "no address left"), by("ipam", 0));
  const auto missing = unmet(gates, conditions, Now(kConditionsStart + std::chrono::minutes{3}));
  std::vector<std::string> texts;
  for (const Unmet& one : missing) texts.push_back(one.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"b has no condition yet (owner team-b)", "c has no condition yet",
                                             "ipam is False (owner ipam, for 3m): no address left"}));
  EXPECT_EQ(ready_text(gates, conditions), "1/4");
  EXPECT_FALSE(is_ready(gates, conditions));
  EXPECT_TRUE(is_ready({}, conditions));
  EXPECT_EQ(ready_text({}, conditions), "0/0");
  EXPECT_EQ(unmet_causes(missing)[1].message, "Forbidden: readiness conditions not met: c has no condition yet");
}

TEST(PackageReadiness, aggregates_say_which_step_is_next) {
  const auto told = [](Lifecycle lifecycle, const std::vector<Unmet>& missing, Render render) {
    std::string out;
    for (const Condition& one : aggregates(lifecycle, missing, render)) {
      out += fmt::format("{}={}/{} ", one.type, json::enum_name(one.status), one.reason);
    }
    return out;
  };
  const std::vector<Unmet> one{{.type = "a"}};
  EXPECT_EQ(told(Lifecycle::Draft, {}, Render::Passed), "ReadyToPropose=True/GatesMet ReadyToApprove=False/NotProposed ");
  EXPECT_EQ(told(Lifecycle::Draft, one, Render::Nothing), "ReadyToPropose=False/GatesUnmet ReadyToApprove=False/NotProposed ");
  EXPECT_EQ(told(Lifecycle::Draft, {}, Render::Failed), "ReadyToPropose=False/RenderFailed ReadyToApprove=False/NotProposed ");
  EXPECT_EQ(told(Lifecycle::Proposed, {}, Render::Passed), "ReadyToPropose=True/Proposed ReadyToApprove=True/GatesMet ");
  EXPECT_EQ(told(Lifecycle::Proposed, one, Render::Passed), "ReadyToPropose=True/Proposed ReadyToApprove=False/GatesUnmet ");
  EXPECT_EQ(told(Lifecycle::Published, one, Render::Passed), "");
}

}  // namespace
}  // namespace slipway::delivery::package
