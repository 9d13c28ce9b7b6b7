#include "cluster/process_exec.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/pod_record.h"

namespace slipway::cluster {
namespace {

constexpr Duration kFirstExecPause = std::chrono::milliseconds{5};
constexpr Duration kLongestPause = std::chrono::milliseconds{100};
/// Pieces of input that may wait to be taken.
constexpr std::size_t kMostChunks = 32;
constexpr std::size_t kPiece = 64 * 1024;
constexpr std::size_t kMaxExecStateBytes = std::size_t{1} << 20;

/// The pod's manifest with the one container meant.
Result<PodManifest> manifest_of(Env& env, const ExecPlan& plan) {
  SLIPWAY_TRY(text, env.files.read(file_in(plan.pod_folder, kPodManifestFile)));
  SLIPWAY_TRY(manifest, decode_manifest(text));
  for (const PodContainer& container : manifest.containers) {
    if (container.name != plan.query.container) continue;
    return PodManifest{.containers = {container}, .grace_seconds = 0, .wants_namespace = manifest.wants_namespace};
  }
  return fail(Reason::NotFound, fmt::format("container {} is not running", plan.query.container));
}

/// The folder through which a container gets its input (os/relay.h).
class Input {
 public:
  Input(Env& env, std::string folder) : env_(env), folder_(std::move(folder)) {}

  /// Whether the container has taken most of what it was given, or takes nothing at all.
  bool has_room() const {
    if (folder_.empty()) return true;
    const auto waiting = env_.files.list(folder_);
    return !waiting || waiting->size() < kMostChunks;
  }
  Result<void> write(std::string_view bytes) {
    if (folder_.empty()) return {};
    // Later than whatever an earlier writer left there.
    last_ = std::max<std::int64_t>(last_ + 1, env_.clock.now().time_since_epoch().count());
    return env_.files.write(file_in(folder_, fmt::format("{:020}", last_)), bytes, 0600);
  }
  void resize(unsigned columns, unsigned rows) {
    if (folder_.empty()) return;
    static_cast<void>(env_.files.write(file_in(folder_, kPodWindowFile), fmt::format("{} {}", columns, rows), 0600));
  }

 private:
  Env& env_;
  std::string folder_;
  std::int64_t last_ = 0;
};

class ProcessExec : public server::PodExec {
 public:
  ProcessExec(Env& env, std::string folder, std::string input, ProcessId supervisor)
      : env_(env), folder_(std::move(folder)), input_(env, std::move(input)), supervisor_(supervisor), wake_(env) {}

  Task<Result<void>> write(std::string bytes) override {
    while (!is_closed_ && !input_.has_room()) co_await wake_.wait_until(env_.clock.steady() + kFirstExecPause);
    if (is_closed_) co_return Result<void>{};
    const auto written = input_.write(bytes);
    wake_.notify();
    co_return written;
  }

  void resize(unsigned columns, unsigned rows) override { input_.resize(columns, rows); }

  Task<Result<server::ExecOutput>> next() override {
    Duration pause = kFirstExecPause;
    while (!is_closed_) {
      // The end is looked for before the output: what was printed until then is all there.
      const auto exit = read_exit();
      server::ExecOutput output{.out = read("out", out_), .err = read("err", err_), .exit_code = std::nullopt};
      if (!output.out.empty() || !output.err.empty()) co_return output;
      if (exit) {
        is_closed_ = true;
        static_cast<void>(env_.files.remove_all(folder_));
        if (exit->reason == "StartError") co_return fail(Reason::InternalError, exit->message);
        output.exit_code = exit->exit_code;
        co_return output;
      }
      // After input an answer is likely soon.
      const bool was_woken = co_await wake_.wait_until(env_.clock.steady() + pause);
      pause = was_woken ? kFirstExecPause : std::min(pause * 2, kLongestPause);
    }
    co_return fail(Reason::ServiceUnavailable, "the client has gone");
  }

  void close() override {
    if (std::exchange(is_closed_, true)) return;
    const auto hurry = [&files = env_.files, path = file_in(folder_, kPodGraceFile)] {
      static_cast<void>(files.write(path, "0", 0644));
    };
    const auto end = [&processes = env_.processes, supervisor = supervisor_] {
      static_cast<void>(processes.signal(supervisor, SIGTERM));
    };
    env_.commits.submit(hurry, end);
    wake_.notify();
  }

 private:
  std::string read(std::string_view name, std::uint64_t& offset) {
    const auto piece = env_.files.read_from(file_in(folder_, name), offset, kPiece);
    if (!piece) return {};
    offset += piece->size();
    return *piece;
  }

  std::optional<PodExit> read_exit() {
    const bool is_alive = env_.processes.is_alive(supervisor_);
    const auto text = env_.files.read_from(file_in(folder_, kPodStateFile), 0, kMaxExecStateBytes);
    const auto state = text ? decode_state(*text) : fail(text.error());
    const bool has_container = state && !state->containers.empty();
    if (has_container && is_final(state->phase)) return state->containers.front().exit;
    if (is_alive) return std::nullopt;
    return PodExit{.exit_code = 128, .reason = "StartError", .message = "the command's supervisor has ended"};
  }

