#include "net/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "net/http.h"

namespace slipway::net {
namespace {

constexpr std::size_t kRequestReadSize = 16 * 1024;
constexpr std::size_t kReadAhead = 64 * 1024;   // of pipelined requests while a stream is being sent
constexpr std::size_t kSentAtOnce = 64 * 1024;  // of a stream, before others have their turn
constexpr std::size_t kLeastSent = 1024;        // what a piece counts at least: making it is work, too
constexpr std::size_t kJoinSize = 64 * 1024;    // smaller bodies go out together with their head
constexpr std::size_t kShownTarget = 200;       // bytes of a target that a line of the log shows
constexpr std::uint64_t kLingerBytes = std::uint64_t{16} << 20;
constexpr std::string_view kUnknownThrown = "what is no std::exception";
constexpr Duration kLingerTime = std::chrono::seconds{2};

/// What a broken request is answered with.
http::Response refusal(const Status& status) {
  if (status.reason == Reason::RequestEntityTooLarge) {
    return status_response(status.message.contains("header") ? 431 : 413, "RequestEntityTooLarge", status.message);
  }
  if (status.reason == Reason::Timeout) return status_response(408, "Timeout", "the request did not arrive in time");
  if (status.reason == Reason::Unauthorized) return status_response(401, "Unauthorized", status.message);
  if (status.reason != Reason::TooManyRequests) return status_response(400, "BadRequest", status.message);
  auto response = status_response(429, "TooManyRequests", status.message);
  response.headers.add("Retry-After", "1");
  return response;
}

bool has_no_body(int status) { return status / 100 == 1 || status == 204 || status == 304; }

}  // namespace

Task<> Connection::serve() {
  if (server_.options.tls) {
    const Steady deadline = server_.env.clock.steady() + server_.options.limits.header_timeout;
    if (!co_await stream_->start_tls(*server_.options.tls, "", deadline)) {
      stream_->close();
      co_return;
    }
  }
  info_ = std::make_shared<ConnectionInfo>(
      ConnectionInfo{.peer_address = stream_->peer_address(), .is_tls = stream_->is_tls(), .certificate = stream_->peer()});
  try {  // of a web socket, or of this room: it ends the connection
    if (co_await answer_requests()) co_await part();
  } catch (const std::exception& thrown) {
    log_thrown("connection", thrown.what());
  } catch (...) {
    log_thrown("connection", kUnknownThrown);
  }
  std::erase_if(server_.idle, [this](const auto& one) { return one.second == this; });
  hold_body(0);
  stream_->close();
}

Task<bool> Connection::answer_requests() {
  while (!server_.is_stopping) {
    auto request = co_await read_request();
    if (!request) break;
    const bool is_head = request->method == "HEAD";
    std::string key(request->headers.get("Sec-WebSocket-Key"));
    Answer answer = co_await answer_guarded(std::move(*request));
    hold_body(0);
    if (auto* wanted = std::get_if<Upgrade>(&answer)) {
      co_await upgrade(std::move(*wanted), std::move(key));
      co_return false;
    }
    if (!co_await respond(std::move(std::get<http::Response>(answer)), is_head)) co_return false;
    if (!keeps_alive_) break;
    co_await yield(server_.env);  // a client that never stops asking lets others have their turn
  }
  co_return true;
}

/// Catches exceptions of handlers, as next_guarded() does those of streams. Handlers report errors as answers; an exception is
/// a mistake of ours that some request brings out, and that request alone is to fail.
Task<Answer> Connection::answer_guarded(http::Request request) {
  const std::string what = fmt::format("{} {}", request.method, request.target.substr(0, kShownTarget));
  try {
    co_return co_await server_.handler(std::move(request), info_);
  } catch (const std::exception& thrown) {
    log_thrown(what, thrown.what());
  } catch (...) {
    log_thrown(what, kUnknownThrown);
  }
  co_return status_response(500, "InternalError",
                            "the request met an unexpected error; the cause is in the log of the server at RequestError");
}

/// The head of the answer is sent already: the stream ends like one whose source broke.
Task<Result<std::optional<std::string>>> Connection::next_guarded(std::shared_ptr<http::BodyStream> body) {
  try {
    co_return co_await body->next();
  } catch (const std::exception& thrown) {
    log_thrown("stream of an answer", thrown.what());
  } catch (...) {
    log_thrown("stream of an answer", kUnknownThrown);
  }
  co_return fail(Reason::InternalError, "the stream threw an exception");
}

void Connection::log_thrown(std::string_view what, std::string_view cause) {
  server_.env.log.error("RequestError: a request threw an exception", {{"request", what}, {"error", cause}});
}

Task<bool> Connection::wait_for_bytes() {
  if (!input_.empty()) co_return true;
  const ServerLimits& limits = server_.options.limits;
  const std::uint64_t number = ++server_.next_number;
  server_.idle.emplace(number, this);
  const auto got = co_await stream_->read(
      input_, kRequestReadSize, server_.env.clock.steady() + (is_first_ ? limits.header_timeout : limits.idle_timeout));
  server_.idle.erase(number);
  is_first_ = false;
  co_return got && *got > 0;
}

Task<std::optional<http::Request>> Connection::read_request() {
  if (!co_await wait_for_bytes()) co_return std::nullopt;
  MessageParser parser = MessageParser::request(server_.options.limits.message);
  auto outcome = co_await read_head(parser);
  if (outcome) outcome = check_head(parser.head());
  std::uint64_t limit = server_.options.limits.message.body_bytes;
  if (outcome && server_.options.body_limit) {
    const auto asked = server_.options.body_limit(parser.head());
    if (asked) limit = std::min(limit, *asked);
    if (!asked) outcome = fail(asked.error());
  }
  if (outcome) outcome = co_await read_body(parser, limit);
  if (!outcome) {
    // A connection that broke is not worth an answer; a request that did is.
    if (outcome.error().reason != Reason::ServiceUnavailable) co_await refuse(std::move(outcome).error());
    co_return std::nullopt;
  }
  if (input_.empty()) std::string().swap(input_);  // an idle connection keeps no buffer
  MessageHead& head = parser.head();
  keeps_alive_ = head.keeps_alive;
  co_return http::Request{.method = std::move(head.method),
                          .target = std::move(head.target),
                          .headers = std::move(head.headers),
                          .body = parser.take_body()};
}

Task<Result<void>> Connection::read_head(MessageParser& parser) {
  const Steady deadline = server_.env.clock.steady() + server_.options.limits.header_timeout;
  while (true) {
    auto fed = parser.feed(input_);
    if (!fed) {
      Status status = std::move(fed).error();
      if (status.reason == Reason::RequestEntityTooLarge && status.message.contains("body")) {
        status.message = fmt::format("Request entity too large: limit is {}", server_.options.limits.message.body_bytes);
      }
      co_return fail(std::move(status));
    }
    if (parser.is_head_done()) co_return Result<void>{};
    const auto got = co_await stream_->read(input_, kRequestReadSize, deadline);
    if (!got) co_return fail(got.error());
    if (*got == 0) co_return fail(Reason::ServiceUnavailable, "the client has gone");
  }
}

Result<void> Connection::check_head(const MessageHead& head) const {
  if (head.minor_version != 1) return fail(Reason::BadRequest, "only HTTP/1.1 is spoken here");
  if (head.headers.all("Host").size() != 1) return fail(Reason::BadRequest, "a request needs one Host header");
  if (!head.target.starts_with('/') && !head.target.contains("://") && head.target != "*") {
    return fail(Reason::BadRequest, "malformed request target");
  }
  const auto expected = head.headers.find("Expect");
  if (expected && !http::equals_ignoring_case(*expected, "100-continue"))
    return fail(Reason::BadRequest, "unknown Expect header");
  return {};
}

Task<Result<void>> Connection::read_body(MessageParser& parser, std::uint64_t limit) {
  const Steady deadline = server_.env.clock.steady() + server_.options.limits.body_timeout;
  if (!parser.is_done() && parser.body_size() == 0 && parser.head().headers.contains("Expect")) {
    SLIPWAY_CO_TRY_VOID(co_await stream_->write("HTTP/1.1 100 Continue\r\n\r\n", server_.options.limits.write_stall));
  }
  while (true) {
    auto fed = parser.feed(input_);
    if (!fed && fed.error().reason != Reason::RequestEntityTooLarge) co_return fail(std::move(fed).error());
    if (!fed || parser.body_size() > limit) {
      co_return fail(Reason::RequestEntityTooLarge, fmt::format("Request entity too large: limit is {}", limit));
    }
    hold_body(parser.body_size());
    if (server_.bodies_in_flight > server_.options.limits.bodies_in_flight) {
      co_return fail(Reason::TooManyRequests, "too many large requests at once, please try again later");
    }
    if (parser.is_done()) co_return Result<void>{};
    const auto got = co_await stream_->read(input_, kRequestReadSize, deadline);
    if (!got) co_return fail(got.error());
    if (*got == 0) co_return fail(Reason::ServiceUnavailable, "the client has gone");
  }
}

void Connection::hold_body(std::uint64_t bytes) {
  server_.bodies_in_flight += bytes;
  server_.bodies_in_flight -= std::exchange(held_, bytes);
}

Task<> Connection::refuse(Status status) {
  keeps_alive_ = false;
  must_linger_ = true;
  hold_body(0);
  static_cast<void>(co_await respond(refusal(status), false));
}

Task<bool> Connection::respond(http::Response response, bool is_head) {
  http::Headers& headers = response.headers;
  if (server_.is_stopping) keeps_alive_ = false;
  headers.set("Date", http_date(server_.env.clock.now()));
  if (!keeps_alive_) headers.set("Connection", "close");
  headers.erase("Content-Length");
  headers.erase("Transfer-Encoding");
  const std::shared_ptr<http::BodyStream> stream = std::move(response.stream);
  if (stream) {
    headers.add("Transfer-Encoding", "chunked");
  } else if (!has_no_body(response.status)) {
    headers.add("Content-Length", std::to_string(response.body.size()));
  }
  std::string bytes = response_head(response.status, headers);
  const bool has_body = !is_head && !has_no_body(response.status);
  const bool is_joined = has_body && !stream && response.body.size() <= kJoinSize;
  if (is_joined) bytes += response.body;
  const Duration stall = server_.options.limits.write_stall;
  bool is_sent = (co_await stream_->write(std::move(bytes), stall)).has_value();
  if (is_sent && has_body && !stream && !is_joined) {
    is_sent = (co_await stream_->write(std::move(response.body), stall)).has_value();
  }
  if (is_sent && has_body && stream) co_return co_await send_stream(stream);
  if (stream) stream->close();
  co_return is_sent;
}

Task<bool> Connection::send_stream(std::shared_ptr<http::BodyStream> body) {
  const Duration stall = server_.options.limits.write_stall;
  sending_ = body;
  Tasks watch(server_.env);
  watch.spawn(watch_hangup(body));
  bool is_whole = false;
  std::size_t sent = 0;  // in this turn
  while (true) {
    auto piece = co_await next_guarded(body);
    if (!piece) break;
    if (!*piece) {
      is_whole = true;
      break;
    }
    sent += std::max((*piece)->size(), kLeastSent);
    if (!(co_await stream_->write(chunk(**piece), stall)).has_value()) break;
    if (sent < kSentAtOnce) continue;
    co_await yield(server_.env);  // neither a fast reader nor a body that is there already may keep the others from being read
    sent = 0;
  }
  body->close();
  sending_.reset();
  stream_->interrupt_reading();
  co_await watch.join();
  stream_->resume_reading();
  if (is_whole) is_whole = (co_await stream_->write(std::string(kLastChunk), stall)).has_value();
  co_return is_whole;
}

Task<> Connection::watch_hangup(std::shared_ptr<http::BodyStream> body) {
  while (input_.size() < kReadAhead) {
    const auto got = co_await stream_->read(input_, kRequestReadSize, std::nullopt);
    if (got && *got > 0) continue;
    // Closed while the stream was being sent, or interrupted at its end, when closing it again does no harm.
    body->close();
    co_return;
  }
}

void Connection::wind_down() {
  if (sending_) sending_->close();
}

Task<> Connection::upgrade(Upgrade wanted, std::string key) {
  http::Headers headers{{"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Accept", accept_key(key)}};
  if (!wanted.subprotocol.empty()) headers.add("Sec-WebSocket-Protocol", wanted.subprotocol);
  if (!(co_await stream_->write(response_head(101, headers), server_.options.limits.write_stall)).has_value()) co_return;
  auto socket = std::make_shared<WebSocket>(server_.env, stream_, Side::server, std::exchange(input_, {}), wanted.subprotocol,
                                            server_.options.websocket);
  co_await wanted.run(socket);
  if (stream_->is_open()) co_await socket->close();
}

Task<> Connection::part() {
  stream_->finish_writing();
  if (!must_linger_) co_return;
  // A socket closed with unread bytes is reset, and the reset can overtake our answer: take what still comes, for a while.
  const Steady deadline = server_.env.clock.steady() + kLingerTime;
  for (std::uint64_t dropped = 0; dropped < kLingerBytes;) {
    input_.clear();
    const auto got = co_await stream_->read(input_, kRequestReadSize, deadline);
    if (!got || *got == 0) co_return;
    dropped += *got;
  }
}

}  // namespace slipway::net
