#include "os/proc.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "os/files.h"

namespace slipway::os {

std::optional<ProcStat> read_proc_stat(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  // The second field is the program's name in parentheses and may hold anything, so the fields are counted from its end.
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text->size()) return std::nullopt;
  const char* field = text->c_str() + name_end + 2;
  ProcStat stat;
  stat.state = *field;
  for (int number = 3; number < 22 && field != nullptr; ++number) {
    field = std::strchr(field, ' ');
    if (field == nullptr) return std::nullopt;
    ++field;
    if (number == 3) stat.parent = static_cast<pid_t>(std::strtol(field, nullptr, 10));
  }
  stat.start_ticks = std::strtoull(field, nullptr, 10);
  return stat;
}

bool is_running(ProcessId process) {
  const auto stat = read_proc_stat(static_cast<pid_t>(process.pid));
  return stat && stat->start_ticks == process.start_ticks && stat->state != 'Z' && stat->state != 'X';
}

ProcessId identify(pid_t pid) {
  const auto stat = read_proc_stat(pid);
  return {.pid = pid, .start_ticks = stat ? stat->start_ticks : 0};
}

std::optional<std::string> initial_variable(pid_t pid, const std::string& name) {
  const auto text = read_file(fmt::format("/proc/{}/environ", pid));
  if (!text) return std::nullopt;
  for (std::size_t at = 0; at < text->size();) {
    const auto end = std::min(text->find('\0', at), text->size());
    const std::string_view variable = std::string_view(*text).substr(at, end - at);
    if (variable.size() > name.size() && variable[name.size()] == '=' && variable.starts_with(name)) {
      return std::string(variable.substr(name.size() + 1));
    }
    at = end + 1;
  }
  return std::nullopt;
}

std::vector<pid_t> current_children() {
  std::vector<pid_t> pids;
  const auto text = read_file(fmt::format("/proc/self/task/{}/children", getpid()));
  if (text) {
    const char* at = text->c_str();
    char* end = nullptr;
    for (long pid = std::strtol(at, &end, 10); end != at; pid = std::strtol(at, &end, 10)) {
      pids.push_back(static_cast<pid_t>(pid));
      at = end;
    }
    return pids;
  }
  for (const pid_t pid : all_processes()) {  // a kernel without that file
    const auto stat = read_proc_stat(pid);
    if (stat && stat->parent == getpid()) pids.push_back(pid);
  }
  return pids;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* entry = readdir(folder)) {
    char* end = nullptr;
    const long pid = std::strtol(entry->d_name, &end, 10);
    if (*end == '\0' && pid > 0) pids.push_back(static_cast<pid_t>(pid));
  }
  closedir(folder);
  std::sort(pids.begin(), pids.end());
  return pids;
}

}  // namespace slipway::os
