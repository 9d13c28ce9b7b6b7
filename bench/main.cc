#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "bench.h"
#include "delivery/application/kind.h"
#include "delivery/jobflow/kind.h"
#include "delivery/package/kind.h"
#include "delivery/pipeline/kind.h"
#include "delivery/rollout/kind.h"
#include "json/text.h"

namespace slipway::bench {

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double process_cpu_ms(int pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(in, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 2));
  std::string field;
  double ticks = 0;
  for (int number = 3; number <= 15 && fields >> field; ++number) {
    if (number >= 14) ticks += std::strtod(field.c_str(), nullptr);
  }
  return ticks * 1000 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

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

struct Options {
  Settings settings{"out/release/slipway", "out/bench"};
  std::string out = "out/bench.json";
  std::string only;
};

std::vector<Group> all_groups() {
  return {{"start", measure_start},
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
          {"rollout-peers", measure_rollout_peers},
          {delivery::pipeline::kPipelines.plural.c_str(), measure_pipelines},
          {delivery::package::kPackages.plural.c_str(), measure_packages}};
}

/// Ends the process after --help and for options that cannot be read.
Options read_options(int argc, char** argv) {
  Options options;
  std::vector<std::string> groups;
  for (const Group& group : all_groups()) groups.emplace_back(group.name);
  CLI::App app("measures Slipway; without --only all groups, one after another", "slipway_bench");
  app.add_option("--only", options.only, "one group")->check(CLI::IsMember(groups));
  app.add_option("--slipway", options.settings.slipway, "the binary that is measured")->capture_default_str();
  app.add_option("--out", options.out, "file that gets the figures as JSON")->capture_default_str();
  app.add_option("--folder", options.settings.folder, "folder for data")->capture_default_str();
  app.add_option("--peers", options.settings.peers, "folder with the binaries of other projects");
  app.add_option("--divide", options.settings.divisor, "divides all counts: to see that groups run to their end")
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

/// Prints a group's figures and puts them into the file beside those of the others.
void measure_one(const Options& options, const Group& group) {
  std::ifstream earlier(options.out);
  std::stringstream text;
  text << earlier.rdbuf();
  json::Value results = json::parse(text.str()).value_or(json::Value::empty_object());
  for (const auto& [name, figure] : group.measure(options.settings)) {
    print(name, figure);
    json::Value row = json::object({{"value", figure.value},
                                    {"unit", figure.unit},
                                    {"command", fmt::format("make bench  # out/release/slipway_bench --only {}", group.name)}});
    if (!figure.aim.empty()) row = row.with("aim", figure.aim);
    if (!figure.note.empty()) row = row.with("note", figure.note);
    if (options.settings.divisor > 1) row = row.with("divisor", options.settings.divisor);
    results = results.with(name, row);
  }
  std::ofstream(options.out) << json::print_pretty(results) << "\n";
}

/// What a figure of fewer objects is worth.
void tell_divisor(const Options& options) {
  if (options.settings.divisor == 1) return;
  fmt::print("counts divided by {}: this shows that groups run to their end, and no figures\n", options.settings.divisor);
}

/// In a process of its own: what goes wrong in one group costs the figures of no other.
bool runs_apart(const Options& options, const Group& group) {
  const std::string divisor = std::to_string(options.settings.divisor);
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/proc/self/exe", "slipway_bench", "--only", group.name, "--slipway", options.settings.slipway.c_str(), "--folder",
          options.settings.folder.c_str(), "--peers", options.settings.peers.c_str(), "--out", options.out.c_str(), "--divide",
          divisor.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  std::string broken;
  if (options.only.empty()) std::ofstream(options.out) << "{}\n";
  if (options.only.empty()) tell_divisor(options);
  for (const Group& group : all_groups()) {
    if (options.only == group.name) measure_one(options, group);
    if (options.only.empty() && !runs_apart(options, group)) broken += fmt::format(" {}", group.name);
  }
  if (!broken.empty()) fmt::print(stderr, "groups that did not come to their end:{}\n", broken);
  return broken.empty() ? 0 : 1;
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) { return slipway::bench::run(argc, argv); }
