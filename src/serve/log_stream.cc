#include "serve/log_stream.h"

#include <fmt/format.h>

#include <deque>

#include "json/text.h"
#include "serve/parameters.h"
#include "serve/pod_container.h"

namespace slipway::serve {
namespace {

using json::Value;

/// A log that has not grown is looked at again after this.
constexpr Duration kLookAgain = std::chrono::milliseconds{100};
constexpr std::size_t kPiece = 64 * 1024;
const kube::Resource kPods{"", "v1", "pods"};

struct LogOptions {
  std::string container;
  bool follows = false;
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
  for (const char* name : {"sinceSeconds", "sinceTime"}) {
    if (query.find(name)) return fail(Reason::NotImplemented, fmt::format("{}: the times of log lines are not kept", name));
  }
  if (flag_of(query, "timestamps")) return fail(Reason::NotImplemented, "timestamps: the times of log lines are not kept");
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
  const bool has_run =
      status["state"].has("running") || status["state"].has("terminated") || status["restartCount"].as_int() > 0;
  if (has_run || has_ended(pod, container)) return {};
  const std::string_view reason = status["state"]["waiting"]["reason"].as_string();
  return fail(Reason::BadRequest,
              reason.empty()
                  ? fmt::format("container \"{}\" in pod \"{}\" is not available", container, kube::name(pod))
                  : fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}", container, kube::name(pod), reason));
}

Result<void> check_previous(const kube::Object& pod, const std::string& container) {
  if (container_status(pod, container)["lastState"].has("terminated")) {
    return fail(Reason::NotImplemented, "previous: the logs of earlier runs are not kept apart; the log has all of them");
  }
  return fail(Reason::BadRequest,
              fmt::format("previous terminated container \"{}\" in pod \"{}\" not found", container, kube::name(pod)));
}

class LogStream : public http::BodyStream {
 public:
  LogStream(Env& env, server::Server& server, server::PodBackend* pods, kube::Object pod, LogOptions options)
      : env_(env), server_(server), pods_(pods), pod_(std::move(pod)), options_(std::move(options)), wake_(env) {}

  Task<Result<std::optional<std::string>>> next() override {
    while (!is_closed_ && !is_full()) {
      if (options_.tail_lines) {
        SLIPWAY_CO_TRY(start, co_await tail_start(*options_.tail_lines));
        offset_ = start;
        options_.tail_lines.reset();
      }
      // Asked before the log is read: what was printed until the end is then all there.
      const bool is_last = !options_.follows || co_await is_over();
      SLIPWAY_CO_TRY(piece, co_await read(offset_));
      if (!piece.empty()) {
        offset_ += piece.size();
        co_return std::optional(cut(std::move(piece)));
      }
      if (is_last) break;
      if (!is_closed_) co_await wake_.wait_until(env_.clock.now() + kLookAgain);
    }
    co_return std::optional<std::string>{};
  }

  void close() override {
    is_closed_ = true;
    wake_.notify();
  }

 private:
  Task<Result<std::string>> read(std::uint64_t offset) {
    if (pods_ == nullptr) co_return std::string();
    auto piece = co_await pods_->logs(pod_, {.container = options_.container, .offset = offset, .limit = kPiece});
    if (!piece && piece.error().reason == Reason::NotFound) co_return std::string();
    co_return piece;
  }

  /// Where the last `lines` lines begin. Keeps one offset per line wanted.
  Task<Result<std::uint64_t>> tail_start(std::uint64_t lines) {
    std::deque<std::uint64_t> starts{0};
    std::uint64_t offset = 0;
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
  std::uint64_t offset_ = 0;
  bool is_closed_ = false;
};

}  // namespace

Task<Result<http::Response>> log_response(Env& env, server::Server& server, server::PodBackend* pods, Call call) {
  SLIPWAY_CO_TRY(pod, co_await client::get(server, kPods, {call.route.ns, call.route.name}));
  SLIPWAY_CO_TRY(options, options_of(call.query));
  SLIPWAY_CO_TRY(container, container_of(pod, options.container));
  options.container = container;
  if (flag_of(call.query, "previous")) SLIPWAY_CO_TRY_VOID(check_previous(pod, container));
  SLIPWAY_CO_TRY_VOID(check_begun(pod, container));
  http::Response response;
  response.headers.add("Content-Type", "text/plain");
  response.stream = std::make_unique<LogStream>(env, server, pods, pod, options);
  co_return response;
}

}  // namespace slipway::serve
