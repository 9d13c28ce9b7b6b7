// Tickets are answered: by the command that they name, or by a signed call of the system that took them.
#include <fmt/format.h>

#include "base/digest.h"
#include "base/mac.h"
#include "delivery/package/ticket_answer.h"
#include "delivery/probe/signed_call.h"
#include "variant_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class Tickets : public Packages {
 public:
  void SetUp() override {
    Packages::SetUp();
    add_repository("edge", Deployment::Yes);
    make(fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: desk}}, data: {{address: {}, hmac-key: {}}}}}",
                     base64_encode("http://tickets.test/new"), base64_encode("the key")));
    patch(kHub, kRepositories, "edge",
          "{metadata: {annotations: {packages.slipway.dev/tickets: 'secret:desk', packages.slipway.dev/answer-address: "
          "'https://slipway.test:6443/'}}}");
    web_.replies = {{200, "{}"}};
  }
  /// A draft with an open ticket.
  std::string ticketed() {
    const std::string name = draft("edge", "web", "v1", {});
    change(name, [](const Value& one) {
      return one.with_path({"spec", "readinessGates"},
                           json::array({json::object({{"conditionType", "sec"}, {"owner", "netops"}})}));
    });
    EXPECT_TRUE(until([&] { return condition(name, "sec") == "Unknown TicketSent"; }, minutes{10}));
    return name;
  }
  int answer(const std::string& name, const std::string& body, std::string_view key = "the key",
             std::string nonce = "nonce-0001") {
    http::Request request{.method = "POST", .target = "/tickets/default/" + name, .headers = {}, .body = body};
    const std::string timestamp =
        std::to_string(std::chrono::floor<std::chrono::seconds>(env_->env().clock.now()).time_since_epoch().count());
    request.headers.add("X-Slipway-Timestamp", timestamp);
    request.headers.add("X-Slipway-Nonce", nonce);
    request.headers.add("X-Signature",
                        "sha256=" + hmac_hex(MacHash::Sha256, key,
                                             delivery::probe::signed_text("POST", request.target, timestamp, nonce, body)));
    const std::vector<client::HttpPath> paths = ticket_paths();
    auto answered = env_->run(paths.front().run({env_->env(), client(kHub)}, request, nullptr));
    said_ = answered ? "" : answered.error().message;
    return answered ? answered->status : http_code(answered.error().reason);
  }
  std::string body(const std::string& name, const std::string& status) {
    return fmt::format(R"({{"gate": "sec", "status": "{}", "digest": "{}", "message": "ann looked at it"}})", status,
                       get(kHub, kRevisions, name)["status"]["digest"].as_string());
  }

 protected:
  std::string said_;
};

TEST_F(Tickets, a_ticket_names_the_command_and_the_link_that_answer_it) {
  const std::string name = ticketed();
  ASSERT_EQ(web_.calls.size(), 1U);
  const std::string& sent = web_.calls[0].body;
  EXPECT_TRUE(sent.contains("slipway pkg condition set edge.web.v1 sec=True -n default")) << sent;
  EXPECT_TRUE(sent.contains("https://slipway.test:6443/tickets/default/edge.web.v1")) << sent;
}

TEST_F(Tickets, a_signed_answer_resolves_the_condition_once) {
  const std::string name = ticketed();
  const std::string yes = body(name, "True");
  EXPECT_EQ(answer(name, yes, "another key"), 401) << said_;
  EXPECT_EQ(answer("edge.none.v1", yes), 401) << said_;
  EXPECT_EQ(condition(name, "sec"), "Unknown TicketSent");
  EXPECT_EQ(answer(name, yes), 204) << said_;
  EXPECT_EQ(condition(name, "sec"), "True Answered");
  const Value said = kube::condition(get(kHub, kRevisions, name), "sec");
  EXPECT_EQ(said["owner"], Value("hook:desk"));
  EXPECT_EQ(said["message"], Value("ann looked at it"));
  EXPECT_EQ(answer(name, yes), 409) << "the same call again";
  EXPECT_EQ(answer(name, body(name, "False"), "the key", "nonce-0002"), 409) << "there is no open ticket";
  EXPECT_EQ(condition(name, "sec"), "True Answered");
}

TEST_F(Tickets, a_key_answers_only_while_its_last_writer_may_approve) {
  make(
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: alice}, roleRef: {apiGroup: "
      "rbac.authorization.k8s.io, kind: ClusterRole, name: edit}, subjects: [{kind: User, apiGroup: "
      "rbac.authorization.k8s.io, name: alice}]}");
  const auto write_key = [&](const std::string& user, const std::string& group, std::string_view key) {
    client::Request request;
    request.verb = client::Verb::Patch;
    request.resource = {"", "v1", "secrets"};
    request.ns = "default";
    request.name = "desk";
    request.patch_type = client::PatchType::Merge;
    request.body = json::object({{"data", json::object({{"hmac-key", base64_encode(key)}})}});
    request.user = std::make_shared<const kube::UserInfo>(
        kube::UserInfo{.name = user, .uid = "", .groups = {group, "system:authenticated"}, .extra = {}});
    const auto written = env_->run(client(kHub).call(std::move(request)));
    EXPECT_TRUE(written) << (written ? "" : written.error().message);
  };
  const std::string name = ticketed();
  const std::string yes = body(name, "True");
  write_key("alice", "devs", "alices key");
  EXPECT_EQ(answer(name, yes, "alices key"), 403);
  EXPECT_EQ(said_,
            "hmac-key of Secret default/desk was last written by alice, who may not update packagerevisions/approval in "
            "namespace default: have a user who may write a new key");
  EXPECT_EQ(condition(name, "sec"), "Unknown TicketSent");
  write_key("ann", "system:masters", "anns key");
  EXPECT_EQ(answer(name, yes, "anns key", "nonce-0002"), 204) << said_;
}

TEST_F(Tickets, an_answer_about_another_content_is_none) {
  const std::string name = ticketed();
  const std::string yes = body(name, "True");
  edit(name, [](Files& files) { files["notes.txt"] = "more\n"; });
  EXPECT_EQ(answer(name, yes), 409) << said_;
  EXPECT_TRUE(until([&] { return condition(name, "sec") == "Unknown TicketSent"; }, minutes{10}));
  EXPECT_EQ(answer(name, yes, "the key", "nonce-0003"), 409) << said_;
  EXPECT_EQ(answer(name, body(name, "False"), "the key", "nonce-0004"), 204) << said_;
  EXPECT_EQ(condition(name, "sec"), "False Answered");
}

}  // namespace
}  // namespace slipway::package_test
