#include "sim/machine.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>

#include "base/count.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kTicks = 1;

std::unexpected<Status> dead() { return fail(Reason::ServiceUnavailable, "injected: this process is dying"); }

std::optional<PodState> state_in(Files& disk, const std::string& folder) {
  const auto text = disk.read(fmt::format("{}/{}", folder, kPodStateFile));
  if (!text) return std::nullopt;
  auto state = decode_state(*text);
  return state ? std::optional(std::move(*state)) : std::nullopt;
}

}  // namespace

ProcessId Supervisors::start(const std::string& folder) {
  const std::int64_t pid = static_cast<std::int64_t>(processes_.size()) + 1;
  bool is_first = true;
  for (const auto& [other, process] : processes_) is_first &= !(process.is_alive && process.folder == folder);
  processes_[pid] = {folder, is_first, false};
  if (is_first) domain_.spawn(supervise(pid));
  return {pid, kTicks};
}

bool Supervisors::is_alive(ProcessId process) const {
  const auto at = processes_.find(process.pid);
  return at != processes_.end() && at->second.is_alive;
}

void Supervisors::terminate(ProcessId process) {
  if (const auto at = processes_.find(process.pid); at != processes_.end()) at->second.is_terminated = true;
}

Task<> Supervisors::supervise(std::int64_t pid) {
  const std::string folder = processes_[pid].folder;
  const auto before = state_in(disk_, folder);
  if (before && is_final(before->phase)) {
    end(pid);
    co_return;
  }
  const auto text = disk_.read(fmt::format("{}/{}", folder, kPodManifestFile));
  const auto manifest = text ? decode_manifest(*text) : fail(text.error());
  if (!manifest) {
    end(pid);
    co_return;
  }
  const Time started = domain_.env().clock.now();
  if (before) {
    record(pid, PodPhase::Lost, *manifest, 137, started);
    end(pid);
    co_return;
  }
  record(pid, PodPhase::Running, *manifest, 0, started);
  const auto& argv = manifest->containers.front().argv;
  const Steady end_time =
      domain_.env().clock.steady() + (argv.size() > 1 ? parse_duration(argv[1]).value_or(Duration{0}) : Duration{0});
  while (domain_.env().clock.steady() < end_time && !processes_[pid].is_terminated) {
    co_await sleep_until(domain_.env(), std::min<Steady>(end_time, domain_.env().clock.steady() + 100ms));
  }
  const std::int32_t code = processes_[pid].is_terminated ? 143
                            : argv.size() > 2             ? static_cast<std::int32_t>(leading_count(argv[2]))
                                                          : 0;
  record(pid, code == 0 ? PodPhase::Succeeded : PodPhase::Failed, *manifest, code, started);
  end(pid);
}

void Supervisors::record(std::int64_t pid, PodPhase phase, const PodManifest& manifest, std::int32_t exit_code, Time started) {
  PodState state;
  state.supervisor = {pid, kTicks};
  state.phase = phase;
  state.is_stopping = processes_[pid].is_terminated;
  for (const PodContainer& one : manifest.containers) {
    PodContainerState container;
    container.name = one.name;
    container.phase = is_final(phase) ? PodContainerPhase::Terminated : PodContainerPhase::Running;
    container.started_us = started.time_since_epoch().count();
    if (is_final(phase)) {
      container.exit = {exit_code,
                        0,
                        container.started_us,
                        domain_.env().clock.now().time_since_epoch().count(),
                        exit_code == 0 ? "Completed" : "Error",
                        ""};
    }
    state.containers.push_back(std::move(container));
  }
  // The folder may be gone by now: then it is not asked for any more.
  static_cast<void>(disk_.write(fmt::format("{}/{}", processes_[pid].folder, kPodStateFile), encode_state(state), 0600));
}

Result<ProcessId> FaultProcesses::start(ProcessSpec spec) {
  const std::string what = "PROCESS start";
  if (!gate_.pass(Moment::BeforeSend, what, true)) return dead();
  const ProcessId started = supervisors_.start(spec.argv.back());
  if (!gate_.pass(Moment::AfterEffect, what, true)) return dead();
  return started;
}

Result<void> FaultProcesses::signal(ProcessId process, int signal_number) {
  const std::string what = fmt::format("PROCESS signal {}", signal_number);
  if (!gate_.pass(Moment::BeforeSend, what, true)) return dead();
  if (signal_number == SIGTERM) supervisors_.terminate(process);
  if (!gate_.pass(Moment::AfterEffect, what, true)) return dead();
  return {};
}

Task<> FaultProcesses::wait_end(ProcessId process) {
  while (supervisors_.is_alive(process)) co_await sleep_for(*caller_, 100ms);
}

Result<void> FaultFiles::change(std::string_view what, const std::string& path, const std::function<Result<void>()>& effect) {
  const std::string text = fmt::format("FILE {} {}", what, path.substr(path.rfind('/') + 1));
  if (!gate_.pass(Moment::BeforeSend, text, true)) return dead();
  auto done = effect();
  if (!gate_.pass(Moment::AfterEffect, text, true)) return dead();
  return done;
}

Result<void> FaultFiles::write(const std::string& path, std::string_view content, unsigned mode) {
  return change("write", path, [&] { return disk_.write(path, content, mode); });
}

Result<void> FaultFiles::make_folders(const std::string& path) {
  return change("make", path, [&] { return disk_.make_folders(path); });
}

Result<void> FaultFiles::symlink(const std::string& target, const std::string& path) {
  return change("link", path, [&] { return disk_.symlink(target, path); });
}

Result<void> FaultFiles::remove_all(const std::string& path) {
  return change("remove", path, [&] { return disk_.remove_all(path); });
}

}  // namespace slipway::sim
