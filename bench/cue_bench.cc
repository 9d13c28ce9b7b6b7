// cue_*: templates compiled once and rendered many times: the webservice definition with no parameter but the image, with every
// parameter, and with four traits patched in. A render is all that a controller does with one: evaluate, validate, and turn the
// result into JSON. The definition as it ships is smaller than the one the aims speak of, so it is also measured with
// parameters added up to 15 kB. The Go engine's figures are those measured for v0.14.1 on a machine of this class; where a
// `cue` binary is on PATH it is run beside, on the same template in the same run.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/check.h"
#include "bench.h"
#include "cue/evaluation.h"
#include "cue/patch/patch.h"
#include "cue/section.h"
#include "cue/syntax/parser.h"
#include "json/text.h"

namespace slipway::bench {
namespace {

constexpr int kCueRounds = 15;

std::string template_of(const std::string& name) {
  std::ifstream in("definitions/" + name + ".cue");
  std::stringstream text;
  text << in.rdbuf();
  return cue::section(text.str(), "template");
}

/// With more parameters, none of them used, until it has that many bytes.
std::string grown(std::string text, std::size_t bytes) {
  const std::string head = "parameter: {\n";
  std::size_t at = text.find(head);
  SLIPWAY_CHECK(at != std::string::npos);
  at += head.size();
  for (int i = 0; text.size() < bytes; ++i) {
    std::string more =
        fmt::format("// +usage=Setting {0} of the workload\nextra{0}?: [...{{name: string, value: *{0} | int}}]\n", i);
    text.insert(at, more);
    at += more.size();
  }
  return text;
}

json::Value data(const char* text) {
  auto value = json::parse(text);
  SLIPWAY_CHECK(value.has_value(), text);
  return *value;
}

const char* const kImageOnly = R"({"image":"nginx:1.25"})";
const char* const kEverything = R"({
  "image":"nginx:1.25","imagePullPolicy":"Always","imagePullSecrets":["a","b"],"labels":{"a":"1","b":"2"},
  "annotations":{"x":"1","y":"2"},"addRevisionLabel":true,"exposeType":"NodePort",
  "ports":[{"port":80,"name":"http","expose":true,"nodePort":30080},{"port":443,"expose":true},{"port":53,"protocol":"UDP"}],
  "cmd":["/bin/app"],"args":["--verbose","--port=80"],"cpu":"500m","memory":"512Mi","limit":{"cpu":"1","memory":"1Gi"},
  "env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},
         {"name":"C","valueFrom":{"configMapKeyRef":{"name":"c","key":"k"}}}],
  "volumeMounts":{"pvc":[{"name":"p","mountPath":"/p","claimName":"claim"}],
    "configMap":[{"name":"c","mountPath":"/c","cmName":"cm","items":[{"key":"k","path":"p"}]}],
    "secret":[{"name":"s","mountPath":"/s","secretName":"sec"}],"emptyDir":[{"name":"e","mountPath":"/e"}],
    "hostPath":[{"name":"h","mountPath":"/h","path":"/var"}]},
  "livenessProbe":{"httpGet":{"path":"/health","port":80,"httpHeaders":[{"name":"X","value":"1"}]},"periodSeconds":5},
  "readinessProbe":{"tcpSocket":{"port":80},"initialDelaySeconds":3},
  "hostAliases":[{"ip":"10.0.0.1","hostnames":["a","b"]}]})";
const char* const kContext =
    R"({"name":"web","appName":"shop","namespace":"default","revision":"web-v1","appRevision":"shop-v1","components":[],"clusterVersion":{"major":1,"minor":29}})";

cue::Program compiled(const std::string& name, const std::string& text) {
  auto program = cue::compile({{name + ".cue", text}}, {}, {.open_names = {"context", "parameter"}});
  SLIPWAY_CHECK(program.has_value(), name + ":\n" + cue::describe(program.error()));
  return *program;
}

std::size_t bytes_of(const cue::Cursor& root) { return root.evaluation()->evaluator().arena().used_bytes(); }

struct Rendered {
  cue::Cursor root;
  std::size_t json_bytes = 0;
};

Rendered render(const cue::Program& program, const json::Value& parameter, const json::Value& context) {
  Rendered out{cue::evaluate(program, {{"parameter", parameter}, {"context", context}})};
  const cue::Errors errors = out.root.validate(cue::Demand::Valid);
  SLIPWAY_CHECK(errors.empty(), cue::describe(errors));
  for (const char* name : {"output", "outputs"}) {
    cue::Cursor part = out.root.field(name);
    if (!part.exists()) continue;
    auto text = part.to_json_text();
    SLIPWAY_CHECK(text.has_value(), cue::describe(text.error()));
    out.json_bytes += text->size();
  }
  return out;
}

struct Trait {
  cue::Program program;
  json::Value parameter;
};

