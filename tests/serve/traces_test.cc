// What eight kubectls were seen to ask (corpus kube/kubectl-traces), asked here: every path, form and body is known. Whether
// the answers are right is what tests/wire asks.
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "net/websocket.h"
#include "wire_fixture.h"

namespace slipway::serve {
namespace {

/// Why a request may be refused.
struct Exception {
  std::string_view path_end;  // of the path without its query
  std::string_view method;    // "" for any
  int status;
  std::string_view reason;
};
constexpr Exception kExceptions[] = {
    {"/exec", "POST", 501, "SPDY is not spoken"},
    {"/portforward", "", 501, "SPDY is not spoken, nor tunnelled"},
    {"/apis/batch/v1beta1", "GET", 404, "ended with Kubernetes 1.25"},
    {"/token", "POST", 501, "the server of these tests has no key to sign with"},
    {"/ephemeralcontainers", "", 501, "pods have no ephemeral containers"},
};

std::optional<std::string> corpus(const std::string& name) {
  const char* const root = std::getenv("SLIPWAY_CORPUS");
  std::ifstream file((root != nullptr ? std::string(root) : "../shared/corpus") + "/kube/kubectl-traces/" + name);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The bytes of Python's b'...', which may have been cut off.
std::string bytes_of(std::string_view shown) {
  std::string bytes;
  if (shown.size() < 3) return bytes;
  shown.remove_prefix(2);
  shown.remove_suffix(1);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] != '\\' || i + 1 == shown.size()) {
      bytes += shown[i];
      continue;
    }
    const char letter = shown[++i];
    if (letter == 'x' && i + 2 < shown.size()) {
      bytes += static_cast<char>(std::stoi(std::string(shown.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      bytes += letter == 'n' ? '\n' : letter == 't' ? '\t' : letter == 'r' ? '\r' : letter;
    }
  }
  return bytes;
}

class Traces : public WireTest, public testing::WithParamInterface<const char*> {
 public:
  Task<> make_what_is_asked_for() {
    constexpr const char* kDefault = "namespaces/default";
    const std::string template_spec = "spec: {containers: [{name: c, image: nginx}]}";
    EXPECT_EQ((co_await send("POST", fmt::format("/api/v1/{}/pods", kDefault),
                             json::print(yaml(fmt::format("{{metadata: {{name: p1}}, {}}}", template_spec)))))
                  .status,
              201);
    const std::string running =
        "{status: {phase: Running, containerStatuses: [{name: c, image: i, imageID: '', ready: true, restartCount: 0, "
        "state: {running: {startedAt: '2026-01-01T00:00:00Z'}}}]}}";
    EXPECT_EQ((co_await send("PATCH", fmt::format("/api/v1/{}/pods/p1/status", kDefault), json::print(yaml(running)),
                             {{"Content-Type", "application/merge-patch+json"}}))
                  .status,
              200);
    const std::string spec =
        fmt::format("{{selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, {}}}}}", template_spec);
    for (const char* name : {"d1", "web"}) {
      co_await send("POST", fmt::format("/apis/apps/v1/{}/deployments", kDefault),
                    json::print(yaml(fmt::format("{{metadata: {{name: {}}}, spec: {}}}", name, spec))));
    }
  }

  /// The watches begin at revisions the cluster must have reached.
  Task<> reach_revision(int wanted) {
    for (int revision = 0, number = 0; revision < wanted; ++number) {
      const Heard made = co_await send("POST", kMaps, config_map(fmt::format("filler-{}", number)));
      revision = std::stoi(made.json()["metadata"]["resourceVersion"].str());
    }
  }

  Task<Heard> ask(Value request) {
    HttpCall call;
    call.url = url(request["path"].str());
    call.method = request["method"].str();
    call.body = bytes_of(request["bodyPrefix"].as_string());
    call.is_streaming = true;
    const std::pair<const char*, const char*> headers[] = {{"accept", "Accept"},
                                                           {"contentType", "Content-Type"},
                                                           {"ifNoneMatch", "If-None-Match"},
                                                           {"xStreamProtocols", "X-Stream-Protocol-Version"}};
    for (const auto& [field, header] : headers) {
      if (request.has(field)) call.headers.add(header, request[field].str());
    }
    if (request.has("wsProtocol")) co_return co_await open(std::move(call), request["wsProtocol"].str());
    if (request.has("upgrade")) {
      call.headers.add("Connection", "Upgrade");
      call.headers.add("Upgrade", request["upgrade"].str());
    }
    auto response = co_await client_->send(std::move(call));
    if (!response) co_return Heard{.status = 0, .headers = {}, .body = response.error().message};
    Heard heard{.status = response->status, .headers = response->headers, .body = response->body};
    while (response->stream && heard.status >= 400) {
      auto piece = co_await response->stream->next();
      if (!piece || !*piece) break;
      heard.body += **piece;
    }
    if (response->stream) response->stream->close();
    co_return heard;
  }

  Task<Heard> open(HttpCall call, std::string protocol) {
    call.method = "GET";
    call.is_streaming = false;
    auto socket = co_await client_->open_websocket(std::move(call), {protocol});
    if (!socket) {  // the client tells what it heard as the message
      const std::string& message = socket.error().message;
      co_return Heard{.status = message.contains("\"code\":501") ? 501 : 0, .headers = {}, .body = message};
    }
    co_await (*socket)->close();
    co_return Heard{.status = 101, .headers = {}, .body = ""};
  }

  static bool is_refused(const Heard& heard) {
    const bool is_unknown_path = heard.status == 404 && heard.body.contains("could not find the requested resource");
    return heard.status < 200 || heard.status >= 500 || heard.status == 405 || heard.status == 406 || heard.status == 415 ||
           is_unknown_path;
  }
  static bool is_excepted(const Value& request, const Heard& heard) {
    const std::string whole = request["path"].str();
    const std::string path = whole.substr(0, whole.find('?'));
    for (const Exception& row : kExceptions) {
      const bool has_method = row.method.empty() || row.method == request["method"].as_string();
      if (path.ends_with(row.path_end) && has_method && heard.status == row.status) return true;
    }
    return false;
  }
};

TEST_P(Traces, every_request_is_known) {
  const auto text = corpus(GetParam());
  if (!text) GTEST_SKIP() << "no corpus";
  const auto trace = json::parse(*text, {.max_bytes = std::size_t{64} << 20});
  ASSERT_TRUE(trace) << trace.error().message;
  std::size_t asked = 0;
  serve([&]() -> Task<> {
    co_await make_what_is_asked_for();
    co_await reach_revision(200);
    std::map<std::string, Value> requests;  // each once, deletes last: the others ask for what they delete
    for (const Value& command : (*trace)["commands"].items()) {
      for (const Value& request : command["requests"].items()) {
        const bool is_delete = request["method"].as_string() == "DELETE";
        requests.emplace((is_delete ? "1" : "0") + json::print(request), request);
      }
    }
    for (const auto& [key, request] : requests) {
      pods().is_closed = false;
      const Heard heard = co_await ask(request);
      ++asked;
      const bool is_fine = heard.status == 101 || !is_refused(heard) || is_excepted(request, heard);
      EXPECT_TRUE(is_fine) << heard.status << " for " << key << "\n" << heard.body;
    }
  });
  EXPECT_GT(asked, 50U);
}

INSTANTIATE_TEST_SUITE_P(Kubectl, Traces,
                         testing::Values("1.20.json", "1.27.json", "1.28.json", "1.29.json", "1.30.json", "1.31.json",
                                         "1.32.json", "1.33.json"),
                         [](const auto& each) {
                           std::string name = each.param;
                           name[1] = '_';
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace slipway::serve
