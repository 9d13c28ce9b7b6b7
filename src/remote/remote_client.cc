#include "remote/remote_client.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "client/backoff.h"
#include "json/text.h"
#include "net/client.h"
#include "remote/request.h"

namespace slipway::remote {

namespace {

constexpr std::size_t kIdleConnections = 128;

using client::WatchEvent;

constexpr client::Backoff kBackoff{std::chrono::milliseconds{200}, std::chrono::seconds{10}};
constexpr int kMaxRefusals = 10;  // 429
constexpr int kMaxReads = 4;
/// Watches are renewed after this long, and as much again at random.
constexpr std::int64_t kWatchSeconds = 300;
/// How long after its time-out a watch that says nothing counts as dead.
constexpr Duration kWatchSlack = std::chrono::seconds{30};
constexpr std::size_t kMaxLine = std::size_t{64} << 20;

bool is_good(const http::Response& response) { return response.status >= 200 && response.status <= 299; }

class RemoteWatch : public client::Watch {
 public:
  /// `dead_at`: the server should have ended it before.
  RemoteWatch(Env& env, std::unique_ptr<http::BodyStream> stream, Steady dead_at) : stream_(std::move(stream)) {
    guard_ = env.clock.call_at(dead_at, [this] { stream_->close(); });
  }
  ~RemoteWatch() override {
    guard_.reset();
    stream_->close();
  }

  void close() override { stream_->close(); }

  Task<Result<std::vector<WatchEvent>>> next() override {
    for (;;) {
      std::vector<WatchEvent> events;
      SLIPWAY_CO_TRY_VOID(take_lines(events));
      if (!events.empty()) co_return events;
      SLIPWAY_CO_TRY(piece, co_await stream_->next());
      if (!piece.has_value()) break;
      rest_ += *piece;
      if (rest_.size() > kMaxLine) co_return fail(Reason::RequestEntityTooLarge, "an event of a watch is too large");
    }
    if (!rest_.empty()) co_return fail(Reason::ServiceUnavailable, "a watch was cut in the middle of an event");
    co_return std::vector<WatchEvent>();
  }

 private:
  /// An error that follows events is told by the next call.
  Result<void> take_lines(std::vector<WatchEvent>& events) {
    std::size_t begin = 0;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
      const std::string_view line = std::string_view(rest_).substr(begin, end - begin);
      if (!line.empty()) {
        auto event = event_of(line);
        if (!event && !events.empty()) break;
        if (!event) return fail(std::move(event).error());
        events.push_back(std::move(*event));
      }
      begin = end + 1;
    }
    rest_.erase(0, begin);
    return {};
  }

  std::unique_ptr<http::BodyStream> stream_;
  std::unique_ptr<Timer> guard_;
  std::string rest_;
};

/// Impersonation headers name one user: the rights of several cannot be asked for elsewhere.
Result<void> check_user(const client::Request& request) {
  if (request.user == nullptr || request.user->narrowing == nullptr) return {};
  return fail(Reason::Forbidden,
              fmt::format("user {} acts with what others wrote too, and so reaches no cluster elsewhere", request.user->name));
}

}  // namespace

RemoteClient::RemoteClient(Env& env, Connection connection, CredentialSource::Options credentials, Transports transports)
    : env_(env),
      connection_(connection),
      credentials_(env, std::move(connection), std::move(credentials)),
      transports_(std::move(transports)) {}

RemoteClient::Transports RemoteClient::over_sockets(Env& env, Connection connection) {
  return [&env, connection = std::move(connection)](const Credential& credential) -> Result<std::shared_ptr<HttpClient>> {
    net::ClientOptions options;
    // A controller's workers come in waves; a handshake costs more than a request.
    options.idle_connections = kIdleConnections;
    options.tls.authority_pem = connection.authority_pem;
    options.tls.certificate_pem = credential.certificate_pem;
    options.tls.key_pem = credential.key_pem;
    options.tls.server_name = connection.server_name;
    options.tls.is_insecure = connection.is_insecure;
    options.proxy_url = connection.proxy_url;
    SLIPWAY_TRY(made, net::Client::make(env, std::move(options)));
    return std::shared_ptr<HttpClient>(std::move(made));
  };
}

Task<Result<client::Reply>> RemoteClient::call(client::Request request) {
  SLIPWAY_CO_TRY_VOID(check_user(request));
  co_return co_await try_until_answered(call_of(request, connection_.server), request.deadline.value_or(Steady::max()));
}

Task<Result<client::Reply>> RemoteClient::get_path(std::string path) {
  HttpCall call;
  call.url = connection_.server + path;
  call.headers.add("Accept", "application/json");
  co_return co_await try_until_answered(std::move(call), Steady::max());
}

Task<Result<std::string>> RemoteClient::get_text(std::string path) {
  HttpCall call;
  call.url = connection_.server + path;
  SLIPWAY_CO_TRY(response, co_await send(std::move(call)));
  if (is_good(response)) co_return response.body;
  const auto reply = reply_of(response);
  if (!reply) co_return fail(reply.error());
  co_return fail(Reason::InternalError, response.body);
}

