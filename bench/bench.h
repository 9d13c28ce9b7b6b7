// Measurements that people would ask for, each a row {name, unit, aim, command}. Values are medians where one run is noisy.
// Nothing here asserts: what misses its aim is printed as a miss.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace slipway::bench {

struct Figure {
  double value = 0;
  std::string unit;
  std::string aim;   // "<= 50", ">= 42000"; empty: only reported
  std::string note;  // what was compared, on which settings
};

using Figures = std::map<std::string, Figure>;

struct Settings {
  std::string slipway;              // path of the binary
  std::string folder;               // for data; on the disk to be measured
  std::string peers = "out/peers";  // programs of others that tools/ has built, each in a folder of its own
  int divisor = 1;                  // of the counts, to see that groups run to their end; what is measured then is no figure

  int share_of(int count) const { return std::max(count / divisor, 1); }
};

/// One group of figures measured together.
struct Group {
  const char* name;
  std::function<Figures(const Settings&)> measure;
};

Figures measure_start(const Settings& settings);
Figures measure_store(const Settings& settings);
Figures measure_workflows(const Settings& settings);
Figures measure_graph(const Settings& settings);
Figures measure_simulation(const Settings& settings);
Figures measure_wire(const Settings& settings);
Figures measure_access(const Settings& settings);
Figures measure_large(const Settings& settings);
Figures measure_applications(const Settings& settings);
Figures measure_many_applications(const Settings& settings);
Figures measure_rollouts(const Settings& settings);
Figures measure_rollout_peers(const Settings& settings);
Figures measure_pipelines(const Settings& settings);
Figures measure_packages(const Settings& settings);
Figures measure_clusters(const Settings& settings);
Figures measure_cue(const Settings& settings);
Figures measure_million(const Settings& settings);

using Instant = std::chrono::steady_clock::time_point;
inline Instant tick() { return std::chrono::steady_clock::now(); }
inline double seconds_since(Instant start) { return std::chrono::duration<double>(tick() - start).count(); }

/// CPU seconds of this thread so far: times what one thread computes, whatever else loads the machine.
double thread_cpu_seconds();
/// CPU milliseconds of a process so far, from /proc; in steps of 10.
double process_cpu_ms(int pid);

double median(std::vector<double> values);
double percentile(std::vector<double> values, double share);
/// Resident bytes of a process (0 = this one), from /proc.
double resident_mb(int pid = 0);

}  // namespace slipway::bench
