#include "net/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>

#include "base/digest.h"
#include "base/text.h"
#include "net/http.h"

namespace slipway::net {
namespace {

constexpr std::size_t kAnswerReadSize = 16 * 1024;

enum class Choice : bool { kept_or_fresh, fresh };

Reason reason_of(int code) {
  if (code == 401) return Reason::Unauthorized;
  if (code == 403) return Reason::Forbidden;
  if (code == 404) return Reason::NotFound;
  if (code == 429) return Reason::TooManyRequests;
  return code < 500 ? Reason::BadRequest : Reason::ServiceUnavailable;
}

/// Values out of Secrets often end with a line.
void trim_values(http::Headers& headers) {
  http::Headers trimmed_headers;
  for (const auto& [name, value] : headers) trimmed_headers.add(name, std::string(trimmed(value)));
  headers = std::move(trimmed_headers);
}

}  // namespace

struct Client::State : std::enable_shared_from_this<Client::State> {
  State(Env& handed, ClientOptions given, TlsContext context)
      : env(handed), options(std::move(given)), tls(std::move(context)), freed(handed) {}

  struct Kept {
    std::shared_ptr<Stream> stream;
    Steady since;
  };
  /// A connection in use; counted until it is destroyed.
  struct Lease {
    Lease(std::shared_ptr<State> owner, std::string server) : state(std::move(owner)), key(std::move(server)) {
      ++state->in_use;
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      --state->in_use;
      state->freed.notify();
    }
    std::shared_ptr<State> state;
    std::string key;
    std::shared_ptr<Stream> stream;
    std::string input;
    bool is_reused = false;
  };
  using LeasePtr = std::shared_ptr<Lease>;
  using Flag = std::shared_ptr<bool>;

  Task<Result<LeasePtr>> lease(Url url, Steady deadline, Choice choice);
  Task<Result<std::shared_ptr<Stream>>> connect(Url url, Steady deadline);
  Task<Result<void>> open_tunnel(std::shared_ptr<Stream> stream, Url url, Steady deadline);
  std::shared_ptr<Stream> take_kept(const std::string& key);
  void give_back(Lease& lease);
  void close_old();
  std::string head_of(const Url& url, const HttpCall& call) const;
  Task<Result<http::Response>> exchange(Url url, HttpCall call, Steady deadline, Choice choice, Flag may_retry);
  /// A form of answer: whether it ends with its head, and how many bytes its body may have (as many as come when it is
  /// streamed).
  struct Form {
    bool is_bodyless = false;
    bool is_streaming = false;
    std::uint64_t max_bytes = 0;  // 0: the client's
  };
  Task<Result<MessageParser>> read_answer(LeasePtr lease, Form form, Steady deadline);

  Env& env;
  ClientOptions options;
  TlsContext tls;
  std::optional<Url> proxy;
  std::map<std::string, std::deque<Kept>> kept;  // the newest last
  std::unique_ptr<Timer> closing;                // while any are kept
  std::size_t in_use = 0;
  std::uint64_t made = 0;
  Signal freed;
};

namespace {

/// The body of an answer as it comes. Gives the connection back at its end.
class AnswerStream : public http::BodyStream {
 public:
  AnswerStream(std::shared_ptr<Client::State::Lease> lease, MessageParser parser)
      : lease_(std::move(lease)), parser_(std::move(parser)) {}
  ~AnswerStream() override { close(); }

  Task<Result<std::optional<std::string>>> next() override {
    while (true) {
      if (std::string piece = parser_.take_body(); !piece.empty()) co_return piece;
      if (!lease_) co_return std::nullopt;
      const auto lease = lease_;
      if (parser_.is_done()) {
        if (parser_.head().keeps_alive) lease->state->give_back(*lease);
        lease_.reset();
        co_return std::nullopt;
      }
      const auto got = co_await lease->stream->read(lease->input, kAnswerReadSize, std::nullopt);
      if (!got) co_return fail(got.error());
      SLIPWAY_CO_TRY_VOID(*got == 0 ? parser_.finish() : parser_.feed(lease->input));
    }
  }