Task<Result<std::shared_ptr<net::WebSocket>>> RemoteClient::open_websocket(std::string path,
                                                                           std::vector<std::string> subprotocols) {
  SLIPWAY_CO_TRY(credential, co_await credentials_.get());
  SLIPWAY_CO_TRY_VOID(renew_transport(credential));
  const auto sockets = std::dynamic_pointer_cast<net::Client>(transport_);
  if (!sockets) co_return fail(Reason::NotImplemented, "WebSockets need a transport over sockets");
  HttpCall call;
  call.url = connection_.server + path;
  add_identity(call, credential);
  auto socket = co_await sockets->open_websocket(std::move(call), std::move(subprotocols));
  if (socket) co_return socket;
  // What refuses is an API server: its answer is a Status.
  Status refusal = std::move(socket).error();
  const auto answer = json::parse(refusal.message);
  if (answer && (*answer)["kind"].as_string() == "Status") refusal.message = (*answer)["message"].str();
  co_return fail(std::move(refusal));
}

Task<Result<client::Reply>> RemoteClient::try_until_answered(HttpCall call, Steady deadline) {
  const bool is_read = call.method == "GET";
  int refusals = 0;
  for (int failures = 0;; ++failures) {
    if (deadline != Steady::max()) {
      const Duration left = deadline - env_.clock.steady();
      if (left <= Duration{0})
        co_return fail(Reason::Timeout, fmt::format("{} {} was not answered in time", call.method, call.url));
      call.timeout = std::min(call.timeout, left);
    }
    auto response = co_await send(call);
    auto reply = response ? reply_of(*response) : Result<client::Reply>(fail(response.error()));
    if (reply) co_return reply;
    const Status& error = reply.error();
    // An Eviction is refused with 429 too: that is its answer, without a Retry-After of the server's load.
    const bool is_refused = response && response->status == 429 && response->headers.contains("Retry-After");
    const bool is_unreached = !response && error.reason == Reason::ServiceUnavailable;
    const bool is_ailing = response && response->status >= 500 && response->headers.contains("Retry-After");
    const bool may_retry =
        (is_refused && ++refusals <= kMaxRefusals) || (is_read && (is_unreached || is_ailing) && failures + 1 < kMaxReads);
    if (!may_retry) co_return reply;
    const Duration asked = seconds_saturating(error.retry_after_seconds);
    const Duration pause = std::max(asked, jitter(env_.random, kBackoff.after(failures), 1.0));
    if (deadline != Steady::max() && env_.clock.steady() + pause >= deadline) co_return reply;
    co_await sleep_for(env_, pause);
  }
}

Task<Result<http::Response>> RemoteClient::send(HttpCall call) {
  for (int attempt = 0;; ++attempt) {
    SLIPWAY_CO_TRY(credential, co_await credentials_.get());
    SLIPWAY_CO_TRY_VOID(renew_transport(credential));
    HttpCall attempted = call;
    add_identity(attempted, credential);
    const std::shared_ptr<HttpClient> transport = transport_;
    auto response = co_await transport->send(std::move(attempted));
    const bool is_unknown = response && response->status == 401;
    if (!is_unknown || attempt > 0 || !credentials_.refuse()) co_return response;
  }
}

Result<void> RemoteClient::renew_transport(const Credential& credential) {
  const bool is_shown = shown_.certificate_pem == credential.certificate_pem && shown_.key_pem == credential.key_pem;
  if (transport_ && is_shown) return {};
  SLIPWAY_TRY(made, transports_(credential));
  transport_ = std::move(made);
  shown_ = credential;
  return {};
}

void RemoteClient::add_identity(HttpCall& call, const Credential& credential) const {
  if (!credential.token.empty()) {
    call.headers.set("Authorization", "Bearer " + credential.token);
  } else if (!connection_.user.empty()) {
    call.headers.set("Authorization", "Basic " + base64_encode(connection_.user + ":" + connection_.password));
  }
  if (call.headers.contains("Impersonate-User")) return;  // the request says as whom
  if (!connection_.impersonated_user.empty()) call.headers.add("Impersonate-User", connection_.impersonated_user);
  if (!connection_.impersonated_uid.empty()) call.headers.add("Impersonate-Uid", connection_.impersonated_uid);
  for (const std::string& group : connection_.impersonated_groups) call.headers.add("Impersonate-Group", group);
}

Task<Result<std::unique_ptr<client::Watch>>> RemoteClient::watch(client::Request request) {
  SLIPWAY_CO_TRY_VOID(check_user(request));
  request.verb = client::Verb::Watch;
  if (!request.timeout_seconds) {
    request.timeout_seconds = kWatchSeconds + static_cast<std::int64_t>(env_.random.next() % kWatchSeconds);
  }
  const Steady dead_at = env_.clock.steady() + seconds_saturating(*request.timeout_seconds) + kWatchSlack;
  SLIPWAY_CO_TRY(response, co_await send(call_of(request, connection_.server)));
  if (is_good(response) && response.stream) {
    co_return std::make_unique<RemoteWatch>(env_, std::move(response.stream), dead_at);
  }
  // A failed answer to a streaming call comes as a stream, too.
  http::Response whole;
  whole.status = response.status;
  whole.headers = response.headers;
  whole.body = response.body;
  const std::unique_ptr<http::BodyStream> stream = std::move(response.stream);
  while (stream && whole.body.size() < kMaxLine) {
    const auto piece = co_await stream->next();
    if (!piece || !*piece) break;
    whole.body += **piece;
  }
  auto reply = reply_of(whole);
  if (reply) co_return fail(Reason::InternalError, "the API server answered a watch with a whole document");
  co_return fail(std::move(reply).error());
}

}  // namespace slipway::remote
