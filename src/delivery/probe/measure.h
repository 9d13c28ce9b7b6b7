// One measurement of a metric gate: who is asked (the gate itself, or a MetricTemplate of Flagger), with which credentials, and
// what was measured.
#pragma once

#include <map>
#include <string>

#include "delivery/probe/probe.h"

namespace slipway::delivery::probe {

/// What a measurement gave; Wait: it has been started and has not ended (a Job).
struct Measurement {
  gate::Measured measured{};
  bool is_running = false;
};
/// Any failure is a measurement that is an error.
Task<Result<Measurement>> measure(Reach reach, Question question);

/// Runs the Job of measurement `number` or looks how it stands: true when complete, false when failed. Its name follows from
/// the question's key and the number.
Task<Result<Measurement>> measure_by_job(Reach reach, Question question, std::int64_t number);

}  // namespace slipway::delivery::probe
