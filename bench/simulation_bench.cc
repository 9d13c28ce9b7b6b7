// sim_plans_per_min: whole deliveries in virtual time, each with a crash at another point.
#include "plane_bench.h"
#include "sim/scenario.h"

namespace slipway::bench {

Figures measure_simulation(const Settings&) {
  const sim::Image image = sim::Image::bootstrapped();
  sim::WorldOptions options;
  options.image = &image;
  const sim::Scenario scenario = sim::scenarios().front();
  const sim::Ending clean = sim::play(scenario, options);
  int plans = 0;
  int alike = 0;
  const Instant start = tick();
  const double cpu = thread_cpu_seconds();
  while (seconds_since(start) < 10) {
    sim::WorldOptions faulty = options;
    faulty.faults.exact = {{static_cast<std::uint64_t>(plans) % clean.points, sim::FaultKind::CrashBoth}};
    alike += sim::play(scenario, faulty).state == clean.state ? 1 : 0;
    ++plans;
  }
  SLIPWAY_CHECK(alike == plans, "a plan ended otherwise than the clean run");
  return {{"sim_plans_per_min",
           {plans / (thread_cpu_seconds() - cpu) * 60, "1/min", ">= 10000",
            "of CPU time: a diamond of Jobs with retry, one crash of everything each"}}};
}

}  // namespace slipway::bench
