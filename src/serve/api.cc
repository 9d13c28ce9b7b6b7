#include "serve/api.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "serve/body.h"
#include "serve/byte_endpoint.h"
#include "serve/list_stream.h"
#include "serve/parameters.h"
#include "serve/paths.h"
#include "serve/shape.h"
#include "serve/target.h"
#include "serve/watch_stream.h"

namespace slipway::serve {
namespace {

using client::Verb;

constexpr int kSwitchingProtocols = 101;

/// Counts one while it lives.
class Held {
 public:
  explicit Held(std::size_t& count) : count_(count) { ++count_; }
  ~Held() { --count_; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::size_t& count_;
};

/// A stream that is counted while it lives.
class CountedStream : public http::BodyStream {
 public:
  CountedStream(std::unique_ptr<http::BodyStream> stream, std::shared_ptr<std::size_t> count)
      : stream_(std::move(stream)), count_(std::move(count)), held_(*count_) {}
  Task<Result<std::optional<std::string>>> next() override { return stream_->next(); }
  void close() override { stream_->close(); }

 private:
  std::unique_ptr<http::BodyStream> stream_;
  std::shared_ptr<std::size_t> count_;
  Held held_;
};

Status too_many_requests() {
  Status status;
  status.reason = Reason::TooManyRequests;
  status.message = "The server has received too many requests and has asked us to try again later";
  status.retry_after_seconds = 1;
  return status;
}

bool is_read(Verb verb) { return verb == Verb::Get || verb == Verb::List || verb == Verb::Watch; }

/// In the words of RFC 9111's warn-code 299: quotes and backslashes escaped, no line ends.
std::string warning_value(std::string_view text) {
  std::string value = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') value += '\\';
    value += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return value + '"';
}

/// What a request at `target` brings as its body.
Taken taken_by(const Target& target, const Route& route) {
  const bool is_scale = target.endpoint == nullptr && route.subresource == "scale";
  if (is_scale) return {{"autoscaling", "v1", "Scale"}, false};
  return {target.type->kind, target.type->is_custom};
}

}  // namespace

Api::Api(Env& env, server::Server& server, ApiOptions options) : env_(env), server_(server), options_(std::move(options)) {}

Task<net::Answer> Api::answer(Call call) {
  const Steady begun = env_.clock.steady();
  const Form form = plain_form(call.http.headers, call.query);
  const Route route = call.route;
  std::string verb_name = call.http.method;
  Result<net::Answer> answer = fail(Reason::InternalError, "");
  if (route.is_resource) {
    const auto verb = verb_of(call.http.method, route, flag_of(call.query, "watch"));
    if (verb) {
      verb_name = upper(client::to_string(*verb));
      answer = co_await answer_resource(std::move(call), *verb);
    } else {
      answer = fail(verb.error());
    }
  } else if (const client::HttpPath* path = find_path(route)) {
    answer = co_await answer_own_path(*path, std::move(call));
  } else {
    answer = answer_path(call);
  }
  if (!answer) answer = net::Answer(response_with(answer.error(), form));
  measure(route, verb_name, *answer, begun);
  co_return std::move(*answer);
}

/// Names and labels as kube-apiserver's, as far as dashboards use them.
void Api::measure(const Route& route, std::string_view verb, const net::Answer& answer, Steady begun) {
  const auto* response = std::get_if<http::Response>(&answer);
  const bool is_found = response == nullptr || response->status != 404;  // strangers' paths make no labels
  const kube::Resource resource = is_found ? route.resource : kube::Resource{};
  const std::string about = fmt::format(R"(verb="{}",group="{}",version="{}",resource="{}",subresource="{}")", verb,
                                        resource.group, resource.version, resource.plural, is_found ? route.subresource : "");
  const int code = response == nullptr ? kSwitchingProtocols : response->status;
  env_.metrics.count("apiserver_request_total", fmt::format(R"({},code="{}")", about, code), 1);
  // A stream lasts as long as somebody reads it; that of a long list only carries an answer that is there.
  if (response != nullptr && (!response->stream || verb == "LIST")) {
    env_.metrics.observe("apiserver_request_duration_seconds", about,
                         std::chrono::duration<double>(env_.clock.steady() - begun).count());
  }
  env_.metrics.gauge("apiserver_current_inflight_requests", R"(request_kind="readOnly")", static_cast<double>(reads_));
  env_.metrics.gauge("apiserver_current_inflight_requests", R"(request_kind="mutating")", static_cast<double>(writes_));
  env_.metrics.gauge("apiserver_longrunning_requests", R"(verb="WATCH")", static_cast<double>(*watches_));
}

Result<net::Answer> Api::answer_path(const Call& call) {
  const std::string verb = lower(call.http.method);
  SLIPWAY_TRY_VOID(server_.authorize(call.user, server::Attributes::of_path(verb, call.route.path())));
  SLIPWAY_TRY(response,
              path_response({server_.registry(), documents_, options_.root, options_.metrics_text, options_.hindrances}, call));
  return net::Answer(std::move(response));
}

const client::HttpPath* Api::find_path(const Route& route) const {
  const std::string path = route.path();
  const auto at = std::ranges::find_if(options_.paths, [&](const client::HttpPath& row) { return row.covers(path); });
  return at == options_.paths.end() ? nullptr : &*at;
}

Task<Result<net::Answer>> Api::answer_own_path(const client::HttpPath& path, Call call) {
  if (path.access == client::HttpPath::Access::Authorized) {
    SLIPWAY_CO_TRY_VOID(server_.authorize(call.user, server::Attributes::of_path(lower(call.http.method), call.route.path())));
  }
  if (std::ranges::find(path.methods, call.http.method) == path.methods.end()) {
    co_return fail(Reason::MethodNotAllowed, "the server does not allow this method on the requested resource");
  }
  if (call.http.body.size() > path.max_body_bytes) {
    co_return fail(Reason::RequestEntityTooLarge, fmt::format("limit is {}", path.max_body_bytes));
  }
  if (writes_ >= options_.writes_in_flight) co_return fail(too_many_requests());
  const Held held(writes_);
  SLIPWAY_CO_TRY(response, co_await path.run({env_, server_}, std::move(call.http), std::move(call.user)));
  co_return net::Answer(std::move(response));
}

Task<Result<net::Answer>> Api::answer_resource(Call call, Verb verb) {
  client::Request request = request_of(call, verb);
  auto found = target_of(server_.registry(), call.route, verb);
  if (!found) {  // who may not ask is not told what there is
    SLIPWAY_CO_TRY_VOID(server_.authorize(call.user, server::Attributes::of(request)));
    co_return fail(found.error());
  }
  Target& target = *found;
  if (target.endpoint != nullptr && target.endpoint->run == nullptr) {
    co_return co_await answer_bytes(env_, server_, options_.pods, std::move(call), verb);
  }
  const Taken taken = taken_by(target, call.route);
  SLIPWAY_CO_TRY(doubled, read_body(call.http, taken, request));
  SLIPWAY_CO_TRY_VOID(read_parameters(call.query, request));
  SLIPWAY_CO_TRY(warnings, judge_doubled(doubled, taken, request));
  if (verb == Verb::Watch) co_return co_await answer_watch(std::move(call), std::move(request), target.type);
  std::size_t& in_flight = is_read(verb) ? reads_ : writes_;
  if (in_flight >= (is_read(verb) ? options_.reads_in_flight : options_.writes_in_flight)) co_return fail(too_many_requests());
  const Held held(in_flight);
  const bool is_list = verb == Verb::List && target.endpoint == nullptr;
  Task<Result<net::Answer>> answering = is_list ? answer_list(std::move(call), std::move(request), target.type)
                                                : answer_plain(std::move(call), std::move(request), target.type);
  auto answer = co_await std::move(answering);
  auto* response = answer ? std::get_if<http::Response>(&*answer) : nullptr;
  for (const std::string& warning : warnings) {
    if (response != nullptr) response->headers.add("Warning", warning_value(warning));
  }
  co_return answer;
}

Task<Result<net::Answer>> Api::answer_plain(Call call, client::Request request, server::TypePtr type) {
  SLIPWAY_CO_TRY(form, negotiate(call.http.headers, call.query, Purpose::Answer));
  SLIPWAY_CO_TRY(reply, co_await server_.call(std::move(request)));
  SLIPWAY_CO_TRY(value, shaped(reply.object, *type, form, env_.clock.now()));
  http::Response response = response_with(value, form, reply.code);
  for (const std::string& warning : reply.warnings) response.headers.add("Warning", warning_value(warning));
  co_return net::Answer(std::move(response));
}

Task<Result<net::Answer>> Api::answer_list(Call call, client::Request request, server::TypePtr type) {
  SLIPWAY_CO_TRY(form, negotiate(call.http.headers, call.query, Purpose::Answer));
  SLIPWAY_CO_TRY(list, co_await server_.list(std::move(request)));
  const std::vector<std::string> warnings = std::move(list.warnings);
  SLIPWAY_CO_TRY(text, ListText::of(std::move(list), std::move(type), form, env_.clock.now()));
  http::Response response = list_response(env_, std::move(text), form);
  for (const std::string& warning : warnings) response.headers.add("Warning", warning_value(warning));
  co_return net::Answer(std::move(response));
}

Task<Result<net::Answer>> Api::answer_watch(Call call, client::Request request, server::TypePtr type) {
  SLIPWAY_CO_TRY(form, negotiate(call.http.headers, call.query, Purpose::Stream));
  auto watch = co_await server_.watch(std::move(request));
  http::Response response;
  response.headers.add("Content-Type", "application/json");
  if (!watch) {
    // As upstream: a watch that starts too far back is told so by its first event.
    if (watch.error().reason != Reason::Expired) co_return fail(std::move(watch).error());
    response.body = event_line("ERROR", kube::to_json(watch.error()));
    co_return net::Answer(std::move(response));
  }
  WatchView view{std::move(type), std::move(form), texts_};
  response.stream = std::make_unique<CountedStream>(watch_stream(env_, std::move(*watch), std::move(view)), watches_);
  co_return net::Answer(std::move(response));
}

}  // namespace slipway::serve
