// Every code of the webhooks, over a server in virtual time. The calls are made as Flux and CI make them.
#include "delivery/pipeline/hooks.h"

#include "base/digest.h"
#include "base/mac.h"
#include "base/text.h"
#include "delivery/pipeline/own_kinds.h"
#include "delivery/pipeline/used_nonces.h"
#include "log_fixture.h"

namespace slipway::pipeline_log_test {
namespace {

using namespace delivery::pipeline;  // NOLINT: the room under test

class HookTest : public LogTest {
 public:
  void SetUp() override {
    LogTest::SetUp();
    make_pipeline();
    for (const auto& [name, key] : {std::pair{"hooks", "all-key"}, std::pair{"dev-key", "dev-secret"}}) {
      create({"", "v1", "secrets"},
             fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: {}, namespace: apps}}, data: "
                         "{{hmac-key: {}}}}}",
                         name, base64_encode(key)));
    }
  }

 protected:
  http::Response call(http::Request request) {
    for (const client::HttpPath& path : paths_) {
      if (!path.covers(std::string_view(request.target).substr(0, request.target.find('?')))) continue;
      auto answer = run(path.run({env(), server()}, request, nullptr));
      if (answer) return std::move(*answer);
      http::Response refused;
      refused.status = http_code(answer.error().reason);
      refused.body = answer.error().message;
      return refused;
    }
    ADD_FAILURE() << "no path covers " << request.target;
    return {};
  }
  static http::Request post(std::string target, std::string body) {
    return {.method = "POST", .target = std::move(target), .headers = {}, .body = std::move(body)};
  }
  /// As Flux's provider generic-hmac.
  static http::Request flux(std::string target, std::string body, std::string_view key = "dev-secret") {
    http::Request request = post(std::move(target), std::move(body));
    request.headers.add("X-Signature", "sha256=" + hmac_hex(MacHash::Sha256, key, request.body));
    return request;
  }
  /// As CI signs.
  http::Request ci(std::string target, std::string body, std::string nonce, std::string_view key = "all-key",
                   Duration skew = Duration{0}) {
    http::Request request = post(std::move(target), std::move(body));
    const std::string timestamp =
        std::to_string(std::chrono::floor<std::chrono::seconds>(now() + skew).time_since_epoch().count());
    request.headers.add("X-Slipway-Timestamp", timestamp);
    request.headers.add("X-Slipway-Nonce", nonce);
    request.headers.add(
        "X-Signature",
        "sha512=" + hmac_hex(MacHash::Sha512, key, signed_text("POST", request.target, timestamp, nonce, request.body)));
    return request;
  }
  int status_of(http::Request request) { return call(std::move(request)).status; }
  std::string hint() { return std::string(kube::annotation(get(kPipelines, "podinfo"), kHookAnnotation)); }

  std::vector<client::HttpPath> paths_ = hook_paths(std::make_shared<HookMemory>());
};

constexpr const char* kDev = "/promotion/apps/podinfo/dev";

std::string event(std::string_view object = "", std::string_view metadata = R"("revision": "6.1.6")") {
  return fmt::format(
      R"({{"involvedObject": {}, "severity": "info", "reason": "UpgradeSucceeded", "metadata": {{{}}}}})",
      object.empty()
          ? R"({"apiVersion": "helm.toolkit.fluxcd.io/v2beta1", "kind": "HelmRelease", "name": "podinfo", "namespace": "dev"})"
          : object,
      metadata);
}

TEST_F(HookTest, an_event_of_flux_is_a_hint_that_is_written_on_the_pipeline) {
  const http::Response answer = call(flux(kDev, event()));
  EXPECT_EQ(answer.status, 204) << answer.body;
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(hint(), to_rfc3339(now()) + " dev 6.1.6");
  EXPECT_TRUE(list(kReleases).empty()) << "state decides";
  EXPECT_EQ(status_of(flux(kDev, event("", R"("helm.toolkit.fluxcd.io/revision": "6.1.7")"))), 204);
  EXPECT_EQ(hint(), to_rfc3339(now()) + " dev 6.1.7");
}