  void close() override {
    if (lease_) lease_->stream->close();
  }

 private:
  std::shared_ptr<Client::State::Lease> lease_;  // none after the end
  MessageParser parser_;
};

}  // namespace

Result<std::unique_ptr<Client>> Client::make(Env& env, ClientOptions options) {
  SLIPWAY_TRY(tls, TlsContext::client(options.tls));
  auto state = std::make_shared<State>(env, std::move(options), std::move(tls));
  if (!state->options.proxy_url.empty()) {
    SLIPWAY_TRY(proxy, Url::parse(state->options.proxy_url));
    if (proxy.is_tls) return fail(Reason::NotImplemented, "proxies are reached over http:// only");
    state->proxy = std::move(proxy);
  }
  return std::unique_ptr<Client>(new Client(std::move(state)));
}

Client::Client(std::shared_ptr<State> state) : state_(std::move(state)) {}
Client::~Client() = default;
void Client::close_idle() { state_->kept.clear(); }
std::uint64_t Client::connections_made() const { return state_->made; }
std::size_t Client::idle_connections() const {
  std::size_t count = 0;
  for (const auto& [key, streams] : state_->kept) count += streams.size();
  return count;
}

Task<Result<http::Response>> Client::send(HttpCall call) {
  const auto state = state_;
  SLIPWAY_CO_TRY(url, Url::parse(call.url));
  trim_values(call.headers);
  SLIPWAY_CO_TRY_VOID(check_request(call.method, call.headers));
  const Steady deadline = state->env.clock.steady() + call.timeout;
  const bool is_repeatable = call.method == "GET" || call.method == "HEAD";
  const auto may_retry = std::make_shared<bool>(false);
  auto answer = co_await state->exchange(url, call, deadline, Choice::kept_or_fresh, may_retry);
  if (answer || !is_repeatable || !*may_retry) co_return answer;
  co_return co_await state->exchange(url, call, deadline, Choice::fresh, may_retry);
}

Task<Result<http::Response>> Client::State::exchange(Url url, HttpCall call, Steady deadline, Choice choice, Flag may_retry) {
  SLIPWAY_CO_TRY(lease, co_await this->lease(url, deadline, choice));
  std::string bytes = head_of(url, call) + call.body;
  auto outcome = co_await lease->stream->write(std::move(bytes), options.write_stall);
  // A server that refuses a large body answers before it has read all: the answer is worth more than the broken pipe.
  auto parser = co_await read_answer(lease, {call.method == "HEAD", call.is_streaming, call.max_answer_bytes}, deadline);
  if (!parser) {
    *may_retry = lease->is_reused && parser.error().reason == Reason::ServiceUnavailable;
    co_return fail(outcome ? std::move(parser).error() : std::move(outcome).error());
  }
  MessageHead& head = parser->head();
  if (!outcome) head.keeps_alive = false;
  http::Response response{.status = head.status, .headers = std::move(head.headers), .body = {}, .stream = {}};
  if (call.is_streaming) {
    response.stream = std::make_unique<AnswerStream>(lease, std::move(*parser));
  } else {
    response.body = parser->take_body();
    if (head.keeps_alive) give_back(*lease);
  }
  co_return response;
}

Task<Result<MessageParser>> Client::State::read_answer(LeasePtr lease, Form form, Steady deadline) {
  const auto [is_bodyless, is_streaming, max_bytes] = form;
  MessageLimits limits = options.message;
  if (max_bytes > 0) limits.body_bytes = std::min(limits.body_bytes, max_bytes);
  if (is_streaming) limits.body_bytes = std::numeric_limits<std::uint64_t>::max();
  MessageParser parser = MessageParser::response(limits, is_bodyless);
  while (true) {
    if (auto fed = parser.feed(lease->input); !fed) {
      const bool is_body = fed.error().reason == Reason::RequestEntityTooLarge && parser.is_head_done();
      if (is_body) fed.error().message = fmt::format("the answer is larger than {} bytes", limits.body_bytes);
      co_return fail(std::move(fed).error());
    }
    if (parser.is_head_done() && parser.head().status / 100 == 1 && parser.head().status != 101) {
      parser = MessageParser::response(limits, is_bodyless);  // 100 Continue and its like come before the answer
      continue;
    }
    if (parser.is_done() || (is_streaming && parser.is_head_done())) co_return parser;
    SLIPWAY_CO_TRY(got, co_await lease->stream->read(lease->input, kAnswerReadSize, deadline));
    if (got > 0) continue;
    if (!parser.is_head_done()) co_return fail(Reason::ServiceUnavailable, "connection: closed before an answer came");
    SLIPWAY_CO_TRY_VOID(parser.finish());
    co_return parser;
  }
}

std::string Client::State::head_of(const Url& url, const HttpCall& call) const {
  http::Headers headers{{"Host", url.host_header()}};
  for (const auto& [name, value] : call.headers) headers.add(name, value);
  if (!headers.contains("User-Agent")) headers.add("User-Agent", options.user_agent);
  if (!options.bearer_token.empty() && !headers.contains("Authorization")) {
    headers.add("Authorization", "Bearer " + options.bearer_token);
  }
  if (!call.body.empty() || call.method == "POST" || call.method == "PUT" || call.method == "PATCH") {
    headers.set("Content-Length", std::to_string(call.body.size()));
  }
  const bool is_absolute = proxy && !url.is_tls;
  if (is_absolute && !proxy->user_password.empty()) {
    headers.add("Proxy-Authorization", "Basic " + base64_encode(proxy->user_password));
  }
  return request_head(call.method, is_absolute ? "http://" + url.host_header() + url.target : url.target, headers);
}

std::shared_ptr<Stream> Client::State::take_kept(const std::string& key) {
  auto& streams = kept[key];
  const Steady oldest = env.clock.steady() - options.idle_timeout;
  while (!streams.empty() && streams.front().since < oldest) streams.pop_front();
  while (!streams.empty()) {
    const auto stream = std::move(streams.back().stream);
    streams.pop_back();
    // Bytes, or an end, that were not asked for: the server has given the connection up.
    std::string unasked;
    const auto ready = stream->read_ready(unasked, 1);
    if (ready && !*ready) return stream;
  }
  return nullptr;
}

void Client::State::give_back(Lease& lease) {
  if (!lease.stream->is_open() || !lease.input.empty()) return;
  auto& streams = kept[lease.key];
  streams.push_back({std::move(lease.stream), env.clock.steady()});
  lease.stream = streams.back().stream;
  if (streams.size() > options.idle_connections) streams.pop_front();
  if (!closing) closing = env.clock.call_at(env.clock.steady() + options.idle_timeout, [this] { close_old(); });
}

/// Closes connections that were idle for too long: a burst of requests opens many, and few requests come after it.
void Client::State::close_old() {
  const Steady oldest = env.clock.steady() - options.idle_timeout;
  Steady next = Steady::max();
  for (auto& [key, streams] : kept) {
    while (!streams.empty() && streams.front().since <= oldest) streams.pop_front();
    if (!streams.empty()) next = std::min(next, streams.front().since);
  }
  std::erase_if(kept, [](const auto& one) { return one.second.empty(); });
  closing.reset();
  if (next != Steady::max()) closing = env.clock.call_at(next + options.idle_timeout, [this] { close_old(); });
}

Task<Result<Client::State::LeasePtr>> Client::State::lease(Url url, Steady deadline, Choice choice) {
  while (in_use >= options.connections) {
    if (!co_await freed.wait_until(deadline)) {
      co_return fail(Reason::Timeout, fmt::format("all {} connections are in use", options.connections));
    }
  }
  const std::string key = fmt::format("{}{}", url.is_tls ? "tls " : "", url.authority());
  auto lease = std::make_shared<Lease>(shared_from_this(), key);
  if (choice == Choice::kept_or_fresh) lease->stream = take_kept(key);
  lease->is_reused = lease->stream != nullptr;
  if (!lease->is_reused) {
    SLIPWAY_CO_TRY(stream, co_await connect(url, std::min(deadline, env.clock.steady() + options.connect_timeout)));
    lease->stream = std::move(stream);
  }
  co_return lease;
}

Task<Result<std::shared_ptr<Stream>>> Client::State::connect(Url url, Steady deadline) {
  const Url& first = proxy ? *proxy : url;
  SLIPWAY_CO_TRY(stream, co_await Stream::connect(env, first.host, first.port, deadline, proxy ? nullptr : options.addresses));
  ++made;
  if (proxy && url.is_tls) SLIPWAY_CO_TRY_VOID(co_await open_tunnel(stream, url, deadline));
  if (url.is_tls) SLIPWAY_CO_TRY_VOID(co_await stream->start_tls(tls, url.host, deadline));
  co_return stream;
}

Task<Result<void>> Client::State::open_tunnel(std::shared_ptr<Stream> stream, Url url, Steady deadline) {
  http::Headers headers{{"Host", url.authority()}, {"User-Agent", options.user_agent}};
  if (!proxy->user_password.empty()) headers.add("Proxy-Authorization", "Basic " + base64_encode(proxy->user_password));
  SLIPWAY_CO_TRY_VOID(co_await stream->write(request_head("CONNECT", url.authority(), headers), options.write_stall));
  MessageParser parser = MessageParser::response(options.message, true);
  std::string input;
  while (!parser.is_head_done()) {
    SLIPWAY_CO_TRY(got, co_await stream->read(input, kAnswerReadSize, deadline));
    if (got == 0) co_return fail(Reason::ServiceUnavailable, "proxy: closed before an answer came");
    SLIPWAY_CO_TRY_VOID(parser.feed(input));
  }
  if (parser.head().status / 100 == 2 && input.empty()) co_return Result<void>{};
  co_return fail(Reason::ServiceUnavailable,
                 fmt::format("proxy: answered {} to CONNECT {}", parser.head().status, url.authority()));
}

Task<Result<std::shared_ptr<WebSocket>>> Client::open_websocket(HttpCall call, std::vector<std::string> subprotocols) {
  const auto state = state_;
  SLIPWAY_CO_TRY(url, Url::parse(call.url));
  const Steady deadline = state->env.clock.steady() + call.timeout;
  std::string nonce;
  for (int i = 0; i < 16; ++i) nonce += static_cast<char>(state->env.random.next());
  const std::string key = base64_encode(nonce);
  trim_values(call.headers);
  SLIPWAY_CO_TRY_VOID(check_request("GET", call.headers));
  call.method = "GET";
  call.body.clear();
  for (const auto& [name, value] :
       http::Headers{{"Connection", "Upgrade"}, {"Upgrade", "websocket"}, {"Sec-WebSocket-Version", "13"}}) {
    call.headers.set(name, value);
  }
  call.headers.set("Sec-WebSocket-Key", key);
  std::string offer;
  for (const auto& one : subprotocols) offer += (offer.empty() ? "" : ", ") + one;
  if (!offer.empty()) call.headers.set("Sec-WebSocket-Protocol", offer);

  SLIPWAY_CO_TRY(lease, co_await state->lease(url, deadline, Choice::fresh));
  SLIPWAY_CO_TRY_VOID(co_await lease->stream->write(state->head_of(url, call), state->options.write_stall));
  SLIPWAY_CO_TRY(parser, co_await state->read_answer(lease, {}, deadline));
  const http::Headers& headers = parser.head().headers;
  if (parser.head().status != 101) {
    co_return fail(reason_of(parser.head().status), parser.take_body().substr(0, 1000));
  }
  if (headers.get("Sec-WebSocket-Accept") != accept_key(key))
    co_return fail(Reason::ServiceUnavailable, "malformed WebSocket handshake");
  const std::string chosen(headers.get("Sec-WebSocket-Protocol"));
  if (!chosen.empty() && std::ranges::find(subprotocols, chosen) == subprotocols.end()) {
    co_return fail(Reason::NotAcceptable, "the server chose a subprotocol that was not offered");
  }
  co_return std::make_shared<WebSocket>(state->env, lease->stream, Side::client, std::move(lease->input), chosen,
                                        state->options.websocket);
}

}  // namespace slipway::net
