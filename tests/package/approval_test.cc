// What is proposed and approved by itself, over real repositories.
#include <fmt/format.h>

#include "variant_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class Approvals : public Packages {
 public:
  void SetUp() override {
    Packages::SetUp();
    add_repository("edge", Deployment::Yes);
  }

  void policy(std::string_view spec, std::string_view name = "edge") {
    make(fmt::format("{{apiVersion: packages.slipway.dev/v1alpha1, kind: ApprovalPolicy, metadata: {{name: {}}}, spec: {}}}",
                     name, spec));
    advance(seconds{1});
  }
  /// A draft that asks to be proposed.
  std::string automatic(const std::string& workspace) {
    const std::string name = draft("edge", "web", workspace, {});
    patch(kHub, kRevisions, name, "{metadata: {annotations: {config.porch.kpt.dev/auto-lifecycle-mgmt: 'true'}}}");
    return name;
  }
  /// The answer to a person's vote: "" or the message of the refusal.
  std::string vote(const std::string& user, const std::string& name, std::string_view said) {
    client::Request request;
    request.verb = client::Verb::Update;
    request.resource = kRevisions;
    request.ns = "default";
    request.name = name;
    request.subresource = std::string(kVotes);
    request.user = std::make_shared<kube::UserInfo>(
        kube::UserInfo{.name = user, .uid = "", .groups = {"system:masters", "reviewers"}, .extra = {}});
    request.body = json::object({{"status", json::object({{"votes", json::array({json::parse_yaml(said).value()})}})}});
    const auto reply = env_->run(client(kHub).call(std::move(request)));
    return reply ? "" : reply.error().message;
  }
  void add_gate(const std::string& revision, const std::string& type) {
    change(revision, [&](const Value& one) {
      return one.with_path({"spec", "readinessGates"}, json::array({json::object({{"conditionType", type}})}));
    });
  }
};

TEST_F(Approvals, a_draft_that_asks_is_proposed_when_it_has_rested) {
  const std::string quiet = draft("edge", "other", "v1", {});
  const std::string name = automatic("v1");
  advance(seconds{4});
  EXPECT_EQ(lifecycle(name), "Draft");
  advance(seconds{2});
  EXPECT_EQ(lifecycle(name), "Proposed");
  advance(minutes{1});
  EXPECT_EQ(lifecycle(quiet), "Draft") << "nobody asked";
  EXPECT_EQ(lifecycle(name), "Proposed") << "without a policy a person approves";
}

TEST_F(Approvals, a_draft_that_asks_waits_for_its_gates) {
  const std::string name = draft("edge", "web", "v1", {});
  add_gate(name, "ipam");
  patch(kHub, kRevisions, name, "{metadata: {annotations: {config.porch.kpt.dev/auto-lifecycle-mgmt: 'true'}}}");
  advance(minutes{1});
  EXPECT_EQ(lifecycle(name), "Draft");
  say(name, "ipam", "True");
  advance(seconds{1});
  EXPECT_EQ(lifecycle(name), "Proposed");
}

TEST_F(Approvals, a_draft_that_was_sent_back_is_not_proposed_again_before_it_is_another) {
  const std::string name = draft("edge", "web", "v1", {});
  patch(kHub, kRevisions, name, "{metadata: {annotations: {config.porch.kpt.dev/auto-lifecycle-mgmt: 'true'}}}");
  advance(seconds{10});
  ASSERT_EQ(lifecycle(name), "Proposed");
  change(name, [](const Value& one) { return one.with_path({"spec", "lifecycle"}, "Draft"); });
  advance(minutes{2});
  EXPECT_EQ(lifecycle(name), "Draft");
  add_gate(name, "ipam");
  say(name, "ipam", "True");
  advance(seconds{10});
  EXPECT_EQ(lifecycle(name), "Proposed") << "its gates are others";
}

