#include "serve/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
#include "serve/body.h"
#include "serve/byte_endpoint.h"
#include "serve/list_stream.h"
#include "serve/parameters.h"
#include "serve/paths.h"
#include "serve/shape.h"
#include "serve/target.h"
#include "serve/warnings.h"
#include "serve/watch_stream.h"

namespace slipway::serve {
namespace {

using client::Verb;

constexpr int kSwitchingProtocols = 101;
/// Bodies of requests that were parsed: none of those who may not make the request.
constexpr std::string_view kBodiesDecoded = "slipway_request_bodies_decoded_total";

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

/// The method as a label: what clients make up is one value.
std::string_view known_method(std::string_view method) {
  constexpr std::array<std::string_view, 7> kMethods{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  return std::ranges::find(kMethods, method) != kMethods.end() ? method : "other";
}

bool is_of_bytes(const Target& target) { return target.endpoint != nullptr && target.endpoint->run == nullptr; }

/// What a request at `target` brings as its body.
Taken taken_by(const Target& target, const Route& route) {
  const bool is_scale = target.endpoint == nullptr && route.subresource == "scale";
  if (is_scale) return {{"autoscaling", "v1", "Scale"}, false};
  return {target.type->kind, target.type->is_custom};
}

}  // namespace

Api::Api(Env& env, server::Server& server, ApiOptions options) : env_(env), server_(server), options_(std::move(options)) {
  env_.metrics.count(kBodiesDecoded, {}, 0);
}

Task<net::Answer> Api::answer(Call call) {
  const Steady begun = env_.clock.steady();
  const Form form = plain_form(call.http.headers, call.query);
  std::string verb_name(known_method(call.http.method));
  Subject subject;
  Result<net::Answer> answer = fail(Reason::InternalError, "");
  if (const client::HttpPath* path = call.route.is_resource ? nullptr : find_path(call.route)) {
    answer = co_await answer_own_path(*path, std::move(call));
  } else if (!call.route.is_resource) {
    answer = answer_path(call);
  } else if (const auto verb = verb_of(call.http.method, call.route, flag_of(call.query, "watch")); !verb) {
    answer = fail(verb.error());
  } else {
    verb_name = upper(client::to_string(*verb));
    auto admitted = admit(call, *verb);
    if (admitted) {
      subject = {call.route.resource, call.route.subresource, call.query.all("dryRun").empty() ? "" : "All"};
      answer = co_await answer_resource(std::move(call), std::move(*admitted));
    } else {
      answer = fail(std::move(admitted).error());
    }
  }
  if (!answer) answer = net::Answer(response_with(answer.error(), form));
  measure(subject, verb_name, *answer, begun);
  co_return std::move(*answer);
}

/// Names and labels as kube-apiserver's, as far as dashboards use them.
void Api::measure(const Subject& subject, std::string_view verb, const net::Answer& answer, Steady begun) {
  const auto* response = std::get_if<http::Response>(&answer);
  const std::string code = std::to_string(response == nullptr ? kSwitchingProtocols : response->status);
  const auto& [group, version, plural] = subject.resource;
  Metrics& metrics = env_.metrics;
  metrics.count("apiserver_request_total",
                {{"verb", verb},
                 {"dry_run", subject.dry_run},
                 {"group", group},
                 {"version", version},
                 {"resource", plural},
                 {"subresource", subject.subresource},
                 {"code", code}},
                1);
  // A stream lasts as long as it is read; that of a long list only carries an answer that is there.
  if (response != nullptr && (!response->stream || verb == "LIST")) {
    metrics.observe(
        "apiserver_request_duration_seconds",
        {{"verb", verb}, {"group", group}, {"version", version}, {"resource", plural}, {"subresource", subject.subresource}},
        std::chrono::duration<double>(env_.clock.steady() - begun).count());
  }
  metrics.gauge("apiserver_current_inflight_requests", {{"request_kind", "readOnly"}}, static_cast<double>(reads_));
  metrics.gauge("apiserver_current_inflight_requests", {{"request_kind", "mutating"}}, static_cast<double>(writes_));
  metrics.gauge("apiserver_longrunning_requests", {{"verb", "WATCH"}}, static_cast<double>(*watches_));
}

Result<net::Answer> Api::answer_path(const Call& call) {
  const std::string verb = lower(call.http.method);
  SLIPWAY_TRY_VOID(server_.authorize(call.user, server::Attributes::of_path(verb, call.route.path())));
  SLIPWAY_TRY(response,
              path_response({server_.registry(), documents_, options_.root, options_.metrics, options_.hindrances}, call));
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
  const bool is_for_anyone = path.access == client::HttpPath::Access::Anyone;
  const std::string source = call.source;
  const bool is_refused_often = is_for_anyone && strangers_.is_over(source, env_.clock.steady());
  if (is_refused_often || writes_ >= options_.writes_in_flight) co_return fail(too_many_requests());
  const Held held(writes_);
  auto response = co_await path.run({env_, server_}, std::move(call.http), std::move(call.user));
  if (!response && is_for_anyone) strangers_.add_refused(source, env_.clock.steady());
  if (!response) co_return fail(std::move(response).error());
  co_return net::Answer(std::move(*response));
}

Result<Api::Admitted> Api::admit(const Call& call, Verb verb) {
  client::Request request = request_of(call, verb);
  auto target = target_of(server_.registry(), call.route, verb);
  if (target && is_of_bytes(*target)) request.verb = authorized_verb(call.route.subresource, verb);
  // Before it is told that nothing is served there: who may not ask is not told what there is.
  SLIPWAY_TRY_VOID(server_.authorize(call.user, server::Attributes::of(request)));
  if (!target) return fail(std::move(target).error());
  SLIPWAY_TRY_VOID(check_timeout(call.query));
  return Admitted{std::move(request), std::move(*target)};
}

Task<Result<net::Answer>> Api::answer_resource(Call call, Admitted admitted) {
  if (is_of_bytes(admitted.target)) return answer_bytes(env_, server_, options_.pods, std::move(call));
  return is_read(admitted.request.verb) ? answer_read(std::move(call), std::move(admitted))
                                        : answer_write(std::move(call), std::move(admitted));
}

Task<Result<net::Answer>> Api::answer_read(Call call, Admitted admitted) {
  auto& [request, target] = admitted;
  SLIPWAY_CO_TRY_VOID(read_parameters(call.query, request));
  if (request.verb == Verb::Watch) co_return co_await answer_watch(std::move(call), std::move(request), target.type);
  SLIPWAY_CO_TRY(wanted, server_.revision_wanted(request));
  SLIPWAY_CO_TRY_VOID(co_await server_.reach(wanted));
  if (reads_ >= options_.reads_in_flight) co_return fail(too_many_requests());
  const Held held(reads_);
  if (request.verb == Verb::List && target.endpoint == nullptr) {
    co_return co_await answer_list(std::move(call), std::move(request), target.type);
  }
  co_return co_await answer_plain(std::move(call), std::move(request), target.type);
}

Task<Result<net::Answer>> Api::answer_write(Call call, Admitted admitted) {
  auto& [request, target] = admitted;
  if (writes_ >= options_.writes_in_flight) co_return fail(too_many_requests());
  const Held held(writes_);
  const Taken taken = taken_by(target, call.route);
  if (!call.http.body.empty()) env_.metrics.count(kBodiesDecoded, {}, 1);
  SentBody sent{request.verb, std::string(call.http.headers.get("Content-Type")), std::move(call.http.body)};
  SLIPWAY_CO_TRY(body, co_await read_body(env_, std::move(sent), taken));
  request.body = std::move(body.value);
  request.patch_type = body.patch_type;
  SLIPWAY_CO_TRY_VOID(read_parameters(call.query, request));
  SLIPWAY_CO_TRY(warnings, judge_doubled(std::move(body.doubled), taken, request));
  co_return co_await answer_plain(std::move(call), std::move(request), target.type, std::move(warnings));
}

Task<Result<net::Answer>> Api::answer_plain(Call call, client::Request request, server::TypePtr type,
                                            std::vector<std::string> warnings) {
  SLIPWAY_CO_TRY(form, negotiate(call.http.headers, call.query, Purpose::Answer));
  SLIPWAY_CO_TRY(reply, co_await server_.call(std::move(request)));
  SLIPWAY_CO_TRY(value, shaped(reply.object, *type, form, env_.clock.now()));
  http::Response response = response_with(value, form, reply.code);
  std::ranges::move(reply.warnings, std::back_inserter(warnings));
  add_warnings(response.headers, warnings);
  co_return net::Answer(std::move(response));
}

Task<Result<net::Answer>> Api::answer_list(Call call, client::Request request, server::TypePtr type) {
  SLIPWAY_CO_TRY(form, negotiate(call.http.headers, call.query, Purpose::Answer));
  SLIPWAY_CO_TRY(list, co_await server_.list(std::move(request)));
  const std::vector<std::string> warnings = std::move(list.warnings);
  SLIPWAY_CO_TRY(text, ListText::of(std::move(list), std::move(type), form, env_.clock.now()));
  http::Response response = list_response(env_, std::move(text), form);
  add_warnings(response.headers, warnings);
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
