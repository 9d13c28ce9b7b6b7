#include "os/pod_mark.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "os/files.h"

namespace slipway::os {
namespace {

/// Marks are written as whole numbers of 63 bits (base/pod_record.h).
constexpr PodMark kLargest = PodMark{1} << 62;
constexpr std::string_view kLimitName = "Max file locks";

/// The soft limit of file locks; nothing when it is "unlimited" or cannot be seen.
std::optional<PodMark> lock_limit(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/limits", pid));
  if (!text) return std::nullopt;
  const auto line = text->find(kLimitName);
  if (line == std::string::npos) return std::nullopt;
  const auto number = text->find_first_not_of(' ', line + kLimitName.size());
  if (number == std::string::npos) return std::nullopt;
  PodMark limit = 0;
  const auto [end, error] = std::from_chars(text->data() + number, text->data() + text->size(), limit);
  if (error != std::errc()) return std::nullopt;
  return limit;
}

}  // namespace

PodMark make_pod_mark() {
  rlimit own = {};
  const bool is_limited = getrlimit(RLIMIT_LOCKS, &own) == 0 && own.rlim_max != RLIM_INFINITY;
  const PodMark bound = is_limited ? std::min<PodMark>(own.rlim_max, kLargest) : kLargest;
  const PodMark choices = bound / kMarksPerPod;
  PodMark number = 0;
  const bool is_random = getrandom(&number, sizeof number, 0) == sizeof number;
  // 0 is no mark, and the last block may reach above the bound.
  if (!is_random || choices < 3) return 0;
  return (1 + number % (choices - 2)) * kMarksPerPod;
}

PodMark container_mark(PodMark pod, std::size_t container) { return pod + std::min<PodMark>(container, kMarksPerPod - 1); }

bool carry_mark(PodMark mark) {
  const rlimit limit = {.rlim_cur = mark, .rlim_max = mark};
  return setrlimit(RLIMIT_LOCKS, &limit) == 0;
}

std::optional<std::size_t> marked_container(PodMark pod, pid_t pid) {
  const auto mark = pod == 0 ? std::nullopt : lock_limit(pid);
  if (!mark || *mark < pod || *mark - pod >= kMarksPerPod) return std::nullopt;
  return *mark - pod;
}

bool kill_if(pid_t pid, const std::function<bool()>& is_meant) {
  const Descriptor held(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)));
  if (!held && errno != ENOSYS) return false;
  if (!is_meant()) return false;
  if (!held) return kill(pid, SIGKILL) == 0;  // an old kernel
  return syscall(SYS_pidfd_send_signal, held.get(), SIGKILL, nullptr, 0U) == 0;
}

}  // namespace slipway::os