TEST_F(HookTest, signatures_are_of_any_sha2_and_of_the_key_of_the_environment) {
  for (const auto& [name, hash] : {std::pair{"sha224", MacHash::Sha224}, std::pair{"sha256", MacHash::Sha256},
                                   std::pair{"sha384", MacHash::Sha384}, std::pair{"sha512", MacHash::Sha512}}) {
    http::Request request = post(kDev, event());
    request.headers.add("X-Signature", fmt::format("{}={}", name, hmac_hex(hash, "dev-secret", request.body)));
    EXPECT_EQ(status_of(request), 204) << name;
  }
  EXPECT_EQ(status_of(flux(kDev, event(), "all-key")), 401) << "dev names a Secret of its own";
  EXPECT_EQ(
      status_of(flux(
          "/promotion/apps/podinfo/stage",
          event(
              R"({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": "podinfo", "namespace": "stage-eu"})"),
          "all-key")),
      204)
      << "stage has the pipeline's";
}

TEST_F(HookTest, what_is_not_signed_is_refused) {
  EXPECT_EQ(status_of(post(kDev, event())), 401);
  for (const char* bad : {"", "sha256=", "sha256=00", "sha1=00", "none", "=", "sha256"}) {
    http::Request request = post(kDev, event());
    request.headers.add("X-Signature", bad);
    EXPECT_EQ(status_of(request), 401) << bad;
  }
  http::Request other = flux(kDev, event());
  other.body += " ";
  EXPECT_EQ(status_of(other), 401);
  EXPECT_EQ(hint(), "");
}

TEST_F(HookTest, without_a_key_nothing_is_taken) {
  remove({"", "v1", "secrets"}, "dev-key");
  const http::Response gone = call(flux(kDev, event()));
  EXPECT_EQ(gone.status, 401);
  create({"", "v1", "secrets"},
         "{apiVersion: v1, kind: Secret, metadata: {name: dev-key, namespace: apps}, data: {hmac-key: \"\"}}");
  EXPECT_EQ(status_of(flux(kDev, event(), "")), 401) << "an empty key is none";
  create(kPipelines, R"(
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: open, namespace: apps}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: podinfo}
  environments: [{name: dev, targets: [{namespace: dev}]}, {name: prod, targets: [{namespace: prod}]}]
)");
  const http::Response unnamed = call(flux("/promotion/apps/open/dev", event()));
  EXPECT_EQ(unnamed.status, 401);
  // Strangers learn nothing of what there is: one answer to all.
  const http::Response unknown = call(flux("/promotion/apps/nobody/dev", event()));
  const http::Response unsigned_call = call(post("/promotion/apps/podinfo/stage", event()));
  for (const http::Response* one : {&gone, &unnamed, &unknown, &unsigned_call}) {
    EXPECT_EQ(one->status, 401);
    EXPECT_EQ(one->body, "the call is not signed with a key that is known here for this path");
  }
}

TEST_F(HookTest, paths_match_as_a_whole_and_are_only_posted_to) {
  for (const char* path :
       {"/promotion", "/promotion/apps/podinfo", "/promotion/apps/podinfo/dev/", "/promotion/apps/podinfo/dev/x",
        "/promotion//podinfo/dev", "/promotion/apps/podinfo/%zz", "/promotion/apps/podinfo/a%00b", "/release/apps",
        "/release/apps/podinfo/x", "/approval/apps/podinfo/prod"}) {
    EXPECT_EQ(status_of(flux(path, event())), 404) << path;
  }
  EXPECT_EQ(status_of(flux("/promotion/apps/podinfo/d%65v?x=y", event())), 204);
  for (const client::HttpPath& path : paths_) EXPECT_EQ(path.methods, std::vector<std::string>{"POST"}) << "405 for others";
}

TEST_F(HookTest, bodies_that_are_no_events_are_400) {
  for (const char* body : {"", "{", "[]", "\"x\"", "{\"a\": 1, \"a\": 2}"}) {
    EXPECT_EQ(status_of(flux(kDev, body)), 400) << body;
  }
}

