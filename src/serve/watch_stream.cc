#include "serve/watch_stream.h"

namespace slipway::serve {
namespace {

/// Pieces of about this size go out at once; more events than that wait for the reader.
constexpr std::size_t kWatchPiece = 64 * 1024;

class WatchStream : public http::BodyStream {
 public:
  WatchStream(Env& env, std::unique_ptr<client::Watch> watch, WatchView view)
      : env_(env), watch_(std::move(watch)), view_(std::move(view)) {}

  Task<Result<std::optional<std::string>>> next() override {
    if (next_event_ == events_.size()) {
      if (has_ended_) co_return std::optional<std::string>{};
      next_event_ = 0;
      auto events = co_await watch_->next();
      events_.clear();
      if (!events) {
        has_ended_ = true;
        co_return std::optional(event_line("ERROR", kube::to_json(events.error())));
      }
      if (events->empty()) {
        has_ended_ = true;
        co_return std::optional<std::string>{};
      }
      events_ = std::move(*events);
    }
    co_return std::optional(piece());
  }

  void close() override { watch_->close(); }

 private:
  std::string piece() {
    const Time now = env_.clock.now();
    std::string out;
    if (view_.form.shape == Shape::Table && is_first_) {
      const client::WatchEvent& event = events_[next_event_++];
      out = event_line(client::to_string(event.type), shaped_event(event.object, *view_.type, view_.form, now, true));
    }
    is_first_ = false;
    while (next_event_ < events_.size() && out.size() < kWatchPiece) {
      out += *view_.texts->line(events_[next_event_++], view_.type, view_.form, now);
    }
    return out;
  }

  Env& env_;
  std::unique_ptr<client::Watch> watch_;
  WatchView view_;
  std::vector<client::WatchEvent> events_;  // taken from the watch, not yet sent from next_event_ on
  std::size_t next_event_ = 0;
  bool is_first_ = true;
  bool has_ended_ = false;
};

}  // namespace

std::unique_ptr<http::BodyStream> watch_stream(Env& env, std::unique_ptr<client::Watch> watch, WatchView view) {
  return std::make_unique<WatchStream>(env, std::move(watch), std::move(view));
}

}  // namespace slipway::serve
