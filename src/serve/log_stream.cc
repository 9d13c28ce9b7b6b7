#include "serve/log_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "json/text.h"
#include "kube/well_known.h"
#include "serve/log_timeline.h"
#include "serve/parameters.h"
#include "serve/pod_container.h"

namespace slipway::serve {
namespace {

using json::Value;

/// A log that has not grown is looked at again after this.
constexpr Duration kLookAgain = std::chrono::milliseconds{100};
constexpr std::size_t kLogPiece = 64 * 1024;
using kube::kPods;

struct LogOptions {
  std::string container;
  bool follows = false;
  bool has_timestamps = false;
  std::size_t runs_back = 0;  // 0: the present or last run of the container
  std::optional<Duration> since_ago;
  std::optional<Time> since;
  std::optional<std::uint64_t> tail_lines;
  std::optional<std::uint64_t> limit_bytes;
};

std::unexpected<Status> invalid_options(Cause cause) {
  return fail(kube::invalid({"", "", "PodLogOptions"}, "", {std::move(cause)}));
}

Result<LogOptions> options_of(const net::Query& query) {
  LogOptions options;
  options.container = query.get("container");
  options.follows = flag_of(query, "follow");
  SLIPWAY_TRY(tail, integer_of(query, "tailLines"));
  if (tail && *tail < 0) {
    return invalid_options(field::invalid("tailLines", std::to_string(*tail), "must be greater than or equal to 0"));
  }
  options.tail_lines = tail;
  SLIPWAY_TRY(limit, integer_of(query, "limitBytes"));
  if (limit && *limit < 1)
    return invalid_options(field::invalid("limitBytes", std::to_string(*limit), "must be greater than 0"));
  options.limit_bytes = limit;
  SLIPWAY_TRY(seconds, integer_of(query, "sinceSeconds"));
  if (seconds && *seconds < 1)
    return invalid_options(field::invalid("sinceSeconds", std::to_string(*seconds), "must be greater than 0"));
  if (seconds) options.since_ago = seconds_saturating(*seconds);
  if (query.find("sinceTime")) {
    if (seconds) return invalid_options(field::forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
    SLIPWAY_TRY(since, parse_rfc3339(query.get("sinceTime")));
    options.since = since;
  }
  options.has_timestamps = flag_of(query, "timestamps");
  return options;
}

/// Whether nothing will be added to the container's log any more.
bool has_ended(const kube::Object& pod, std::string_view container) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed" || container_status(pod, container)["state"].has("terminated");
}

/// BadRequest while the container has never run.
Result<void> check_begun(const kube::Object& pod, const std::string& container) {
  const Value& status = container_status(pod, container);
  const bool has_run = status["state"].has("running") || status["state"].has("terminated") ||
                       status["lastState"].has("terminated") || status["restartCount"].as_int() > 0;
  if (has_run || has_ended(pod, container)) return {};
  const std::string_view reason = status["state"]["waiting"]["reason"].as_string();
  return fail(Reason::BadRequest,
              reason.empty()
                  ? fmt::format("container \"{}\" in pod \"{}\" is not available", container, kube::name(pod))
                  : fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}", container, kube::name(pod), reason));
}

/// How many runs before the newest is the one that ended before the present one: a container that waits to be restarted has
/// no present run.
Result<std::size_t> runs_before(const kube::Object& pod, const std::string& container) {
  const Value& status = container_status(pod, container);
  if (status["lastState"].has("terminated")) return status["state"].has("waiting") ? 0 : 1;
  return fail(Reason::BadRequest,
              fmt::format("previous terminated container \"{}\" in pod \"{}\" not found", container, kube::name(pod)));
}

/// As container runtimes write it: nine digits, so that lines stay aligned.
std::string stamp(Time time) {
  std::string text = to_rfc3339_micro(time);
  text.insert(text.size() - 1, "000");
  return text + " ";
}

class LogStream : public http::BodyStream {
 public:
  LogStream(Env& env, server::Server& server, server::PodBackend* pods, kube::Object pod, LogOptions options)
      : env_(env), server_(server), pods_(pods), pod_(std::move(pod)), options_(std::move(options)), wake_(env) {}

  Task<Result<std::optional<std::string>>> next() override {
    if (!has_begun_) SLIPWAY_CO_TRY_VOID(co_await begin());
    while (!is_closed_ && !is_full()) {
      // Asked before the log is read: what was printed until the end is then all there.
      const bool is_last = !options_.follows || co_await is_over();
      SLIPWAY_CO_TRY(piece, co_await read(offset_));
      if (options_.has_timestamps) SLIPWAY_CO_TRY_VOID(co_await keep_timed(piece, is_last));
      if (!piece.empty()) {
        std::string shown = options_.has_timestamps ? with_times(piece) : piece;
        offset_ += piece.size();
        co_return std::optional(cut(std::move(shown)));
      }
      if (is_last) break;
      if (!is_closed_) co_await wake_.wait_until(env_.clock.steady() + kLookAgain);
    }
    co_return std::optional<std::string>{};
  }

  void close() override {
    is_closed_ = true;
    wake_.notify();
  }

 private:
  /// Finds the first byte wanted.
  Task<Result<void>> begin() {
    has_begun_ = true;
    SLIPWAY_CO_TRY_VOID(co_await timeline_.load(pods_, pod_, options_.container));
    const LogTimeline::Range run = timeline_.run(options_.runs_back);
    offset_ = run.begin;
    end_ = run.end;
    if (options_.since_ago) options_.since = env_.clock.now() - *options_.since_ago;
    if (options_.since) SLIPWAY_CO_TRY_VOID(co_await skip_to(timeline_.first_since(*options_.since)));
    if (options_.tail_lines) {
      SLIPWAY_CO_TRY(start, co_await tail_start(*options_.tail_lines));
      offset_ = start;
    }
    co_return Result<void>{};
  }