TEST_F(HookTest, events_that_do_not_fit_are_422_and_say_why) {
  const auto object = [](std::string_view api, std::string_view kind, std::string_view name, std::string_view ns) {
    return fmt::format(R"({{"apiVersion": "{}", "kind": "{}", "name": "{}", "namespace": "{}"}})", api, kind, name, ns);
  };
  const std::string api = "helm.toolkit.fluxcd.io/v2";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {event(object(api, "Kustomization", "podinfo", "dev")), "involvedObject.kind"},
      {event(object(api, "HelmRelease", "other", "dev")), "involvedObject.name"},
      {event(object(api, "HelmRelease", "podinfo", "prod")), "involvedObject.namespace"},
      {event(object("apps/v1", "HelmRelease", "podinfo", "dev")), "involvedObject.apiVersion"},
      {event(object("", "HelmRelease", "podinfo", "dev")), "involvedObject.apiVersion"},
      {event("null"), "involvedObject"},
      {event("", ""), "metadata.revision"},
      {event("", R"("revision": "")"), "metadata.revision"},
      {event("", R"("revision": "a b")"), "metadata.revision"},
      {event("", fmt::format(R"("revision": "{}")", std::string(300, 'x'))), "metadata.revision"}};
  for (const auto& [body, field] : rows) {
    advance(std::chrono::minutes{1});
    const http::Response answer = call(flux(kDev, body));
    EXPECT_EQ(answer.status, 422) << body;
    EXPECT_TRUE(answer.body.starts_with(field)) << answer.body;
  }
  EXPECT_EQ(status_of(flux("/promotion/apps/podinfo/prod", event(object(api, "HelmRelease", "podinfo", "prod")), "all-key")),
            422)
      << "the last environment";
  EXPECT_EQ(status_of(flux("/promotion/apps/podinfo/nowhere", event(), "all-key")), 422);
  EXPECT_EQ(hint(), "");
}

TEST_F(HookTest, calls_of_a_pipeline_are_limited_and_strangers_do_not_count) {
  for (int i = 0; i < 50; ++i) EXPECT_EQ(status_of(post(kDev, event())), 401);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status_of(flux(kDev, event())), 204) << i;
  EXPECT_EQ(status_of(flux(kDev, event())), 429);
  advance(std::chrono::seconds{31});
  EXPECT_EQ(status_of(flux(kDev, event())), 204);
}

class ApprovalHookTest : public HookTest {
 public:
  void SetUp() override {
    HookTest::SetUp();
    create(kReleases, R"(
{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Release, metadata: {name: podinfo-r1, namespace: apps},
 spec: {pipeline: podinfo, version: 6.1.6}}
)");
    const Value status = yaml("{status: {environments: {prod: {waitingApproval: {revision: 6.1.6}}}}}");
    const auto written = run(client::merge_patch(server(), kPipelines, {"apps", "podinfo"}, status, "tester", "status"));
    ASSERT_TRUE(written) << written.error().message;
  }

 protected:
  static constexpr const char* kPath = "/approval/apps/podinfo/prod/6.1.6";
};

TEST_F(ApprovalHookTest, makes_an_approval_by_the_name_of_the_key) {
  const http::Response answer = call(ci(kPath, R"({"comment": "tests passed"})", "nonce-0001"));
  EXPECT_EQ(answer.status, 201) << answer.body;
  const std::vector<Object> made = list(kApprovals);
  ASSERT_EQ(made.size(), 1U);
  const auto spec = json::decode<ApprovalSpec>(made[0]["spec"]);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->release, "podinfo-r1");
  EXPECT_EQ(spec->environment, "prod");
  EXPECT_EQ(spec->decision, "approve");
  EXPECT_EQ(spec->comment, "tests passed");
  ASSERT_TRUE(spec->by);
  EXPECT_EQ(spec->by->user, "hook:hooks");
  EXPECT_EQ(answer.headers.get("Location"),
            fmt::format("/apis/pipelines.slipway.dev/v1alpha1/namespaces/apps/approvals/{}", kube::name(made[0])));
}

