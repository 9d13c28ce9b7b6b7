// Programs of the machine that make text out of files (helm, kustomize), as an interface: room os runs them as processes, tests
// and the simulator give functions in their place. A call is a value and so is its end; between calls nothing is left: the
// program sees a fresh folder that holds the given files and is removed afterwards, and of Slipway's environment only PATH. It
// ends with its time, with too much output, and with Slipway; so it must have no effect that matters when it is run again.
// Whoever lets users choose the files lets them choose what the program reads of the machine: rely on the program's own care,
// and give it no secrets in `files` beside content of another owner. In a sandbox the program sees little of the machine, and
// its memory is bounded.
//
//   SLIPWAY_CO_TRY(end, co_await env.programs->run({.name = "helm",
//                                                   .arguments = {"template", "web", "chart", "--values", "values.yaml"},
//                                                   .files = {{"chart/Chart.yaml", {chart}}, {"values.yaml", {values}}}}));
//   if (end.code != 0) co_return fail(Reason::BadRequest, end.error);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/task.h"
#include "base/time.h"

namespace slipway {

struct ProgramFile {
  std::string content;
  enum class Mode : std::uint8_t { regular, executable } mode = Mode::regular;
};

/// What a program of a sandbox may have. It has no network and sees no processes but its own; of the machine's files it sees
/// those that programs need to run (/usr, /lib, /opt and a few of /etc) and its own, all of them read-only; what it writes goes
/// to /tmp, its HOME, which is memory.
struct ProgramSandbox {
  std::string folder{};  // an existing folder that it sees too, read-only, and is started in; empty: it is started in /tmp
  std::size_t max_memory_bytes = std::size_t{1} << 30;  // of all of its processes
  std::size_t max_processes = 64;
  std::size_t max_file_bytes = std::size_t{64} << 20;  // below /tmp, in all
};

struct ProgramCall {
  std::string name;  // "helm": looked up in the PATH of this process; with a slash: this file
  std::vector<std::string> arguments{};
  /// Below the program's working folder, which is its HOME and TMPDIR too. Relative paths without "." and ".." segments.
  std::map<std::string, ProgramFile> files{};
  std::string input{};                             // its standard input
  std::map<std::string, std::string> variables{};  // beside PATH, HOME, TMPDIR and LANG=C.UTF-8, which cannot be given
  /// none: the program has no network where the machine lets Slipway take it away (Linux user namespaces), else as `machine`.
  enum class Network : std::uint8_t { none, machine } network = Network::none;
  /// Where the kernel refuses one, the program is not run. REQUIRES: no `files`; what `network` says does not count.
  std::optional<ProgramSandbox> sandbox{};
  /// Whose call it is (a namespace): tenants take turns, so that one with many slow calls does not hold up the others.
  std::string tenant{};
  /// Of the program's run; the wait for its turn does not count.
  Duration timeout = std::chrono::seconds{60};
  std::size_t max_output_bytes = std::size_t{16} << 20;
};

/// How a program ended.
struct ProgramEnd {
  int code = 0;        // 128 + N when signal N ended it
  std::string output;  // all of its standard output
  std::string error;   // of its standard error the first 64 KiB
};

/// Errors: NotFound (no such program; `exec: "helm": executable file not found in $PATH`), BadRequest (a path in `files`, a
/// folder of a sandbox), Timeout, RequestEntityTooLarge (output, or a sandbox's memory or processes), Forbidden (the kernel
/// refuses a sandbox), ServiceUnavailable (the machine cannot start it now, or this process ends).
class Programs {
 public:
  static constexpr std::size_t kMaxErrorBytes = std::size_t{64} << 10;

  virtual ~Programs() = default;
  /// The file that `name` would run. NotFound when there is none.
  virtual Result<std::string> find(const std::string& name) = 0;
  virtual Task<Result<ProgramEnd>> run(ProgramCall call) = 0;
};

}  // namespace slipway
