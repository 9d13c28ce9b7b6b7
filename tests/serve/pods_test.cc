// Logs and commands of pods, over a runtime that does what the test says.
#include "net/websocket.h"
#include "serve/exec_stream.h"
#include "wire_fixture.h"

namespace slipway::serve {
namespace {

class Pods : public WireTest {
 public:
  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";

  /// A pod with containers a and b, running.
  Task<> make_pod(std::string name = "p") {
    const Heard made =
        co_await send("POST", kPods,
                      json::print(yaml(fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: {}}}, spec: {{containers: "
                                                   "[{{name: a, image: i}}, {{name: b, image: i}}]}}}}",
                                                   name))));
    EXPECT_EQ(made.status, 201) << made.body;
    co_await set_state(name, "{running: {startedAt: '2026-01-01T00:00:00Z'}}", "Running");
  }
  Task<> set_state(std::string name, std::string state, std::string phase) {
    const std::string patch = json::print(yaml(fmt::format(
        "{{status: {{phase: {}, containerStatuses: [{{name: a, image: i, imageID: '', ready: true, restartCount: 0, "
        "state: {}}}, {{name: b, image: i, imageID: '', ready: true, restartCount: 0, state: {}}}]}}}}",
        phase, state, state)));
    const Heard written = co_await send("PATCH", fmt::format("{}/{}/status", kPods, name), patch,
                                        {{"Content-Type", "application/merge-patch+json"}});
    EXPECT_EQ(written.status, 200) << written.body;
  }
  Task<Heard> log(std::string query) { return get(fmt::format("{}/p/log?{}", kPods, query), "*/*"); }
  static std::string message(const Heard& heard) { return heard.json()["message"].str(); }