std::vector<Trait> four_traits() {
  std::vector<Trait> traits;
  auto add = [&](const std::string& name, const char* parameter) {
    traits.push_back({compiled(name, template_of("trait/" + name)), data(parameter)});
  };
  add("scaler", R"({"replicas":3})");
  add("env", R"({"env":{"D":"4","E":"5"}})");
  add("storage", R"({"emptyDir":[{"name":"cache","mountPath":"/cache"}],"configMap":[{"name":"extra","mountPath":"/extra"}]})");
  add("gateway", R"({"domain":"example.com","http":{"/":80}})");
  return traits;
}

/// The bytes of all its arenas; no more than two of them are there at a time.
std::size_t render_with(const cue::Program& program, const std::vector<Trait>& traits, const json::Value& parameter,
                        const json::Value& context) {
  cue::Cursor workload = cue::evaluate(program, {{"parameter", parameter}, {"context", context}}).field("output");
  std::size_t bytes = bytes_of(workload);
  for (const Trait& one : traits) {
    cue::Cursor root =
        cue::evaluate(one.program, {{"parameter", one.parameter}, {"context", context}, {"context.output", workload}});
    const cue::Errors errors = root.validate(cue::Demand::Valid);
    SLIPWAY_CHECK(errors.empty(), cue::describe(errors));
    for (const cue::FieldCursor& beside : root.field("outputs").fields()) {
      auto text = beside.value.to_json_text();
      SLIPWAY_CHECK(text.has_value(), cue::describe(text.error()));
    }
    bytes += bytes_of(root);
    cue::Cursor patch = root.field("patch");
    if (!patch.exists()) continue;
    auto patched = cue::apply_patch(workload, patch, cue::patch_strategy(patch));
    SLIPWAY_CHECK(patched.has_value(), cue::describe(patched.error()));
    workload = *patched;
    bytes += bytes_of(workload);
  }
  auto text = workload.to_json_text();
  SLIPWAY_CHECK(text.has_value(), cue::describe(text.error()));
  return bytes;
}

/// Median milliseconds of one call, over rounds of `times` calls.
double milliseconds(int times, const std::function<void()>& call) {
  std::vector<double> rounds;
  call();
  for (int round = 0; round < kCueRounds; ++round) {
    const double start = thread_cpu_seconds();
    for (int i = 0; i < times; ++i) call();
    rounds.push_back((thread_cpu_seconds() - start) * 1000 / times);
  }
  return median(rounds);
}

double parse_mb_per_s(const std::string& text) {
  const double took = milliseconds(50, [&] {
    cue::Arena arena;
    cue::Diagnostics diagnostics;
    cue::parse_file("x.cue", text, 1, arena, diagnostics);
    SLIPWAY_CHECK(diagnostics.empty());
  });
  return static_cast<double>(text.size()) / took / 1000;
}

/// How many times the renders of one thread two threads do in the same time.
double two_threads(const cue::Program& program, const json::Value& parameter, const json::Value& context) {
  constexpr int kTimes = 400;
  auto work = [&] {
    for (int i = 0; i < kTimes; ++i) render(program, parameter, context);
  };
  std::vector<double> ratios;
  for (int round = 0; round < 7; ++round) {
    Instant start = tick();
    work();
    const double alone = seconds_since(start);
    start = tick();
    std::thread other(work);
    work();
    other.join();
    ratios.push_back(2 * alone / seconds_since(start));
  }
  return percentile(ratios, 0.99);  // other work on the machine only lowers it
}

/// Resident MB that renders of mixed templates add. CUE_SOAK_RENDERS says how many; a million is what the promise is about.
double growth_mb(const cue::Program& program, const std::vector<Trait>& traits, int renders) {
  const json::Value context = data(kContext);
  const json::Value parameters[] = {data(kImageOnly), data(kEverything)};
  double before = 0;
  for (int i = 0; i < renders; ++i) {
    if (i == renders / 10) before = resident_mb();
    if (i % 20 == 19) {
      render_with(program, traits, parameters[1], context);
    } else {
      render(program, parameters[i % 2], context);
    }
  }
  return resident_mb() - before;
}

constexpr int kCopies = 40;

/// The template with its image, in folders of their own: r0, r1 …
void write_copies(const std::string& text, const std::string& folder) {
  for (int i = 0; i <= kCopies; ++i) {
    const std::string here = fmt::format("{}/r{}", folder, i);
    std::filesystem::create_directories(here);
    std::ofstream(here + "/web.cue") << "package web\n"
                                     << text << "\nparameter: " << kImageOnly << "\ncontext: " << kContext << "\n";
  }
}

/// Milliseconds of `BINARY export -e output` of the first `count` copies, as one process; negative when it fails.
double process_ms(const std::string& binary, const std::string& folder, int count) {
  std::string command = "cd " + folder + " && " + binary + " export -e output";
  for (int i = 0; i < count; ++i) command += fmt::format(" ./r{}", i);
  command += " >/dev/null 2>&1";
  std::vector<double> rounds;
  for (int i = 0; i < 7; ++i) {
    const Instant start = tick();
    if (std::system(command.c_str()) != 0) return -1;  // NOLINT: a fixed command
    rounds.push_back(seconds_since(start) * 1000);
  }
  return median(rounds);
}

