#include "cluster/process_exec.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/pod_record.h"

namespace slipway::cluster {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds{5};
constexpr Duration kLongestPause = std::chrono::milliseconds{100};
constexpr std::size_t kPiece = 64 * 1024;
constexpr std::size_t kMaxStateBytes = std::size_t{1} << 20;

std::string file_in(const std::string& folder, std::string_view name) { return folder + "/" + std::string(name); }

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

class ProcessExec : public server::PodExec {
 public:
  ProcessExec(Env& env, std::string folder, ProcessId supervisor)
      : env_(env), folder_(std::move(folder)), supervisor_(supervisor), wake_(env) {}

  Task<Result<server::ExecOutput>> next() override {
    Duration pause = kFirstPause;
    while (!is_closed_) {
      // The end is looked for before the output: what was printed until then is all there.
      const auto exit = read_exit();
      server::ExecOutput output{.out = read("out", out_), .err = read("err", err_), .exit_code = std::nullopt};
      if (!output.out.empty() || !output.err.empty()) co_return output;
      if (exit) {
        static_cast<void>(env_.files.remove_all(folder_));
        if (exit->reason == "StartError") co_return fail(Reason::InternalError, exit->message);
        output.exit_code = exit->exit_code;
        co_return output;
      }
      co_await wake_.wait_until(env_.clock.now() + pause);
      pause = std::min(pause * 2, kLongestPause);
    }
    co_return fail(Reason::ServiceUnavailable, "the client has gone");
  }

  void close() override {
    if (std::exchange(is_closed_, true)) return;
    static_cast<void>(env_.files.write(file_in(folder_, kPodGraceFile), "0", 0644));
    static_cast<void>(env_.processes.signal(supervisor_, SIGTERM));
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
    const auto text = env_.files.read_from(file_in(folder_, kPodStateFile), 0, kMaxStateBytes);
    const auto state = text ? decode_state(*text) : fail(text.error());
    const bool has_container = state && !state->containers.empty();
    if (has_container && is_final(state->phase)) return state->containers.front().exit;
    if (is_alive) return std::nullopt;
    return PodExit{.exit_code = 128, .reason = "StartError", .message = "the command's supervisor has ended"};
  }

  Env& env_;
  std::string folder_;
  ProcessId supervisor_;
  Signal wake_;
  std::uint64_t out_ = 0;
  std::uint64_t err_ = 0;
  bool is_closed_ = false;
};

}  // namespace

Result<std::unique_ptr<server::PodExec>> start_exec(Env& env, ExecPlan plan) {
  SLIPWAY_TRY(manifest, manifest_of(env, plan));
  PodContainer& container = manifest.containers.front();
  container.argv = plan.query.command;
  container.log = file_in(plan.folder, "out");
  container.error_log = file_in(plan.folder, "err");
  if (container.folder.empty()) container.folder = file_in(plan.pod_folder, kPodWorkFolder);
  SLIPWAY_TRY_VOID(env.files.make_folders(file_in(plan.folder, kPodWorkFolder)));
  SLIPWAY_TRY_VOID(env.files.write(file_in(plan.folder, kPodManifestFile), encode_manifest(manifest), 0600));
  ProcessSpec spec;
  spec.argv = plan.supervisor;
  spec.argv.push_back(plan.folder);
  spec.env = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  spec.folder = plan.folder;
  spec.output = file_in(plan.folder, "supervisor.log");
  SLIPWAY_TRY(process, env.processes.start(std::move(spec)));
  return std::make_unique<ProcessExec>(env, plan.folder, process);
}

}  // namespace slipway::cluster