TEST_F(Approvals, the_owner_of_a_gate_gets_a_ticket_when_the_draft_has_rested) {
  patch(kHub, kRepositories, "edge", "{metadata: {annotations: {packages.slipway.dev/tickets: 'http://tickets.test/new'}}}");
  web_.replies = {{200, "{}"}};
  const std::string name = draft("edge", "web", "v1", {});
  const auto own = [&](const char* type) {
    change(name, [&](const Value& one) {
      return one.with_path({"spec", "readinessGates"},
                           json::array({json::object({{"conditionType", type}, {"owner", "netops"}}),
                                        json::object({{"conditionType", "render"}})}));
    });
  };
  own("ticket");
  advance(seconds{50});
  EXPECT_TRUE(web_.calls.empty()) << "it may be edited still";
  advance(seconds{30});
  ASSERT_EQ(web_.calls.size(), 1u) << "only gates with an owner";
  EXPECT_EQ(web_.calls[0].url, "http://tickets.test/new");
  EXPECT_TRUE(web_.calls[0].body.contains("package revision edge.web.v1 waits for netops: ticket")) << web_.calls[0].body;
  EXPECT_EQ(condition(name, "ticket"), "Unknown TicketSent");
  advance(minutes{10});
  EXPECT_EQ(web_.calls.size(), 1u) << "once for a content";
  edit(name, [](Files& files) { files["notes.txt"] = "more\n"; });
  advance(minutes{2});
  EXPECT_EQ(web_.calls.size(), 2u);
  say(name, "ticket", "True", "bob");
  advance(minutes{2});
  EXPECT_EQ(web_.calls.size(), 2u);
  EXPECT_EQ(condition(name, "ticket"), "True Said");
}

TEST_F(Approvals, gates_that_wait_already_are_told_when_the_repository_says_where) {
  web_.replies = {{200, "{}"}};
  const std::string name = draft("edge", "web", "v1", {});
  change(name, [&](const Value& one) {
    return one.with_path({"spec", "readinessGates"},
                         json::array({json::object({{"conditionType", "ticket"}, {"owner", "netops"}})}));
  });
  advance(minutes{5});
  EXPECT_TRUE(web_.calls.empty()) << "nowhere to tell it";
  patch(kHub, kRepositories, "edge", "{metadata: {annotations: {packages.slipway.dev/tickets: 'http://tickets.test/new'}}}");
  advance(seconds{5});
  EXPECT_EQ(web_.calls.size(), 1u);
  EXPECT_EQ(condition(name, "ticket"), "Unknown TicketSent");
}

TEST_F(Approvals, a_ticket_that_was_refused_is_sent_again) {
  patch(kHub, kRepositories, "edge", "{metadata: {annotations: {packages.slipway.dev/tickets: 'http://tickets.test/new'}}}");
  web_.replies = {{503}, {200, "{}"}};
  const std::string name = draft("edge", "web", "v1", {});
  change(name, [&](const Value& one) {
    return one.with_path({"spec", "readinessGates"},
                         json::array({json::object({{"conditionType", "ticket"}, {"owner", "netops"}})}));
  });
  ASSERT_TRUE(until([&] { return condition(name, "ticket") == "Unknown TicketSent"; }, minutes{10}));
  EXPECT_EQ(web_.calls.size(), 2u);
}

TEST_F(Approvals, initial_approves_the_first_revision_and_no_other) {
  policy("{approve: initial}");
  const std::string first = automatic("v1");
  ASSERT_TRUE(until([&] { return lifecycle(first) == "Published"; }, minutes{1}));
  const std::string second = automatic("v2");
  advance(minutes{1});
  EXPECT_EQ(lifecycle(second), "Proposed");
}

TEST_F(Approvals, always_approves_what_it_selects_and_the_log_knows_why) {
  policy("{approve: always, selector: {matchLabels: {risk: low}}}");
  const std::string name = automatic("v1");
  advance(minutes{1});
  EXPECT_EQ(lifecycle(name), "Proposed");
  patch(kHub, kRevisions, name, "{metadata: {labels: {risk: low}}}");
  ASSERT_TRUE(until([&] { return lifecycle(name) == "Published"; }, minutes{1}));
  const Value approval = get(kHub, kRecords, name)["spec"]["approval"];
  EXPECT_EQ(json::print(approval["policyNames"]), R"(["edge@1"])");
  EXPECT_EQ(approval["approver"].as_string(), "slipway-package-approval");
}