TEST_F(ApprovalHookTest, a_call_is_taken_once_even_over_a_restart) {
  const http::Request request = ci(kPath, "", "nonce-0001");
  EXPECT_EQ(status_of(request), 201);
  EXPECT_EQ(status_of(request), 401);
  paths_ = hook_paths(std::make_shared<HookMemory>());
  EXPECT_EQ(status_of(request), 401) << "its nonce is written on the Pipeline";
  remove(kApprovals, std::string(kube::name(list(kApprovals).at(0))));
  EXPECT_EQ(status_of(request), 401) << "taken back is taken back";
  EXPECT_TRUE(list(kApprovals).empty());
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0002")), 201);
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0003")), 201);
  EXPECT_EQ(list(kApprovals).size(), 2U) << "one person for all rules that count people";
}

TEST_F(ApprovalHookTest, a_nonce_is_kept_as_long_as_its_call_is_in_time) {
  const http::Request early = ci(kPath, "", "nonce-0001", "all-key", std::chrono::minutes{4});
  EXPECT_EQ(status_of(early), 201);
  const auto kept = [&] { return std::string(kube::annotation(get(kPipelines, "podinfo"), kNoncesAnnotation)); };
  EXPECT_EQ(kept(), fmt::format("{}@{}", sha256_hex("nonce-0001").substr(0, 16),
                                std::chrono::floor<std::chrono::seconds>(now()).time_since_epoch().count() + 9 * 60));
  advance(std::chrono::minutes{8});
  EXPECT_EQ(status_of(early), 401) << "in time, and used";
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0002")), 201);
  advance(std::chrono::minutes{2});
  EXPECT_EQ(status_of(early), 401) << "too old";
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0003")), 201);
  EXPECT_EQ(split(kept(), ' ').size(), 2U) << "those of old calls are dropped";
}

TEST_F(ApprovalHookTest, of_two_processes_one_takes_a_call) {
  const http::Request request = ci(kPath, "", "nonce-0001");
  std::vector<int> codes;
  const auto one = [&]() -> Task<> {
    auto paths = hook_paths(std::make_shared<HookMemory>());
    for (const client::HttpPath& path : paths) {
      if (!path.covers(request.target)) continue;
      const auto answer = co_await path.run({env(), server()}, request, nullptr);
      codes.push_back(answer ? answer->status : http_code(answer.error().reason));
    }
  };
  const auto two = [&]() -> Task<> {
    Tasks calls(env());
    calls.spawn(one());
    calls.spawn(one());
    co_await calls.join();
  };
  run(two());
  std::ranges::sort(codes);
  EXPECT_EQ(codes, (std::vector{201, 401}));
}

TEST_F(ApprovalHookTest, old_early_and_changed_calls_are_refused) {
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0001", "all-key", -std::chrono::minutes{6})), 401);
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0002", "all-key", std::chrono::minutes{6})), 401);
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0003", "dev-secret")), 401);
  EXPECT_EQ(status_of(ci(kPath, "", "short")), 401);
  EXPECT_EQ(status_of(ci(kPath, "", "has blanks in it")), 401);
  EXPECT_EQ(status_of(flux(kPath, "", "all-key")), 401) << "a signature of the body alone";
  http::Request elsewhere = ci("/approval/apps/podinfo/stage/6.1.6", "", "nonce-0004");
  elsewhere.target = kPath;
  EXPECT_EQ(status_of(elsewhere), 401) << "the path is signed";
  http::Request body = ci(kPath, R"({"decision": "reject"})", "nonce-0005");
  body.body = R"({"decision": "approve"})";
  EXPECT_EQ(status_of(body), 401);
  http::Request nonce = ci(kPath, "", "nonce-0006");
  nonce.headers.set("X-Slipway-Nonce", "nonce-0007");
  EXPECT_EQ(status_of(nonce), 401);
  http::Request time = ci(kPath, "", "nonce-0008");
  time.headers.set("X-Slipway-Timestamp", "tomorrow");
  EXPECT_EQ(status_of(time), 401);
  EXPECT_TRUE(list(kApprovals).empty());
}

