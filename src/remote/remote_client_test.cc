#include "remote/remote_client.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/manual_env.h"

namespace slipway::remote {
namespace {

using std::chrono::seconds;

const kube::Resource kJobs{"batch", "v1", "jobs"};

/// A body in the pieces the test chose; cut at the end unless told otherwise.
class Pieces : public http::BodyStream {
 public:
  explicit Pieces(std::deque<std::string> pieces) : pieces_(std::move(pieces)) {}
  Task<Result<std::optional<std::string>>> next() override {
    if (pieces_.empty()) co_return std::nullopt;
    std::string piece = std::move(pieces_.front());
    pieces_.pop_front();
    if (piece == "CUT") co_return fail(Reason::ServiceUnavailable, "cut");
    co_return std::optional<std::string>(std::move(piece));
  }
  void close() override { pieces_.clear(); }

 private:
  std::deque<std::string> pieces_;
};

/// Answers from a script and remembers what was asked.
class Script : public HttpClient {
 public:
  struct Line {
    int status;  // 0: no connection
    std::string body;
    http::Headers headers{};
    std::deque<std::string> pieces{};
  };
  Task<Result<http::Response>> send(HttpCall call) override {
    calls.push_back(call);
    if (lines.empty()) co_return fail(Reason::InternalError, "the script is at its end");
    Line line = std::move(lines.front());
    lines.pop_front();
    if (line.status == 0) co_return fail(Reason::ServiceUnavailable, "connection refused");
    http::Response response;
    response.status = line.status;
    response.body = std::move(line.body);
    response.headers = std::move(line.headers);
    if (!line.pieces.empty()) response.stream = std::make_unique<Pieces>(std::move(line.pieces));
    co_return response;
  }

  std::deque<Line> lines;
  std::vector<HttpCall> calls;
};

class RemoteClientTest : public testing::Test {
 protected:
  ~RemoteClientTest() override { env_.drop_all(); }

  static Connection connection() {
    Connection made;
    made.server = "https://host/clusters/dev";
    made.token = "secret";
    made.impersonated_user = "jane";
    return made;
  }
  template <class T>
  T run(Task<T> task) {
    return env_.run(std::move(task));
  }