TEST_F(Approvals, each_policy_that_selects_it_must_agree) {
  policy("{approve: always}");
  policy("{approve: initial, repositories: [edge]}", "first");
  const std::string first = automatic("v1");
  ASSERT_TRUE(until([&] { return lifecycle(first) == "Published"; }, minutes{1}));
  const std::string second = automatic("v2");
  advance(minutes{1});
  EXPECT_EQ(lifecycle(second), "Proposed");
}

TEST_F(Approvals, people_approve_when_enough_of_them_have_said_yes) {
  policy("{approve: people, people: {count: 2, groups: [reviewers]}}");
  const std::string name = draft("edge", "web", "v1", {});
  EXPECT_NE(vote("alice", name, "{decision: approve}"), "") << "it is no proposal";
  propose(name);
  EXPECT_EQ(vote("alice", name, "{decision: approve}"), "");
  EXPECT_EQ(vote("alice", name, "{decision: approve, comment: again}"), "");
  EXPECT_NE(vote("bob", name, "{decision: approve, digest: 'sha256:0'}"), "") << "of another content";
  advance(minutes{1});
  EXPECT_EQ(lifecycle(name), "Proposed");
  EXPECT_EQ(revision(name)["status"]["votes"].size(), 1u);
  EXPECT_EQ(vote("bob", name, "{decision: approve}"), "");
  EXPECT_TRUE(until([&] { return lifecycle(name) == "Published"; }, minutes{1}));
  EXPECT_EQ(json::print(get(kHub, kRecords, name)["spec"]["approval"]["people"]), R"(["alice","bob"])");
}

TEST_F(Approvals, a_no_sends_it_back_and_an_author_does_not_count) {
  policy("{approve: people, people: {count: 1, byAuthor: false}}");
  const std::string name = draft("edge", "web", "v1", {});
  propose(name);
  EXPECT_EQ(vote("tester", name, "{decision: approve}"), "") << "who proposed it";
  advance(minutes{1});
  EXPECT_EQ(lifecycle(name), "Proposed");
  EXPECT_EQ(vote("bob", name, "{decision: reject, comment: not now}"), "");
  EXPECT_TRUE(until([&] { return lifecycle(name) == "Draft"; }, minutes{1}));
}

TEST_F(Approvals, nothing_is_approved_outside_its_windows) {
  // It is midnight; the window opens at two.
  policy("{approve: always, windows: [{name: night, rrule: 'FREQ=DAILY;BYHOUR=2;BYMINUTE=0', duration: 1h}]}");
  const std::string name = automatic("v1");
  advance(hours{1});
  EXPECT_EQ(lifecycle(name), "Proposed");
  advance(hours{1} + minutes{1});
  EXPECT_EQ(lifecycle(name), "Published");
}

TEST_F(Approvals, a_policy_that_cannot_be_followed_holds_up_what_it_means) {
  policy("{approve: always}");
  policy("{approve: always, windows: [{name: w, rrule: 'FREQ=DAILY', timeZone: Mars/Base}]}", "broken");
  EXPECT_EQ(condition_in(get(kHub, kApprovalPolicies, "broken"), "Ready"), "False Invalid");
  EXPECT_EQ(condition_in(get(kHub, kApprovalPolicies, "edge"), "Ready"), "True Valid");
  const std::string name = automatic("v1");
  advance(minutes{1});
  EXPECT_EQ(lifecycle(name), "Proposed");
}

TEST_F(Approvals, proposed_deletions_are_carried_out_where_the_policy_says_so) {
  policy("{approve: always, deletions: true}");
  const std::string name = automatic("v1");
  ASSERT_TRUE(until([&] { return lifecycle(name) == "Published"; }, minutes{1}));
  change(name, [](const Value& one) { return one.with_path({"spec", "lifecycle"}, "DeletionProposed"); });
  EXPECT_TRUE(until([&] { return lifecycle(name).empty(); }, minutes{1}));
}

}  // namespace
}  // namespace slipway::package_test