TEST_F(ApprovalHookTest, only_what_waits_is_approved) {
  EXPECT_EQ(status_of(ci("/approval/apps/podinfo/prod/6.1.5", "", "nonce-0001")), 422) << "another revision";
  EXPECT_EQ(status_of(ci("/approval/apps/podinfo/stage/6.1.6", "", "nonce-0002")), 422) << "nothing waits";
  EXPECT_EQ(status_of(ci("/approval/apps/podinfo/nowhere/6.1.6", "", "nonce-0003")), 422);
  EXPECT_EQ(status_of(ci(kPath, R"({"decision": "maybe"})", "nonce-0004")), 422);
  EXPECT_EQ(status_of(ci(kPath, R"({"by": "me"})", "nonce-0005")), 422) << "nobody says who they are";
  EXPECT_EQ(status_of(ci(kPath, "{", "nonce-0006")), 400);
  remove(kReleases, "podinfo-r1");
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0007")), 422) << "no such release";
}

/// As a user; "system:masters" may do everything.
class KeyWriterTest : public ApprovalHookTest {
 public:
  void SetUp() override {
    ApprovalHookTest::SetUp();
    create({"rbac.authorization.k8s.io", "v1", "rolebindings"},
           "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: alice, namespace: apps}, roleRef: "
           "{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}, subjects: [{kind: User, apiGroup: "
           "rbac.authorization.k8s.io, name: alice}]}");
  }

 protected:
  void write_key(const std::string& user, const std::string& group, std::string_view key, client::Verb verb) {
    client::Request request;
    request.verb = verb;
    request.resource = kSecrets;
    request.ns = "apps";
    request.name = verb == client::Verb::Create ? "" : "hooks";
    request.patch_type = client::PatchType::Merge;
    request.body =
        yaml(fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: hooks, namespace: apps, annotations: "
                         "{{slipway.dev/hmac-key-author: root}}}}, stringData: {{hmac-key: {}}}}}",
                         key));
    request.user = std::make_shared<const kube::UserInfo>(
        kube::UserInfo{.name = user, .uid = "", .groups = {group, "system:authenticated"}, .extra = {}});
    const auto written = run(server().call(std::move(request)));
    EXPECT_TRUE(written) << (written ? "" : written.error().message);
  }
  static inline const kube::Resource kSecrets{"", "v1", "secrets"};
};

TEST_F(KeyWriterTest, a_key_approves_only_while_its_last_writer_may) {
  write_key("alice", "devs", "alices-key", client::Verb::Patch);
  const http::Response refused = call(ci(kPath, "", "nonce-0001", "alices-key"));
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_EQ(refused.body,
            "hmac-key of Secret apps/hooks was last written by alice, who may not create approvals.pipelines.slipway.dev in "
            "namespace apps: have a user who may write a new key");
  remove(kSecrets, "hooks");
  write_key("alice", "devs", "alices-key", client::Verb::Create);
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0002", "alices-key")), 403) << "created again";
  EXPECT_TRUE(list(kApprovals).empty());
  EXPECT_EQ(status_of(ci("/release/apps/podinfo", R"({"version": "6.2.0"})", "nonce-0003", "alices-key")), 201)
      << "an announcement approves nothing";
  write_key("ann", "system:masters", "anns-key", client::Verb::Patch);
  EXPECT_EQ(status_of(ci(kPath, "", "nonce-0004", "anns-key")), 201);
}

constexpr const char* kRelease = "/release/apps/podinfo";