  /// To the first line that begins at `offset` or after.
  Task<Result<void>> skip_to(std::uint64_t offset) {
    if (offset <= offset_) co_return Result<void>{};
    offset_ = offset - 1;  // a line begins at `offset` when the byte before ends one
    while (!is_closed_) {
      SLIPWAY_CO_TRY(piece, co_await read(offset_));
      const std::size_t line_end = piece.find('\n');
      offset_ += line_end == std::string::npos ? piece.size() : line_end + 1;
      if (line_end != std::string::npos || piece.empty()) break;
    }
    co_return Result<void>{};
  }

  Task<Result<std::string>> read(std::uint64_t offset) {
    if (pods_ == nullptr || (end_ && offset >= *end_)) co_return std::string();
    const std::size_t limit = end_ ? std::min<std::uint64_t>(kLogPiece, *end_ - offset) : kLogPiece;
    auto piece = co_await pods_->logs(pod_, {.container = options_.container, .offset = offset, .limit = limit});
    if (!piece && piece.error().reason == Reason::NotFound) co_return std::string();
    co_return piece;
  }

  /// Holds lines back whose time is not noted yet, unless nothing more will be noted.
  Task<Result<void>> keep_timed(std::string& piece, bool is_last) {
    SLIPWAY_CO_TRY_VOID(co_await timeline_.load(pods_, pod_, options_.container));
    if (piece.empty() || is_last || timeline_.time_at(offset_ + piece.size() - 1)) co_return Result<void>{};
    if (!timeline_.time_at(offset_)) {
      piece.clear();
      co_return Result<void>{};
    }
    std::size_t known = 0;
    for (std::size_t at = 0; at < piece.size() && timeline_.time_at(offset_ + at); at = piece.find('\n', at) + 1) {
      known = at;
      if (piece.find('\n', at) == std::string::npos) break;
    }
    piece.resize(known);
    co_return Result<void>{};
  }

  std::string with_times(const std::string& piece) {
    std::string text;
    for (std::size_t at = 0; at < piece.size();) {
      if (is_line_start_) text += stamp(timeline_.time_at(offset_ + at).value_or(env_.clock.now()));
      const std::size_t line_end = piece.find('\n', at);
      is_line_start_ = line_end != std::string::npos;
      const std::size_t next = is_line_start_ ? line_end + 1 : piece.size();
      text.append(piece, at, next - at);
      at = next;
    }
    return text;
  }

  /// Where the last `lines` lines begin. Keeps one offset per line wanted.
  Task<Result<std::uint64_t>> tail_start(std::uint64_t lines) {
    std::deque<std::uint64_t> starts{offset_};
    std::uint64_t offset = offset_;
    while (!is_closed_) {
      SLIPWAY_CO_TRY(piece, co_await read(offset));
      if (piece.empty()) break;
      for (std::size_t at = piece.find('\n'); at != std::string::npos; at = piece.find('\n', at + 1)) {
        starts.push_back(offset + at + 1);
        if (starts.size() > lines + 1) starts.pop_front();
      }
      offset += piece.size();
    }
    // A log that ends with a line end has no line after it.
    if (starts.back() != offset) {
      starts.push_back(offset);
      if (starts.size() > lines + 1) starts.pop_front();
    }
    co_return lines == 0 ? offset : starts.front();
  }

  Task<bool> is_over() {
    const auto now = co_await client::get(server_, kPods, kube::key_of(pod_));
    co_return !now || kube::uid(*now) != kube::uid(pod_) || has_ended(*now, options_.container);
  }

  bool is_full() const { return options_.limit_bytes && *options_.limit_bytes == 0; }
  std::string cut(std::string piece) {
    if (!options_.limit_bytes) return piece;
    if (piece.size() > *options_.limit_bytes) piece.resize(static_cast<std::size_t>(*options_.limit_bytes));
    *options_.limit_bytes -= piece.size();
    return piece;
  }

  Env& env_;
  server::Server& server_;
  server::PodBackend* pods_;
  kube::Object pod_;
  LogOptions options_;
  Signal wake_;
  LogTimeline timeline_;
  std::uint64_t offset_ = 0;
  std::optional<std::uint64_t> end_;
  bool has_begun_ = false;
  bool is_line_start_ = true;
  bool is_closed_ = false;
};

}  // namespace

Task<Result<http::Response>> log_response(Env& env, server::Server& server, server::PodBackend* pods, Call call) {
  SLIPWAY_CO_TRY(pod, co_await client::get(server, kPods, {call.route.ns, call.route.name}));
  SLIPWAY_CO_TRY(options, options_of(call.query));
  SLIPWAY_CO_TRY(container, container_of(pod, options.container));
  options.container = container;
  if (flag_of(call.query, "previous")) {
    SLIPWAY_CO_TRY(back, runs_before(pod, container));
    options.runs_back = back;
    options.follows = false;
  }
  SLIPWAY_CO_TRY_VOID(check_begun(pod, container));
  http::Response response;
  response.headers.add("Content-Type", "text/plain");
  response.stream = std::make_unique<LogStream>(env, server, pods, pod, options);
  co_return response;
}

}  // namespace slipway::serve
