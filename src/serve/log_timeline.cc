#include "serve/log_timeline.h"

#include <algorithm>

namespace slipway::serve {

Task<Result<void>> LogTimeline::load(server::PodBackend* pods, kube::Object pod, std::string container) {
  while (pods != nullptr) {
    server::LogQuery query{.container = container, .offset = offset_};
    SLIPWAY_CO_TRY(piece, co_await pods->log_times(pod, std::move(query)));
    if (piece.empty()) break;
    offset_ += piece.size();
    rest_ += piece;
    const std::size_t whole = rest_.rfind('\n') + 1;
    for (const PodLogMark& mark : decode_log_marks(std::string_view(rest_).substr(0, whole))) marks_.push_back(mark);
    rest_.erase(0, whole);
  }
  co_return Result<void>{};
}

LogTimeline::Range LogTimeline::run(std::size_t back) const {
  Range range;
  for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark) {
    if (!mark->begins_run) continue;
    if (back == 0) {
      range.begin = mark->bytes;
      return range;
    }
    --back;
    range.end = mark->bytes;
  }
  if (back > 0) range.end = 0;
  return range;
}

std::uint64_t LogTimeline::first_since(Time time) const {
  std::uint64_t first = 0;
  for (const PodLogMark& mark : marks_) {
    if (Time(Duration(mark.at_us)) >= time) break;
    first = mark.bytes;
  }
  return first;
}

std::optional<Time> LogTimeline::time_at(std::uint64_t offset) const {
  const auto mark = std::ranges::upper_bound(marks_, offset, {}, &PodLogMark::bytes);
  if (mark == marks_.end()) return std::nullopt;
  return Time(Duration(mark->at_us));
}

}  // namespace slipway::serve
