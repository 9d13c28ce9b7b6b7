// The Env on the machine: an Asio loop on the calling thread, the wall clock, the system's entropy, a thread for commits (one
// per open_env()), a pool of threads for computing, files, processes, log lines on standard error and metrics. The CPU time of
// the loop's thread goes into the histogram slipway_logic_turn_seconds, one observation per turn (see os/turns.h).
//
// Taking a world down: stop(), leave run(), shut(), destroy the plane and whatever tasks refer to, destroy the RealEnv. shut()
// joins the lanes first (their work may refer to suspended frames), then destroys all suspended tasks and queued handlers.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "base/env.h"
#include "base/http.h"
#include "os/lane.h"
#include "os/telemetry.h"

namespace slipway::os {

struct RealEnvOptions {
  LogLevel log_level = LogLevel::Info;
  LogFormat log_format = LogFormat::Text;
  Duration max_program_time = std::chrono::minutes{10};  // of one program, whatever its caller allows
};

class RealEnv {
 public:
  explicit RealEnv(RealEnvOptions options = {});
  ~RealEnv();
  RealEnv(const RealEnv&) = delete;
  RealEnv& operator=(const RealEnv&) = delete;

  /// Valid until the RealEnv is destroyed; after shut() nothing that is started on it ever runs.
  Env& env();

  /// An Env for one cluster: it shares everything but the commit lane and the parking, so that its writes do not wait for the
  /// disk of another cluster. Valid as env() is.
  Env& open_env();
  /// A lane more, for work that must not hold up the Env's own; its thread starts with its first work. `name`: 15 characters.
  Lane& open_lane(std::string name, ThreadLane::Share share = ThreadLane::Share::Full);

  /// Runs the loop until stop(), even when nothing is left to do. May be called again.
  void run();
  /// Callable from any thread; the loop leaves after the handler that runs.
  void stop();

  /// Calls `call` with the signal's number on the loop, each time one arrives; the default action is off from now on. A signal
  /// can be in one such set only.
  void on_signal(std::initializer_list<int> signals, std::move_only_function<void(int)> call);

  /// The metrics in the Prometheus text format, made while it is sent; valid as long as the RealEnv.
  std::unique_ptr<http::BodyStream> metrics_stream() const;

  /// Idempotent; the destructor calls it.
  void shut();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace slipway::os