  HttpCall exec_call(const std::string& query) {
    HttpCall call;
    call.url = url(fmt::format("{}/p/exec?{}", kPods, query));
    return call;
  }
};

TEST_F(Pods, a_log_is_given_whole_by_its_last_lines_or_its_first_bytes) {
  serve([this]() -> Task<> {
    co_await make_pod();
    pods().log = "one\ntwo\nthree\n";
    EXPECT_EQ((co_await log("container=a")).body, "one\ntwo\nthree\n");
    EXPECT_EQ((co_await log("container=a&tailLines=2")).body, "two\nthree\n");
    EXPECT_EQ((co_await log("container=a&tailLines=0")).body, "");
    EXPECT_EQ((co_await log("container=a&tailLines=99")).body, "one\ntwo\nthree\n");
    EXPECT_EQ((co_await log("container=a&limitBytes=5")).body, "one\nt");
    pods().log = "one\ntwo";
    EXPECT_EQ((co_await log("container=a&tailLines=1")).body, "two");
  });
}

TEST_F(Pods, a_followed_log_grows_until_the_container_has_ended) {
  serve([this]() -> Task<> {
    co_await make_pod();
    pods().log = "one\n";
    HttpCall call;
    call.url = url(std::string(kPods) + "/p/log?container=a&follow=true");
    call.is_streaming = true;
    auto response = co_await client_->send(std::move(call));
    CO_ASSERT(response.has_value());
    EXPECT_EQ((co_await response->stream->next()).value().value(), "one\n");
    pods().log += "two\n";
    EXPECT_EQ((co_await response->stream->next()).value().value(), "two\n");
    co_await set_state("p", "{terminated: {exitCode: 0}}", "Succeeded");
    EXPECT_FALSE((co_await response->stream->next()).value().has_value());
  });
}

TEST_F(Pods, a_log_that_cannot_be_meant_is_refused_in_upstreams_words) {
  serve([this]() -> Task<> {
    co_await make_pod();
    EXPECT_EQ(message(co_await log("")), "a container name must be specified for pod p, choose one of: [a b]");
    EXPECT_EQ(message(co_await log("container=c")), "container c is not valid for pod p");
    EXPECT_EQ(message(co_await log("container=a&previous=true")), "previous terminated container \"a\" in pod \"p\" not found");
    EXPECT_EQ((co_await log("container=a&tailLines=-1")).status, 422);
    EXPECT_EQ((co_await log("container=a&sinceSeconds=0")).status, 422);
    EXPECT_EQ((co_await log("container=a&sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z")).status, 422);
    EXPECT_EQ((co_await get(std::string(kPods) + "/none/log")).status, 404);
    co_await set_state("p", "{waiting: {reason: ContainerCreating}}", "Pending");
    EXPECT_EQ(message(co_await log("container=a")), "container \"a\" in pod \"p\" is waiting to start: ContainerCreating");
  });
}

TEST_F(Pods, a_command_prints_on_its_channels_and_ends_with_a_status) {
  serve([this]() -> Task<> {
    co_await make_pod();
    pods().outputs = {{.out = "hello", .err = "oops", .exit_code = std::nullopt}, {.out = "", .err = "", .exit_code = 3}};
    auto opened =
        co_await client_->open_websocket(exec_call("container=a&command=sh&command=-c&stdout=true"), {"v5.channel.k8s.io"});
    CO_ASSERT(opened.has_value());
    const std::shared_ptr<net::WebSocket> socket = *opened;
    EXPECT_EQ(socket->subprotocol(), "v5.channel.k8s.io");
    EXPECT_EQ((co_await socket->read()).value().value().payload, "\x01hello");
    EXPECT_EQ((co_await socket->read()).value().value().payload, "\x02oops");
    const std::string status = (co_await socket->read()).value().value().payload;
    EXPECT_EQ(status.front(), '\x03');
    EXPECT_EQ(yaml(status.substr(1)), exit_status(3));
    EXPECT_FALSE((co_await socket->read()).value().has_value());
    CO_ASSERT(pods().commands.size() == 1);
    EXPECT_EQ(pods().commands[0].command, (std::vector<std::string>{"sh", "-c"}));
    co_await socket->close();
  });
}

TEST_F(Pods, a_log_has_times_where_the_runtime_noted_them) {
  serve([this]() -> Task<> {
    co_await make_pod();
    pods().log = "one\ntwo\nthree\n";
    pods().times = "run 1000000 0\nat 2000000 4\nat 3500000 14\n";
    EXPECT_EQ((co_await log("container=a&timestamps=true")).body,
              "1970-01-01T00:00:02.000000000Z one\n1970-01-01T00:00:03.500000000Z two\n1970-01-01T00:00:03.500000000Z three\n");
    EXPECT_EQ((co_await log("container=a&sinceTime=1970-01-01T00:00:03Z")).body, "two\nthree\n");
    EXPECT_EQ((co_await log("container=a&sinceTime=1970-01-01T00:00:04Z")).body, "");
    EXPECT_EQ((co_await log("container=a&sinceTime=1970-01-01T00:00:03Z&tailLines=1")).body, "three\n");
    EXPECT_EQ((co_await log("container=a&sinceSeconds=5")).body, "");
  });
}

TEST_F(Pods, a_log_is_that_of_the_present_run_or_of_the_one_before) {
  serve([this]() -> Task<> {
    co_await make_pod();
    pods().log = "first\nsecond\n";
    pods().times = "run 1000000 0\nat 2000000 6\nrun 3000000 6\nat 3000000 13\n";
    EXPECT_EQ((co_await log("container=a")).body, "second\n");
    co_await set_state("p", "{running: {startedAt: '2026-01-01T00:00:00Z'}}, lastState: {terminated: {exitCode: 1}}",
                       "Running");
    EXPECT_EQ((co_await log("container=a&previous=true")).body, "first\n");
    co_await set_state("p", "{waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}", "Running");
    EXPECT_EQ((co_await log("container=a&previous=true")).body, "second\n");
  });
}

TEST_F(Pods, a_command_gets_its_input_and_the_size_of_its_terminal) {
  serve([this]() -> Task<> {
    co_await make_pod();
    auto opened =
        co_await client_->open_websocket(exec_call("container=a&command=cat&stdin=true&tty=true"), {"v5.channel.k8s.io"});
    CO_ASSERT(opened.has_value());
    using namespace std::string_literals;
    for (const std::string& payload : {"\4{\"Width\":80,\"Height\":24}"s, "\0typed"s, "\xff\0"s, "\7nothing"s}) {
      net::WebSocketMessage message{.kind = net::WebSocketMessage::Kind::binary, .payload = payload};
      CO_ASSERT((co_await (*opened)->write(std::move(message))).has_value());
    }
    while (pods().inputs.size() < 3) co_await pods().changed.wait();
    EXPECT_EQ(pods().inputs, (std::vector<std::string>{"80x24", "typed", ""}));
    CO_ASSERT(pods().commands.size() == 1);
    EXPECT_TRUE(pods().commands[0].has_input && pods().commands[0].has_terminal);
    co_await (*opened)->close();
  });
}

TEST_F(Pods, a_command_ends_when_its_client_goes) {
  serve([this]() -> Task<> {
    co_await make_pod();
    pods().outputs = {{.out = "hello", .err = "", .exit_code = std::nullopt}};
    auto opened = co_await client_->open_websocket(exec_call("container=a&command=cat"), {"v4.channel.k8s.io"});
    CO_ASSERT(opened.has_value());
    EXPECT_EQ((co_await (*opened)->read()).value().value().payload, "\x01hello");
    co_await (*opened)->close();
    while (!pods().is_closed) co_await pods().changed.wait();
  });
}

TEST_F(Pods, exec_says_what_it_does_not_do) {
  serve([this]() -> Task<> {
    co_await make_pod();
    const std::string path = std::string(kPods) + "/p/exec?container=a&command=ls";
    const Heard spdy = co_await send("POST", path, "", {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}});
    EXPECT_EQ(spdy.status, 501);
    EXPECT_EQ(message(spdy), "SPDY is not implemented: exec and attach need WebSockets, which kubectl >= 1.30 uses");
    EXPECT_EQ((co_await send("POST", path)).status, 400);
    EXPECT_EQ((co_await send("POST", std::string(kPods) + "/p/exec?container=a")).status, 422);
  });
}

}  // namespace
}  // namespace slipway::serve
