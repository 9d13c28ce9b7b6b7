#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "bench.h"
#include "delivery/application/kind.h"
#include "delivery/jobflow/kind.h"
#include "delivery/pipeline/kind.h"
#include "delivery/rollout/kind.h"
#include "json/text.h"

namespace slipway::bench {

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

double resident_mb(int pid) {
  std::ifstream in(pid == 0 ? "/proc/self/status" : fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  return 0;
}

namespace {

bool meets(const Figure& figure) {
  if (figure.aim.empty()) return true;
  const double aim = std::strtod(figure.aim.c_str() + 3, nullptr);
  return figure.aim.starts_with("<=") ? figure.value <= aim : figure.value >= aim;
}

void print(const std::string& name, const Figure& figure) {
  fmt::print("{:<28} {:>12.4g} {:<6} {:<12} {} {}\n", name, figure.value, figure.unit,
             figure.aim.empty() ? "" : "aim " + figure.aim, meets(figure) ? "" : "MISSES", figure.note);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  Settings settings{"out/release/slipway", "out/bench"};
  std::string out = "out/bench.json";
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--slipway") settings.slipway = argv[i + 1];
    if (option == "--out") out = argv[i + 1];
    if (option == "--only") only = argv[i + 1];
    if (option == "--folder") settings.folder = argv[i + 1];
  }
  const Group groups[] = {{"start", measure_start},
                          {"store", measure_store},
                          {delivery::jobflow::kWorkflows.plural.c_str(), measure_workflows},
                          {"access", measure_access},
                          {"graph", measure_graph},
                          {"simulation", measure_simulation},
                          {"wire", measure_wire},
                          {"clusters", measure_clusters},
                          {"cue", measure_cue},
                          {"million", measure_million},
                          {"large", measure_large},
                          {delivery::application::kApplications.plural.c_str(), measure_applications},
                          {"rest", measure_many_applications},
                          {delivery::rollout::kRollouts.plural.c_str(), measure_rollouts},
                          {delivery::pipeline::kPipelines.plural.c_str(), measure_pipelines}};
  std::ifstream earlier(out);
  std::stringstream text;
  text << earlier.rdbuf();
  json::Value results =
      only.empty() ? json::Value::empty_object() : json::parse(text.str()).value_or(json::Value::empty_object());
  for (const Group& group : groups) {
    if (!only.empty() && only != group.name) continue;
    for (const auto& [name, figure] : group.measure(settings)) {
      print(name, figure);
      json::Value row =
          json::object({{"value", figure.value},
                        {"unit", figure.unit},
                        {"command", fmt::format("make bench  # out/release/slipway_bench --only {}", group.name)}});
      if (!figure.aim.empty()) row = row.with("aim", figure.aim);
      if (!figure.note.empty()) row = row.with("note", figure.note);
      results = results.with(name, row);
    }
  }
  std::ofstream(out) << json::print_pretty(results) << "\n";
  return 0;
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) { return slipway::bench::run(argc, argv); }