  ManualEnv env_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  RemoteClient client_{env_, connection(), {}, [this](const Credential&) { return script_; }};
};

TEST_F(RemoteClientTest, says_requests_as_http) {
  script_->lines = {{200, R"({"kind":"Job"})", {{"Warning", R"(299 - "old \"kind\"")"}}}, {200, "{}"}, {200, "{}"}};
  client::Request patch;
  patch.verb = client::Verb::Patch;
  patch.patch_type = client::PatchType::Apply;
  patch.resource = kJobs;
  patch.ns = "default";
  patch.name = "a";
  patch.subresource = "status";
  patch.body = json::object({{"x", 1}});
  patch.field_manager = "m";
  patch.force = true;
  patch.dry_run = true;
  patch.user_agent = "slipway-job";
  const auto reply = run(client_.call(patch));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->warnings, (std::vector<std::string>{"old \"kind\""}));
  const HttpCall& call = script_->calls[0];
  EXPECT_EQ(call.method, "PATCH");
  EXPECT_EQ(call.url,
            "https://host/clusters/dev/apis/batch/v1/namespaces/default/jobs/a/status?fieldManager=m&force=true&dryRun=All");
  EXPECT_EQ(call.body, R"({"x":1})");
  EXPECT_EQ(call.headers.get("Content-Type"), "application/apply-patch+yaml");
  EXPECT_EQ(call.headers.get("Authorization"), "Bearer secret");
  EXPECT_EQ(call.headers.get("Impersonate-User"), "jane");
  EXPECT_EQ(call.headers.get("User-Agent"), "slipway-job");
  ASSERT_TRUE(run(client::list(client_, {"", "v1", "pods"}, {.ns = "", .label_selector = "a in (b)", .field_selector = ""})));
  EXPECT_EQ(script_->calls[1].url, "https://host/clusters/dev/api/v1/pods?labelSelector=a%20in%20%28b%29");
}

TEST_F(RemoteClientTest, gives_the_servers_status) {
  script_->lines = {{404, R"({"kind":"Status","reason":"NotFound","code":404,"message":"jobs.batch \"a\" not found"})"},
                    {502, "<html>bad gateway</html>"}};
  const auto missing = run(client::get(client_, kJobs, {"default", "a"}));
  EXPECT_EQ(missing.error().reason, Reason::NotFound);
  const auto broken = run(client::get(client_, kJobs, {"default", "a"}));
  EXPECT_EQ(http_code(broken.error().reason) / 100, 5);
  EXPECT_EQ(broken.error().message, "<html>bad gateway</html>");
}

TEST_F(RemoteClientTest, waits_as_long_as_a_busy_server_asks) {
  const Time before = env_.clock().now();
  script_->lines = {{429, "", {{"Retry-After", "7"}}}, {201, "{}"}};
  ASSERT_TRUE(run(client::create(client_, kJobs, json::object({{"metadata", json::Value::empty_object()}}), "m")));
  EXPECT_EQ(script_->calls.size(), 2U);
  EXPECT_GE(env_.clock().now() - before, seconds{7});
}

TEST_F(RemoteClientTest, reads_again_but_never_writes_again_without_an_answer) {
  script_->lines = {{0, ""}, {0, ""}, {200, "{}"}};
  ASSERT_TRUE(run(client::get(client_, kJobs, {"default", "a"})));
  EXPECT_EQ(script_->calls.size(), 3U);
  script_->lines = {{0, ""}, {200, "{}"}};
  const auto written = run(client::create(client_, kJobs, json::object({{"metadata", json::Value::empty_object()}}), "m"));
  EXPECT_EQ(written.error().reason, Reason::ServiceUnavailable);
  EXPECT_EQ(script_->calls.size(), 4U);
}

TEST_F(RemoteClientTest, asks_a_token_file_again_after_a_401) {
  ASSERT_TRUE(env_.files().make_folders("/run"));
  ASSERT_TRUE(env_.files().write("/run/token", "old\n", 0600));
  Connection with_file = connection();
  with_file.token.clear();
  with_file.token_file = "/run/token";
  RemoteClient client(env_, with_file, {}, [this](const Credential&) { return script_; });
  script_->lines = {{200, "{}"}, {401, "{}"}, {200, "{}"}};
  ASSERT_TRUE(run(client::get(client, kJobs, {"default", "a"})));
  ASSERT_TRUE(env_.files().write("/run/token", "new\n", 0600));
  ASSERT_TRUE(run(client::get(client, kJobs, {"default", "a"})));
  EXPECT_EQ(script_->calls[1].headers.get("Authorization"), "Bearer old");
  EXPECT_EQ(script_->calls[2].headers.get("Authorization"), "Bearer new");
}

TEST_F(RemoteClientTest, asks_as_the_user_of_the_request_instead_of_the_kubeconfigs) {
  script_->lines = {{200, "{}"}, {200, "{}"}};
  client::Request request;
  request.resource = kJobs;
  request.ns = "default";
  request.name = "a";
  ASSERT_TRUE(run(client_.call(request)));
  request.user = std::make_shared<const kube::UserInfo>(
      kube::UserInfo{.name = "ann", .uid = "7", .groups = {"dev", "ops"}, .extra = {{"example.org/scope", {"a"}}}});
  ASSERT_TRUE(run(client_.call(request)));
  EXPECT_EQ(script_->calls[0].headers.all("Impersonate-User"), std::vector<std::string_view>{"jane"});
  const http::Headers& shown = script_->calls[1].headers;
  EXPECT_EQ(shown.all("Impersonate-User"), std::vector<std::string_view>{"ann"});
  EXPECT_EQ(shown.all("Impersonate-Group"), (std::vector<std::string_view>{"dev", "ops"}));
  EXPECT_EQ(shown.get("Impersonate-Uid"), "7");
  EXPECT_EQ(shown.get("Impersonate-Extra-example.org%2Fscope"), "a");
  EXPECT_EQ(shown.get("Authorization"), "Bearer secret");
}

TEST_F(RemoteClientTest, puts_the_pieces_of_a_watch_together) {
  const std::string a = R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"5"}}})";
  const std::string b = R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6"}}})";
  const std::string gone = R"({"type":"ERROR","object":{"kind":"Status","reason":"Expired","code":410,"message":"too old"}})";
  script_->lines = {{200, "", {}, {a.substr(0, 9), a.substr(9) + "\n" + b + "\n" + gone + "\n"}},
                    {200, "", {}, {a + "\n"}},
                    {200, "", {}, {a.substr(0, 20)}}};
  client::Request request;
  request.resource = kJobs;
  auto watch = run(client_.watch(request));
  ASSERT_TRUE(watch) << watch.error().message;
  EXPECT_TRUE(script_->calls[0].url.contains("watch=true"));
  EXPECT_TRUE(script_->calls[0].url.contains("timeoutSeconds="));
  const auto events = run((*watch)->next());
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 2U);
  EXPECT_EQ((*events)[1].type, client::WatchEvent::Type::Bookmark);
  EXPECT_EQ(run((*watch)->next()).error().reason, Reason::Expired);

  watch = run(client_.watch(request));
  EXPECT_EQ(run((*watch)->next())->size(), 1U);
  EXPECT_TRUE(run((*watch)->next())->empty()) << "the regular end";

  watch = run(client_.watch(request));
  EXPECT_FALSE(run((*watch)->next())) << "cut in the middle of an event";
}

TEST_F(RemoteClientTest, tells_why_a_watch_was_refused) {
  script_->lines = {{410, "", {}, {R"({"kind":"Status","reason":"Expired",)", R"("code":410,"message":"too old"})"}}};
  client::Request request;
  request.resource = kJobs;
  const auto watch = run(client_.watch(request));
  EXPECT_EQ(watch.error().reason, Reason::Expired);
}

}  // namespace
}  // namespace slipway::remote