  Env& env_;
  std::string folder_;
  Input input_;
  ProcessId supervisor_;
  Signal wake_;
  std::uint64_t out_ = 0;
  std::uint64_t err_ = 0;
  bool is_closed_ = false;
};

class ProcessAttach : public server::PodExec {
 public:
  ProcessAttach(Env& env, AttachPlan plan, ProcessId process, std::uint64_t offset)
      : env_(env), plan_(std::move(plan)), input_(env, plan_.input), process_(process), wake_(env), offset_(offset) {}

  Task<Result<server::ExecOutput>> next() override {
    Duration pause = kFirstExecPause;
    while (!is_closed_) {
      const bool has_ended = !env_.processes.is_alive(process_);
      auto piece = env_.files.read_from(plan_.log, offset_, kPiece);
      if (piece && !piece->empty()) {
        offset_ += piece->size();
        co_return server::ExecOutput{.out = std::move(*piece), .err = "", .exit_code = std::nullopt};
      }
      if (has_ended) {
        is_closed_ = true;
        co_return server::ExecOutput{.out = "", .err = "", .exit_code = 0};
      }
      const bool was_woken = co_await wake_.wait_until(env_.clock.steady() + pause);
      pause = was_woken ? kFirstExecPause : std::min(pause * 2, kLongestPause);
    }
    co_return fail(Reason::ServiceUnavailable, "the client has gone");
  }

  Task<Result<void>> write(std::string bytes) override {
    if (bytes.empty() && !plan_.ends_input) co_return Result<void>{};
    while (!is_closed_ && !input_.has_room()) co_await wake_.wait_until(env_.clock.steady() + kFirstExecPause);
    if (is_closed_) co_return Result<void>{};
    const auto written = input_.write(bytes);
    wake_.notify();
    co_return written;
  }

  void resize(unsigned columns, unsigned rows) override { input_.resize(columns, rows); }

  void close() override {
    if (std::exchange(is_closed_, true)) return;
    if (plan_.ends_input) static_cast<void>(input_.write(""));
    wake_.notify();
  }

 private:
  Env& env_;
  AttachPlan plan_;
  Input input_;
  ProcessId process_;
  Signal wake_;
  std::uint64_t offset_;
  bool is_closed_ = false;
};

/// How long a file is, which Files does not tell: by doubling, then halving.
std::uint64_t length_of(Env& env, const std::string& path) {
  const auto reaches = [&](std::uint64_t offset) {
    const auto byte = env.files.read_from(path, offset, 1);
    return byte && !byte->empty();
  };
  std::uint64_t step = 1;
  while (reaches(step)) step *= 2;
  std::uint64_t length = 0;
  for (; step > 0; step /= 2) {
    if (reaches(length + step - 1)) length += step;
  }
  return length;
}

Result<void> make_exec_folder(Files& files, const std::string& folder, const std::string& input, const PodManifest& manifest) {
  SLIPWAY_TRY_VOID(files.make_folders(file_in(folder, kPodWorkFolder)));
  if (!input.empty()) SLIPWAY_TRY_VOID(files.make_folders(input));
  return files.write(file_in(folder, kPodManifestFile), encode_manifest(manifest), 0600);
}

}  // namespace

Task<Result<std::unique_ptr<server::PodExec>>> start_exec(Env& env, ExecPlan plan) {
  SLIPWAY_CO_TRY(manifest, manifest_of(env, plan));
  PodContainer& container = manifest.containers.front();
  container.argv = plan.query.command;
  container.log = file_in(plan.folder, "out");
  container.error_log = file_in(plan.folder, "err");
  if (container.folder.empty()) container.folder = file_in(plan.pod_folder, kPodWorkFolder);
  container.times.clear();
  container.input.clear();
  container.has_terminal = plan.query.has_terminal;
  if (plan.query.has_input || plan.query.has_terminal) container.input = file_in(plan.folder, "in");
  const std::string input = container.input;
  const auto made = std::make_shared<Result<void>>();
  co_await run_on(env, env.commits, [&files = env.files, folder = plan.folder, input, manifest, made] {
    *made = make_exec_folder(files, folder, input, manifest);
  });
  SLIPWAY_CO_TRY_VOID(*made);
  ProcessSpec spec;
  spec.argv = plan.supervisor;
  spec.argv.push_back(plan.folder);
  spec.env = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  spec.folder = plan.folder;
  spec.output = file_in(plan.folder, "supervisor.log");
  SLIPWAY_CO_TRY(process, env.processes.start(std::move(spec)));
  co_return std::make_unique<ProcessExec>(env, plan.folder, input, process);
}

Result<std::unique_ptr<server::PodExec>> start_attach(Env& env, AttachPlan plan) {
  SLIPWAY_TRY(text, env.files.read_from(file_in(plan.pod_folder, kPodStateFile), 0, kMaxExecStateBytes));
  SLIPWAY_TRY(state, decode_state(text));
  const auto found = std::ranges::find(state.containers, plan.query.container, &PodContainerState::name);
  if (found == state.containers.end() || found->phase != PodContainerPhase::Running) {
    return fail(Reason::NotFound, fmt::format("container {} is not running", plan.query.container));
  }
  const ProcessId process = found->process;
  const std::uint64_t offset = length_of(env, plan.log);
  return std::make_unique<ProcessAttach>(env, std::move(plan), process, offset);
}

}  // namespace slipway::cluster
