// cue_million_*: what three lines can ask of a server's compute thread: each row works on a million items or bytes under the
// limits of a template, and has ended, with its result or with the budget's error, before two seconds and 64 MiB have gone.
#include <fmt/format.h>

#include <fstream>
#include <string>

#include "base/check.h"
#include "bench.h"
#include "cue/cue.h"

namespace slipway::bench {
namespace {

constexpr const char* kImports = "import \"list\"\nimport \"strings\"\n_used: [list.Sum([]), strings.MinRunes(0)]\n";
constexpr std::pair<const char*, const char*> kRows[] = {
    {"UniqueItems", "#l: list.Range(0, 1000000, 1)\nx: list.UniqueItems(#l)"},
    {"UniqueItems as a constraint", "x: list.UniqueItems()\nx: [for i in list.Range(0, 1000000, 1) {i}]"},
    {"Sort", "#l: list.Range(0, 1000000, 1)\nx: list.Sort(#l, list.Descending)"},
    {"Sort by a field", "#l: [for i in list.Range(0, 1000000, 1) {a: -i}]\nx: list.Sort(#l, {x: _, y: _, less: x.a < y.a})"},
    {"SortStrings", "#l: strings.Split(strings.Repeat(\"b,a,\", 250000), \",\")\nx: list.SortStrings(#l)"},
    {"Sum", "#l: list.Range(0, 1000000, 1)\nx: list.Sum(#l)"},
    {"Repeat", "x: strings.Repeat(\"a\", 1000000)"},
    {"Repeat of a list", "x: list.Repeat([1], 1000000)"},
    {"comprehension", "x: [for i in list.Range(0, 1000000, 1) if i > 5 {i + 1}]"},
    {"fields by a comprehension", "x: {for i in list.Range(0, 1000000, 1) {\"f\\(i)\": i}}"},
    {"interpolation of items", "x: [for i in list.Range(0, 1000000, 1) {\"item \\(i)\"}]"},
    {"interpolation of bytes", "#t: strings.Repeat(\"a\", 1000000)\nx: \"\\(#t)\\(#t)\""},
    {"loops in loops", "#l: list.Range(0, 1000, 1)\nx: [for i in #l for j in #l {i * j}]"},
    {"Split and Join", "#t: strings.Repeat(\"a,\", 500000)\nx: len(strings.Join(strings.Split(#t, \",\"), \";\"))"},
};

double status_mb(const std::string& field) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(field)) return std::strtod(line.c_str() + field.size(), nullptr) / 1024;
  }
  return 0;
}

struct Cost {
  double ms = 0;
  double mb = 0;  // at the most, beyond what was resident before
};

/// Of one evaluation with everything that follows: errors or JSON, and its end.
Cost cost_of(const std::string& text) {
  const auto program = cue::compile({{"million.cue", text}});
  SLIPWAY_CHECK(program.has_value(), program ? "" : cue::describe(program.error()));
  std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM begins again
  const double before = status_mb("VmRSS:");
  const Instant start = tick();
  {
    const cue::Cursor root = cue::evaluate(*program, {}, cue::Limits::for_template());
    if (root.validate().empty()) static_cast<void>(root.to_json_text());
  }
  return {seconds_since(start) * 1000, status_mb("VmHWM:") - before};
}

}  // namespace

Figures measure_million(const Settings&) {
  Figures figures;
  Cost most;
  std::string slowest;
  std::string largest;
  for (const auto& [name, text] : kRows) {
    const Cost cost = cost_of(std::string(kImports) + text);
    if (cost.ms > most.ms) slowest = name;
    if (cost.mb > most.mb) largest = name;
    most = {std::max(most.ms, cost.ms), std::max(most.mb, cost.mb)};
  }
  const std::string of = fmt::format("of {} ways to work on a million items or bytes", std::size(kRows));
  figures["cue_million_ms"] = {most.ms, "ms", "<= 2000", fmt::format("the slowest {}: {}", of, slowest)};
  figures["cue_million_mb"] = {most.mb, "MB", "<= 65", fmt::format("resident growth of the largest {}: {}", of, largest)};
  return figures;
}

}  // namespace slipway::bench