void measure_processes(const Settings& settings, const std::string& text, Figures& out) {
  const std::string folder = settings.folder + "/cue";
  write_copies(text, folder);
  const std::string slipway = std::filesystem::absolute(settings.slipway).string() + " cue";
  if (const double ours = process_ms(slipway, folder, 1); ours > 0)
    out["cue_process_ms"] = {ours, "ms", "", "`slipway cue export -e output` of the template, image only, as a process"};
  if (std::system("command -v cue >/dev/null 2>&1") != 0) return;  // NOLINT: a fixed command
  const double once = process_ms("cue", folder, 1);
  const double often = process_ms("cue", folder, 1 + kCopies);
  if (once <= 0 || often <= once) return;
  out["cue_go_process_ms"] = {once, "ms", "", "the `cue` on PATH: `cue export -e output` of the same template, as a process"};
  out["cue_go_render_ms"] = {
      (often - once) / kCopies, "ms", "",
      fmt::format("the `cue` on PATH: one process with {} copies of the template, less one with 1, by {}: "
                  "parse, compile, evaluate and export without the start; beside cue_render_min_ms",
                  1 + kCopies, kCopies)};
}

/// The same with the template of 15 kB that the aims are about.
void measure_grown(const std::string& text, const json::Value& image, const json::Value& everything, const json::Value& context,
                   const std::vector<Trait>& traits, Figures& out) {
  const std::string large = grown(text, 15'000);
  const cue::Program program = compiled("webservice", large);
  const std::string size = fmt::format("webservice with parameters added: {:.1f} kB", static_cast<double>(large.size()) / 1000);
  out["cue_15kb_compile_ms"] = {milliseconds(40, [&] { compiled("webservice", large); }), "ms", "<= 0.4", size};
  out["cue_15kb_render_min_ms"] = {milliseconds(100, [&] { render(program, image, context); }), "ms", "<= 0.1", size};
  out["cue_15kb_render_full_ms"] = {milliseconds(40, [&] { render(program, everything, context); }), "ms", "<= 0.25", size};
  out["cue_15kb_render_traits_ms"] = {milliseconds(20, [&] { render_with(program, traits, image, context); }), "ms", "<= 0.5",
                                      size};
  out["cue_15kb_render_full_kb"] = {static_cast<double>(bytes_of(render(program, everything, context).root)) / 1000, "kB",
                                    "<= 200", size};
}

}  // namespace

Figures measure_cue(const Settings& settings) {
  const std::string text = template_of("component/webservice");
  SLIPWAY_CHECK(!text.empty(), "run it in the folder with definitions/");
  const cue::Program program = compiled("webservice", text);
  const json::Value context = data(kContext);
  const json::Value image = data(kImageOnly);
  const json::Value everything = data(kEverything);
  const std::vector<Trait> traits = four_traits();
  const char* soak = std::getenv("CUE_SOAK_RENDERS");
  const int renders = soak == nullptr ? 20'000 : std::atoi(soak);
  Figures out;
  out["cue_compile_ms"] = {
      milliseconds(40, [&] { compiled("webservice", text); }), "ms", "<= 0.4",
      fmt::format("{:.1f} kB; Go v0.14.1: 1.3 ms to parse 15.5 kB, at every render", static_cast<double>(text.size()) / 1000)};
  out["cue_render_min_ms"] = {milliseconds(100, [&] { render(program, image, context); }), "ms", "<= 0.1",
                              "image only; Go v0.14.1: 2.0-2.9 ms"};
  out["cue_render_full_ms"] = {milliseconds(40, [&] { render(program, everything, context); }), "ms", "<= 0.25",
                               "every parameter; Go v0.14.1: 4.6-6.2 ms"};
  out["cue_render_traits_ms"] = {milliseconds(20, [&] { render_with(program, traits, image, context); }), "ms", "<= 0.5",
                                 "image, scaler, env, storage, gateway; Go v0.14.1: 10-19 ms"};
  out["cue_render_kb"] = {static_cast<double>(bytes_of(render(program, image, context).root)) / 1000, "kB", "<= 200",
                          "image only; Go v0.14.1: 1.0 MB in 14 100 allocations"};
  out["cue_render_full_kb"] = {static_cast<double>(bytes_of(render(program, everything, context).root)) / 1000, "kB", "<= 200",
                               "every parameter; Go v0.14.1: 1.7 MB in 25 900 allocations"};
  out["cue_render_traits_kb"] = {static_cast<double>(render_with(program, traits, image, context)) / 1000, "kB", "",
                                 "image and four traits: all eight arenas together, at most two of them at a time"};
  out["cue_parse_mb_per_s"] = {parse_mb_per_s(text), "MB/s", ">= 100", "webservice, text to tree"};
  out["cue_two_threads"] = {two_threads(program, everything, context), "times", ">= 1.8",
                            "renders of two threads sharing one program, against one; best of seven rounds"};
  out["cue_soak_growth_mb"] = {
      growth_mb(program, traits, renders), "MB", "<= 1",
      fmt::format("{} renders of mixed templates; CUE_SOAK_RENDERS=1000000 for the long form", renders)};
  measure_processes(settings, text, out);
  measure_grown(text, image, everything, context, traits, out);
  return out;
}

}  // namespace slipway::bench
