// Where an evaluation charges what it does.
#include "cue/eval/budget.h"

#include <algorithm>

#include "cue/eval/evaluator.h"

namespace slipway::cue {

void Meter::look() {
  next_look_ = steps_ + kStepsPerLook;
  if (ended_ != nullptr) return;
  if (budget_.cancelled != nullptr && budget_.cancelled->load(std::memory_order_relaxed)) {
    ended_ = kCancelled;
  } else if (budget_.is_overdue && budget_.is_overdue()) {
    ended_ = kOverdue;
  }
}

const char* Evaluator::why_spent(std::uint64_t steps) {
  if (stack_.is_exhausted()) return kTooManySteps;
  return meter_.charge(steps, used_bytes());
}

bool Evaluator::over_budget(Pos pos, const Vertex* at, std::uint64_t steps) {
  const char* why = why_spent(steps);
  if (why == nullptr) return false;
  if (spent_ == nullptr) out_of_budget(why, pos, at);
  return true;
}

// The error for whoever ran out of it. A disjunct or a guard may drop it, so the first is kept.
Value Evaluator::out_of_budget(const char* format, Pos pos, const Vertex* at) {
  Value error = bottom(Code::Eval, format, pos);
  if (spent_ != nullptr || tells_all_ || is_telling_) return error;
  auto* first = arena_.make<Bottom>(*error.bottom);
  if (at != nullptr) first->node = at;
  spent_ = first;
  return error;
}

bool Evaluator::spend(std::uint64_t steps) { return !over_budget(calling_pos_, nullptr, steps); }

bool Evaluator::has_room(std::uint64_t bytes) {
  if (meter_.has_room(used_bytes(), bytes)) return true;
  if (spent_ == nullptr) out_of_budget(kTooManyBytes, calling_pos_, nullptr);
  return false;
}

Value Evaluator::ended() { return spent_ != nullptr ? Value::of(spent_) : bottom(Code::Eval, kTooManySteps, calling_pos_); }

// A text is charged for its bytes where it is made.
char* Evaluator::take_text(std::uint64_t size) {
  constexpr std::uint64_t kMostText = UINT32_MAX;  // what Value::size holds
  if (!has_room(size > kMostText ? UINT64_MAX : size) || !spend(size / kBytesPerStep)) return nullptr;
  return static_cast<char*>(arena_.allocate(std::max<std::uint64_t>(size, 1)));
}

Value Evaluator::make_string(std::string_view text) {
  char* to = take_text(text.size());
  if (to == nullptr) return ended();
  std::ranges::copy(text, to);
  return Value::string({to, text.size()});
}

Value Evaluator::make_bytes(std::string_view text) {
  Value made = make_string(text);
  return made.is_bottom() ? made : Value::bytes(made.str());
}

}  // namespace slipway::cue