TEST_F(HookTest, ci_announces_a_release_with_the_time_of_its_artifact) {
  const std::string body =
      R"({"version": "6.2.0", "digest": "sha256:abc", "commit": "c0ffee", "created": "2025-12-31T23:00:00Z", "images": ["b:1", "a:1"]})";
  const http::Response answer = call(ci(kRelease, body, "nonce-0001"));
  EXPECT_EQ(answer.status, 201) << answer.body;
  const std::vector<Object> made = list(kReleases);
  ASSERT_EQ(made.size(), 1U);
  const auto spec = json::decode<ReleaseSpec>(made[0]["spec"]);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->version, "6.2.0");
  EXPECT_EQ(spec->artifact_created, *parse_rfc3339("2025-12-31T23:00:00Z"));
  EXPECT_EQ(spec->images, (std::vector<std::string>{"a:1", "b:1"}));
  EXPECT_EQ(spec->notes.at("announced-by"), "hook:hooks");
  EXPECT_EQ(status_of(ci(kRelease, body, "nonce-0002")), 200) << "it is there";
  EXPECT_EQ(list(kReleases).size(), 1U);
  EXPECT_EQ(told(), std::vector<std::string>{"released 6.2.0"});
}

TEST_F(HookTest, a_release_that_was_seen_before_it_was_announced_learns_when_it_was_made) {
  const ReleaseSpec seen{.pipeline = "podinfo", .version = "6.2.0", .digest = "sha256:abc", .environment = "dev"};
  create(kReleases,
         fmt::format("{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Release, metadata: {{name: {}, namespace: "
                     "apps}}, spec: {{pipeline: podinfo, version: 6.2.0, digest: \"sha256:abc\", environment: dev}}}}",
                     release_name("podinfo", kube::uid(get(kPipelines, "podinfo")), seen)));
  EXPECT_EQ(status_of(ci(kRelease, R"({"version": "6.2.0", "digest": "sha256:abc", "created": "2025-12-31T23:00:00Z"})",
                         "nonce-0001")),
            200);
  EXPECT_EQ(kube::annotation(list(kReleases).at(0), kArtifactCreatedAnnotation), "2025-12-31T23:00:00Z");
}

TEST_F(HookTest, an_announcement_without_a_digest_is_of_the_release_that_was_seen) {
  const ReleaseSpec seen{.pipeline = "podinfo", .version = "6.2.0", .digest = "sha256:abc", .environment = "dev"};
  create(kReleases,
         fmt::format("{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Release, metadata: {{name: {}, namespace: "
                     "apps}}, spec: {{pipeline: podinfo, version: 6.2.0, digest: \"sha256:abc\", environment: dev}}}}",
                     release_name("podinfo", kube::uid(get(kPipelines, "podinfo")), seen)));
  EXPECT_EQ(status_of(ci(kRelease, R"({"version": "6.2.0", "created": "2025-12-31T23:00:00Z"})", "nonce-0001")), 200);
  ASSERT_EQ(list(kReleases).size(), 1U);
  EXPECT_EQ(kube::annotation(list(kReleases).at(0), kArtifactCreatedAnnotation), "2025-12-31T23:00:00Z");
  EXPECT_EQ(status_of(ci(kRelease, R"({"version": "6.2.0", "digest": "sha256:def"})", "nonce-0002")), 201)
      << "the same version with other content is another release";
  EXPECT_EQ(list(kReleases).size(), 2U);
}

TEST_F(HookTest, announcements_that_make_no_sense_are_422) {
  int number = 0;
  for (const char* body :
       {R"({})", R"({"version": ""})", R"({"version": 1})", R"({"version": "1.0.0", "created": "yesterday"})",
        R"({"version": "1.0.0", "created": "2030-01-01T00:00:00Z"})", R"({"version": "1.0.0", "imagse": []})"}) {
    EXPECT_EQ(status_of(ci(kRelease, body, fmt::format("nonce-{:04}", ++number))), 422) << body;
  }
  EXPECT_EQ(status_of(ci(kRelease, "", "nonce-0100")), 400);
  EXPECT_EQ(status_of(post(kRelease, R"({"version": "1.0.0"})")), 401);
  EXPECT_TRUE(list(kReleases).empty());
}

}  // namespace
}  // namespace slipway::pipeline_log_test
