#include "delivery/probe/window.h"

#include <algorithm>

#include "base/zone.h"
#include "delivery/gate/window.h"

namespace slipway::delivery::probe {

Answer look_at(const gate::WindowGate& window, Env& env) {
  Answer answer;
  const auto zone = load_zone(env.files, window.time_zone);
  if (!zone) {
    answer.verdict = {.kind = gate::Verdict::Kind::Unknown, .text = zone.error().message, .by = ""};
    return answer;
  }
  const Time now = env.clock.now();
  const gate::WindowView view = gate::look(window, *zone, now);
  answer.verdict = view.verdict;
  if (view.changes) answer.ask_again = std::max<Duration>(*view.changes - now, std::chrono::milliseconds{1});
  return answer;
}

}  // namespace slipway::delivery::probe
